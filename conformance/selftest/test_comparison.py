"""Differences are seen, each is given to one requirement, and what the format leaves open is none."""

from __future__ import annotations

import dataclasses
import struct
from typing import Any

import pytest
from pte_conformance.comparison import compare
from pte_conformance.suite.contents import (
    CONTENTS,
    constants_of_odd_sizes,
    delegates_that_share,
    initial_states,
    program,
)

from pte_reference import NamedBlob, PTEFile, model
from pte_reference.requirements import fidelity
from pte_reference.schema import Table, schema_of

CONSTANTS, STATES = constants_of_odd_sizes(), initial_states()
DELEGATES = delegates_that_share()
DELEGATE = model.BackendDelegate("A", model.BackendDelegateDataReference())


def found(expected: PTEFile, actual: PTEFile, **how: Any) -> list[tuple[str, str, str]]:
    """The differences: requirement, aspect and place."""
    differences = compare(expected, actual, **how)
    return [(one.requirement.id, one.aspect, one.note.path) for one in differences]


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS.keys())
def test_content_does_not_differ_from_itself(content: PTEFile) -> None:
    """Equal content has no differences, whoever shares which blobs."""
    assert found(content, dataclasses.replace(content)) == []
    assert found(content, content.canonical()) == []


def _with_values(*contents: Any) -> PTEFile:
    return PTEFile(program(*map(model.EValue, contents)))


CHANGED: dict[str, tuple[PTEFile, PTEFile, tuple[str, str, str]]] = {
    "constant lost": (
        CONSTANTS,
        dataclasses.replace(CONSTANTS, constants=CONSTANTS.constants[:3]),
        (fidelity.CONSTANTS.id, "missing", "constants[3]"),
    ),
    "constant changed": (
        CONSTANTS,
        dataclasses.replace(CONSTANTS, constants=(b"", bytes(4), *CONSTANTS.constants[2:])),
        (fidelity.CONSTANTS.id, "changed", "constants[1]"),
    ),
    "constant cut": (
        CONSTANTS,
        dataclasses.replace(CONSTANTS, constants=(*CONSTANTS.constants[:3], CONSTANTS.constants[3][:-1])),
        (fidelity.CONSTANTS.id, "changed", "constants[3]"),
    ),
    "empty constant lost": (
        PTEFile(program(), constants=(b"", b"")),
        PTEFile(program()),
        (fidelity.CONSTANTS.id, "empty entry missing", "constants[1]"),
    ),
    "constant made up": (
        PTEFile(program()),
        PTEFile(program(), constants=(b"", b"new")),
        (fidelity.CONSTANTS.id, "extra", "constants"),
    ),
    "rubbish behind a constant": (
        PTEFile(program(), constants=(b"", b"1")),
        PTEFile(program(), constants=(b"", b"1\x01")),
        (fidelity.CONSTANTS.id, "changed", "constants[1]"),
    ),
    "states lost": (
        PTEFile(program(), mutable_data=(b"", b"state")),
        PTEFile(program()),
        (fidelity.MUTABLE_DATA.id, "missing", "mutable_data[1]"),
    ),
    "further states lost": (
        PTEFile(program(), further_mutable_data=((b"", b"state"),)),
        PTEFile(program(), further_mutable_data=((),)),
        (fidelity.MUTABLE_DATA.id, "missing", "further_mutable_data[0][1]"),
    ),
    "key lost": (
        PTEFile(program(), named_data={"a": NamedBlob(b"1")}),
        PTEFile(program()),
        (fidelity.NAMED_DATA.id, "missing", "named_data['a']"),
    ),
    "empty key lost": (
        PTEFile(program(), named_data={"a": NamedBlob(b"")}),
        PTEFile(program()),
        (fidelity.NAMED_DATA.id, "empty blob missing", "named_data['a']"),
    ),
    "named blob changed": (
        PTEFile(program(), named_data={"a": NamedBlob(b"1")}),
        PTEFile(program(), named_data={"a": NamedBlob(b"2")}),
        (fidelity.NAMED_DATA.id, "changed", "named_data['a']"),
    ),
    "key made up": (
        PTEFile(program()),
        PTEFile(program(), named_data={"a": NamedBlob(b"")}),
        (fidelity.NAMED_DATA.id, "extra", "named_data['a']"),
    ),
    "delegate changed": (
        DELEGATES,
        dataclasses.replace(DELEGATES, delegate_data=(DELEGATES.delegate_data[0], b"not empty")),
        (fidelity.DELEGATE_DATA.id, "changed", "execution_plan[0].delegates[2].processed"),
    ),
    "delegate data lost": (
        PTEFile(program(delegates=(DELEGATE,)), delegate_data=(b"x",)),
        PTEFile(program(delegates=(DELEGATE,))),
        (fidelity.DELEGATE_DATA.id, "missing", "execution_plan[0].delegates[0].processed"),
    ),
    "sign of zero": (
        _with_values(model.Double(-0.0)),
        _with_values(model.Double(0.0)),
        (fidelity.PROGRAM_FIELDS.id, "Double.double_val", "execution_plan[0].values[0].val.double_val"),
    ),
    "bits of a NaN": (
        _with_values(model.DoubleList(struct.unpack("<d", bytes.fromhex("010000000000f87f")))),
        _with_values(model.DoubleList((float("nan"),))),
        (fidelity.PROGRAM_FIELDS.id, "DoubleList.items", "execution_plan[0].values[0].val.items"),
    ),
    "kind of a value": (
        _with_values(model.Int(1)),
        _with_values(model.Bool(True)),
        (fidelity.PROGRAM_FIELDS.id, "EValue.val", "execution_plan[0].values[0].val"),
    ),
    "number of values": (
        _with_values(model.Int(1), model.Int(2)),
        _with_values(model.Int(1)),
        (fidelity.PROGRAM_FIELDS.id, "ExecutionPlan.values", "execution_plan[0].values"),
    ),
    "no metadata is not empty metadata": (
        PTEFile(program(container_meta_type=None)),
        PTEFile(program(container_meta_type=model.ContainerMetadata())),
        (
            fidelity.PROGRAM_FIELDS.id,
            "ExecutionPlan.container_meta_type",
            "execution_plan[0].container_meta_type",
        ),
    ),
    "a program that is none": (
        PTEFile(program()),
        PTEFile(model.Null()),  # type: ignore[arg-type]
        (fidelity.PROGRAM_FIELDS.id, "Program", ""),
    ),
}


@pytest.mark.parametrize(("expected", "actual", "difference"), CHANGED.values(), ids=CHANGED.keys())
def test_a_change_is_one_difference_of_one_requirement(
    expected: PTEFile, actual: PTEFile, difference: tuple[str, str, str]
) -> None:
    """What changed is told by place, and by the one rule that it breaks."""
    assert found(expected, actual) == [difference]


def _other(field: Any, value: Any) -> Any:
    """Another value of the same type, or the same where there is none that means something else."""
    match value:
        case bool():
            return not value
        case int() | float():
            return type(value)(1) if value == 0 else type(value)(0)
        case str():
            return value + "x"
        case bytes():
            return value + b"x"
        case tuple() if value:
            return value[1:]
        case tuple() if field.needed:
            return None
        case _:
            return value


def _mutations(table: Any) -> list[tuple[str, Any]]:
    """Every field of every table below, changed one at a time: the aspect, and the changed table."""
    result = []
    for field in schema_of(type(table)).fields:
        value = getattr(table, field.name)
        aspect = f"{type(table).__name__}.{field.name}"
        changed = _other(field, value)
        if changed != value and not isinstance(value, Table):
            result.append((aspect, dataclasses.replace(table, **{field.name: changed})))
        if isinstance(value, Table):
            inner = _mutations(value)
            result += [(what, dataclasses.replace(table, **{field.name: one})) for what, one in inner]
        elif isinstance(value, tuple) and value and isinstance(value[0], Table):
            for number, element in enumerate(value):
                for what, one in _mutations(element):
                    elements = (*value[:number], one, *value[number + 1 :])
                    result.append((what, dataclasses.replace(table, **{field.name: elements})))
    return result


FULL = [CONTENTS[name] for name in ("every_kind_of_value", "every_instruction", "every_field_of_a_tensor")]


def test_every_field_counts() -> None:
    """A change in any field of any table is one difference, told under that field's name."""
    seen = set()
    for content in FULL:
        for aspect, changed in _mutations(content.program):
            differences = found(content, dataclasses.replace(content, program=changed))
            if aspect == "BackendDelegateDataReference.index":
                assert [one[0] for one in differences] == [fidelity.DELEGATE_DATA.id]
                continue
            if aspect != "BackendDelegateDataReference.location":
                assert [one[:2] for one in differences] == [(fidelity.PROGRAM_FIELDS.id, aspect)]
                seen.add(aspect)
    assert len(seen) > 60


OPEN: dict[str, tuple[PTEFile, PTEFile]] = {
    "padding behind a constant of unknown length": (
        PTEFile(program(), constants=(b"", b"1")),
        PTEFile(program(), constants=(b"", b"1" + bytes(15))),
    ),
    "more than a tensor asks for": (
        CONSTANTS,
        dataclasses.replace(
            CONSTANTS, constants=(b"", *(bytes(blob) + b"more" for blob in CONSTANTS.constants[1:]))
        ),
    ),
    "padding up to an alignment that nobody asked for": (
        PTEFile(program(), constants=(b"", b"1")),
        PTEFile(program(), constants=(b"", b"1" + bytes(4095))),
    ),
    "alignment of named data": (
        PTEFile(program(), named_data={"a": NamedBlob(b"1", 64)}),
        PTEFile(program(), named_data={"a": NamedBlob(b"1")}),
    ),
    "absent and empty lists": (
        PTEFile(program(operators=(), non_const_buffer_device=None)),
        PTEFile(program(operators=None, non_const_buffer_device=())),
    ),
    "absent and empty overload": (
        PTEFile(program(operators=(model.Operator("a", ""),))),
        PTEFile(program(operators=(model.Operator("a", None),))),
    ),
    "layout left in the program": (
        PTEFile(program()),
        PTEFile(dataclasses.replace(program(), segments=(model.DataSegment(),), constant_buffer=None)),
    ),
}


@pytest.mark.parametrize(("expected", "actual"), OPEN.values(), ids=OPEN.keys())
def test_what_the_format_leaves_open_is_no_difference(expected: PTEFile, actual: PTEFile) -> None:
    """Either form may come back."""
    assert found(expected, actual) == []
    assert found(actual, actual) == []


def test_what_an_adapter_does_not_promise_is_no_difference() -> None:
    """A declared loss is not blamed, field or list, and nothing else is forgiven."""
    expected = _with_values(model.Double(-0.0), model.Int(1))
    actual = _with_values(model.Double(0.0), model.Int(2))
    lossy = found(expected, actual, not_preserved=frozenset({"Double.double_val"}))
    assert [aspect for _, aspect, _ in lossy] == ["Int.int_val"]
    assert found(STATES, PTEFile(STATES.program), not_preserved=frozenset({"mutable_data"})) == []


def test_shared_objects_are_compared_once() -> None:
    """A small program that unfolds to 10**8 values is compared at once."""

    def wide() -> PTEFile:
        one = model.EValue(model.Int(int("7" * 3)))
        plan = dataclasses.replace(_plan(), values=(one,) * 9999)
        return PTEFile(model.Program(execution_plan=(plan,) * 9999))

    assert found(wide(), wide()) == []


def _plan() -> model.ExecutionPlan:
    plans = program().execution_plan
    assert plans is not None
    return plans[0]
