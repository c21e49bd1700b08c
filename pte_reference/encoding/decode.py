"""The fast reading walk: decodes a program and stops at the first breach.

Every object is decoded once for each class and position; a second place that leads to it
gets the same immutable object and only adds to the count of visits.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from pte_reference.encoding import sites
from pte_reference.encoding.layout import Layout, layout_at
from pte_reference.encoding.sites import INT32, MAX_OFFSET, MAX_TABLES
from pte_reference.schema import (
    Blob,
    BlobField,
    FieldType,
    Scalar,
    ScalarField,
    ScalarVectorField,
    StringField,
    Table,
    TableField,
    TableSchema,
    TableVectorField,
    UnionField,
    schema_of,
)

Follow: TypeAlias = Callable[[int], Any]
"""Decodes the object at a position."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded root table.

    Attributes:
        root: the table.
        complete: whether every needed field of every table is present.
    """

    root: Any
    complete: bool


def decode_root(
    root: type[Table],
    data: memoryview,
    start: int,
    end: int,
    *,
    max_tables: int = MAX_TABLES,
) -> Decoded:
    """Decodes the root table of a FlatBuffers program.

    Args:
        root: the class of the root table.
        data: the file; byte blobs in the result are views of it.
        start: the first byte behind identifier and extended header.
        end: the end of the program in ``data``.
        max_tables: the limit of table visits.

    Raises:
        Breach: at the first broken rule.
    """
    walk = _Walk(data, end)
    position = sites.root_position(data, start, end)
    try:
        decoded = walk.table(root)(position)
        sites.check_visits(position, walk.visits(), max_tables)
    finally:
        walk.release()
    return Decoded(decoded, walk.complete)


class _Walk:
    """One pass over one program: its memos and its budget.

    Visits are not counted one by one: a table decoded for the first time is one visit, and
    only where a second place leads to a table is the whole of what hangs on it weighed and
    added to ``repeated``. No place is followed twice, so that the work stays proportional
    to the program whatever the count.
    """

    def __init__(self, data: memoryview, end: int) -> None:
        self.data = data
        self.end = end
        self.budget = [sites.DECODED_SIZE_FACTOR * end]
        self.repeated = 0
        self.complete = True
        self._memos: list[dict[int, Any]] = []
        self._weights: dict[int, int] = {}
        self._tables: dict[type[Table], Follow] = {}
        self._scalar_vectors: dict[Scalar, Follow] = {}
        self._string = self._make_string()

    def release(self) -> None:
        """Lets go of the closures, which hold the walk: no cycle is left to collect."""
        self._tables.clear()
        self._scalar_vectors.clear()
        del self._string

    def visits(self) -> int:
        """How many tables a walk that follows every offset visits."""
        return sum(map(len, self._memos)) + self.repeated

    def table(self, table: type[Table]) -> Follow:
        """The decoder of a table class."""
        if table not in self._tables:
            self._tables[table] = self._make_table(table)
        return self._tables[table]

    def _weigh(self, table: Table) -> int:
        """The visits of ``table`` and all that hangs on it."""
        weight = self._weights.get(id(table))
        if weight is None:
            weight = 1
            for field in schema_of(type(table)).fields:
                value = getattr(table, field.name)
                if isinstance(value, Table):
                    weight += self._weigh(value)
                elif value and isinstance(field.type, TableVectorField):
                    weight += self._weigh_vector(value)
            self._weights[id(table)] = weight
        return weight

    def _weigh_vector(self, vector: tuple[Table, ...]) -> int:
        weight = self._weights.get(id(vector))
        if weight is None:
            weight = self._weights[id(vector)] = sum(map(self._weigh, vector))
        return weight

    def _spend(self, position: int, size: int) -> None:
        self.budget[0] -= size
        if self.budget[0] < 0:
            sites.refuse_decoded_size(position, self.end)

    def _make_table(self, table: type[Table]) -> Follow:
        schema = schema_of(table)
        data, end = self.data, self.end
        followers = [self._follower(field.type) for field in schema.fields]
        read_union = self._make_union(schema)
        memo: dict[int, Table] = {}
        self._memos.append(memo)
        layouts: dict[int, Layout] = {}

        def layout_of(position: int) -> Layout:
            vtable, size = sites.vtable_of(data, end, position)
            layout = layouts[vtable] = layout_at(schema, data, vtable, size)
            self.complete = self.complete and layout.complete
            return layout

        def decode(position: int) -> Table:
            decoded = memo.get(position)
            if decoded is not None:
                self.repeated += self._weigh(decoded)
                return decoded
            if position & 3 or position > end - 4:
                layout = layout_of(position)
            else:
                layout = layouts.get(position - INT32(data, position)[0]) or layout_of(position)
            if position + layout.extent > end or position & layout.mask != layout.residue:
                vtable, size = sites.vtable_of(data, end, position)
                offsets = sites.slot_offsets(schema, data, vtable, size)
                for found in sites.field_breaches(schema, end, position, vtable, offsets):
                    raise found.breach
            row = list(layout.pick(layout.unpack(data, position) + layout.absent))
            for index, convert in layout.enums:
                row[index] = convert(row[index], row[index])
            for index, offset in layout.pointers:
                stored = row[index]
                at = position + offset
                if not 0 < stored <= MAX_OFFSET:
                    sites.follow(at, stored)
                row[index] = followers[index](at + stored)
            if layout.unions:
                read_union(position, row, layout)
            memo[position] = decoded = table(*row)
            return decoded

        return decode

    def _make_union(self, schema: TableSchema) -> Callable[[int, list[Any], Layout], None]:
        """Replaces the stored offsets of unions in a row by tables, and drops the types."""
        width = len(schema.fields)
        members = {
            index: [self.table(member) for member in field.type.members]
            for index, field in enumerate(schema.fields)
            if isinstance(field.type, UnionField)
        }

        def read(position: int, row: list[Any], layout: Layout) -> None:
            for index, offset, tag_index in layout.unions:
                tag = row[tag_index]
                if tag or offset:
                    known = members[index]
                    if not tag or not offset or tag > len(known):
                        sites.check_union(position, tag, has_value=bool(offset), members=len(known))
                    at = position + offset
                    row[index] = known[tag - 1](sites.follow(at, row[index]))
            del row[width:]

        return read

    def _follower(self, kind: FieldType) -> Follow:
        match kind:
            case StringField():
                return self._string
            case TableField(table):
                return self.table(table)
            case TableVectorField(table):
                return self._make_table_vector(self.table(table))
            case ScalarVectorField(scalar):
                if scalar not in self._scalar_vectors:
                    self._scalar_vectors[scalar] = self._make_scalar_vector(scalar)
                return self._scalar_vectors[scalar]
            case BlobField():
                return self._blob
            case ScalarField() | UnionField():
                return _not_followed

    def _make_string(self) -> Follow:
        memo: dict[int, str] = {}

        def decode(position: int) -> str:
            text = memo.get(position)
            if text is None:
                start, length = sites.string_extent(self.data, self.end, position)
                self._spend(position, length)
                text = memo[position] = sites.string_text(self.data, start, length)
            return text

        return decode

    def _make_scalar_vector(self, scalar: Scalar) -> Follow:
        memo: dict[int, tuple[Any, ...]] = {}
        data, end, budget = self.data, self.end, self.budget
        size, code = scalar.size, scalar.code
        unpackers: dict[int, Callable[[Blob, int], tuple[Any, ...]]] = {}

        def decode(position: int) -> tuple[Any, ...]:
            elements = memo.get(position)
            if elements is None:
                start, count = sites.vector_extent(data, end, position, size)
                budget[0] -= count * size
                if budget[0] < 0:
                    sites.refuse_decoded_size(position, end)
                unpack = unpackers.get(count)
                if unpack is None:
                    unpack = unpackers[count] = struct.Struct(f"<{count}{code}").unpack_from
                elements = memo[position] = unpack(data, start)
            return elements

        return decode

    def _blob(self, position: int) -> Blob:
        start, count = sites.vector_extent(self.data, self.end, position, 1)
        return self.data[start : start + count]

    def _make_table_vector(self, element: Follow) -> Follow:
        memo: dict[int, tuple[Table, ...]] = {}
        data, end = self.data, self.end

        def decode(position: int) -> tuple[Table, ...]:
            elements = memo.get(position)
            if elements is not None:
                self.repeated += self._weigh_vector(elements)
                return elements
            start, count = sites.vector_extent(data, end, position, 4)
            self._spend(position, count * 4)
            decoded = []
            at = start
            for stored in struct.unpack_from(f"<{count}I", data, start):
                if not 0 < stored <= MAX_OFFSET:
                    sites.follow(at, stored)
                decoded.append(element(at + stored))
                at += 4
            elements = memo[position] = tuple(decoded)
            return elements

        return decode


def _not_followed(position: int) -> Any:
    raise AssertionError(f"a scalar at byte {position} is no offset")
