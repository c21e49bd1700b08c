"""ExecuTorch's C++ runtime loads and runs what our writers write, as it does the original."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from pte_conformance.adapters.flatbuffers_python import FlatbuffersPython
from pte_corpus import root

from pte_reference import PTEFile, WriterOptions, deserialize, serialize
from selftest.covering import COVERING

pytestmark = pytest.mark.real

EXPORTED = sorted((root() / "golden" / "1.2.0").glob("ex_*.pte"))
"""Small modules as releases 1.2 to 1.5 export them; each can be run, or says why not."""

Writer = Callable[[PTEFile, WriterOptions], bytes]

WRITERS: dict[str, Writer] = {
    "reference": serialize,
    "flatbuffers-python": FlatbuffersPython().serialize,
}

OPTIONS = {
    "defaults": WriterOptions(),
    "all inline": WriterOptions(delegates_in_segments=False, constant_alignment=64),
    "short header": WriterOptions(header_length=24, segment_alignment=4096),
}

# Its bindings set the planned memory up before they look at the program.
LOADABLE = {name: content for name, content in COVERING.items() if name != "far_memory"}

REWRITTEN = {
    f"{writer}, {options}": (WRITERS[writer], OPTIONS[options]) for writer in WRITERS for options in OPTIONS
}


def run_probe(files: list[Path], *arguments: str) -> list[dict[str, Any]]:
    """What the runtime makes of each file, or of the files up to one that killed it."""
    try:
        metadata.version("executorch")
    except metadata.PackageNotFoundError:
        pytest.skip("executorch is not installed, and with it its runtime")
    script = Path(__file__).with_name("runtime_probe.py")
    # -P: the script's folder on the path would hide installed packages behind test modules.
    command = [sys.executable, "-P", str(script), *arguments, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode != 0:
        outcomes.append({"died": done.returncode, "log": done.stderr[-2000:]})
    return outcomes


@pytest.fixture(name="outcomes", scope="module")
def _outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What the runtime makes of the exported files, as they are and in each rewriting.

    All in one process: starting the runtime takes longer than everything else here.
    """
    contents = [deserialize(path.read_bytes()) for path in EXPORTED]
    variants = {"original": [path.read_bytes() for path in EXPORTED]}
    for name, (write, options) in REWRITTEN.items():
        variants[name] = [write(content, options) for content in contents]
    variants["rotated constants"] = [serialize(_rotated(content)) for content in contents]
    folder = tmp_path_factory.mktemp("rewritten")
    files = []
    for number, data in enumerate(data for variant in variants.values() for data in variant):
        files.append(folder / f"{number}.pte")
        files[-1].write_bytes(data)
    results = run_probe(files, "--run")
    assert len(results) == len(files), results[-1]
    step = len(EXPORTED)
    return {name: results[at * step : (at + 1) * step] for at, name in enumerate(variants)}


def test_exported_files_run(outcomes: dict[str, list[dict[str, Any]]]) -> None:
    """The yardstick works: of the original files all but the one with a ``.ptd`` part run."""
    failed = [
        path.stem
        for path, outcome in zip(EXPORTED, outcomes["original"], strict=True)
        if any("outputs" not in method for method in outcome["methods"].values())
    ]
    assert len(EXPORTED) >= 15
    assert failed == ["ex_external"]


@pytest.mark.parametrize("name", REWRITTEN)
def test_rewritten_files_run_alike(name: str, outcomes: dict[str, list[dict[str, Any]]]) -> None:
    """A file that was read and written again gives the same outputs, bit for bit."""
    assert outcomes[name] == outcomes["original"]


def test_wrong_constants_are_noticed(outcomes: dict[str, list[dict[str, Any]]]) -> None:
    """Constants whose bytes moved by one element change the outputs of what uses them."""
    at = [path.stem for path in EXPORTED].index("ex_linrelu")
    assert outcomes["rotated constants"][at] != outcomes["original"][at]


@pytest.mark.parametrize("writer", WRITERS)
def test_fixed_contents_load(writer: str, tmp_path: Path) -> None:
    """The runtime's verifier accepts each of the fixed contents and names its methods."""
    files = []
    for name, content in LOADABLE.items():
        files.append(tmp_path / f"{name}.pte")
        files[-1].write_bytes(WRITERS[writer](content, WriterOptions()))
    names = [sorted(outcome.get("methods", outcome)) for outcome in run_probe(files)]
    assert names == [
        sorted(str(plan.name) for plan in content.program.execution_plan or ())
        for content in LOADABLE.values()
    ]


def test_a_damaged_file_does_not_load(tmp_path: Path) -> None:
    """The verifier is at work: a root offset into nowhere is refused."""
    file = tmp_path / "damaged.pte"
    file.write_bytes(b"\xf0\xff\xff\x7f" + serialize(COVERING["smallest"])[4:])
    assert "error" in run_probe([file])[0]


def _rotated(content: PTEFile) -> PTEFile:
    """The content with each constant's first four bytes moved to its end."""
    moved = tuple(bytes(blob)[4:] + bytes(blob)[:4] for blob in content.constants)
    return PTEFile(content.program, moved, content.mutable_data, content.named_data, content.delegate_data)
