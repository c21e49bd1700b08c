"""Finds the byte offset of a place in a program, given its path."""

from __future__ import annotations

from pte_reference.encoding import sites
from pte_reference.encoding.sites import Breach
from pte_reference.findings import Path
from pte_reference.schema import (
    BlobField,
    Field,
    ScalarField,
    ScalarVectorField,
    Table,
    TableField,
    TableSchema,
    TableVectorField,
    UnionField,
    schema_of,
)


def locate(root: type[Table], data: memoryview, start: int, end: int, path: Path) -> int | None:
    """The offset of what ``path`` leads to, or of the nearest thing before it that exists.

    Args:
        root: the class of the root table.
        data: the file.
        start: the first byte behind identifier and extended header.
        end: the end of the program.
        path: field names and vector indices from the root table down.
    """
    nearest: int | None = None
    try:
        nearest = sites.root_position(data, start, end)
        table: TableSchema | None = schema_of(root)
        member: Field | None = None
        for step in path:
            if isinstance(step, int):
                if member is None:
                    return nearest
                found, table = _element(member, data, end, nearest, step)
                member = None
            else:
                if table is None:
                    return nearest
                member = table.field(step)
                found, table = _member(table, member, data, end, nearest)
            if found is None:
                return nearest
            nearest = found
    except Breach:
        pass
    return nearest


def _member(
    schema: TableSchema, member: Field, data: memoryview, end: int, position: int
) -> tuple[int | None, TableSchema | None]:
    """Where a field's content is, and the class of the table there if it is one."""
    vtable, size = sites.vtable_of(data, end, position)
    offsets = sites.slot_offsets(schema, data, vtable, size)
    for found in sites.field_breaches(schema, end, position, vtable, offsets):
        raise found.breach
    if not offsets[member.slot]:
        return None, None
    place = position + offsets[member.slot]
    if isinstance(member.type, ScalarField):
        return place, None
    target = sites.follow(place, sites.UINT32(data, place)[0])
    match member.type:
        case TableField(table):
            return target, schema_of(table)
        case UnionField(_, members):
            tag_offset = offsets[member.slot - 1]
            tag = data[position + tag_offset] if tag_offset else 0
            sites.check_union(position, tag, has_value=True, members=len(members))
            return target, schema_of(members[tag - 1])
        case _:
            return target, None


def _element(
    member: Field, data: memoryview, end: int, position: int, number: int
) -> tuple[int | None, TableSchema | None]:
    """Where an element of the vector at ``position`` is."""
    match member.type:
        case TableVectorField(table):
            start, count = sites.vector_extent(data, end, position, 4)
            if number >= count:
                return None, None
            place = start + 4 * number
            return sites.follow(place, sites.UINT32(data, place)[0]), schema_of(table)
        case ScalarVectorField(scalar):
            start, count = sites.vector_extent(data, end, position, scalar.size)
            return (start + scalar.size * number if number < count else None), None
        case BlobField():
            start, count = sites.vector_extent(data, end, position, 1)
            return (start + number if number < count else None), None
        case _:
            return None, None
