"""Add up the results of test runs from the JUnit files that pytest wrote.

Fails if a run had no test, a failure, or (with --none-skipped) a test that was skipped.
"""

import argparse
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

OUTCOMES = ("passed", "failed", "skipped")


def outcome(case: ET.Element) -> str:
    """Return what became of one test; an error before or after it counts as a failure."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "passed" if case.find("skipped") is None else "skipped"


def problems(results: Counter[str], *, none_skipped: bool) -> list[str]:
    """Say what is wrong with a run."""
    found = []
    if not results["passed"] + results["failed"]:
        found.append("no test ran")
    if results["failed"]:
        found.append("tests failed")
    if none_skipped and results["skipped"]:
        found.append("tests were skipped that must run here")
    return found


def in_words(results: Counter[str]) -> str:
    """Write counts the way pytest closes a run."""
    return ", ".join(f"{results[name]} {name}" for name in OUTCOMES)


def main() -> int:
    """Print one line per run and one for all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("junit", nargs="+", type=Path)
    parser.add_argument("--none-skipped", action="store_true")
    parser.add_argument("--note", help="what the last line says besides")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    sound = True
    for path in options.junit:
        # The file is our own pytest's, written a moment ago.
        results = Counter(outcome(case) for case in ET.parse(path).iter("testcase"))  # noqa: S314
        wrong = problems(results, none_skipped=options.none_skipped)
        print(f"{path.stem}: {'; '.join([in_words(results), *wrong])}")
        total += results
        sound = sound and not wrong
    print(in_words(total) + (f", {options.note}" if options.note else ""))
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
