"""Every requirement that a file can break is found broken, alone, and not in valid files."""

from __future__ import annotations

import pytest

from pte_reference import (
    REGISTRY,
    Layer,
    Requirement,
    Subject,
    WriterOptions,
    check,
    model,
    serialize,
)
from pte_reference.requirements import program
from selftest.broken_files import BROKEN, INLINE, SMALL, VALID, Make
from selftest.rewriting import change_plan

LAYERS = {Layer.CONTAINER, Layer.ENCODING, Layer.PROGRAM, Layer.DATA}


@pytest.mark.parametrize(
    ("requirement", "make"),
    [pytest.param(one, make, id=f"{one.id}-{name}") for one, name, make in BROKEN],
)
def test_a_broken_file_gives_findings_of_its_requirement_only(requirement: Requirement, make: Make) -> None:
    """One cause gives findings of one requirement, each with a place and a message."""
    findings = check(make())
    assert {one.requirement.id for one in findings} == {requirement.id}
    assert all(one.offset is not None and one.message for one in findings)


def test_every_file_requirement_of_the_reader_has_a_broken_file() -> None:
    """No check of the first four layers goes unseen."""
    checked = {one.id for one in REGISTRY if one.layer in LAYERS and one.subject is Subject.FILE}
    assert checked == {requirement.id for requirement, _, _ in BROKEN}


@pytest.mark.parametrize("name", VALID)
def test_what_the_reference_writes_checks_clean(name: str) -> None:
    """Valid content gives no finding, whatever the knobs."""
    for options in (
        WriterOptions(),
        WriterOptions(segment_alignment=1, constant_alignment=1, header_length=24),
        WriterOptions(delegates_in_segments=False, delegate_alignment=64, absolute_alignment=True),
    ):
        assert check(serialize(VALID[name], options)) == []


def test_the_sizes_of_a_dynamic_input_are_bounds_only() -> None:
    """However large, they overflow nothing and overrun no memory; those of other values do."""
    bounds = model.EValue(
        model.Tensor(
            sizes=(2**31 - 1,) * 3,
            dim_order=(0, 1, 2),
            allocation_info=model.AllocationDetails(1),
            shape_dynamism=model.TensorShapeDynamism.DYNAMIC_BOUND,
        )
    )
    plan = {"values": (bounds,), "non_const_buffer_sizes": (0, 16)}
    assert check(change_plan(SMALL, inputs=(0,), **plan)) == []
    found = {one.requirement for one in check(change_plan(SMALL, **plan))}
    assert found == {program.TENSOR_BYTES}


def test_a_file_with_constants_inside_the_program_checks_clean() -> None:
    """The old place of constants is as good as the new one."""
    assert check(INLINE) == []
