"""The printed schema and the one inside the executorch wheel describe the same files."""

from __future__ import annotations

import json
import re
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import generate_classes
import pytest

from pte_reference.fbs import program_fbs

pytestmark = pytest.mark.real

CHANGES = {
    "two fields swapped": (
        "  storage_offset: int;\n  sizes: [int];\n",
        "  sizes: [int];\n  storage_offset: int;\n",
    ),
    "another width": ("lineno: int;", "lineno: long;"),
    "another sign": ("dim_order: [ubyte];", "dim_order: [byte];"),
    "a field left out": ("  context: string;\n", ""),
    "a field too many": ("  context: string;\n", "  context: string;\n  column: int;\n"),
    "another default": ("lineno: int;", "lineno: int = 1;"),
    "another enum number": ("EXTERNAL = 1,", "EXTERNAL = 2,"),
    "union members swapped": ("  Bool,\n  Double,\n", "  Double,\n  Bool,\n"),
}
"""Mistakes that a model could have, as replacements in the printed text."""

UNNOTICED_BY_CONFORM = {
    "a field renamed": ("lineno: int;", "line: int;"),
    "an enum member left out": ("  UINT64 = 29,\n", ""),
}
"""Mistakes that leave the wire format alone: only the comparison of names sees them."""


@pytest.fixture(name="wheel_schema", scope="module")
def _wheel_schema() -> Path:
    """The ``program.fbs`` that the installed executorch carries."""
    try:
        wheel = metadata.distribution("executorch")
    except metadata.PackageNotFoundError:
        pytest.skip("executorch is not installed, and with it its program.fbs")
    return Path(str(wheel.locate_file("executorch/exir/_serialize/program.fbs")))


@pytest.fixture(name="printed_schema")
def _printed_schema(tmp_path: Path) -> Path:
    file = tmp_path / "program.fbs"
    file.write_text(program_fbs(), encoding="utf-8")
    return file


def test_printed_schema_evolves_from_the_wheels(wheel_schema: Path, printed_schema: Path) -> None:
    """Files of executorch stay readable by the printed schema."""
    assert _conforms(old=wheel_schema, new=printed_schema)


def test_wheels_schema_evolves_from_the_printed_one(wheel_schema: Path, printed_schema: Path) -> None:
    """Files of the printed schema stay readable by executorch."""
    assert _conforms(old=printed_schema, new=wheel_schema)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_wrong_schema_is_refused(change: tuple[str, str], wheel_schema: Path, printed_schema: Path) -> None:
    """Each kind of mistake fails at least one of the two directions."""
    _apply(change, printed_schema)
    forwards = _conforms(old=wheel_schema, new=printed_schema)
    backwards = _conforms(old=printed_schema, new=wheel_schema)
    assert not (forwards and backwards)


def test_names_agree(wheel_schema: Path, printed_schema: Path, tmp_path: Path) -> None:
    """Tables, fields, enum members and their types have the same names in both."""
    assert _definitions(printed_schema, tmp_path) == _definitions(wheel_schema, tmp_path)


@pytest.mark.parametrize("change", UNNOTICED_BY_CONFORM.values(), ids=UNNOTICED_BY_CONFORM.keys())
def test_a_wrong_name_is_noticed(
    change: tuple[str, str], wheel_schema: Path, printed_schema: Path, tmp_path: Path
) -> None:
    """Mistakes in names, which the compiler calls conforming, fail the comparison above."""
    _apply(change, printed_schema)
    assert _definitions(printed_schema, tmp_path) != _definitions(wheel_schema, tmp_path)


def test_identifier_and_forced_alignments_agree(wheel_schema: Path) -> None:
    """What neither comparison looks at is the same too: identifier, extension, force_align."""
    pattern = r'file_identifier "\w+"|file_extension "\w+"|\w+: *\[ubyte\] \(force_align: \d+\)'
    printed = re.findall(pattern, program_fbs())
    assert len(printed) == 4
    assert sorted(re.findall(pattern, wheel_schema.read_text(encoding="utf-8"))) == sorted(printed)


def _apply(change: tuple[str, str], schema: Path) -> None:
    before, after = change
    text = schema.read_text(encoding="utf-8")
    assert text.count(before) == 1
    schema.write_text(text.replace(before, after), encoding="utf-8")


def _conforms(*, old: Path, new: Path) -> bool:
    """Whether the compiler calls ``new`` an evolution of ``old``."""
    includes = ["-I", str(new.parent), "--conform-includes", str(old.parent)]
    done = _flatc(*includes, "--conform", str(old), str(new))
    # A wrong call ends with the same code, so the verdict's own words are looked for.
    assert done.returncode == 0 or "schemas don't conform" in done.stderr + done.stdout
    return done.returncode == 0


def _definitions(schema: Path, folder: Path) -> dict[str, Any]:
    """The compiler's JSON Schema of a schema, free of descriptions: its names and types."""
    done = _flatc("--jsonschema", "-I", str(schema.parent), "-o", str(folder), str(schema))
    assert done.returncode == 0, done.stderr
    text = (folder / f"{schema.stem}.schema.json").read_text(encoding="utf-8")
    definitions = json.loads(text)["definitions"]
    assert isinstance(definitions, dict)
    assert len(definitions) > 30
    return definitions


def _flatc(*arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        flatc = generate_classes.flatc_command(version=None)
    except generate_classes.FlatcMissingError as reason:
        pytest.skip(str(reason))
    return subprocess.run([flatc, *arguments], capture_output=True, text=True, check=False)
