"""From bytes to content: the layers of a ``.pte`` file, one after the other."""

from __future__ import annotations

import dataclasses
import itertools
import math
import mmap
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TypeAlias

from pte_reference.blobs import DistinctBlobs
from pte_reference.checks.container import check_segments, check_spare_bytes
from pte_reference.checks.data import check_constant_sizes, check_references, tensors_with_data
from pte_reference.checks.program import DataCounts, check_program
from pte_reference.checks.tensors import tensor_bytes
from pte_reference.collection import collection_paused
from pte_reference.container import Container, read_container
from pte_reference.encoding.decode import Decoded, decode_root
from pte_reference.encoding.locate import locate
from pte_reference.encoding.sites import MAX_TABLES, Breach
from pte_reference.encoding.trace import MAX_FINDINGS, trace_root
from pte_reference.findings import Finding, FormatError, Path
from pte_reference.model import (
    INLINE_ALIGNMENT,
    BackendDelegateDataReference,
    DataLocation,
    DataSegment,
    NamedData,
    Program,
    SubsegmentOffsets,
)
from pte_reference.pte_file import PLACEHOLDER, NamedBlob, PTEFile, map_delegate_references
from pte_reference.requirements.encoding import BLOB_ALIGNED
from pte_reference.requirements.registry import Layer, Level, Role
from pte_reference.schema import Blob

Source: TypeAlias = bytes | bytearray | memoryview | mmap.mmap | str | os.PathLike[str]
"""Bytes of a file in memory or mapped, or the path of one."""

_LENGTH_BYTES = 4

MAX_INFERRED_ALIGNMENT = 65536
"""Inferred alignments end here: a blob that happens to lie at 1 GiB asked for no such thing."""


@dataclass(frozen=True, slots=True)
class FileLayout:
    """How a file lays out its content: read from it, never part of a PTEFile's equality.

    Attributes:
        container: sizes and header.
        segments: offsets from the segment base, and sizes.
        constant_segment: offsets of the constants, None in files that have none there.
        mutable_data_segments: offsets of the lists of mutable data.
        named_data: the keys with their segments.
        constants_inline: whether constants are in the program, as before release 0.4.0.
        delegates: where the data of each entry of ``PTEFile.delegate_data`` is.
    """

    container: Container
    segments: tuple[DataSegment, ...]
    constant_segment: SubsegmentOffsets | None
    mutable_data_segments: tuple[SubsegmentOffsets, ...]
    named_data: tuple[NamedData, ...]
    constants_inline: bool
    delegates: tuple[BackendDelegateDataReference, ...]

    def segment_start(self, number: int) -> int:
        """The file offset of a segment."""
        return self.container.segment_base + self.segments[number].offset


@dataclass(frozen=True, slots=True)
class Reading:
    """A file's content and, beside it, its layout."""

    pte_file: PTEFile
    layout: FileLayout


def open_source(source: Source) -> memoryview:
    """A view of the bytes of ``source``; a path is mapped into memory, not read.

    Raises:
        OSError: the path cannot be opened.
    """
    if isinstance(source, str | os.PathLike):
        with FilePath(source).open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                # An empty file cannot be mapped.
                return memoryview(b"")
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return memoryview(source).cast("B").toreadonly()


def deserialize(source: Source, *, role: Role = Role.READER, max_tables: int = MAX_TABLES) -> PTEFile:
    """The content of a ``.pte`` file.

    Blobs in the result are views of ``source``; nothing of the segments is copied. Findings
    that bind writers refuse the file too, so that the result can always be written, and so
    does every breach of the FlatBuffers encoding.

    Args:
        source: bytes, a buffer of bytes, or a path.
        role: whose requirements refuse the file.
        max_tables: limit of table visits; raise it for legal programs with more tables.

    Raises:
        FormatError: the file breaks requirements that bind the role.
        OSError: the path cannot be opened.
    """
    return read(source, role=role, max_tables=max_tables).pte_file


def read(source: Source, *, role: Role = Role.READER, max_tables: int = MAX_TABLES) -> Reading:
    """The content of a ``.pte`` file with its layout; see :func:`deserialize`."""
    data = open_source(source)
    with collection_paused():
        return _read(data, Role(role), max_tables)


def _read(data: memoryview, role: Role, max_tables: int) -> Reading:
    container, decoded = _decode(data, max_tables)
    program: Program = decoded.root
    if findings := _refusals(_structure_findings(container, decoded), role):
        raise FormatError(_located(data, container, findings))
    reading = _assemble(data, container, program)
    pte_file = reading.pte_file
    lists = _mutable_lists(pte_file)
    if findings := _refusals(check_constant_sizes(pte_file.program, pte_file.constants, lists), role):
        raise FormatError(_located(data, container, findings))
    return reading


def check(source: Source, *, role: Role = Role.CHECKER, max_tables: int = MAX_TABLES) -> list[Finding]:
    """Everything found wrong with a file, breaches of MUST and of SHOULD alike.

    Args:
        source: bytes, a buffer of bytes, or a path.
        role: findings that do not bind this role are left out.
        max_tables: limit of table visits.

    Raises:
        OSError: the path cannot be opened.
    """
    data = open_source(source)
    with collection_paused():
        return _check(data, Role(role), max_tables)


def _check(data: memoryview, role: Role, max_tables: int) -> list[Finding]:
    try:
        container, decoded = _decode(data, max_tables)
    except FormatError as error:
        return [one for one in error.findings if _binds(one, role)]
    findings = list(itertools.islice(_structure_findings(container, decoded), MAX_FINDINGS))
    if not any(one.is_breach and one.requirement.layer is Layer.CONTAINER for one in findings):
        findings += check_spare_bytes(data, container, decoded.root.segments or ())
        findings += _inline_alignment(data, container, decoded.root)
    if not _refusals(iter(findings), Role.READER):
        # What a reader would return can be looked at, whatever loaders refuse it for.
        pte_file = _assemble(data, container, decoded.root).pte_file
        findings += check_constant_sizes(pte_file.program, pte_file.constants, _mutable_lists(pte_file))
    return _located(data, container, [one for one in findings if _binds(one, role)])


def _binds(finding: Finding, role: Role) -> bool:
    # A breach of the encoding stops every reader, whomever its requirement binds.
    requirement = finding.requirement
    return requirement.binds_role(role) or requirement.layer is Layer.ENCODING


def _refusals(findings: Iterator[Finding], role: Role) -> list[Finding]:
    refusals = (
        one
        for one in findings
        if one.requirement.level is Level.MUST
        and (one.requirement.binds_role(role) or Role.WRITER in one.requirement.binds)
        and (one.requirement.layer is not Layer.CONTAINER or one.requirement.binds_role(role))
    )
    return list(itertools.islice(refusals, MAX_FINDINGS))


def _decode(data: memoryview, max_tables: int) -> tuple[Container, Decoded]:
    container = read_container(data)
    start, end = container.program_start, container.program_end
    try:
        return container, decode_root(Program, data, start, end, max_tables=max_tables)
    except Breach as breach:
        findings = trace_root(Program, data, start, end, max_tables=max_tables).findings
        if not findings:
            raise AssertionError(f"only the fast walk found: {breach}") from breach
        raise FormatError(findings) from None


def _structure_findings(container: Container, decoded: Decoded) -> Iterator[Finding]:
    """The findings that need no segment data: container, program and data layers."""
    program: Program = decoded.root
    unsound = False
    for finding in check_segments(container, program.segments or ()):
        # What only loaders refuse does not keep a reader from following the references.
        unsound = unsound or finding.requirement.binds_role(Role.READER)
        yield finding
    yield from check_program(program, _counts(program), complete=decoded.complete)
    if not unsound:
        yield from check_references(program, container.program_end)


def _counts(program: Program) -> DataCounts:
    in_segment = program.constant_segment.offsets if program.constant_segment else None
    constants = len(in_segment or program.constant_buffer or ())
    mutable = [len(one.offsets or ()) for one in program.mutable_data_segments or ()]
    return DataCounts(constants, tuple(mutable))


def _mutable_lists(pte_file: PTEFile) -> tuple[tuple[Blob, ...], ...]:
    return (pte_file.mutable_data, *pte_file.further_mutable_data)


def _located(data: memoryview, container: Container, findings: Sequence[Finding]) -> list[Finding]:
    """The findings, each with its byte offset."""
    start, end = container.program_start, container.program_end
    return [
        one
        if one.offset is not None
        else dataclasses.replace(one, offset=locate(Program, data, start, end, one.path))
        for one in findings
    ]


def _inline_alignment(data: memoryview, container: Container, program: Program) -> Iterator[Finding]:
    """Blobs inside the program that are not where the schema wants them."""
    start, end = container.program_start, container.program_end
    blobs: list[tuple[Path, Blob | None]] = [
        (("constant_buffer", number, "storage"), one.storage)
        for number, one in enumerate(program.constant_buffer or ())
    ]
    blobs += [
        (("backend_delegate_data", number, "data"), one.data)
        for number, one in enumerate(program.backend_delegate_data or ())
    ]
    for path, blob in blobs:
        vector = locate(Program, data, start, end, path) if blob else None
        if vector is not None and (vector + _LENGTH_BYTES) % INLINE_ALIGNMENT:
            place = vector + _LENGTH_BYTES
            message = f"inline data from byte {place}, no multiple of {INLINE_ALIGNMENT}"
            yield Finding(BLOB_ALIGNED, message, path, place)


def _assemble(data: memoryview, container: Container, program: Program) -> Reading:
    """Content and layout of a program whose references have been checked."""
    segments = tuple(program.segments or ())
    base = container.segment_base
    blobs = [data[base + one.offset : base + one.offset + one.size] for one in segments]
    constants = program.constant_segment
    inline = not (constants is not None and constants.offsets)
    mutable = tuple(program.mutable_data_segments or ())
    plain, delegate_data, references = _take_delegates(program, blobs, len(data))
    plain = dataclasses.replace(
        plain,
        constant_buffer=(),
        backend_delegate_data=(),
        segments=(),
        constant_segment=None,
        mutable_data_segments=None,
        named_data=None,
    )
    if constants is not None and constants.offsets:
        lengths = _told_lengths(program, len(constants.offsets))
        constant_blobs = _constants(blobs[constants.segment_index], constants.offsets, lengths)
    else:
        constant_blobs = tuple(one.storage or b"" for one in program.constant_buffer or ())
    lists = [_slots(blobs[one.segment_index], one.offsets or ()) for one in mutable]
    named = {
        entry.key or "": NamedBlob(
            blobs[entry.segment_index], _inferred_alignment(segments[entry.segment_index].offset)
        )
        for entry in program.named_data or ()
    }
    pte_file = PTEFile(
        plain,
        constants=constant_blobs or PLACEHOLDER,
        mutable_data=lists[0] if lists else PLACEHOLDER,
        named_data=named,
        delegate_data=delegate_data,
        further_mutable_data=tuple(lists[1:]),
    )
    layout = FileLayout(
        container,
        segments,
        constants,
        mutable,
        tuple(program.named_data or ()),
        inline and bool(program.constant_buffer),
        references,
    )
    return Reading(pte_file, layout)


def _take_delegates(
    program: Program, segments: Sequence[memoryview], size: int
) -> tuple[Program, tuple[Blob, ...], tuple[BackendDelegateDataReference, ...]]:
    """The delegates' blobs in order of first use, and the program that refers to them."""
    inline = [one.data if one.data is not None else b"" for one in program.backend_delegate_data or ()]
    # Segments may overlap, so that their sizes add up to far more than the file has.
    distinct = DistinctBlobs(compare_at_most=4 * sum(map(len, inline)) + 4 * size)
    sources: list[BackendDelegateDataReference] = []

    def place(reference: BackendDelegateDataReference) -> int:
        in_file = reference.location == DataLocation.SEGMENT
        blob = segments[reference.index] if in_file else inline[reference.index]
        number = distinct.place(blob)
        if number == len(sources):
            sources.append(reference)
        return number

    moved = map_delegate_references(
        program,
        lambda reference: BackendDelegateDataReference(DataLocation.INLINE, place(reference)),
    )
    for number in range(len(inline)):
        place(BackendDelegateDataReference(DataLocation.INLINE, number))
    return moved, tuple(distinct.blobs), tuple(sources)


def _slots(segment: memoryview, offsets: Sequence[int]) -> tuple[Blob, ...]:
    """The blobs of a segment, each reaching up to the next offset."""
    ends = [*offsets[1:], len(segment)] if offsets else []
    return tuple(segment[start:end] for start, end in zip(offsets, ends, strict=True))


def _constants(segment: memoryview, offsets: Sequence[int], lengths: Sequence[int]) -> tuple[Blob, ...]:
    """The constants of a segment, without the padding behind them where that can be told.

    The padding is what lies between the bytes that the tensors ask for and the next offset,
    if it is zero and shorter than the alignment that all offsets show. Otherwise a constant
    is longer than its tensors say, and nothing of it may be lost.
    """
    step = math.gcd(*offsets)
    alignment = step & -step
    blobs: list[Blob] = []
    for slot, length, last in zip(
        _slots(segment, offsets),
        lengths,
        (number == len(offsets) - 1 for number in range(len(offsets))),
        strict=True,
    ):
        spare = len(slot) - length
        padded = length and not last and 0 < spare < alignment and not any(bytes(slot[length:]).strip(b"\0"))
        blobs.append(slot[:length] if padded else slot)
    return tuple(blobs)


def _told_lengths(program: Program, count: int) -> list[int]:
    """For each constant, the most bytes that a tensor asks of it; 0 where none does."""
    lengths = [0] * count
    for _, tensor in tensors_with_data(program):
        if tensor.allocation_info is None:
            asked = tensor_bytes(tensor) or 0
            lengths[tensor.data_buffer_idx] = max(lengths[tensor.data_buffer_idx], asked)
    return lengths


def _inferred_alignment(offset: int) -> int | None:
    """The largest power of two that a segment's offset is a multiple of, None at offset 0."""
    return min(offset & -offset, MAX_INFERRED_ALIGNMENT) or None
