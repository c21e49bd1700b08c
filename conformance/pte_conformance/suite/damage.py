"""Damaged files: golden parents, each with one change that breaks one requirement.

The places of the changes are found by the file map of the undamaged parent. Self-tests show
that each parent checks clean and each damaged file breaks just the requirement it names.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pte_corpus

from pte_reference import Region, Requirement, file_map, path_text
from pte_reference.requirements import container, data, encoding, program

EVERYTHING = "golden/1.2.0/hb_everything.pte"
"""Constants, mutable data, a delegate in a segment, named data, a header of 32 bytes."""

INSTRUCTIONS = "golden/1.2.0/hb_all_instructions.pte"
VALUES = "golden/1.2.0/hb_all_values.pte"


@dataclass(frozen=True, slots=True)
class Damaged:
    """A damaged file.

    Attributes:
        name: what was done, for the case's name.
        requirement: what it breaks.
        make: gives the file.
    """

    name: str
    requirement: Requirement
    make: Callable[[], bytes]


@cache
def parent(path: str) -> bytes:
    """A file of the corpus."""
    return (pte_corpus.root() / path).read_bytes()


def patched(path: str, offset: int, patch: bytes) -> bytes:
    """A file of the corpus with other bytes at ``offset``."""
    file = parent(path)
    if offset + len(patch) > len(file):
        raise ValueError(f"byte {offset} is not in {path}")
    return file[:offset] + patch + file[offset + len(patch) :]


def place(path: str, region: Region, where: str) -> int:
    """Where in a file something begins.

    Raises:
        LookupError: the file has no such thing.
    """
    for one in file_map(parent(path)).ranges:
        if one.region is region and path_text(one.path) == where:
            return one.start
    raise LookupError(f"no {region.value} {where} in {path}")


def _patch(name: str, requirement: Requirement, offset: int, patch: bytes, path: str = EVERYTHING) -> Damaged:
    return Damaged(name, requirement, lambda: patched(path, offset, patch))


def _field(name: str, requirement: Requirement, where: str, patch: bytes, path: str = EVERYTHING) -> Damaged:
    return Damaged(name, requirement, lambda: patched(path, place(path, Region.FIELD, where), patch))


def _element(
    name: str, requirement: Requirement, where: str, number: int, patch: bytes, path: str = EVERYTHING
) -> Damaged:
    """One element of a vector replaced; they begin behind the vector's length."""

    def make() -> bytes:
        return patched(path, place(path, Region.VECTOR, where) + 4 + number * len(patch), patch)

    return Damaged(name, requirement, make)


def _length(name: str, requirement: Requirement, region: Region, where: str, length: int) -> Damaged:
    return Damaged(
        name, requirement, lambda: patched(EVERYTHING, place(EVERYTHING, region, where), u32(length))
    )


def _cut(
    name: str, requirement: Requirement, size: Callable[[bytes], int], path: str = EVERYTHING
) -> Damaged:
    return Damaged(name, requirement, lambda: parent(path)[: size(parent(path))])


def u32(number: int) -> bytes:
    """Four bytes, little-endian."""
    return struct.pack("<I", number & 0xFFFF_FFFF)


def u64(number: int) -> bytes:
    """Eight bytes, little-endian."""
    return struct.pack("<Q", number & 0xFFFF_FFFF_FFFF_FFFF)


def _program_size(file: bytes) -> int:
    return int.from_bytes(file[16:24], "little")


def _base(file: bytes) -> int:
    return int.from_bytes(file[24:32], "little")


CONTAINER = [
    _cut("empty file", container.MINIMUM_SIZE, lambda _: 0),
    _cut("cut after seven bytes", container.MINIMUM_SIZE, lambda _: 7),
    _patch("identifier of another version", container.IDENTIFIER, 4, b"ET99"),
    _patch("identifier of a bundled program", container.IDENTIFIER, 4, b"BP08"),
    _patch("identifier of zeros", container.IDENTIFIER, 4, bytes(4)),
    _patch("header length 0", container.HEADER_LENGTH, 12, u32(0)),
    _patch("header length 23", container.HEADER_LENGTH, 12, u32(23)),
    _cut("cut inside the header", container.HEADER_LENGTH, lambda _: 30),
    _patch("program size 2**64 - 1", container.PROGRAM_SIZE, 16, u64(-1)),
    _cut("cut inside the program", container.PROGRAM_SIZE, lambda file: _program_size(file) - 1),
    _patch("magic damaged", container.HEADER_NEEDED, 8, b"eh01"),
    _patch("segment base 0", container.HEADER_NEEDED, 24, u64(0)),
    _patch("segment base near 2**64", container.SEGMENT_IN_FILE, 24, u64(-128)),
    _cut("cut before the segments", container.SEGMENT_IN_FILE, _base),
    _cut("cut inside the segments", container.SEGMENT_IN_FILE, lambda file: len(file) - 1),
    _field("segment past the end", container.SEGMENT_IN_FILE, "segments[2].offset", u64(2**20)),
    _field("segment offset near 2**64", container.SEGMENT_IN_FILE, "segments[2].offset", u64(-8)),
    _field("segment size 2**64 - 1", container.SEGMENT_IN_FILE, "segments[2].size", u64(-1)),
    _patch("segment data size too large", container.DATA_SIZE, 32, u64(2**40)),
]

_PLAN = "execution_plan[0]"

ENCODING = [
    _patch("root offset far outside", encoding.ROOT_OFFSET, 0, u32(0x7FFF_FFF0)),
    _patch("root offset 0", encoding.ROOT_OFFSET, 0, u32(0)),
    _length("string past the end", encoding.STRING_IN_PROGRAM, Region.STRING, f"{_PLAN}.name", 2**31),
    _length("vector past the end", encoding.VECTOR_IN_PROGRAM, Region.VECTOR, f"{_PLAN}.inputs", 2**28),
    Damaged(
        "method name not UTF-8",
        encoding.STRING_UTF8,
        lambda: patched(EVERYTHING, place(EVERYTHING, Region.STRING, f"{_PLAN}.name") + 4, b"\xff"),
    ),
]

DATA = [
    _field("named data in segment 9", data.SEGMENT_INDEX, "named_data[1].segment_index", u32(9)),
    _field("named data in segment 2**32 - 1", data.SEGMENT_INDEX, "named_data[1].segment_index", u32(-1)),
    _field("states in segment 99", data.SEGMENT_INDEX, "mutable_data_segments[0].segment_index", u32(99)),
    _element("constant offsets descend", data.OFFSETS_ASCEND, "constant_segment.offsets", 3, u64(16)),
    _element("constant past its segment", data.OFFSETS_ASCEND, "constant_segment.offsets", 3, u64(4096)),
    _element("constant offset near 2**63", data.OFFSETS_ASCEND, "constant_segment.offsets", 2, u64(2**63)),
    _field("delegate in segment 9", data.DELEGATE_REFERENCE, f"{_PLAN}.delegates[0].processed.index", u32(9)),
]

_STEP = f"{_PLAN}.chains[0].instructions"
_VALUE = f"{_PLAN}.values"

PROGRAM = [
    _element("input past the values", program.VALUE_INDEX, f"{_PLAN}.inputs", 0, u32(99)),
    _element("input negative", program.VALUE_INDEX, f"{_PLAN}.inputs", 0, u32(-1)),
    _element("output past the values", program.VALUE_INDEX, f"{_PLAN}.outputs", 0, u32(99)),
    _element(
        "argument past the values",
        program.VALUE_INDEX,
        f"{_STEP}[0].instr_args.args",
        1,
        u32(77),
        INSTRUCTIONS,
    ),
    _field("move to -1", program.VALUE_INDEX, f"{_STEP}[1].instr_args.move_to", u32(-1), INSTRUCTIONS),
    _field("free of 99", program.VALUE_INDEX, f"{_STEP}[3].instr_args.value_index", u32(99), INSTRUCTIONS),
    _field(
        "jump past the end",
        program.JUMP_TARGET,
        f"{_STEP}[2].instr_args.destination_instruction",
        u32(99),
        INSTRUCTIONS,
    ),
    _element("size negative", program.SIZES, f"{_VALUE}[12].val.sizes", 0, u32(-1), VALUES),
    _element("dim_order out of range", program.DIM_ORDER, f"{_VALUE}[18].val.dim_order", 0, b"\x09", VALUES),
    _field("scalar type 99", program.SCALAR_TYPE, f"{_VALUE}[12].val.scalar_type", b"\x63", VALUES),
    _field("union type 77", encoding.UNION_KNOWN, f"{_VALUE}[1].val", b"\x4d", VALUES),
]

DAMAGED = (*CONTAINER, *ENCODING, *DATA, *PROGRAM)
"""All damaged files."""
