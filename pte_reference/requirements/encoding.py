"""Requirements of the FlatBuffers encoding.

Each is checked at a named site of the two walks in :mod:`pte_reference.encoding`. Source,
where none other is given: the FlatBuffers "internals" document and what the C++ verifier
of release 25 refuses.
"""

from __future__ import annotations

from pte_reference.requirements.registry import Level, Role, declare

_INTERNALS = "FlatBuffers internals"
_VERIFIER = "FlatBuffers C++ verifier"

ROOT_OFFSET = declare(
    "encoding/root-offset",
    Level.MUST,
    Role.READER,
    "The uint32 at byte 0 leads to a root table behind the file identifier and inside the"
    " program, at a multiple of 4.",
    source="FlatBuffers internals; ExecuTorch 1.3.0 checks it even at Minimal verification",
    consequence="readers follow the offset outside the buffer",
)

OFFSET_FORWARD = declare(
    "encoding/offset-forward",
    Level.MUST,
    Role.READER,
    "An offset is at least 1 and below 2**31, so that it leads forward.",
    source=_VERIFIER,
    consequence="an offset of 0 points at itself; a larger one wraps on 32-bit readers",
)

TABLE_IN_PROGRAM = declare(
    "encoding/table-within-program",
    Level.MUST,
    Role.READER,
    "The four bytes at a table's start lie inside the program.",
    source=_INTERNALS,
    consequence="read outside the buffer",
)

TABLE_ALIGNED = declare(
    "encoding/table-aligned",
    Level.MUST,
    Role.READER,
    "A table starts at a multiple of 4.",
    source=_VERIFIER,
    consequence="misaligned loads: slow or fatal, depending on the processor",
)

VTABLE_IN_PROGRAM = declare(
    "encoding/vtable-within-program",
    Level.MUST,
    Role.READER,
    "A table's vtable lies inside the program and starts at an even byte.",
    source=_VERIFIER,
    consequence="read outside the buffer",
)

VTABLE_SIZE = declare(
    "encoding/vtable-size",
    Level.MUST,
    Role.READER,
    "A vtable's size is even, at least 4, and reaches no further than the program; the table"
    " size it records is at least 4.",
    source=_VERIFIER,
    consequence="field offsets are read from bytes that are not the vtable's",
)

FIELD_IN_PROGRAM = declare(
    "encoding/field-within-program",
    Level.MUST,
    Role.READER,
    "A field's bytes lie behind the first four of its table and inside the program. (The"
    " table size in the vtable does not bound them: the Python builder up to release 25.9.23"
    " shares vtables between tables of different size.)",
    source=_VERIFIER,
    consequence="read outside the buffer",
)

FIELD_ALIGNED = declare(
    "encoding/field-aligned",
    Level.MUST,
    Role.READER,
    "A field starts at a multiple of its size.",
    source=_VERIFIER,
    consequence="misaligned loads: slow or fatal, depending on the processor",
)

STRING_IN_PROGRAM = declare(
    "encoding/string-within-program",
    Level.MUST,
    Role.READER,
    "A string's length, at a multiple of 4, its bytes and the zero byte after them lie inside the program.",
    source=_VERIFIER,
    consequence="read outside the buffer",
)

STRING_TERMINATED = declare(
    "encoding/string-terminated",
    Level.MUST,
    Role.READER,
    "A zero byte follows a string's bytes.",
    source=_VERIFIER,
    consequence="readers that use C strings run on into the bytes behind",
)

STRING_UTF8 = declare(
    "encoding/string-utf8",
    Level.MUST,
    Role.READER,
    "A string is valid UTF-8.",
    source="FlatBuffers schema language: string",
    consequence="readers fail in unrelated places or replace characters",
)

VECTOR_IN_PROGRAM = declare(
    "encoding/vector-within-program",
    Level.MUST,
    Role.READER,
    "A vector's length, at a multiple of 4, and its elements lie inside the program.",
    source=_VERIFIER,
    consequence="read outside the buffer, or an allocation that the length dictates",
)

VECTOR_ALIGNED = declare(
    "encoding/vector-aligned",
    Level.MUST,
    Role.READER,
    "The first element of a vector that has one starts at a multiple of the element size.",
    source="FlatBuffers internals; the Rust verifier checks it, the C++ one does not",
    consequence="misaligned loads: slow or fatal, depending on the processor",
)

BLOB_ALIGNED = declare(
    "encoding/force-align",
    Level.SHOULD,
    Role.CHECKER,
    "Constants and delegate data kept inside the program start, unless empty, at a multiple of"
    " 16 in the file. (A writer's knobs may ask for less, and a file does not tell.)",
    source="program.fbs: force_align; FORMAT section 1",
    consequence="kernels and backends that rely on it get misaligned data",
)

UNION_CONSISTENT = declare(
    "encoding/union-consistent",
    Level.MUST,
    Role.READER,
    "A union's type and value are both present or both absent.",
    source="FlatBuffers internals; ExecuTorch 0.2.0",
    consequence="a null payload is dereferenced, or a value is read as the wrong type",
)

UNION_KNOWN = declare(
    "encoding/union-type-known",
    Level.MUST,
    Role.LOADER,
    "A union's type is one that the schema lists. (A reader may refuse or report another one:"
    " it may come from a newer writer. The reference cannot represent it and refuses.)",
    source="FORMAT section 7; ExecuTorch 0.2.0",
    consequence="the process aborts, or the value is read as something else",
)

TABLE_COUNT = declare(
    "encoding/table-count",
    Level.MUST,
    Role.READER,
    "A walk that follows every offset visits no more tables than the reader's limit, by default"
    " 1,000,000; a table that is shared counts once for each place that leads to it.",
    source="FlatBuffers C++ verifier: max_tables",
    consequence="a small file unfolds to work without end",
)

DECODED_SIZE = declare(
    "encoding/decoded-size",
    Level.MUST,
    Role.READER,
    "The strings and vectors of a program, each counted once for its place and type, hold"
    " together at most four times as many bytes as the program; so do the offset lists of"
    " mutable data, counted for each entry that has one.",
    source="design of this project: time and memory proportional to the program",
    consequence="overlapping vectors make a small file take memory without end",
)
