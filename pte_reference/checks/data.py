"""Checks of the data layer: what segments are used for, and by whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pte_reference.checks.tensors import is_external, tensor_bytes
from pte_reference.encoding.sites import DECODED_SIZE_FACTOR
from pte_reference.findings import Finding, Path, quoted
from pte_reference.model import (
    BackendDelegate,
    DataLocation,
    DataSegment,
    ExecutionPlan,
    Program,
    SubsegmentOffsets,
    Tensor,
)
from pte_reference.requirements import data as rules
from pte_reference.requirements.encoding import DECODED_SIZE
from pte_reference.schema import Blob

_OFFSET_BYTES = 8


def check_references(program: Program, program_size: int) -> Iterator[Finding]:
    """Whether everything that the file's program says about segments can be followed.

    Args:
        program: the program as it stands in the file.
        program_size: the end of the FlatBuffers data in bytes.
    """
    segments = program.segments or ()
    listed = sum(len(one.offsets or ()) for one in program.mutable_data_segments or ())
    if listed * _OFFSET_BYTES > DECODED_SIZE_FACTOR * program_size:
        # Entries that share one long list of offsets would unfold to a blob for each of them.
        yield Finding(
            DECODED_SIZE,
            f"the entries list {listed} blobs, in a program of {program_size} bytes",
            ("mutable_data_segments",),
        )
        return
    constants = program.constant_segment
    if constants is not None and constants.offsets:
        if program.constant_buffer:
            yield Finding(
                rules.CONSTANTS_ONCE,
                f"{len(program.constant_buffer)} constants in constant_buffer and"
                f" {len(constants.offsets)} offsets in constant_segment",
                ("constant_buffer",),
            )
        yield from _check_list(constants, segments, ("constant_segment",), set())
    # Entries can share one long vector of offsets, and name segments of one size.
    clean: set[tuple[int, int]] = set()
    for number, entry in enumerate(program.mutable_data_segments or ()):
        yield from _check_list(entry, segments, ("mutable_data_segments", number), clean)
    yield from _check_distinct(program.mutable_data_segments or ())
    yield from _check_named(program, len(segments))
    yield from _check_delegates(program, len(segments))


def _check_list(
    entry: SubsegmentOffsets,
    segments: Sequence[DataSegment],
    path: Path,
    clean: set[tuple[int, int]],
) -> Iterator[Finding]:
    if entry.segment_index >= len(segments):
        yield Finding(
            rules.SEGMENT_INDEX,
            f"the index is {entry.segment_index}; there are {len(segments)} segments",
            (*path, "segment_index"),
        )
        return
    size = segments[entry.segment_index].size
    if (id(entry.offsets), size) in clean:
        return
    before = 0
    for number, offset in enumerate(entry.offsets or ()):
        if not before <= offset <= size:
            yield Finding(
                rules.OFFSETS_ASCEND,
                f"the offset is {offset}, after {before}, in a segment of {size} bytes",
                (*path, "offsets", number),
            )
            return
        before = offset
    clean.add((id(entry.offsets), size))


def _check_distinct(entries: Sequence[SubsegmentOffsets]) -> Iterator[Finding]:
    first: dict[int, int] = {}
    for number, entry in enumerate(entries):
        known = first.setdefault(entry.segment_index, number)
        if known != number:
            yield Finding(
                rules.MUTABLE_SEGMENTS_DISTINCT,
                f"segment {entry.segment_index} is also that of mutable_data_segments[{known}]",
                ("mutable_data_segments", number, "segment_index"),
            )


def _check_named(program: Program, segments: int) -> Iterator[Finding]:
    first: dict[str | None, int] = {}
    for number, entry in enumerate(program.named_data or ()):
        path: Path = ("named_data", number)
        if entry.segment_index >= segments:
            yield Finding(
                rules.SEGMENT_INDEX,
                f"the index is {entry.segment_index}; there are {segments} segments",
                (*path, "segment_index"),
            )
        known = first.setdefault(entry.key, number)
        if known != number:
            yield Finding(
                rules.NAMED_KEY_UNIQUE,
                f"{quoted(entry.key or '')} is also the key of named_data[{known}]",
                (*path, "key"),
            )


def _check_delegates(program: Program, segments: int) -> Iterator[Finding]:
    inline = program.backend_delegate_data or ()
    counts = {DataLocation.INLINE: len(inline), DataLocation.SEGMENT: segments}
    for path, delegate in _each_delegate(program.execution_plan or ()):
        reference = delegate.processed
        if reference is None:
            continue
        count = counts.get(DataLocation(reference.location)) if reference.location in (0, 1) else None
        if count is None:
            yield Finding(
                rules.DELEGATE_REFERENCE,
                f"location {reference.location} is neither INLINE nor SEGMENT",
                (*path, "processed", "location"),
            )
        elif reference.index >= count:
            yield Finding(
                rules.DELEGATE_REFERENCE,
                f"the index is {reference.index}; there are {count} entries",
                (*path, "processed", "index"),
            )
        elif reference.location == DataLocation.INLINE and inline[reference.index].data is None:
            yield Finding(
                rules.DELEGATE_DATA_PRESENT,
                "the delegate's data is absent",
                ("backend_delegate_data", reference.index, "data"),
            )


def check_delegate_indices(program: Program, blobs: int) -> Iterator[Finding]:
    """Whether the delegates of a PTEFile's program name entries of its ``delegate_data``."""
    for path, delegate in _each_delegate(program.execution_plan or ()):
        reference = delegate.processed
        if reference is not None and not (
            reference.location == DataLocation.INLINE and reference.index < blobs
        ):
            yield Finding(
                rules.DELEGATE_REFERENCE,
                f"location {reference.location}, index {reference.index}; a PTEFile's delegates are"
                f" INLINE and it has {blobs} entries of delegate_data",
                (*path, "processed"),
            )


def _each_delegate(plans: Sequence[ExecutionPlan]) -> Iterator[tuple[Path, BackendDelegate]]:
    seen: set[int] = set()
    for number, plan in enumerate(plans):
        if id(plan.delegates) in seen:
            continue
        seen.add(id(plan.delegates))
        for at, delegate in enumerate(plan.delegates or ()):
            yield ("execution_plan", number, "delegates", at), delegate


def check_constant_sizes(
    program: Program,
    constants: Sequence[Blob],
    mutable: Sequence[Sequence[Blob]],
) -> Iterator[Finding]:
    """Whether the data that tensors name has as many bytes as they ask for."""
    for path, tensor in tensors_with_data(program):
        extra = tensor.extra_tensor_info
        blobs = constants
        if tensor.allocation_info is not None:
            blobs = mutable[extra.mutable_data_segments_idx if extra else 0]
        needed = tensor_bytes(tensor) or 0
        held = len(blobs[tensor.data_buffer_idx])
        if held < needed:
            yield Finding(
                rules.CONSTANT_HOLDS_TENSOR,
                f"the tensor asks for {needed} bytes, data {tensor.data_buffer_idx} has {held}",
                (*path, "data_buffer_idx"),
            )


def tensors_with_data(program: Program) -> Iterator[tuple[Path, Tensor]]:
    """The tensors whose data is in the file, with their paths; shared plans once."""
    seen: set[int] = set()
    for number, plan in enumerate(program.execution_plan or ()):
        if id(plan.values) in seen:
            continue
        seen.add(id(plan.values))
        for at, value in enumerate(plan.values or ()):
            tensor = value.val
            if type(tensor) is Tensor and tensor.data_buffer_idx and not is_external(tensor):
                yield ("execution_plan", number, "values", at, "val"), tensor
