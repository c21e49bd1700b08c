"""Imports go one way, and nothing heavy is loaded early."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pte_conformance
import pytest

import pte_reference

REFERENCE = Path(pte_reference.__file__).parent
SUITE = Path(pte_conformance.__file__).parent


def _imports(path: Path, *, top_level: bool) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if top_level else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def _modules(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*.py")) if "generated" not in path.parts]


@pytest.mark.parametrize("path", _modules(REFERENCE), ids=lambda path: str(path.relative_to(REFERENCE)))
def test_the_reference_needs_only_the_standard_library(path: Path) -> None:
    """And knows nothing of tests."""
    for name in _imports(path, top_level=False):
        top = name.partition(".")[0]
        assert top == "pte_reference" or top in sys.stdlib_module_names, name


@pytest.mark.parametrize("path", _modules(SUITE), ids=lambda path: str(path.relative_to(SUITE)))
def test_nothing_imports_the_suite_or_the_commands(path: Path) -> None:
    """They are at the top; fuzzing is above all."""
    own = path.relative_to(SUITE).parts[0]
    for name in _imports(path, top_level=False):
        assert not name.startswith("pte_fuzz"), name
        for top in ("suite", "cli"):
            assert own == top or not name.startswith(f"pte_conformance.{top}"), name


@pytest.mark.parametrize("module", ["pte_conformance.plugin", "pte_conformance.transport.worker"])
def test_plugin_and_worker_load_little(module: str) -> None:
    """Their own imports are the standard library, the reference, and for the plugin pytest."""
    script = (
        f"import sys, {module}\n"
        "tops = {name.partition('.')[0] for name in sys.modules}\n"
        "print(*sorted(tops & {'hypothesis', 'flatbuffers', 'rich', 'click', 'torch', 'numpy'}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
