"""Prints the JSON Schema of the JSON form to the file that the package keeps of it."""

from __future__ import annotations

import json
from pathlib import Path

import pte_reference
from pte_reference.json_schema import FILE_NAME, json_schema


def main() -> None:
    """Writes the schema beside the code that it is derived from."""
    path = Path(pte_reference.__file__).parent / FILE_NAME
    path.write_text(json.dumps(json_schema(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
