"""From content to bytes: checks the content, plans the segments, encodes, and emits."""

from __future__ import annotations

import dataclasses
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from pte_reference.blobs import DistinctBlobs
from pte_reference.checks.data import check_constant_sizes, check_delegate_indices
from pte_reference.checks.presence import absent_fields
from pte_reference.checks.program import DataCounts, check_program
from pte_reference.collection import collection_paused
from pte_reference.container import HEAD_BYTES, HEADER_POSITION, LONG_HEADER, ExtendedHeader
from pte_reference.encoding.build import Encoded, encode_root
from pte_reference.encoding.values import misfits
from pte_reference.errors import FieldValueError, LayoutInProgramError
from pte_reference.findings import ContentError, Finding
from pte_reference.model import (
    IDENTIFIER,
    INLINE_ALIGNMENT,
    BackendDelegateDataReference,
    BackendDelegateInlineData,
    DataLocation,
    DataSegment,
    NamedData,
    Program,
    SubsegmentOffsets,
)
from pte_reference.options import WriterOptions, check_alignment
from pte_reference.pte_file import PLACEHOLDER, PTEFile, map_delegate_references
from pte_reference.requirements.registry import Role
from pte_reference.schema import Blob

_PADDING = bytes(1 << 16)


def serialize(pte_file: PTEFile, options: WriterOptions | None = None) -> bytes:
    """The bytes of a ``.pte`` file with this content.

    The same content and options give the same bytes; the content is not modified.

    Raises:
        WriteError: the content or the options cannot be written; the subclass and the
            message say why.
    """
    with collection_paused():
        return b"".join(_pieces(pte_file, options or WriterOptions()))


def write(pte_file: PTEFile, file: BinaryIO, options: WriterOptions | None = None) -> int:
    """Writes a ``.pte`` file to an open binary file, blob by blob, and returns its size.

    Nothing is written when the content cannot be.

    Raises:
        WriteError: as for :func:`serialize`.
        OSError: the file cannot be written.

    The content may be views of a file (see ``deserialize``): write to another one and replace
    that, or use ``pte_file.owned()``.
    """
    size = 0
    with collection_paused():
        pieces = _pieces(pte_file, options or WriterOptions())
    for piece in pieces:
        view = memoryview(piece)
        size += len(view)
        while view:
            # Unbuffered files may take less than they are given.
            view = view[file.write(view) :]
    return size


def _pieces(pte_file: PTEFile, options: WriterOptions) -> list[Blob]:
    """The file in pieces; blobs are not copied."""
    if not isinstance(pte_file, PTEFile):
        raise FieldValueError(f"a PTEFile is written, not a {type(pte_file).__name__}")
    try:
        refusals = _content_findings(pte_file)
    except (AttributeError, TypeError):
        # Checks look at values before they are packed; of the wrong type, they break either.
        _name_misfits(pte_file.program)
        raise
    if refusals:
        raise ContentError(refusals)
    segments = _SegmentPlan(options.segment_alignment)
    program = _with_layout(pte_file, options, segments)
    header_space = 0
    if segments.end:
        header_space = _align(options.header_length, INLINE_ALIGNMENT)
    start = HEADER_POSITION + header_space
    encoded = _encode(program, start, options)
    if not encoded.complete:
        raise ContentError(list(absent_fields(program)))
    end = max(encoded.end, HEAD_BYTES)
    base = _align(end, segments.base_alignment(options)) if segments.end else 0
    return list(_emit(options, encoded, start, end, base, segments))


def _emit(
    options: WriterOptions,
    encoded: Encoded,
    start: int,
    end: int,
    base: int,
    segments: _SegmentPlan,
) -> Iterator[Blob]:
    head = struct.pack("<I", encoded.root) + IDENTIFIER
    if segments.end:
        data_size = segments.end if options.header_length >= LONG_HEADER else None
        head += ExtendedHeader(options.header_length, end, base, data_size).to_bytes()
    yield head.ljust(start, b"\0")
    yield from encoded.chunks
    yield from _zeros(end - encoded.end)
    position = end
    for offset, pieces in segments.placed():
        yield from _zeros(base + offset - position)
        position = base + offset
        for piece in pieces:
            yield piece
            position += len(piece)


def _zeros(count: int) -> Iterator[Blob]:
    while count > 0:
        yield _PADDING[:count]
        count -= len(_PADDING)


def _align(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def _content_findings(pte_file: PTEFile) -> list[Finding]:
    """What is wrong with content that is to be written."""
    program = pte_file.program
    occupied = [
        name
        for name in (
            "constant_buffer",
            "backend_delegate_data",
            "segments",
            "constant_segment",
            "mutable_data_segments",
            "named_data",
        )
        if getattr(program, name)
    ]
    if occupied:
        raise LayoutInProgramError(
            f"program.{occupied[0]} is set; a PTEFile's data is in its own fields, such as"
            " constants, and the writer fills the program's"
        )
    for key, blob in pte_file.named_data.items():
        if blob.alignment is not None:
            check_alignment(blob.alignment, f"named_data[{key!r}].alignment")
    lists = (pte_file.mutable_data, *pte_file.further_mutable_data)
    counts = DataCounts(len(pte_file.constants), tuple(map(len, lists)))
    # Absent fields are noticed while encoding; only then is the program searched for them.
    findings = _binding_writers(check_program(program, counts, complete=True))
    if findings:
        findings = _binding_writers(check_program(program, counts)) or findings
    findings += check_delegate_indices(program, len(pte_file.delegate_data))
    if not findings:
        findings += check_constant_sizes(program, pte_file.constants, lists)
    return findings


def _binding_writers(findings: Iterator[Finding]) -> list[Finding]:
    return [one for one in findings if one.is_breach and one.requirement.binds_role(Role.WRITER)]


def _encode(program: Program, start: int, options: WriterOptions) -> Encoded:
    alignment = max(options.delegate_alignment, INLINE_ALIGNMENT)
    try:
        return encode_root(program, start, alignment)
    except (KeyError, OverflowError, TypeError, UnicodeEncodeError, struct.error):
        _name_misfits(program)
        raise


def _name_misfits(program: Program) -> None:
    """Raises an error that names the first field whose value its type cannot store."""
    for sentence in misfits(program):
        raise FieldValueError(sentence) from None


@dataclass(slots=True)
class _SegmentPlan:
    """The segments of a file, in order, each a run of pieces."""

    alignment: int
    table: list[DataSegment] = field(default_factory=list)
    pieces: list[list[Blob]] = field(default_factory=list)
    alignments: list[int] = field(default_factory=list)
    constant_alignment: int = 1

    @property
    def end(self) -> int:
        """The end of the last segment, from the base."""
        return self.table[-1].offset + self.table[-1].size if self.table else 0

    def add(self, pieces: list[Blob], alignment: int = 1) -> int:
        """Appends a segment and returns its number."""
        alignment = math.lcm(self.alignment, alignment)
        size = sum(map(len, pieces))
        self.table.append(DataSegment(_align(self.end, alignment), size))
        self.pieces.append(pieces)
        self.alignments.append(alignment)
        return len(self.table) - 1

    def base_alignment(self, options: WriterOptions) -> int:
        """What the segment base has to be a multiple of."""
        wanted = math.lcm(self.alignment, self.constant_alignment)
        return math.lcm(wanted, *self.alignments) if options.absolute_alignment else wanted

    def placed(self) -> Iterator[tuple[int, list[Blob]]]:
        """The offset and the pieces of each segment."""
        for entry, pieces in zip(self.table, self.pieces, strict=True):
            yield entry.offset, pieces


def _with_layout(pte_file: PTEFile, options: WriterOptions, segments: _SegmentPlan) -> Program:
    """The program as it stands in the file; plans the segments on the way.

    Their order is that of upstream: constants, mutable data, delegates, named data.
    """
    constants = _add_constants(pte_file, options, segments)
    mutable = _add_mutable(pte_file, segments)
    program, inline = _add_delegates(pte_file, options, segments)
    named = _add_named(pte_file, segments)
    return dataclasses.replace(
        program,
        backend_delegate_data=inline,
        constant_segment=constants,
        mutable_data_segments=mutable,
        named_data=named,
        segments=tuple(segments.table),
    )


def _add_constants(pte_file: PTEFile, options: WriterOptions, segments: _SegmentPlan) -> SubsegmentOffsets:
    alignment = options.constant_alignment
    offsets: list[int] = []
    pieces: list[Blob] = []
    position = 0
    for blob in pte_file.constants:
        padding = -position % alignment
        if padding:
            pieces.extend(_zeros(padding))
        position += padding
        offsets.append(position)
        pieces.append(blob)
        position += len(blob)
    if position:
        segments.constant_alignment = alignment
    return SubsegmentOffsets(segments.add(pieces, alignment), tuple(offsets))


def _add_mutable(pte_file: PTEFile, segments: _SegmentPlan) -> tuple[SubsegmentOffsets, ...] | None:
    """Initial states lie back to back: they are copied, so they need no alignment."""
    if pte_file.mutable_data == PLACEHOLDER and not pte_file.further_mutable_data:
        return None
    entries = []
    for blobs in (pte_file.mutable_data, *pte_file.further_mutable_data):
        offsets, position = [], 0
        for blob in blobs:
            offsets.append(position)
            position += len(blob)
        entries.append(SubsegmentOffsets(segments.add(list(blobs)), tuple(offsets)))
    return tuple(entries)


def _add_delegates(
    pte_file: PTEFile, options: WriterOptions, segments: _SegmentPlan
) -> tuple[Program, tuple[BackendDelegateInlineData, ...]]:
    """Delegates in order of first use; equal blobs once. Unused blobs stay inside."""
    canonical = pte_file.canonical()
    used = {
        delegate.processed.index
        for plan in canonical.program.execution_plan or ()
        for delegate in plan.delegates or ()
        if delegate.processed is not None
    }
    references: list[BackendDelegateDataReference] = []
    inline: list[BackendDelegateInlineData] = []
    for number, blob in enumerate(canonical.delegate_data):
        if options.delegates_in_segments and len(blob) and number in used:
            place = BackendDelegateDataReference(DataLocation.SEGMENT, segments.add([blob]))
        else:
            place = BackendDelegateDataReference(DataLocation.INLINE, len(inline))
            inline.append(BackendDelegateInlineData(blob))
        references.append(place)
    program = map_delegate_references(canonical.program, lambda reference: references[reference.index])
    return program, tuple(inline)


def _add_named(pte_file: PTEFile, segments: _SegmentPlan) -> tuple[NamedData, ...] | None:
    """Keys with equal blobs share a segment, aligned to what all of them ask for."""
    if not pte_file.named_data:
        return None
    distinct = DistinctBlobs()
    owners: list[int] = []
    alignments: dict[int, int] = {}
    for blob in pte_file.named_data.values():
        number = distinct.place(blob.data)
        owners.append(number)
        alignments[number] = math.lcm(alignments.get(number, 1), blob.alignment or 1)
    numbers = [segments.add([blob], alignments[number]) for number, blob in enumerate(distinct.blobs)]
    return tuple(
        NamedData(key, numbers[owner]) for key, owner in zip(pte_file.named_data, owners, strict=True)
    )
