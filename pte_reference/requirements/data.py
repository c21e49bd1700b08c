"""Requirements of constants, mutable data, named data and delegate data."""

from __future__ import annotations

from pte_reference.requirements.registry import Level, Role, declare

_SCHEMA = "ExecuTorch program.fbs"

CONSTANTS_ONCE = declare(
    "data/constants-in-one-place",
    Level.MUST,
    Role.READER,
    "Constants are in constant_buffer or in constant_segment, never in both.",
    source=f"{_SCHEMA}: Program.constant_segment",
    consequence="readers disagree on which data a tensor has",
)

SEGMENT_INDEX = declare(
    "data/segment-index-in-range",
    Level.MUST,
    Role.READER,
    "The segment_index of constant_segment (unless it lists nothing), mutable_data_segments and"
    " named_data names a segment.",
    source=f"{_SCHEMA}: SubsegmentOffsets, NamedData",
    consequence="out-of-bounds access",
)

OFFSETS_ASCEND = declare(
    "data/offsets-ascend-within-segment",
    Level.MUST,
    Role.READER,
    "The offsets of constants and mutable data do not descend and end inside their segment.",
    source="FORMAT section 3",
    consequence="empty or overlong data, read without an error",
)

NAMED_KEY_UNIQUE = declare(
    "data/named-keys-unique",
    Level.MUST,
    Role.READER,
    "No two entries of named_data have the same key.",
    source=f"{_SCHEMA}: NamedData",
    consequence="one of the blobs cannot be reached",
    since="0.6.0",
)

DELEGATE_REFERENCE = declare(
    "data/delegate-reference-in-range",
    Level.MUST,
    (Role.READER, Role.WRITER),
    "A delegate's processed has a location that is INLINE or SEGMENT and an index that names an entry there.",
    source=f"{_SCHEMA}: BackendDelegateDataReference",
    consequence="out-of-bounds access",
)

DELEGATE_DATA_PRESENT = declare(
    "data/inline-delegate-data-present",
    Level.MUST,
    Role.LOADER,
    "An inline delegate's entry has its data vector, if an empty one.",
    source="ExecuTorch 1.5.1 crashes without it",
    consequence="null dereference",
)

CONSTANT_HOLDS_TENSOR = declare(
    "data/constant-holds-tensor",
    Level.MUST,
    (Role.LOADER, Role.WRITER),
    "The data that a tensor names has at least the bytes that its sizes and scalar type ask"
    " for; more are allowed.",
    source="ExecuTorch 1.2.0: short data refused, long accepted",
    consequence="the tensor reads its neighbour's bytes or past the end",
)

MUTABLE_SEGMENTS_DISTINCT = declare(
    "data/mutable-segments-distinct",
    Level.MUST,
    Role.CHECKER,
    "No two entries of mutable_data_segments name the same segment.",
    source=f"{_SCHEMA}: Program.mutable_data_segments",
    consequence="two lists of initial states alias",
    since="0.4.0",
)
