"""Requirements of how a writer behaves and lays out what it is given.

The knobs are those of :class:`~pte_reference.options.WriterOptions`. A file does not say with
which knobs it was written, so that only a writer can be held to them.
"""

from __future__ import annotations

from pte_reference.requirements.registry import Level, Role, Subject, declare

_KNOBS = "ExecuTorch: serialize_pte_binary"
_SECTION_7 = "FORMAT section 7"

CONTENT_WRITTEN = declare(
    "writer/valid-content-written",
    Level.MUST,
    Role.WRITER,
    "A writer writes all valid content, with all knobs that it has.",
    source="FORMAT sections 1 to 3",
    consequence="a model cannot be exported",
    subject=Subject.BEHAVIOUR,
)

OUTPUT_VALID = declare(
    "writer/output-valid",
    Level.MUST,
    Role.WRITER,
    "What is written from valid content breaks no MUST.",
    source="FORMAT sections 1 to 4",
    consequence="the file is refused, or misread by readers that trust it",
    subject=Subject.BEHAVIOUR,
)

DETERMINISTIC = declare(
    "writer/deterministic",
    Level.MUST,
    Role.WRITER,
    "The same content and knobs give the same bytes.",
    source="design of this project; all releases",
    consequence="builds cannot be repeated, and caches and signatures miss",
    subject=Subject.BEHAVIOUR,
)

INPUT_UNTOUCHED = declare(
    "writer/input-untouched",
    Level.MUST,
    Role.WRITER,
    "Writing leaves the content that it is given as it was.",
    source="design of this project",
    consequence="the second of two files written from one program differs from the first",
    subject=Subject.BEHAVIOUR,
)

SEGMENT_ALIGNMENT = declare(
    "writer/segment-alignment",
    Level.MUST,
    Role.WRITER,
    "Every segment that holds data starts in the file at a multiple of the segment alignment.",
    source=_KNOBS,
    consequence="segments cannot be mapped into memory, or backends get misaligned data",
    subject=Subject.BEHAVIOUR,
)

CONSTANT_ALIGNMENT = declare(
    "writer/constant-alignment",
    Level.MUST,
    Role.WRITER,
    "Every constant that holds data starts in the file at a multiple of the constant alignment,"
    " also where that exceeds the segment alignment.",
    source=_KNOBS,
    consequence="kernels get misaligned tensors",
    subject=Subject.BEHAVIOUR,
)

DELEGATE_ALIGNMENT = declare(
    "writer/delegate-alignment",
    Level.MUST,
    Role.WRITER,
    "Delegate data inside the program starts, unless empty, in the file at a multiple of the"
    " delegate alignment.",
    source=_KNOBS,
    consequence="backends get misaligned data",
    subject=Subject.BEHAVIOUR,
)

NAMED_ALIGNMENT = declare(
    "writer/named-data-alignment",
    Level.MUST,
    Role.WRITER,
    "A named blob that holds data starts at a multiple of its own alignment and of the segment"
    " alignment, counted from the segment base; in the file, if absolute alignment is asked for.",
    source="ExecuTorch 0.6.0: NamedDataStore",
    consequence="backends get misaligned data",
    subject=Subject.BEHAVIOUR,
    since="0.6.0",
)

SHARED_ALIGNMENT = declare(
    "writer/shared-blob-alignment",
    Level.MUST,
    Role.WRITER,
    "Where keys with equal blobs share a segment, it suits all of them: it starts at a multiple of"
    " the least common multiple of their alignments.",
    source="ExecuTorch 0.6.0: NamedDataStore",
    consequence="the alignment that a backend gets depends on who else has the same bytes",
    subject=Subject.BEHAVIOUR,
    since="0.6.0",
)

SEGMENTS_SORTED = declare(
    "writer/segments-sorted",
    Level.MUST,
    Role.WRITER,
    "A writer lists the segments in the order of their offsets.",
    source=_SECTION_7,
    consequence="readers that take the last entry for the end of the data read too little",
    subject=Subject.BEHAVIOUR,
)

PADDING_ZERO = declare(
    "writer/padding-zero",
    Level.MUST,
    Role.WRITER,
    "A writer fills the gaps that alignment leaves with zeros.",
    source=_SECTION_7,
    consequence="equal content gives different files; bytes leak from the writer's memory",
    subject=Subject.BEHAVIOUR,
)

NOTHING_BEHIND = declare(
    "writer/no-trailing-bytes",
    Level.MUST,
    Role.WRITER,
    "A writer ends the file with its last segment, or with the program when there is no segment data.",
    source=_SECTION_7,
    consequence="files grow with nothing in them, and their size does not tell what they hold",
    subject=Subject.BEHAVIOUR,
)
