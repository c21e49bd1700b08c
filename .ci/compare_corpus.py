"""Compare the corpus in a wheel with the corpus that git tracks.

Usage: compare_corpus.py WHEEL
"""

import subprocess
import sys
import zipfile
from collections.abc import Iterable

PACKAGE = "pte_corpus/"


def below_package(names: Iterable[str], prefix: str) -> set[str]:
    """Return the names below the package, without what leads to it."""
    return {name.removeprefix(prefix) for name in names if name.startswith(prefix)}


def main() -> int:
    """Name every file that only one side has, and return 1 if there is one."""
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        packed = below_package(wheel.namelist(), PACKAGE)
    command = ["git", "ls-files", "-z", f"corpus/{PACKAGE}"]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    tracked = below_package(listing.split("\0"), f"corpus/{PACKAGE}")
    for name in sorted(tracked - packed):
        print(f"tracked by git, missing from the wheel: {name}")
    for name in sorted(packed - tracked):
        print(f"in the wheel, not tracked by git: {name}")
    print(f"corpus: {len(packed)} files in the wheel, {len(tracked)} in git")
    return 0 if packed == tracked and packed else 1


if __name__ == "__main__":
    sys.exit(main())
