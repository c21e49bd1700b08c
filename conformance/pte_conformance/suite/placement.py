"""Where a writer puts things, held to the knobs that it was given.

The places are read from the file by the reference; what they should be follows from the
content and the knobs alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pte_conformance.judging import Examination
from pte_conformance.strategies.files import Written
from pte_conformance.suite.steps import soundly_written, write
from pte_reference import Reading, Region, Requirement, file_map
from pte_reference.requirements import writer

PLACES = (
    writer.SEGMENT_ALIGNMENT,
    writer.CONSTANT_ALIGNMENT,
    writer.NAMED_ALIGNMENT,
    writer.SHARED_ALIGNMENT,
)
"""The rules that :func:`aligns` holds a writer to, if the content has something for them."""


@dataclass(frozen=True, slots=True)
class Place:
    """Something in a file.

    Attributes:
        rule: the requirement that says where it must be.
        what: its name in messages.
        offset: where it is, counted as the requirement says.
        alignment: what that must be a multiple of.
    """

    rule: Requirement
    what: str
    offset: int
    alignment: int


def aligns(examination: Examination, written: Written) -> None:
    """Everything lies where the knobs and the content ask for it."""
    found = soundly_written(examination, written)
    if found is not None:
        _hold(examination, [*_segments(found, written), *_constants(found, written), *_named(found, written)])


def aligns_inline_delegates(examination: Examination, written: Written) -> None:
    """Delegate data inside the program lies on the delegate alignment."""
    data = write(examination, written)
    if data is not None:
        _hold(examination, _inline_delegates(data, written))


def _hold(examination: Examination, places: Iterable[Place]) -> None:
    for one in places:
        broken = f"{one.what} is at {one.offset}, which is no multiple of {one.alignment}"
        examination.hold(one.rule, broken if one.offset % one.alignment else "")


def _segments(found: Reading, written: Written) -> Iterator[Place]:
    for number, segment in enumerate(found.layout.segments):
        if segment.size:
            start = found.layout.segment_start(number)
            alignment = written.options.segment_alignment
            yield Place(writer.SEGMENT_ALIGNMENT, f"segment {number}", start, alignment)


def _constants(found: Reading, written: Written) -> Iterator[Place]:
    entry = found.layout.constant_segment
    if entry is None or not entry.offsets:
        return
    start = found.layout.segment_start(entry.segment_index)
    alignment = written.options.constant_alignment
    for number, (offset, blob) in enumerate(zip(entry.offsets, written.content.constants, strict=False)):
        if blob:
            yield Place(writer.CONSTANT_ALIGNMENT, f"constant {number}", start + offset, alignment)


def _named(found: Reading, written: Written) -> Iterator[Place]:
    """Each key's blob; where keys share one, each of them must find its own wish fulfilled."""
    options = written.options
    base = found.layout.container.segment_base if options.absolute_alignment else 0
    sharing = Counter(bytes(one.data) for one in written.content.named_data.values())
    for entry in found.layout.named_data:
        wanted = written.content.named_data.get(entry.key or "")
        if wanted is not None and wanted.data:
            shared = sharing[bytes(wanted.data)] > 1
            yield Place(
                writer.SHARED_ALIGNMENT if shared else writer.NAMED_ALIGNMENT,
                f"the blob of {entry.key!r}" + (", which another key shares," if shared else ""),
                base + found.layout.segments[entry.segment_index].offset,
                math.lcm(options.segment_alignment, wanted.alignment or 1),
            )


def _inline_delegates(data: bytes, written: Written) -> Iterator[Place]:
    alignment = written.options.delegate_alignment
    for one in file_map(data).ranges:
        match one.path:
            case ("backend_delegate_data", number, "data") if one.region is Region.VECTOR:
                # The blob begins behind its length.
                if one.end - one.start > 4:
                    what = f"delegate data {number}"
                    yield Place(writer.DELEGATE_ALIGNMENT, what, one.start + 4, alignment)
