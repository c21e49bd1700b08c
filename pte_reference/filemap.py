"""The file map: every byte of a file, and what it is for.

Each byte has one owner. Where legal objects overlap, the first in walk order owns the
bytes, and what the other range loses is listed as an overlap.
"""

from __future__ import annotations

import bisect
import enum
import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from pte_reference.checks.container import data_end
from pte_reference.container import (
    HEADER_MAGIC,
    HEADER_POSITION,
    LONG_HEADER,
    Container,
    read_container,
)
from pte_reference.encoding.decode import decode_root
from pte_reference.encoding.sites import MAX_TABLES, Breach
from pte_reference.encoding.trace import ByteRole, trace_root
from pte_reference.findings import FormatError, Path, path_text
from pte_reference.model import INLINE_ALIGNMENT, DataLocation, Program
from pte_reference.reading import Source, open_source


class Region(enum.Enum):
    """What a byte of the file is for."""

    ROOT_OFFSET = "root offset"
    IDENTIFIER = "identifier"
    HEADER = "header field"
    VTABLE = ByteRole.VTABLE.value
    VTABLE_OFFSET = ByteRole.VTABLE_OFFSET.value
    FIELD = ByteRole.FIELD.value
    OFFSET = ByteRole.OFFSET.value
    VECTOR = ByteRole.VECTOR.value
    STRING = ByteRole.STRING.value
    PADDING = "padding"
    SEGMENT = "segment"
    UNREACHED = "unreached"


@dataclass(frozen=True, slots=True)
class MappedRange:
    """Bytes ``start`` to ``end`` of the file.

    Attributes:
        start: the first byte.
        end: the byte behind the last.
        region: what the bytes are for.
        path: the place in the program that they belong to.
        note: what a segment holds, or which header field it is.
    """

    start: int
    end: int
    region: Region
    path: Path = ()
    note: str = ""

    def __str__(self) -> str:
        parts = [self.region.value, path_text(self.path), self.note]
        return f"{self.start}-{self.end}: " + ", ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class FileMap:
    """The ranges of a file in order, covering each byte once, and the overlaps.

    Attributes:
        ranges: every byte of the file in exactly one range.
        overlaps: ranges of which other objects own some or all bytes.
        complete: False when the file is broken and the map goes only as far as the walk.
    """

    ranges: tuple[MappedRange, ...]
    overlaps: tuple[MappedRange, ...]
    complete: bool

    def at(self, offset: int) -> MappedRange:
        """The range that owns the byte at ``offset``.

        Raises:
            IndexError: the file has no such byte.
        """
        if not self.ranges or not 0 <= offset < self.ranges[-1].end:
            raise IndexError(f"no byte {offset} in the file")
        return self.ranges[bisect.bisect(self.ranges, offset, key=lambda one: one.start) - 1]


def file_map(source: Source, *, max_tables: int = MAX_TABLES) -> FileMap:
    """The map of a ``.pte`` file, broken or not; for a broken one as far as the walk goes.

    Raises:
        OSError: the path cannot be opened.
    """
    data = open_source(source)
    claims = list(_head_claims(data))
    try:
        container = read_container(data)
    except FormatError:
        return _Filling(data, 0, 0, 0).fill(claims, complete=False)
    start, end = container.program_start, container.program_end
    trace = trace_root(Program, data, start, end, max_tables=max_tables)
    claims.extend(MappedRange(one.start, one.end, Region(one.role.value), one.path) for one in trace.ranges)
    if trace.findings:
        return _Filling(data, start, end, end).fill(claims, complete=False)
    try:
        program = decode_root(Program, data, start, end, max_tables=max_tables).root
    except Breach as breach:
        raise AssertionError(f"only the fast walk found: {breach}") from breach
    claims.extend(_segment_claims(container, program))
    data_stop = end
    if container.segment_base:
        data_stop = container.segment_base + data_end(program.segments or ())
    return _Filling(data, start, end, data_stop).fill(claims, complete=True)


def _head_claims(data: memoryview) -> Iterator[MappedRange]:
    if len(data) >= HEADER_POSITION:
        yield MappedRange(0, 4, Region.ROOT_OFFSET)
        yield MappedRange(4, 8, Region.IDENTIFIER)
    if bytes(data[8:12]) != HEADER_MAGIC:
        return
    length = int.from_bytes(data[12:16], "little")
    fields = [(8, 12, "magic"), (12, 16, "length"), (16, 24, "program size")]
    fields.append((24, 32, "segment base offset"))
    if length >= LONG_HEADER:
        fields.append((32, 40, "segment data size"))
    if HEADER_POSITION + length > fields[-1][1]:
        fields.append((fields[-1][1], HEADER_POSITION + length, "unknown fields"))
    for start, end, note in fields:
        if start < min(end, len(data)):
            yield MappedRange(start, min(end, len(data)), Region.HEADER, note=note)


def _segment_claims(container: Container, program: Program) -> Iterator[MappedRange]:
    if not container.segment_base:
        return
    users = _segment_users(program)
    for number, segment in enumerate(program.segments or ()):
        start = container.segment_base + segment.offset
        end = min(start + segment.size, container.size)
        if start < end:
            note = " and ".join(users.get(number, ["used by nothing"]))
            yield MappedRange(start, end, Region.SEGMENT, ("segments", number), note)


def _segment_users(program: Program) -> dict[int, list[str]]:
    users: dict[int, list[str]] = {}

    def use(number: int, what: str) -> None:
        known = users.setdefault(number, [])
        if what not in known:
            known.append(what)

    if program.constant_segment is not None and program.constant_segment.offsets:
        use(program.constant_segment.segment_index, "constants")
    for entry in program.mutable_data_segments or ():
        use(entry.segment_index, "mutable data")
    for plan in program.execution_plan or ():
        for delegate in plan.delegates or ():
            if delegate.processed and delegate.processed.location == DataLocation.SEGMENT:
                use(delegate.processed.index, f"delegate {delegate.id}")
    for named in program.named_data or ():
        use(named.segment_index, f"named data {named.key!r}")
    return users


def _settle(claims: list[MappedRange]) -> list[tuple[int, int, int]]:
    """Start, end and claim number of disjoint runs, each owned by the first claim to it."""
    by_start = sorted(range(len(claims)), key=lambda number: claims[number].start)
    borders = sorted({border for one in claims for border in (one.start, one.end)})
    runs: list[tuple[int, int, int]] = []
    active: list[int] = []
    upcoming = 0
    for start, end in itertools.pairwise(borders):
        while upcoming < len(by_start) and claims[by_start[upcoming]].start <= start:
            heapq.heappush(active, by_start[upcoming])
            upcoming += 1
        while active and claims[active[0]].end <= start:
            heapq.heappop(active)
        if not active:
            continue
        owner = active[0]
        if runs and runs[-1][1:] == (start, owner):
            runs[-1] = (runs[-1][0], end, owner)
        else:
            runs.append((start, end, owner))
    return runs


@dataclass(frozen=True, slots=True)
class _Filling:
    """Settles who owns which byte.

    Attributes:
        data: the file.
        start: the end of the header.
        end: the end of the program.
        data_stop: the end of the last segment.
    """

    data: memoryview
    start: int
    end: int
    data_stop: int

    def fill(self, claims: list[MappedRange], *, complete: bool) -> FileMap:
        """The map that gives each byte to the first claim, and the rest to padding or nobody."""
        settled = _settle(claims)
        owned: list[MappedRange] = []
        held = dict.fromkeys(range(len(claims)), 0)
        position = 0
        for start, end, number in settled:
            if start > position:
                owned.extend(self._unclaimed(position, start, owned))
            claim = claims[number]
            owned.append(MappedRange(start, end, claim.region, claim.path, claim.note))
            held[number] += end - start
            position = end
        if position < len(self.data):
            owned.extend(self._unclaimed(position, len(self.data), owned))
        overlaps = [one for number, one in enumerate(claims) if held[number] < one.end - one.start]
        return FileMap(tuple(owned), tuple(overlaps), complete)

    def _unclaimed(self, start: int, end: int, before: list[MappedRange]) -> list[MappedRange]:
        parts: list[MappedRange] = []
        for stop in (self.end, self.data_stop):
            # What lies before and behind such a border has different reasons.
            if start < stop < end:
                parts += self._unclaimed(start, stop, before)
                start = stop
        previous = before[-1].start if before else 0
        padding = self._explained(previous, start, end) and not any(self.data[start:end])
        return [*parts, MappedRange(start, end, Region.PADDING if padding else Region.UNREACHED)]

    def _explained(self, previous: int, start: int, end: int) -> bool:
        """Whether some alignment of what is before or behind asks for a gap of this size."""
        if start >= self.end:
            return end <= self.data_stop
        if start == self.start:
            # The header is padded up to the largest alignment that the writer forces.
            return True
        # The builders of the releases put the padding of what follows, and inside tables, on
        # either side of small fields: fewer bytes than the schema's alignment need no proof.
        # Longer gaps come before a table, or beside a vector whose elements, behind its length,
        # are aligned: builders that write from the end pad behind them.
        gap = end - start
        places = (end, end + 4, previous + 4)
        return gap < INLINE_ALIGNMENT or any(gap < place & -place for place in places)
