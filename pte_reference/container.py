"""The outermost layer: identifier, extended header, segment base.

Source: FORMAT section 1. All numbers are little-endian; offsets are from the file's start.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from pte_reference.findings import Finding, FormatError
from pte_reference.model import IDENTIFIER
from pte_reference.requirements import container as rules
from pte_reference.requirements.registry import Requirement

HEADER_POSITION = 8
HEADER_MAGIC = b"eh00"
SHORT_HEADER = 24
LONG_HEADER = 32
"""Header lengths in bytes: before and since the segment data size was added in 1.0.0."""

HEAD_BYTES = 64
"""What a loader reads to look for the header; upstream refuses shorter files."""


@dataclass(frozen=True, slots=True)
class ExtendedHeader:
    """The extended header.

    Attributes:
        length: its length in bytes from byte 8, padding not counted.
        program_size: end of the FlatBuffers data, in bytes from the start of the file.
        segment_base_offset: start of the segments, 0 when there are none.
        segment_data_size: bytes from there to the end of the last segment; None in a header
            that is too short to say.
    """

    length: int
    program_size: int
    segment_base_offset: int
    segment_data_size: int | None

    def to_bytes(self) -> bytes:
        """The header as it stands in a file, without padding."""
        packed = HEADER_MAGIC + struct.pack("<IQQ", self.length, self.program_size, self.segment_base_offset)
        if self.segment_data_size is not None:
            packed += struct.pack("<Q", self.segment_data_size)
        return packed


@dataclass(frozen=True, slots=True)
class Container:
    """What the outermost layer says about a file.

    Attributes:
        size: the file's size in bytes.
        header: the extended header, None when there is none.
    """

    size: int
    header: ExtendedHeader | None

    @property
    def program_start(self) -> int:
        """The first byte behind the identifier and the header."""
        return HEADER_POSITION + (self.header.length if self.header else 0)

    @property
    def program_end(self) -> int:
        """The end of the FlatBuffers data."""
        return self.header.program_size if self.header else self.size

    @property
    def segment_base(self) -> int:
        """What segment offsets count from."""
        return self.header.segment_base_offset if self.header else 0


def read_container(data: memoryview) -> Container:
    """Reads identifier and header.

    Raises:
        FormatError: nothing behind can be trusted, with one finding.
    """
    size = len(data)
    if size < HEADER_POSITION:
        raise _refusal(
            rules.MINIMUM_SIZE,
            0,
            f"the file has {size} bytes",
            "the file is empty or truncated; copy it again",
        )
    identifier = bytes(data[4:8])
    if identifier != IDENTIFIER:
        raise _refusal(
            rules.IDENTIFIER,
            4,
            f"the identifier is {identifier!r}, not {IDENTIFIER!r}",
            _identifier_hint(identifier),
        )
    if bytes(data[8:12]) != HEADER_MAGIC:
        return Container(size, None)
    return Container(size, _read_header(data))


def _read_header(data: memoryview) -> ExtendedHeader:
    size = len(data)
    length = int.from_bytes(data[12:16], "little")
    if length < SHORT_HEADER or HEADER_POSITION + length > size:
        raise _refusal(
            rules.HEADER_LENGTH,
            12,
            f"the header's length is {length}; it must be from {SHORT_HEADER} to"
            f" {max(size - HEADER_POSITION, 0)} in this file",
            "the header is damaged or the file truncated",
        )
    program_size, base = struct.unpack_from("<QQ", data, 16)
    data_size = None
    if length >= LONG_HEADER:
        (data_size,) = struct.unpack_from("<Q", data, 32)
    if not HEADER_POSITION <= program_size <= size:
        raise _refusal(
            rules.PROGRAM_SIZE,
            16,
            f"the program size is {program_size}, the file has {size} bytes",
            "the file is truncated or the header damaged",
        )
    if HEADER_POSITION + length > program_size:
        raise _refusal(
            rules.HEADER_LENGTH,
            12,
            f"the header ends at byte {HEADER_POSITION + length}, the program at {program_size}",
            "one of the two numbers is damaged",
        )
    return ExtendedHeader(length, program_size, base, data_size)


def _identifier_hint(identifier: bytes) -> str:
    known = {
        b"BP08": "this is a bundled program (.bpte), which holds a .pte inside",
        b"FT01": "this is external tensor data (.ptd)",
        b"PK\x03\x04"[:4]: "this looks like a zip archive",
    }
    if identifier in known:
        return known[identifier]
    if identifier[:2] == b"ET":
        return "another ET number is an incompatible version of the format"
    return "this is no ExecuTorch program"


def _refusal(requirement: Requirement, offset: int, message: str, hint: str) -> FormatError:
    return FormatError([Finding(requirement, message, offset=offset, hint=hint)])
