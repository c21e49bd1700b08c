"""The inputs of the suite are what they say: valid content, files broken in one way, valid oddities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis
import pytest
from pte_conformance.comparison import compare
from pte_conformance.strategies import pte_files, written_files
from pte_conformance.strategies.files import Written
from pte_conformance.suite.contents import CONTENTS, FIXED
from pte_conformance.suite.damage import DAMAGED, EVERYTHING, INSTRUCTIONS, VALUES, Damaged, parent
from pte_conformance.suite.test_tolerance import MAKERS, PARENTS

from pte_reference import Level, PTEFile, check, deserialize, model, serialize
from pte_reference.schema import Table
from selftest.covering import tables_in

quickly = hypothesis.settings(
    max_examples=60,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[*hypothesis.HealthCheck],
)


@quickly
@hypothesis.given(written_files())
def test_generated_content_is_valid_by_construction(written: Written) -> None:
    """The reference writes it, finds nothing wrong with the file, and reads it back."""
    data = serialize(written.content, written.options)
    assert check(data) == []
    assert list(compare(written.content, deserialize(data))) == []


@pytest.mark.parametrize("written", FIXED.values(), ids=FIXED.keys())
def test_fixed_content_is_valid(written: Written) -> None:
    """What every run starts with breaks no requirement."""
    data = serialize(written.content, written.options)
    assert check(data) == []
    assert deserialize(data) == written.content.canonical()


def test_fixed_contents_use_every_table() -> None:
    """No kind of value, instruction or description is left to chance."""
    used = {type(one) for content in CONTENTS.values() for one in tables_in(content.program)}
    layout = {
        model.Buffer,
        model.BackendDelegateInlineData,
        model.DataSegment,
        model.SubsegmentOffsets,
        model.NamedData,
    }
    every = {one for one in vars(model).values() if isinstance(one, type) and issubclass(one, Table)}
    assert every - used - layout == {Table}


@pytest.fixture(scope="module", name="sample")
def _sample() -> list[PTEFile]:
    """What a run of a few hundred examples sees."""
    seen: list[PTEFile] = []

    @hypothesis.settings(quickly, max_examples=300)
    @hypothesis.given(pte_files())
    def look(content: PTEFile) -> None:
        seen.append(content)

    look()
    return seen


def _values(content: PTEFile) -> list[Any]:
    return [value.val for plan in content.program.execution_plan or () for value in plan.values or ()]


WANTED: dict[str, Callable[[PTEFile], bool]] = {
    "several methods": lambda one: len(one.program.execution_plan or ()) > 1,
    "a constant": lambda one: any(
        isinstance(value, model.Tensor) and value.data_buffer_idx and not value.allocation_info
        for value in _values(one)
    ),
    "a state": lambda one: any(
        isinstance(value, model.Tensor) and value.data_buffer_idx and value.allocation_info
        for value in _values(one)
    ),
    "an empty constant": lambda one: b"" in one.constants[1:],
    "an empty named blob": lambda one: any(not blob.data for blob in one.named_data.values()),
    "a shared named blob": lambda one: (
        len({bytes(blob.data) for blob in one.named_data.values()}) < len(one.named_data)
    ),
    "a delegate": lambda one: bool(one.delegate_data),
    "a jump": lambda one: any(
        isinstance(step.instr_args, model.JumpFalseCall)
        for plan in one.program.execution_plan or ()
        for chain in plan.chains or ()
        for step in chain.instructions or ()
    ),
}


@pytest.mark.parametrize("condition", WANTED.values(), ids=WANTED.keys())
def test_the_strategy_finds_what_matters_soon(
    condition: Callable[[PTEFile], bool], sample: list[PTEFile]
) -> None:
    """Within a few hundred examples there are several of each kind that faults are known for."""
    assert sum(map(condition, sample)) >= 10


@pytest.mark.parametrize("path", [EVERYTHING, INSTRUCTIONS, VALUES])
def test_parents_of_damaged_files_are_sound(path: str) -> None:
    """What is damaged was whole before."""
    assert check(parent(path)) == []


@pytest.mark.parametrize("damaged", DAMAGED, ids=lambda one: one.name)
def test_a_damaged_file_breaks_what_it_says_and_nothing_else(damaged: Damaged) -> None:
    """A refusal is for the reason that the case names."""
    assert damaged.requirement.level is Level.MUST
    assert {one.requirement.id for one in check(damaged.make())} == {damaged.requirement.id}


def test_damage_has_names_of_its_own() -> None:
    """Cases are told apart by name."""
    names = [one.name for one in DAMAGED]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("make", MAKERS, ids=lambda one: one.__name__.strip("_"))
@pytest.mark.parametrize("name", PARENTS)
def test_unusual_files_break_no_must_and_are_not_the_usual_ones(
    make: Callable[[PTEFile], bytes], name: str
) -> None:
    """What readers must accept is valid, and other than what the reference writes by default."""
    file = make(PARENTS[name])
    assert [one for one in check(file) if one.is_breach] == []
    assert file != serialize(PARENTS[name])
