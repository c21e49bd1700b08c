"""Checks of the container that need the decoded segment list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pte_reference.container import HEAD_BYTES, HEADER_POSITION, Container
from pte_reference.findings import Finding
from pte_reference.model import INLINE_ALIGNMENT, DataSegment
from pte_reference.requirements import container as rules

_CHUNK = 1 << 20


def check_segments(container: Container, segments: Sequence[DataSegment]) -> Iterator[Finding]:
    """Where the segments lie, without looking at their bytes."""
    filled = [segment for segment in segments if segment.size]
    if filled and not container.segment_base:
        what = "no extended header" if container.header is None else "a segment base of 0"
        first = segments.index(filled[0])
        yield Finding(
            rules.HEADER_NEEDED,
            f"{len(filled)} segments hold data, but the file has {what}",
            ("segments", first),
            HEADER_POSITION,
            hint="the bytes at 8 to 11 are damaged, or the header was cut out",
        )
        return
    outside = list(_outside(container, segments))
    yield from outside
    if not outside:
        yield from _check_base(container)
        yield from _check_data_size(container, segments)
        yield from _check_order(segments)


def _outside(container: Container, segments: Sequence[DataSegment]) -> Iterator[Finding]:
    for number, segment in enumerate(segments):
        end = container.segment_base + segment.offset + segment.size
        if container.segment_base and end > container.size:
            yield Finding(
                rules.SEGMENT_IN_FILE,
                f"{segment.size} bytes at offset {segment.offset} from the base"
                f" {container.segment_base} end at {end}; the file has {container.size} bytes",
                ("segments", number),
                hint="the file is truncated or the segment list damaged",
            )


def _check_base(container: Container) -> Iterator[Finding]:
    base = container.segment_base
    if base and not container.program_end <= base <= container.size:
        yield Finding(
            rules.SEGMENT_BASE,
            f"the segment base is {base}; the program ends at {container.program_end} and the file"
            f" at {container.size}",
            offset=24,
        )


def data_end(segments: Sequence[DataSegment]) -> int:
    """The end of the last segment, from the segment base; an empty one has a place too."""
    return max((one.offset + one.size for one in segments), default=0)


def _check_data_size(container: Container, segments: Sequence[DataSegment]) -> Iterator[Finding]:
    stated = container.header.segment_data_size if container.header else None
    if stated and stated != data_end(segments):
        yield Finding(
            rules.DATA_SIZE,
            f"the header says {stated} bytes of segment data, the segments end at {data_end(segments)}",
            offset=32,
            hint="the header is damaged, or the file truncated",
        )


def _check_order(segments: Sequence[DataSegment]) -> Iterator[Finding]:
    for number in range(1, len(segments)):
        if segments[number].offset < segments[number - 1].offset:
            yield Finding(
                rules.SEGMENTS_SORTED,
                f"offset {segments[number].offset} after {segments[number - 1].offset}",
                ("segments", number),
            )
    order = sorted(
        (one.offset, one.offset + one.size, number) for number, one in enumerate(segments) if one.size
    )
    reach, owner = 0, 0
    for start, end, number in order:
        if start < reach:
            yield Finding(
                rules.SEGMENTS_DISJOINT,
                f"bytes {start} to {min(end, reach)} also belong to segments[{owner}]",
                ("segments", number),
            )
        if end > reach:
            reach, owner = end, number


def check_spare_bytes(
    data: memoryview, container: Container, segments: Sequence[DataSegment]
) -> Iterator[Finding]:
    """The bytes that belong to nothing: padding, and what comes after the last segment.

    Reads only those bytes; call it when the segments are known to lie inside the file.
    """
    if container.size < HEAD_BYTES:
        yield Finding(
            rules.HEADER_READABLE,
            f"the file has {container.size} bytes",
            offset=0,
            hint=f"append zeros up to {HEAD_BYTES} bytes",
        )
    end = container.program_end
    for start, stop in _gaps(container, segments):
        at = _first_nonzero(data, start, stop)
        if at is not None:
            yield Finding(
                rules.PADDING_ZERO,
                f"byte {at} of the padding from {start} to {stop} is {data[at]}",
                offset=at,
            )
    if container.segment_base:
        end = max(end, container.segment_base + data_end(segments))
    if end < container.size:
        yield Finding(
            rules.NOTHING_BEHIND,
            f"{container.size - end} bytes follow the end at {end}",
            offset=end,
        )


def _gaps(container: Container, segments: Sequence[DataSegment]) -> Iterator[tuple[int, int]]:
    if container.header:
        start = container.program_start
        padded = -(-container.header.length // INLINE_ALIGNMENT) * INLINE_ALIGNMENT
        yield start, min(HEADER_POSITION + padded, container.program_end)
    reach = container.program_end
    for segment in sorted(segments, key=lambda one: one.offset):
        if container.segment_base:
            start = container.segment_base + segment.offset
            if start > reach:
                yield reach, start
            reach = max(reach, start + segment.size)


def _first_nonzero(data: memoryview, start: int, stop: int) -> int | None:
    for at in range(start, stop, _CHUNK):
        chunk = bytes(data[at : min(at + _CHUNK, stop)])
        rest = chunk.lstrip(b"\0")
        if rest:
            return at + len(chunk) - len(rest)
    return None
