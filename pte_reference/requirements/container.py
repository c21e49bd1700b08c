"""Requirements of the container: identifier, extended header, sizes, segments, padding.

Source, where none other is given: the public format description and the releases' readers.
What a file should keep to and a writer must (order, padding, nothing behind) has a rule of
its own for writers, in :mod:`pte_reference.requirements.writer`.
"""

from __future__ import annotations

from pte_reference.requirements.registry import Level, Role, declare

_HEADER = "ExecuTorch extended header, release 1.0.0"
_SEGMENTS = "ExecuTorch program.fbs: DataSegment"

MINIMUM_SIZE = declare(
    "container/minimum-size",
    Level.MUST,
    Role.READER,
    "A file has at least 8 bytes: the root offset and the identifier.",
    source="FlatBuffers internals",
    consequence="read outside the buffer",
)

HEADER_READABLE = declare(
    "container/head-readable",
    Level.SHOULD,
    (Role.CHECKER, Role.WRITER),
    "A file has at least 64 bytes, the length that loaders read to look for the header.",
    source="ExecuTorch 1.5.1: Program::load",
    consequence="upstream's runtime refuses the file",
)

IDENTIFIER = declare(
    "container/identifier",
    Level.MUST,
    Role.READER,
    "Bytes 4 to 7 are ET12.",
    source="program.fbs: file_identifier",
    consequence="a file of another kind or an incompatible version is decoded as a program",
)

HEADER_LENGTH = declare(
    "container/header-length",
    Level.MUST,
    Role.READER,
    "An extended header's length is at least 24, and the header lies inside the program.",
    source=_HEADER,
    consequence="header fields are read from bytes that are not the header's",
)

PROGRAM_SIZE = declare(
    "container/program-size-within-file",
    Level.MUST,
    Role.READER,
    "The header's program size is at least 8 bytes and no more than the file.",
    source=_HEADER,
    consequence="read outside the buffer, or a truncated file is taken for a whole one",
)

SEGMENT_BASE = declare(
    "container/segment-base",
    Level.MUST,
    (Role.CHECKER, Role.WRITER),
    "The segment base, where it is not 0, lies at or behind the end of the program and inside the file.",
    source="ExecuTorch extended header; FORMAT section 7",
    consequence="segments alias the program, or lie outside the file",
)

HEADER_NEEDED = declare(
    "container/segments-need-header",
    Level.MUST,
    Role.READER,
    "A program that lists a segment of more than 0 bytes has an extended header, with a segment"
    " base that is not 0.",
    source="FORMAT section 1",
    consequence="readers take base 0 and serve the program's own bytes as weights",
)

SEGMENT_IN_FILE = declare(
    "container/segment-within-file",
    Level.MUST,
    Role.READER,
    "Every segment ends inside the file; base + offset + size does not wrap.",
    source=_SEGMENTS,
    consequence="read outside the buffer, or short data",
)

DATA_SIZE = declare(
    "container/segment-data-size",
    Level.MUST,
    Role.LOADER,
    "The header's segment data size, where it is given and not 0, reaches from the base to the"
    " end of the last segment and not past the end of the file.",
    source=_HEADER,
    consequence="a truncated file is taken for a whole one",
)

SEGMENTS_SORTED = declare(
    "container/segments-sorted",
    Level.SHOULD,
    Role.CHECKER,
    "Segments are listed in the order of their offsets.",
    source="program.fbs: Program.segments",
    consequence="readers that take the last entry for the end of the data read too little",
)

SEGMENTS_DISJOINT = declare(
    "container/segments-disjoint",
    Level.MUST,
    (Role.CHECKER, Role.WRITER),
    "No two segments share a byte.",
    source=_SEGMENTS,
    consequence="two blobs alias; writing one changes the other",
)

PADDING_ZERO = declare(
    "container/padding-zero",
    Level.SHOULD,
    Role.CHECKER,
    "The bytes between header and program, program and segments, and between segments are zero.",
    source="FORMAT section 1; all golden files",
    consequence="equal content gives different files; bytes leak from the writer's memory",
)

NOTHING_BEHIND = declare(
    "container/nothing-behind",
    Level.SHOULD,
    Role.CHECKER,
    "The file ends with its last segment, or with the program when there is no segment data.",
    source="FORMAT section 1; all golden files",
    consequence="foreign bytes travel with the model unseen",
)
