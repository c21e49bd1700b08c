"""How the fields of one table class lie behind one vtable, prepared for fast decoding.

Tables of one class mostly share a few vtables. For each, a :class:`Layout` holds one
compiled unpacker for all scalar fields and stored offsets at once, and the bounds and
alignment tests boiled down to two comparisons.
"""

from __future__ import annotations

import enum
import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from pte_reference.encoding.sites import slot_offsets, slot_sizes
from pte_reference.schema import Blob, ScalarField, TableSchema, UnionField

Unpack: TypeAlias = Callable[[Blob, int], tuple[Any, ...]]

_CACHE_LIMIT = 4096


@dataclass(frozen=True, slots=True)
class Layout:
    """The field places of a table class behind one vtable.

    Attributes:
        extent: bytes from the table's start to the end of its last known field.
        mask: one less than the largest alignment of a field.
        residue: what ``position & mask`` must be; -1 when no position can be right.
        unpack: reads all present fields in the order in which they lie.
        absent: what the absent fields read as; appended to what ``unpack`` gives.
        pick: brings them into field order; the types of unions come last.
        pointers: row index, offset in the table, and field number of stored offsets.
        unions: row index and offset of the value (0 when absent), row index of the type.
        enums: row index and conversion of present enum fields.
        complete: whether every needed field is present.
    """

    extent: int
    mask: int
    residue: int
    unpack: Unpack
    absent: tuple[Any, ...]
    pick: Callable[[tuple[Any, ...]], tuple[Any, ...]]
    pointers: tuple[tuple[int, int], ...]
    unions: tuple[tuple[int, int, int], ...]
    enums: tuple[tuple[int, Callable[[int, int], int]], ...]
    complete: bool


_layouts: dict[tuple[type, bytes], Layout] = {}


def layout_at(schema: TableSchema, data: Blob, vtable: int, size: int) -> Layout:
    """The layout behind the vtable at ``vtable``, whose size has been checked."""
    stored = min(size, 4 + 2 * schema.slots)
    key = (schema.table, bytes(data[vtable + 4 : vtable + stored]))
    layout = _layouts.get(key)
    if layout is None:
        if len(_layouts) >= _CACHE_LIMIT:
            # Hostile files can bring vtables without end; real ones have a few dozen.
            _layouts.clear()
        layout = _layouts[key] = _make_layout(schema, slot_offsets(schema, data, vtable, size))
    return layout


def _make_layout(schema: TableSchema, offsets: tuple[int, ...]) -> Layout:
    codes = _slot_codes(schema)
    sizes = slot_sizes(schema)
    present = sorted((offset, slot) for slot, offset in enumerate(offsets) if offset)
    mask, residue = _alignment([(offset, sizes[slot]) for offset, slot in present])
    if any(offset < 4 for offset, _ in present):
        residue = -1
    place_of = {slot: place for place, (_, slot) in enumerate(present)}
    absent: list[Any] = []

    def source(slot: int, default: Any) -> int:
        if slot in place_of:
            return place_of[slot]
        absent.append(default)
        return len(present) + len(absent) - 1

    order = [source(field.slot, field.default) for field in schema.fields]
    unions = [field for field in schema.fields if isinstance(field.type, UnionField)]
    order.extend(source(field.slot - 1, 0) for field in unions)
    return Layout(
        extent=max((offset + sizes[slot] for offset, slot in present), default=4),
        mask=mask,
        residue=residue,
        unpack=_unpacker([(offset, codes[slot], sizes[slot]) for offset, slot in present]),
        absent=tuple(absent),
        pick=_picker(order),
        pointers=tuple(
            (index, offsets[field.slot])
            for index, field in enumerate(schema.fields)
            if offsets[field.slot] and not isinstance(field.type, ScalarField | UnionField)
        ),
        unions=tuple(
            (schema.fields.index(field), offsets[field.slot], len(schema.fields) + number)
            for number, field in enumerate(unions)
        ),
        enums=tuple(
            (index, _enum_reader(field.type.enum))
            for index, field in enumerate(schema.fields)
            if isinstance(field.type, ScalarField) and field.type.enum and offsets[field.slot]
        ),
        complete=all(offsets[field.slot] for field in schema.fields if field.needed),
    )


def _slot_codes(schema: TableSchema) -> dict[int, str]:
    codes: dict[int, str] = {}
    for field in schema.fields:
        codes[field.slot] = field.type.scalar.code if isinstance(field.type, ScalarField) else "I"
        if isinstance(field.type, UnionField):
            codes[field.slot - 1] = "B"
    return codes


def _alignment(fields: list[tuple[int, int]]) -> tuple[int, int]:
    """Mask and residue that a table's position must have for all fields to be aligned.

    The table itself, whose first four bytes lead to the vtable, counts as a field.
    """
    everything = [(0, 4), *fields]
    largest = max(size for _, size in everything)
    for residue in range(0, largest, 4):
        if all((residue + offset) % size == 0 for offset, size in everything):
            return largest - 1, residue
    return largest - 1, -1


def _unpacker(fields: list[tuple[int, str, int]]) -> Unpack:
    """Reads the fields, given by offset, code and size in ascending order of offset."""
    text = "<"
    at = 0
    for offset, code, size in fields:
        if offset < at:
            # Fields that share bytes are legal and rare: one struct cannot read them.
            readers = [(struct.Struct(f"<{code}").unpack_from, offset) for offset, code, _ in fields]
            return lambda data, position: tuple(read(data, position + offset)[0] for read, offset in readers)
        text += f"{offset - at}x{code}"
        at = offset + size
    return struct.Struct(text).unpack_from


def _picker(order: list[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    if len(order) > 1:
        return operator.itemgetter(*order)
    # itemgetter gives a bare item for one index; a slice gives the row that is wanted.
    first = order[0] if order else 0
    return operator.itemgetter(slice(first, first + len(order)))


def _enum_reader(values: type[enum.IntEnum]) -> Callable[[int, int], int]:
    known: dict[int, int] = {value.value: value for value in values}
    return known.get
