"""The tracing reading walk: records what every byte is for, and goes on after a breach.

It visits the same objects in the same order as :mod:`pte_reference.encoding.decode` and
checks them at the same sites, so that its first finding is the breach that stopped the fast
walk. An object with a breach counts as absent.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from pte_reference.encoding import sites
from pte_reference.encoding.sites import MAX_TABLES, Breach
from pte_reference.findings import Finding, Path
from pte_reference.schema import (
    BlobField,
    Field,
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

MAX_FINDINGS = 1000
"""After so many findings the walk stops looking for more."""

Node: TypeAlias = tuple["Node", str | int] | None
"""A path as a linked list, so that extending it costs the same at any depth."""


class ByteRole(enum.Enum):
    """What bytes of a FlatBuffers program are for."""

    VTABLE = "vtable"
    VTABLE_OFFSET = "vtable offset"
    FIELD = "table field"
    OFFSET = "offset"
    VECTOR = "vector"
    STRING = "string"


@dataclass(frozen=True, slots=True)
class TracedRange:
    """Bytes ``start`` to ``end`` of the file, their role, and the place they belong to."""

    start: int
    end: int
    role: ByteRole
    node: Node

    @property
    def path(self) -> Path:
        """The place in the program, from the root table down."""
        return node_path(self.node)


@dataclass(slots=True)
class Trace:
    """What the walk found: breaches in walk order, and ranges in walk order."""

    findings: list[Finding] = field(default_factory=list)
    ranges: list[TracedRange] = field(default_factory=list)


def node_path(node: Node) -> Path:
    """The path that a linked list of steps stands for."""
    steps: list[str | int] = []
    while node is not None:
        node, step = node
        steps.append(step)
    return tuple(reversed(steps))


def trace_root(
    root: type[Table],
    data: memoryview,
    start: int,
    end: int,
    *,
    max_tables: int = MAX_TABLES,
) -> Trace:
    """Walks a FlatBuffers program; arguments as for ``decode_root``."""
    walk = _Tracer(data, end)
    try:
        position = sites.root_position(data, start, end)
        visits = walk.table(schema_of(root), position, None)
        if not walk.trace.findings:
            sites.check_visits(position, visits, max_tables)
    except Breach as breach:
        walk.report(breach, None)
    except _Stopped:
        pass
    return walk.trace


class _Stopped(Exception):
    """The walk cannot or need not go on."""


class _Tracer:
    """One tracing pass. Its methods return the visits of what they walked."""

    def __init__(self, data: memoryview, end: int) -> None:
        self.data = data
        self.end = end
        self.budget = sites.DECODED_SIZE_FACTOR * end
        self.trace = Trace()
        self._tables: dict[tuple[type[Table], int], int] = {}
        self._vectors: dict[tuple[object, int], int] = {}
        self._vtables: set[int] = set()

    def report(self, breach: Breach, node: Node) -> None:
        """Turns a breach at a place into a finding."""
        findings = self.trace.findings
        findings.append(Finding(breach.requirement, breach.message, node_path(node), breach.offset))
        if len(findings) >= MAX_FINDINGS:
            raise _Stopped

    def _record(self, start: int, size: int, role: ByteRole, node: Node) -> None:
        if size:
            self.trace.ranges.append(TracedRange(start, start + size, role, node))

    def _spend(self, position: int, size: int, node: Node) -> None:
        self.budget -= size
        if self.budget < 0:
            try:
                sites.refuse_decoded_size(position, self.end)
            except Breach as breach:
                self.report(breach, node)
            raise _Stopped

    def table(self, schema: TableSchema, position: int, node: Node) -> int:
        """Walks the table at ``position``."""
        key = (schema.table, position)
        known = self._tables.get(key)
        if known is not None:
            return known
        visits = self._tables[key] = self._new_table(schema, position, node)
        return visits

    def _new_table(self, schema: TableSchema, position: int, node: Node) -> int:
        try:
            vtable, size = sites.vtable_of(self.data, self.end, position)
        except Breach as breach:
            self.report(breach, node)
            return 1
        self._record(position, 4, ByteRole.VTABLE_OFFSET, node)
        if vtable not in self._vtables:
            self._vtables.add(vtable)
            self._record(vtable, size, ByteRole.VTABLE, node)
        offsets = sites.slot_offsets(schema, self.data, vtable, size)
        names = _slot_names(schema)
        broken = set()
        for found in sites.field_breaches(schema, self.end, position, vtable, offsets):
            broken.add(found.slot)
            self.report(found.breach, (node, names[found.slot]))
        visits = 1
        later = []
        for member in schema.fields:
            if isinstance(member.type, UnionField):
                if member.slot not in broken and member.slot - 1 not in broken:
                    later.append((member, member.type.members))
            elif offsets[member.slot] and member.slot not in broken:
                place = position + offsets[member.slot]
                visits += self._field(member, place, (node, member.name))
        for member, members in later:
            visits += self._union(member, members, position, offsets, (node, member.name))
        return visits

    def _field(self, member: Field, place: int, node: Node) -> int:
        kind = member.type
        if isinstance(kind, ScalarField):
            self._record(place, kind.scalar.size, ByteRole.FIELD, node)
            return 0
        self._record(place, 4, ByteRole.OFFSET, node)
        return self._follow(place, node, lambda target: self._object(member, target, node))

    def _follow(self, place: int, node: Node, walk: Callable[[int], int]) -> int:
        """Walks what the offset stored at ``place`` leads to."""
        try:
            target = sites.follow(place, sites.UINT32(self.data, place)[0])
            return walk(target)
        except Breach as breach:
            self.report(breach, node)
            return 0

    def _object(self, member: Field, target: int, node: Node) -> int:
        match member.type:
            case TableField(table):
                return self.table(schema_of(table), target, node)
            case TableVectorField(table):
                return self._table_vector(schema_of(table), target, node)
            case StringField():
                self._string(target, node)
            case ScalarVectorField(scalar):
                self._scalar_vector(scalar.size, scalar, target, node)
            case BlobField():
                _, count = sites.vector_extent(self.data, self.end, target, 1)
                self._record(target, 4 + count, ByteRole.VECTOR, node)
            case ScalarField() | UnionField():
                raise AssertionError(f"{member.name} is no offset")
        return 0

    def _union(
        self,
        member: Field,
        members: tuple[type[Table], ...],
        position: int,
        offsets: tuple[int, ...],
        node: Node,
    ) -> int:
        tag_offset, offset = offsets[member.slot - 1], offsets[member.slot]
        tag = self.data[position + tag_offset] if tag_offset else 0
        self._record(position + tag_offset, 1 if tag_offset else 0, ByteRole.FIELD, node)
        self._record(position + offset, 4 if offset else 0, ByteRole.OFFSET, node)
        if not tag and not offset:
            return 0
        try:
            sites.check_union(position, tag, has_value=bool(offset), members=len(members))
        except Breach as breach:
            self.report(breach, node)
            return 0
        schema = schema_of(members[tag - 1])
        return self._follow(position + offset, node, lambda target: self.table(schema, target, node))

    def _string(self, position: int, node: Node) -> None:
        if (str, position) in self._vectors:
            return
        start, length = sites.string_extent(self.data, self.end, position)
        self._spend(position, length, node)
        sites.string_text(self.data, start, length)
        self._vectors[str, position] = 0
        self._record(position, 4 + length + 1, ByteRole.STRING, node)

    def _scalar_vector(self, size: int, kind: object, position: int, node: Node) -> None:
        if (kind, position) in self._vectors:
            return
        _, count = sites.vector_extent(self.data, self.end, position, size)
        self._spend(position, count * size, node)
        self._vectors[kind, position] = 0
        self._record(position, 4 + count * size, ByteRole.VECTOR, node)

    def _table_vector(self, schema: TableSchema, position: int, node: Node) -> int:
        known = self._vectors.get((schema.table, position))
        if known is not None:
            return known
        start, count = sites.vector_extent(self.data, self.end, position, 4)
        self._spend(position, count * 4, node)
        self._record(position, 4 + count * 4, ByteRole.VECTOR, node)
        visits = 0
        for number, stored in enumerate(struct.unpack_from(f"<{count}I", self.data, start)):
            place: Node = (node, number)
            at = start + 4 * number
            try:
                target = sites.follow(at, stored)
            except Breach as breach:
                self.report(breach, place)
                continue
            visits += self.table(schema, target, place)
        self._vectors[schema.table, position] = visits
        return visits


def _slot_names(schema: TableSchema) -> dict[int, str]:
    names = {}
    for member in schema.fields:
        names[member.slot] = member.name
        if isinstance(member.type, UnionField):
            names[member.slot - 1] = f"{member.name}_type"
    return names
