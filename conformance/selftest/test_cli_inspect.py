"""``pte-conformance inspect`` shows what is in files, broken ones as far as they can be read."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pte_reference import PTEFile, serialize
from pte_reference import model as m
from selftest.commands import BROKEN_PROGRAMS, call, call_json, start
from selftest.covering import COVERING, one_plan, smallest
from selftest.golden import GOLDEN
from selftest.rewriting import change_program

EXPECTED = Path(__file__).with_name("expected")
EVERYTHING = GOLDEN["1.2.0/hb_everything.pte"]


def inspected(path: Path) -> dict[str, Any]:
    """What the JSON form says of one file."""
    (file,) = call_json("inspect", path)["files"]
    assert isinstance(file, dict)
    return file


def saved(tmp_path: Path, data: bytes) -> Path:
    """The path of a file with these bytes."""
    path = tmp_path / "model.pte"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "name", ["1.2.0/hb_everything", "1.2.0/ex_multi_method", "1.2.0/ex_xnnpack_segment", "0.2.0/ex_dynamic"]
)
def test_output(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text, at fixed width, is what lies beside the tests for people to read."""
    path = GOLDEN[f"{name}.pte"]
    monkeypatch.chdir(path.parent)
    result = call("inspect", path.name)
    assert result.exit_code == 0
    assert result.stdout == (EXPECTED / f"inspect_{path.stem}.txt").read_text("utf-8")


@pytest.mark.parametrize("name", GOLDEN)
def test_the_space_adds_up(name: str) -> None:
    """Each byte of a golden file serves one purpose, and the facts follow the schema."""
    path = GOLDEN[name]
    assert sum(one["size"] for one in inspected(path)["space"]) == path.stat().st_size


@pytest.mark.parametrize("name", GOLDEN)
def test_the_facts_agree_with_the_corpus(name: str) -> None:
    """Methods, calls, delegates, memory and segments are those that the corpus notes for the file."""
    path = GOLDEN[name]
    noted = json.loads(path.with_name(f"{path.name}.json").read_text("utf-8"))["counts"]
    program = inspected(path)["program"]
    methods = program["methods"]
    steps: Counter[str] = Counter()
    for one in methods:
        steps.update(one["instructions"])
    assert [one["name"] for one in methods] == noted["methods"]
    assert [one["input_count"] for one in methods] == noted["inputs"]
    assert [one["output_count"] for one in methods] == noted["outputs"]
    assert steps == noted["instructions"]
    assert [(one["id"], one["location"].upper(), one["index"]) for one in delegates_of(methods)] == [
        (one["id"], one["location"], one["index"]) for one in noted["delegates"]
    ]
    assert [[0, *(one["size"] for one in method["planned_memory"])] for method in methods] == noted[
        "non_const_buffer_sizes"
    ]
    assert [one["size"] for one in program["segments"]] == [one["size"] for one in noted["segments"]]


def delegates_of(methods: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The delegates of all methods."""
    return [delegate for method in methods for delegate in method["delegates"]]


@pytest.mark.parametrize("name", COVERING)
def test_every_kind_of_content_can_be_shown(name: str, tmp_path: Path) -> None:
    """All values, instructions and awkward numbers, in both forms."""
    path = saved(tmp_path, serialize(COVERING[name]))
    assert call("inspect", path).exit_code == call("inspect", path, "--json").exit_code
    assert inspected(path)["program"] is not None


@pytest.mark.parametrize(
    "make", [make for _, _, make in BROKEN_PROGRAMS], ids=[what for _, what, _ in BROKEN_PROGRAMS]
)
def test_broken_files_are_shown_as_far_as_they_can_be(make: Callable[[], bytes], tmp_path: Path) -> None:
    """Text and JSON come out, the space adds up, and the exit code says whether a MUST is broken."""
    data = make()
    path = saved(tmp_path, data)
    facts = inspected(path)
    assert sum(one["size"] for one in facts["space"]) == len(data)
    result = call("inspect", path)
    assert result.exit_code == (1 if facts["findings"] else 0)
    assert ("Broken: " in result.stdout) == bool(facts["findings"])


def test_methods_are_told_of_a_program_with_a_bad_index(tmp_path: Path) -> None:
    """A breach behind the encoding does not hide the rest."""
    path = saved(tmp_path, change_program(EVERYTHING.read_bytes(), version=3))
    assert [one["name"] for one in inspected(path)["program"]["methods"]] == ["forward", "vals"]


def test_a_method_that_is_there_twice_is_told_once(tmp_path: Path) -> None:
    """Plans that are one table in the file refer to the first: a small file stays small."""
    plan = one_plan(*(m.EValue(m.Int(number)) for number in range(500))).execution_plan
    assert plan is not None
    data = change_program(serialize(smallest()), execution_plan=plan * 100)
    first, *others = inspected(saved(tmp_path, data))["program"]["methods"]
    assert first["value_count"] == 500
    assert others == [{"name": first["name"], "same_as": 0}] * 99


def test_shared_lists_are_not_unfolded(tmp_path: Path) -> None:
    """A thousand methods with one list of inputs: so many are listed, the rest is counted."""
    first = (one_plan(m.EValue(m.Int(1))).execution_plan or ())[0]
    inputs = (0,) * 1000
    plans = tuple(dataclasses.replace(first, name=f"m{number}", inputs=inputs) for number in range(1000))
    path = saved(tmp_path, serialize(PTEFile(m.Program(execution_plan=plans))))
    methods = inspected(path)["program"]["methods"]
    assert sum(one["input_count"] for one in methods) == 1_000_000
    assert sum(len(one["inputs"]) for one in methods) <= 10_000
    assert len(call("inspect", path).stdout) < 100_000


def test_tensors_are_told_by_the_names_that_users_know(tmp_path: Path) -> None:
    """PyTorch's type, the shape, the order of dimensions where it is unusual, and whether it can change."""
    last = m.Tensor(m.ScalarType.HALF, 0, (1, 3, 8, 8), (0, 2, 3, 1))
    bound = m.Tensor(m.ScalarType.LONG, 0, (9,), (0,), shape_dynamism=m.TensorShapeDynamism.DYNAMIC_BOUND)
    values = (m.EValue(last), m.EValue(bound), m.EValue(m.Double(float("nan"))))
    program = one_plan(*values, inputs=(0, 1), outputs=(2,))
    text = call("inspect", saved(tmp_path, serialize(PTEFile(program)))).stdout
    assert "float16 [1, 3, 8, 8], dim order [0, 2, 3, 1]" in text
    assert "int64 [9], dynamic up to this shape" in text
    assert "Double 'nan'" in text


def test_directories_and_unsupported_files(tmp_path: Path) -> None:
    """As for check: searched for .pte files, other kinds are named; by name they are a usage error."""
    saved(tmp_path, EVERYTHING.read_bytes())
    bundled = tmp_path / "tested.bpte"
    bundled.write_bytes(GOLDEN["0.2.0/ex_add.pte"].with_name("ex_bundled.bpte").read_bytes())
    result = call("inspect", tmp_path)
    assert (result.exit_code, result.stderr) == (0, "")
    assert f"{bundled}: bundled program (.bpte)" in result.stdout
    assert call("inspect", bundled).exit_code == 2
    verdicts = [one["verdict"] for one in call_json("inspect", tmp_path)["files"]]
    assert sorted(verdicts) == ["conforming", "unsupported"]


def test_the_process_ends_with_the_exit_code(tmp_path: Path) -> None:
    """A file that is no program at all: exit code 1 and what can be told."""
    result = start("inspect", saved(tmp_path, b"this is not a model"))
    assert result.returncode == 1
    assert "The program cannot be decoded" in result.stdout
