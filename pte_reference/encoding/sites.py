"""The named places where an encoding rule is checked, shared by both reading walks.

A site looks at one object (table, string, vector, offset) and raises :class:`Breach` when
the object breaks a rule. ``data`` is the whole file and ``end`` the end of the program in
it, so that every position is a file offset.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from pte_reference.requirements import encoding as rules
from pte_reference.requirements.registry import Requirement
from pte_reference.schema import (
    Blob,
    ScalarField,
    TableSchema,
    UnionField,
)

UINT32 = struct.Struct("<I").unpack_from
INT32 = struct.Struct("<i").unpack_from
UINT16 = struct.Struct("<H").unpack_from
_TWO_UINT16 = struct.Struct("<HH").unpack_from

MAX_OFFSET = 2**31 - 1
MAX_TABLES = 1_000_000
"""Default limit of table visits, the one of the C++ verifier."""

DECODED_SIZE_FACTOR = 4

FIRST_POSITION = 8
"""No object lies before: the root offset and the identifier do."""


class Breach(Exception):
    """An encoding rule is broken at a file offset; never leaves the package."""

    def __init__(self, requirement: Requirement, offset: int, message: str) -> None:
        super().__init__(message)
        self.requirement = requirement
        self.offset = offset
        self.message = message


@dataclass(frozen=True, slots=True)
class FieldBreach:
    """A breach of one field of a table, by slot."""

    slot: int
    breach: Breach


def root_position(data: Blob, start: int, end: int) -> int:
    """The root table's position.

    Args:
        data: the file.
        start: the first byte behind identifier and extended header.
        end: the end of the program.
    """
    root: int = UINT32(data, 0)[0]
    if not start <= root <= end - 4 or root % 4:
        raise Breach(
            rules.ROOT_OFFSET,
            0,
            f"the root offset is {root}; a root table lies between {start} and {end}, at a multiple of 4",
        )
    return root


def follow(position: int, offset: int) -> int:
    """Where the offset stored at ``position`` leads."""
    if not 0 < offset <= MAX_OFFSET:
        raise Breach(rules.OFFSET_FORWARD, position, f"the offset is {offset}, not in 1 to {MAX_OFFSET}")
    return position + offset


def vtable_of(data: Blob, end: int, position: int) -> tuple[int, int]:
    """Position and size of the vtable of the table at ``position``."""
    if position > end - 4:
        raise Breach(
            rules.TABLE_IN_PROGRAM,
            position,
            f"a table at byte {position} starts past the program's end at {end}",
        )
    if position % 4:
        raise Breach(rules.TABLE_ALIGNED, position, f"a table at byte {position}, no multiple of 4")
    vtable = position - INT32(data, position)[0]
    if not FIRST_POSITION <= vtable <= end - 4 or vtable % 2:
        raise Breach(
            rules.VTABLE_IN_PROGRAM,
            position,
            f"the vtable would be at byte {vtable}; it fits at even bytes from {FIRST_POSITION} to {end - 4}",
        )
    size, table_size = _TWO_UINT16(data, vtable)
    if size < 4 or size % 2 or vtable + size > end:
        raise Breach(
            rules.VTABLE_SIZE,
            vtable,
            f"the vtable's size is {size}; it must be even, at least 4, and end by {end}",
        )
    if table_size < 4:
        raise Breach(rules.VTABLE_SIZE, vtable + 2, f"the vtable gives the table a size of {table_size}")
    return vtable, size


def slot_offsets(schema: TableSchema, data: Blob, vtable: int, size: int) -> tuple[int, ...]:
    """The field offsets of the slots that the schema knows; 0 for an absent field."""
    stored = min(schema.slots, size // 2 - 2)
    offsets: tuple[int, ...] = struct.unpack_from(f"<{stored}H", data, vtable + 4)
    return offsets + (0,) * (schema.slots - stored)


def slot_sizes(schema: TableSchema) -> tuple[int, ...]:
    """The size in bytes of what each slot stores in the table itself."""
    sizes = [4] * schema.slots
    for field in schema.fields:
        match field.type:
            case ScalarField(scalar):
                sizes[field.slot] = scalar.size
            case UnionField():
                sizes[field.slot - 1] = 1
            case _:
                pass
    return tuple(sizes)


def field_breaches(
    schema: TableSchema, end: int, position: int, vtable: int, offsets: tuple[int, ...]
) -> Iterator[FieldBreach]:
    """What is wrong with the places of a table's fields, slot by slot.

    Args:
        schema: the table's class.
        end: the end of the program.
        position: where the table is.
        vtable: where its vtable is.
        offsets: what the vtable says, by slot.
    """
    for slot, (offset, size) in enumerate(zip(offsets, slot_sizes(schema), strict=True)):
        if not offset:
            continue
        start = position + offset
        if offset < 4 or start + size > end:
            yield FieldBreach(
                slot,
                Breach(
                    rules.FIELD_IN_PROGRAM,
                    # The field may be nowhere in the file; what leads there is.
                    vtable + 4 + 2 * slot,
                    f"{size} bytes at offset {offset} of the table at byte {position}; they must"
                    f" lie behind its first 4 bytes and end by {end}",
                ),
            )
        elif start % size:
            yield FieldBreach(
                slot,
                Breach(
                    rules.FIELD_ALIGNED,
                    start,
                    f"a field of {size} bytes at byte {start}, no multiple of its size",
                ),
            )


def string_extent(data: Blob, end: int, position: int) -> tuple[int, int]:
    """First byte and length of the string at ``position``, terminator checked."""
    if position % 4 or position > end - 4:
        raise Breach(
            rules.STRING_IN_PROGRAM,
            position,
            f"a string's length at byte {position}; it must be at a multiple of 4 and end by {end}",
        )
    length: int = UINT32(data, position)[0]
    start = position + 4
    if start + length + 1 > end:
        raise Breach(
            rules.STRING_IN_PROGRAM,
            position,
            f"a string of {length} bytes and its zero byte from byte {start} end past {end}",
        )
    if data[start + length]:
        raise Breach(
            rules.STRING_TERMINATED,
            start + length,
            f"the byte after the string is {data[start + length]}, not 0",
        )
    return start, length


def string_text(data: Blob, start: int, length: int) -> str:
    """The text of a string."""
    try:
        return str(data[start : start + length], "utf-8")
    except UnicodeDecodeError as error:
        raise Breach(rules.STRING_UTF8, start + error.start, f"not UTF-8: {error.reason}") from None


def vector_extent(data: Blob, end: int, position: int, element: int) -> tuple[int, int]:
    """First byte and element count of the vector at ``position``.

    Args:
        data: the file.
        end: the end of the program.
        position: where the vector's length is.
        element: the size of an element in bytes, which is its alignment.
    """
    if position % 4 or position > end - 4:
        raise Breach(
            rules.VECTOR_IN_PROGRAM,
            position,
            f"a vector's length at byte {position}; it must be at a multiple of 4 and end by {end}",
        )
    count: int = UINT32(data, position)[0]
    start = position + 4
    if start + count * element > end:
        raise Breach(
            rules.VECTOR_IN_PROGRAM,
            position,
            f"a vector of {count} elements of {element} bytes from byte {start} ends past {end}",
        )
    if count and start % element:
        raise Breach(
            rules.VECTOR_ALIGNED,
            start,
            f"elements of {element} bytes from byte {start}, no multiple of their size",
        )
    return start, count


def check_union(position: int, tag: int, *, has_value: bool, members: int) -> None:
    """Checks that a union's type and value belong together; ``position`` is the table's."""
    if tag and not has_value:
        raise Breach(rules.UNION_CONSISTENT, position, f"the union's type is {tag} but it has no value")
    if has_value and not tag:
        raise Breach(rules.UNION_CONSISTENT, position, "the union has a value but its type is 0 (none)")
    if tag > members:
        raise Breach(rules.UNION_KNOWN, position, f"the union's type is {tag}; known are 1 to {members}")


def check_visits(position: int, visits: int, limit: int) -> None:
    """Checks the number of table visits against the reader's limit."""
    if visits > limit:
        raise Breach(
            rules.TABLE_COUNT,
            position,
            f"following every offset visits {visits} tables; the limit is {limit}",
        )


def refuse_decoded_size(position: int, end: int) -> None:
    """Raises when strings and vectors together outgrow the program they are in."""
    raise Breach(
        rules.DECODED_SIZE,
        position,
        f"strings and vectors up to the one at byte {position} hold more than"
        f" {DECODED_SIZE_FACTOR} times the {end} bytes of the program",
    )
