"""For each requirement that a file can break, files that break it.

Each is a valid file with one change. Together they cover every requirement of the layers
container, encoding, program and data that speaks of files; a test counts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeAlias

from pte_reference import PTEFile, Region, Requirement, file_map, serialize
from pte_reference import model as m
from pte_reference.requirements import container, data, encoding, program
from selftest.covering import COVERING, empty_blobs, every_instruction, every_value, smallest
from selftest.rewriting import (
    change_plan,
    change_program,
    poke,
    raw_program,
    rewrite,
    spot,
    u32,
    u64,
)

Make: TypeAlias = Callable[[], bytes]

VALUES = serialize(every_value())
STEPS = serialize(every_instruction())
SMALL = serialize(smallest())
INLINE = rewrite(
    SMALL,
    lambda raw: dataclasses.replace(
        raw, constant_segment=None, segments=(), constant_buffer=(m.Buffer(), m.Buffer(b"abc"))
    ),
)
"""A file of the kind that releases before 0.4.0 wrote."""


def _first_tensor(**fields: Any) -> bytes:
    return _value(0, dataclasses.replace(_tensor(0), **fields))


def _tensor(number: int) -> m.Tensor:
    value = _plan(VALUES).values[number].val  # type: ignore[index]
    assert isinstance(value, m.Tensor)
    return value


def _plan(file: bytes) -> m.ExecutionPlan:
    return raw_program(file).execution_plan[0]  # type: ignore[index]


def _value(number: int, content: Any) -> bytes:
    values = list(_plan(VALUES).values or ())
    values[number] = m.EValue(content)
    return change_plan(VALUES, values=tuple(values))


def _step(content: Any) -> bytes:
    chain = m.Chain(instructions=(m.Instruction(content),))
    return change_plan(STEPS, chains=(chain,))


def _segments(**fields: Any) -> bytes:
    first, *others = raw_program(VALUES).segments or ()
    return change_program(VALUES, segments=(dataclasses.replace(first, **fields), *others))


def _two_values(first: Any, second: Any) -> bytes:
    return change_plan(SMALL, values=(m.EValue(first), m.EValue(second)))


CONTAINER: list[tuple[Requirement, str, Make]] = [
    (container.MINIMUM_SIZE, "empty file", lambda: b""),
    (container.MINIMUM_SIZE, "seven bytes", lambda: SMALL[:7]),
    (container.HEADER_READABLE, "program of 63 bytes", lambda: _shortest()),
    (container.IDENTIFIER, "another number", lambda: poke(SMALL, 4, b"ET99")),
    (container.IDENTIFIER, "bundled program", lambda: poke(SMALL, 4, b"BP08")),
    (container.IDENTIFIER, "zeros", lambda: poke(SMALL, 4, bytes(4))),
    (container.HEADER_LENGTH, "zero", lambda: poke(VALUES, 12, u32(0))),
    (container.HEADER_LENGTH, "one too short", lambda: poke(VALUES, 12, u32(23))),
    (container.HEADER_LENGTH, "past the program", lambda: poke(VALUES, 12, u32(len(VALUES) - 8))),
    (container.HEADER_LENGTH, "past the file", lambda: poke(VALUES, 12, u32(2**32 - 1))),
    (container.PROGRAM_SIZE, "one past the file", lambda: poke(VALUES, 16, u64(len(VALUES) + 1))),
    (container.PROGRAM_SIZE, "wraps", lambda: poke(VALUES, 16, u64(2**64 - 1))),
    (container.PROGRAM_SIZE, "too small", lambda: poke(VALUES, 16, u64(7))),
    (container.SEGMENT_BASE, "inside the program", lambda: _base_inside()),
    (container.HEADER_NEEDED, "magic damaged", lambda: poke(VALUES, 8, b"eh01")),
    (container.HEADER_NEEDED, "base of zero", lambda: poke(VALUES, 24, u64(0))),
    (container.SEGMENT_IN_FILE, "one byte cut off", lambda: VALUES[:-1]),
    (container.SEGMENT_IN_FILE, "offset wraps", lambda: _segments(offset=2**64 - 8)),
    (container.SEGMENT_IN_FILE, "size wraps", lambda: _segments(size=2**64 - 1)),
    (container.SEGMENT_IN_FILE, "base wraps", lambda: poke(VALUES, 24, u64(2**64 - 128))),
    (container.DATA_SIZE, "one too few", lambda: _data_size(-1)),
    (container.DATA_SIZE, "one too many", lambda: _data_size(+1)),
    (container.SEGMENTS_SORTED, "last first", lambda: _unsorted()),
    (container.SEGMENTS_DISJOINT, "one byte shared", lambda: _overlapping()),
    (container.PADDING_ZERO, "before the base", lambda: _dirty_padding()),
    (container.NOTHING_BEHIND, "one byte behind segments", lambda: VALUES + b"\0"),
]


def _shortest() -> bytes:
    plain = change_program(SMALL, execution_plan=(), constant_segment=None, segments=())
    return plain.rstrip(b"\0").ljust(60, b"\0")


def _base_inside() -> bytes:
    size = int.from_bytes(VALUES[16:24], "little")
    base = int.from_bytes(VALUES[24:32], "little")
    shift = base - (size - 4)
    segments = tuple(
        m.DataSegment(one.offset + shift, one.size) for one in raw_program(VALUES).segments or ()
    )
    changed = change_program(VALUES, segments=segments)
    new_size = int.from_bytes(changed[16:24], "little")
    new_base = int.from_bytes(changed[24:32], "little")
    back = new_base - shift
    assert back < new_size
    total = int.from_bytes(changed[32:40], "little") + shift
    return poke(poke(changed, 24, u64(back)), 32, u64(total))


def _data_size(change: int) -> bytes:
    stated = int.from_bytes(VALUES[32:40], "little")
    return poke(VALUES, 32, u64(stated + change))


def _unsorted() -> bytes:
    raw = raw_program(VALUES)
    constants, states, first, second = raw.segments or ()
    assert raw.named_data is not None
    return change_program(
        VALUES,
        segments=(constants, states, second, first),
        named_data=(
            dataclasses.replace(raw.named_data[0], segment_index=3),
            dataclasses.replace(raw.named_data[1], segment_index=2),
        ),
    )


def _overlapping() -> bytes:
    constants, states, *others = raw_program(VALUES).segments or ()
    closer = dataclasses.replace(states, offset=constants.offset + constants.size - 1)
    return change_program(VALUES, segments=(constants, closer, *others))


def _dirty_padding() -> bytes:
    size = int.from_bytes(VALUES[16:24], "little")
    assert size < int.from_bytes(VALUES[24:32], "little")
    return poke(VALUES, size, b"\x01")


NAME = "execution_plan[0].name"
INPUTS = "execution_plan[0].inputs"

ENCODING: list[tuple[Requirement, str, Make]] = [
    (encoding.ROOT_OFFSET, "far outside", lambda: poke(SMALL, 0, u32(0x7FFFFFF0))),
    (encoding.ROOT_OFFSET, "zero", lambda: poke(SMALL, 0, u32(0))),
    (encoding.ROOT_OFFSET, "in the identifier", lambda: poke(SMALL, 0, u32(4))),
    (encoding.ROOT_OFFSET, "in the header", lambda: poke(VALUES, 0, u32(16))),
    (encoding.ROOT_OFFSET, "odd", lambda: poke(SMALL, 0, u32(_root(SMALL) + 1))),
    (encoding.OFFSET_FORWARD, "zero", lambda: _offset(NAME, 0)),
    (encoding.OFFSET_FORWARD, "wraps", lambda: _offset(NAME, 2**31)),
    (encoding.TABLE_IN_PROGRAM, "past the end", lambda: _offset("constant_segment", 2**20)),
    (encoding.TABLE_ALIGNED, "odd", lambda: _nudge("constant_segment", 1)),
    (encoding.VTABLE_IN_PROGRAM, "before the file", lambda: poke(SMALL, _root(SMALL), u32(2**20))),
    (encoding.VTABLE_IN_PROGRAM, "past the end", lambda: poke(SMALL, _root(SMALL), u32(-(2**20)))),
    (encoding.VTABLE_IN_PROGRAM, "odd", lambda: _vtable_distance(1)),
    (encoding.VTABLE_SIZE, "odd", lambda: _vtable(0, b"\x05\0")),
    (encoding.VTABLE_SIZE, "too short", lambda: _vtable(0, b"\x02\0")),
    (encoding.VTABLE_SIZE, "too long", lambda: _vtable(0, b"\xfe\xff")),
    (encoding.VTABLE_SIZE, "table too short", lambda: _vtable(2, b"\x03\0")),
    (encoding.FIELD_IN_PROGRAM, "past the end", lambda: _vtable(6, b"\xfc\xff")),
    (encoding.FIELD_IN_PROGRAM, "in the vtable offset", lambda: _vtable(6, b"\x02\0")),
    (encoding.FIELD_ALIGNED, "odd", lambda: _vtable(6, b"\x05\0")),
    (encoding.STRING_IN_PROGRAM, "length past the end", lambda: _string(u32(2**31))),
    (encoding.STRING_IN_PROGRAM, "misaligned", lambda: _nudge(NAME, 2)),
    (encoding.STRING_TERMINATED, "no zero byte", lambda: _string(u32(6))),
    (encoding.STRING_UTF8, "lone continuation byte", lambda: _string(u32(7) + b"\x80")),
    (encoding.VECTOR_IN_PROGRAM, "length past the end", lambda: _vector(u32(2**28))),
    (encoding.VECTOR_IN_PROGRAM, "length wraps", lambda: _vector(u32(2**32 - 1))),
    (encoding.VECTOR_IN_PROGRAM, "misaligned", lambda: _nudge(INPUTS, 2, VALUES)),
    (encoding.VECTOR_ALIGNED, "64-bit at half", lambda: _half_aligned()),
    (encoding.BLOB_ALIGNED, "constant at 4", lambda: _inline_off_grid()),
    (encoding.UNION_CONSISTENT, "type without value", lambda: _lonely_union(0)),
    (encoding.UNION_CONSISTENT, "value without type", lambda: _union_tag(b"\0")),
    (encoding.UNION_KNOWN, "type 77", lambda: _union_tag(b"\x4d")),
    (encoding.TABLE_COUNT, "fans out", lambda: _fan_out()),
    (encoding.DECODED_SIZE, "overlapping vectors", lambda: overlapping_vectors(2000)),
]


def _root(file: bytes) -> int:
    return int.from_bytes(file[:4], "little")


def _offset(path: str, stored: int, file: bytes = SMALL) -> bytes:
    return poke(file, spot(file, Region.OFFSET, path).start, u32(stored))


def _nudge(path: str, distance: int, file: bytes = SMALL) -> bytes:
    at = spot(file, Region.OFFSET, path).start
    return poke(file, at, u32(int.from_bytes(file[at : at + 4], "little") + distance))


def _vtable_distance(change: int) -> bytes:
    at = _root(SMALL)
    return poke(SMALL, at, u32(int.from_bytes(SMALL[at : at + 4], "little", signed=True) + change))


def _vtable(offset: int, patch: bytes) -> bytes:
    """A change in the root table's vtable; entry 1 (byte 6) is execution_plan."""
    at = _root(SMALL)
    distance = int.from_bytes(SMALL[at : at + 4], "little", signed=True)
    return poke(SMALL, at - distance + offset, patch)


def _string(patch: bytes) -> bytes:
    return poke(SMALL, spot(SMALL, Region.STRING, NAME).start, patch)


def _vector(patch: bytes) -> bytes:
    return poke(VALUES, spot(VALUES, Region.VECTOR, INPUTS).start, patch)


def _half_aligned() -> bytes:
    path = "execution_plan[0].non_const_buffer_sizes"
    file = change_plan(SMALL, non_const_buffer_sizes=(1, 1, 1))
    at = spot(file, Region.OFFSET, path).start
    vector = spot(file, Region.VECTOR, path).start
    # The lower half of the first entry, 1, becomes the length of a vector of one element.
    return poke(file, at, u32(vector + 4 - at))


def _inline_off_grid() -> bytes:
    at = spot(INLINE, Region.OFFSET, "constant_buffer[1].storage").start
    vector = spot(INLINE, Region.VECTOR, "constant_buffer[1].storage").start
    # The blob itself becomes the length of a blob four bytes further on.
    file = INLINE + bytes(64)
    return poke(poke(file, vector + 4, u32(1)), at, u32(vector + 4 - at))


TAG = "execution_plan[0].values[0].val"


def _union_tag(patch: bytes) -> bytes:
    file = change_plan(SMALL, values=(m.EValue(m.Int(5)),))
    return poke(file, spot(file, Region.FIELD, TAG).start, patch)


def _lonely_union(offset: int) -> bytes:
    file = change_plan(SMALL, values=(m.EValue(m.Int(5)),))
    value = spot(file, Region.VTABLE, "execution_plan[0].values[0]")
    # vtable: size, table size, type entry, value entry
    return poke(file, value.start + 6, offset.to_bytes(2, "little"))


def _fan_out() -> bytes:
    """A file of few bytes whose tables unfold to 10**8."""
    one = m.EValue(m.Null())
    plan = dataclasses.replace(_plan(SMALL), values=(one,) * 9999)
    return change_program(SMALL, execution_plan=(plan,) * 10000)


def overlapping_vectors(count: int) -> bytes:
    """A file in which ``count`` lists reach, each from its own place, over the same bytes."""
    reach = 8 * count
    lists = tuple(
        m.EValue(m.BoolList(tuple(bool(number >> bit & 1) for bit in range(16)))) for number in range(count)
    )
    # Each half of these numbers can be taken for the length of a vector.
    lengths = m.IntList((reach << 32 | reach,) * (2 * count))
    file = bytearray(change_plan(SMALL, values=(*lists, m.EValue(lengths))))
    offsets = {}
    for one in file_map(file).ranges:
        if one.path[-1:] == ("items",) and one.region in (Region.OFFSET, Region.VECTOR):
            offsets[one.path[3], one.region] = one.start
    words = offsets[count, Region.VECTOR] + 4
    for number in range(count):
        at = offsets[number, Region.OFFSET]
        file[at : at + 4] = u32(words + 4 * number - at)
    return bytes(file)


PROGRAM: list[tuple[Requirement, str, Make]] = [
    (program.VERSION, "newer", lambda: change_program(SMALL, version=1)),
    (program.FIELD_PRESENT, "plans", lambda: change_program(SMALL, execution_plan=None)),
    *(
        (program.FIELD_PRESENT, f"plan without {name}", lambda name=name: change_plan(SMALL, **{name: None}))
        for name in ("name", "values", "inputs", "outputs", "chains", "delegates")
    ),
    (program.FIELD_PRESENT, "value without content", lambda: _two_values(None, m.Null())),
    (program.FIELD_PRESENT, "text", lambda: _two_values(m.String(None), m.Null())),
    (program.FIELD_PRESENT, "list items", lambda: _two_values(m.BoolList(None), m.Null())),
    (program.FIELD_PRESENT, "sizes", lambda: _first_tensor(sizes=None)),
    (program.FIELD_PRESENT, "instruction", lambda: _step(None)),
    (program.FIELD_PRESENT, "args", lambda: _step(m.KernelCall(0, None))),
    (program.METHOD_NAME, "empty", lambda: change_plan(SMALL, name="")),
    (program.METHOD_UNIQUE, "twice", lambda: rewrite(SMALL, _twice)),
    (program.NAME_WITHOUT_NUL, "method", lambda: change_plan(SMALL, name="a\0b")),
    (program.NAME_WITHOUT_NUL, "operator", lambda: _operator("aten::\0add")),
    (program.NAME_WITHOUT_NUL, "external tensor", lambda: _external("a\0b")),
    (program.RUNNABLE, "no chain", lambda: change_plan(SMALL, chains=())),
    (program.VALUE_INDEX, "input", lambda: change_plan(VALUES, inputs=(99,))),
    (program.VALUE_INDEX, "negative output", lambda: change_plan(VALUES, outputs=(-1,))),
    (program.VALUE_INDEX, "call", lambda: _step(m.KernelCall(0, (0, 77)))),
    (program.VALUE_INDEX, "delegate call", lambda: _step(m.DelegateCall(0, (-1,)))),
    (program.VALUE_INDEX, "move from", lambda: _step(m.MoveCall(3, 0))),
    (program.VALUE_INDEX, "move to", lambda: _step(m.MoveCall(0, -1))),
    (program.VALUE_INDEX, "jump", lambda: _step(m.JumpFalseCall(50, 0))),
    (program.VALUE_INDEX, "free", lambda: _step(m.FreeCall(2**31 - 1))),
    (program.VALUE_INDEX, "int list", lambda: _value(10, m.IntList((15,)))),
    (program.VALUE_INDEX, "huge int list", lambda: _value(10, m.IntList((2**63 - 1,)))),
    (program.VALUE_INDEX, "tensor list none", lambda: _value(13, m.TensorList((-1,)))),
    (program.VALUE_INDEX, "optional list", lambda: _value(14, m.OptionalTensorList((-2,)))),
    (program.OPERATOR_INDEX, "past the end", lambda: _step(m.KernelCall(2, ()))),
    (program.OPERATOR_INDEX, "negative", lambda: _step(m.KernelCall(-1, ()))),
    (program.DELEGATE_INDEX, "past the end", lambda: _step(m.DelegateCall(3, ()))),
    (program.JUMP_TARGET, "past the end", lambda: _step(m.JumpFalseCall(2, 2))),
    (program.LIST_OF_TENSORS, "names an int", lambda: _value(13, m.TensorList((6,)))),
    (program.LIST_OF_TENSORS, "optional", lambda: _value(14, m.OptionalTensorList((6,)))),
    (program.JUMP_CONDITION, "an int", lambda: _int_condition()),
    (program.RANK, "17 dimensions", lambda: _first_tensor(sizes=(1,) * 17, dim_order=tuple(range(17)))),
    (program.SIZES, "negative", lambda: _first_tensor(sizes=(-1,))),
    (program.DIM_ORDER, "one short", lambda: _first_tensor(dim_order=())),
    (program.DIM_ORDER, "one long", lambda: _first_tensor(dim_order=(0, 1))),
    (program.DIM_ORDER, "repeated", lambda: _first_tensor(sizes=(1, 2), dim_order=(0, 0))),
    (program.TENSOR_BYTES, "wraps", lambda: _two_values(_huge(), m.Null())),
    (program.SCALAR_TYPE, "99", lambda: _first_tensor(scalar_type=99)),
    (program.SCALAR_TYPE_IN_SCHEMA, "complex", lambda: _first_tensor(scalar_type=9)),
    (program.ENUM_KNOWN, "dynamism", lambda: _first_tensor(shape_dynamism=3)),
    (program.ENUM_KNOWN, "location", lambda: _first_tensor(extra_tensor_info=m.ExtraTensorInfo(location=2))),
    (program.ENUM_KNOWN, "device", lambda: _first_tensor(extra_tensor_info=m.ExtraTensorInfo(device_type=2))),
    (program.DATA_INDEX, "constant", lambda: _value(1, dataclasses.replace(_tensor(1), data_buffer_idx=3))),
    (program.DATA_INDEX, "state", lambda: _value(3, dataclasses.replace(_tensor(3), data_buffer_idx=2))),
    (program.DATA_INDEX, "mutable segment", lambda: _other_segment()),
    (program.MEMORY_ID, "reserved", lambda: _first_tensor(allocation_info=m.AllocationDetails(0, 0))),
    (program.MEMORY_ID, "past the end", lambda: _first_tensor(allocation_info=m.AllocationDetails(2, 0))),
    (program.MEMORY_RANGE, "low", lambda: _first_tensor(allocation_info=m.AllocationDetails(1, 4089))),
    (program.MEMORY_RANGE, "high", lambda: _first_tensor(allocation_info=m.AllocationDetails(1, 0, 1))),
    (program.BUFFER_SIZES, "negative", lambda: change_plan(SMALL, non_const_buffer_sizes=(0, -1))),
    (program.BUFFER_DEVICE, "past the end", lambda: _device(5)),
    (program.EXTERNAL_NAME, "absent", lambda: _external(None)),
    (program.EXTERNAL_NAME, "empty", lambda: _external("")),
    (program.STORAGE_OFFSET, "one", lambda: _first_tensor(storage_offset=1)),
]


def _twice(raw: m.Program) -> m.Program:
    plans = raw.execution_plan or ()
    return dataclasses.replace(raw, execution_plan=plans + plans)


def _operator(name: str) -> bytes:
    operators = _plan(STEPS).operators or ()
    return change_plan(STEPS, operators=(*operators, m.Operator(name, "out")))


def _int_condition() -> bytes:
    values = _plan(STEPS).values or ()
    chain = m.Chain(instructions=(m.Instruction(m.JumpFalseCall(3, 0)),))
    return change_plan(STEPS, values=(*values, m.EValue(m.Int(1))), chains=(chain,))


def _huge() -> m.Tensor:
    return m.Tensor(m.ScalarType.DOUBLE, sizes=(2**31 - 1,) * 3, dim_order=(0, 1, 2))


def _other_segment() -> bytes:
    extra = m.ExtraTensorInfo(mutable_data_segments_idx=1)
    return _value(3, dataclasses.replace(_tensor(3), extra_tensor_info=extra))


def _device(index: int) -> bytes:
    return change_plan(SMALL, non_const_buffer_device=(m.NonConstBufferDevice(index),))


def _external(name: str | None) -> bytes:
    extra = m.ExtraTensorInfo(location=m.TensorDataLocation.EXTERNAL, fully_qualified_name=name)
    return _value(4, dataclasses.replace(_tensor(4), extra_tensor_info=extra))


def _constants(**fields: Any) -> bytes:
    entry = raw_program(VALUES).constant_segment
    assert entry is not None
    return change_program(VALUES, constant_segment=dataclasses.replace(entry, **fields))


def _states(**fields: Any) -> bytes:
    entries = raw_program(VALUES).mutable_data_segments
    assert entries is not None
    return change_program(VALUES, mutable_data_segments=(dataclasses.replace(entries[0], **fields),))


def _named(number: int, **fields: Any) -> bytes:
    entries = list(raw_program(VALUES).named_data or ())
    entries[number] = dataclasses.replace(entries[number], **fields)
    return change_program(VALUES, named_data=tuple(entries))


def _delegate(location: int, index: int) -> bytes:
    reference = m.BackendDelegateDataReference(location, index)
    first, *others = _plan(STEPS).delegates or ()
    return change_plan(STEPS, delegates=(dataclasses.replace(first, processed=reference), *others))


DATA: list[tuple[Requirement, str, Make]] = [
    (data.CONSTANTS_ONCE, "in both", lambda: change_program(VALUES, constant_buffer=(m.Buffer(),))),
    (data.SEGMENT_INDEX, "constants", lambda: _constants(segment_index=4)),
    (data.SEGMENT_INDEX, "states", lambda: _states(segment_index=2**32 - 1)),
    (data.SEGMENT_INDEX, "named data", lambda: _named(1, segment_index=2**32 - 1)),
    (data.OFFSETS_ASCEND, "descend", lambda: _constants(offsets=(0, 16, 0))),
    (data.OFFSETS_ASCEND, "past the end", lambda: _constants(offsets=(0, 16, 4096))),
    (data.OFFSETS_ASCEND, "wraps", lambda: _constants(offsets=(0, 2**63, 2**64 - 1))),
    (data.OFFSETS_ASCEND, "states", lambda: _states(offsets=(0, 49))),
    (data.NAMED_KEY_UNIQUE, "twice", lambda: _named(1, key="weights")),
    (data.DELEGATE_REFERENCE, "segment past the end", lambda: _delegate(1, 9)),
    (data.DELEGATE_REFERENCE, "inline past the end", lambda: _delegate(0, 0)),
    (data.DELEGATE_REFERENCE, "location 2", lambda: _delegate(2, 0)),
    (data.DELEGATE_DATA_PRESENT, "absent", lambda: _absent_inline()),
    (data.CONSTANT_HOLDS_TENSOR, "one byte short", lambda: _constants(offsets=(0, 16, 17))),
    (data.CONSTANT_HOLDS_TENSOR, "state", lambda: _states(offsets=(0, 1))),
    (data.MUTABLE_SEGMENTS_DISTINCT, "same twice", lambda: _same_states()),
]


def _absent_inline() -> bytes:
    file = change_program(STEPS, backend_delegate_data=(m.BackendDelegateInlineData(None),))
    reference = m.BackendDelegateDataReference(m.DataLocation.INLINE, 0)
    first, *others = _plan(STEPS).delegates or ()
    return change_plan(file, delegates=(dataclasses.replace(first, processed=reference), *others))


def _same_states() -> bytes:
    entries = raw_program(VALUES).mutable_data_segments or ()
    return change_program(VALUES, mutable_data_segments=entries * 2)


BROKEN = [*CONTAINER, *ENCODING, *PROGRAM, *DATA]

VALID: dict[str, PTEFile] = {**COVERING, "empty_blobs_again": empty_blobs()}
"""Contents whose files must check clean."""
