"""What data a file holds and what takes its space, as plain facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pte_conformance.cli.method_facts import TensorFacts, tensor_facts
from pte_conformance.cli.terminal import printable
from pte_reference import FileMap, MappedRange, Region
from pte_reference.checks.tensors import is_external, tensor_bytes
from pte_reference.container import Container
from pte_reference.model import DataLocation, Program, SubsegmentOffsets, Tensor

CONSTANTS = "constants"
MUTABLE = "mutable data"
DELEGATES = "delegate data"
NAMED = "named data"


@dataclass(frozen=True, slots=True)
class DataFacts:
    """One of the kinds of data beside the program.

    Attributes:
        kind: ``constants``, ``mutable data``, ``delegate data`` or ``named data``.
        count: how many there are; blobs under several names count once for each.
        size: their bytes, what is shared once, without padding where that can be told.
        biggest: bytes of the biggest; None where there are none.
        biggest_name: the key or backend of the biggest.
        biggest_tensor: the tensor that the biggest is the data of.
    """

    kind: str
    count: int
    size: int
    biggest: int | None = None
    biggest_name: str | None = None
    biggest_tensor: TensorFacts | None = None


@dataclass(frozen=True, slots=True)
class SegmentFacts:
    """A segment: where in the file it starts, its bytes, and what for."""

    start: int
    size: int
    users: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpaceFacts:
    """Bytes of the file that serve one purpose.

    Attributes:
        name: the purpose.
        size: how many bytes.
        in_program: whether they are part of the FlatBuffers program.
    """

    name: str
    size: int
    in_program: bool


def segment_facts(program: Program, container: Container) -> tuple[SegmentFacts, ...]:
    """The facts of each segment."""
    users = {number: tuple(labels) for number, labels in _segment_users(program).items()}
    return tuple(
        SegmentFacts(container.segment_base + segment.offset, segment.size, users.get(number, ()))
        for number, segment in enumerate(program.segments or ())
    )


def data_facts(program: Program) -> tuple[DataFacts, ...]:
    """The facts of all kinds of data."""
    return (
        _constant_facts(program),
        _mutable_facts(program),
        _delegate_data_facts(program),
        _named_facts(program),
    )


def external_tensors(program: Program) -> int:
    """How many tensors have their data in a ``.ptd`` file."""
    return sum(is_external(tensor) for tensor in _tensors(program))


def space_facts(program: Program | None, container: Container | None, mapped: FileMap) -> list[SpaceFacts]:
    """What each byte of the file is for, added up by purpose, in the order of the file."""
    end = container.program_end if container else 0
    segments = _segment_purposes(program) if program else {}
    sizes: Counter[tuple[str, bool]] = Counter()
    for one in mapped.ranges:
        inside = one.start < end
        sizes[_purpose(one, segments, complete=mapped.complete), inside] += one.end - one.start
    return [SpaceFacts(name, size, inside) for (name, inside), size in sizes.items()]


def _purpose(one: MappedRange, segments: dict[int, str], *, complete: bool) -> str:
    match one.region:
        case Region.ROOT_OFFSET | Region.IDENTIFIER | Region.HEADER:
            return "identifier and header"
        case Region.PADDING:
            return "padding"
        case Region.UNREACHED:
            return "unused bytes" if complete else "not reached, as the file is broken"
        case Region.SEGMENT:
            number = one.path[-1]
            return segments.get(number, "unused segments") if isinstance(number, int) else "unused segments"
        case _:
            return _program_part(one)


def _program_part(one: MappedRange) -> str:
    """Which part of the program the bytes of a table, vector or string are."""
    names = [step for step in one.path if isinstance(step, str)]
    if one.region is Region.VECTOR and names[:2] == ["constant_buffer", "storage"]:
        return CONSTANTS
    if one.region is Region.VECTOR and names[:2] == ["backend_delegate_data", "data"]:
        return DELEGATES
    if names[:1] != ["execution_plan"]:
        return "root table and lists of data"
    if "stacktrace" in names:
        return "stack traces"
    return _METHOD_PARTS.get(names[1] if names[1:] else "", "methods")


_METHOD_PARTS = {
    "values": "values",
    "chains": "instructions",
    "operators": "operators",
    "delegates": "delegates and their settings",
}


def _segment_uses(program: Program) -> Iterator[tuple[int, str, str]]:
    """The number of each segment that something uses, the purpose, and the user."""
    constants = program.constant_segment
    if constants is not None and constants.offsets:
        yield constants.segment_index, CONSTANTS, CONSTANTS
    for entry in program.mutable_data_segments or ():
        yield entry.segment_index, MUTABLE, MUTABLE
    for location, index, backend in _delegate_references(program):
        if location == DataLocation.SEGMENT:
            yield index, DELEGATES, f"delegate {backend}"
    for named in program.named_data or ():
        yield named.segment_index, NAMED, f"key {printable(named.key or '')}"


def _segment_users(program: Program) -> dict[int, list[str]]:
    users: dict[int, dict[str, None]] = {}
    for number, _, user in _segment_uses(program):
        users.setdefault(number, {})[user] = None
    return {number: list(labels) for number, labels in users.items()}


def _segment_purposes(program: Program) -> dict[int, str]:
    """What each segment is for; one with several uses is for all of them together."""
    purposes: dict[int, dict[str, None]] = {}
    for number, purpose, _ in _segment_uses(program):
        purposes.setdefault(number, {})[purpose] = None
    return {number: " and ".join(names) for number, names in purposes.items()}


def _delegate_references(program: Program) -> Iterator[tuple[int, int, str]]:
    """Location, index and backend of each delegate; shared lists of delegates once."""
    seen: set[int] = set()
    for plan in program.execution_plan or ():
        if id(plan.delegates) in seen:
            continue
        seen.add(id(plan.delegates))
        for delegate in plan.delegates or ():
            if delegate.processed is not None:
                yield delegate.processed.location, delegate.processed.index, printable(delegate.id or "")


def _tensors(program: Program) -> Iterator[Tensor]:
    """All tensors; shared lists of values once."""
    seen: set[int] = set()
    for plan in program.execution_plan or ():
        if id(plan.values) in seen:
            continue
        seen.add(id(plan.values))
        for value in plan.values or ():
            if isinstance(value.val, Tensor):
                yield value.val


def _constant_facts(program: Program) -> DataFacts:
    listed = program.constant_segment
    if listed is not None and listed.offsets:
        sizes = _slot_sizes(program, listed)
    else:
        sizes = [len(one.storage or b"") for one in program.constant_buffer or ()]
    users: dict[int, Tensor] = {}
    asked: dict[int, int] = {}
    for tensor in _tensors(program):
        number = tensor.data_buffer_idx
        if number and tensor.allocation_info is None and not is_external(tensor):
            users.setdefault(number, tensor)
            asked[number] = max(asked.get(number, 0), tensor_bytes(tensor) or 0)
    # What reaches to the next offset includes padding; the tensors know better.
    sizes = [min(size, asked.get(number, size)) for number, size in enumerate(sizes)]
    return _tensor_data(CONSTANTS, sizes, users)


def _mutable_facts(program: Program) -> DataFacts:
    sizes: list[int] = []
    for entry in program.mutable_data_segments or ():
        # Entry 0 of each list is the reserved one; the first list's stands for all.
        slots = _slot_sizes(program, entry)
        sizes += slots[1:] if sizes else slots
    users: dict[int, Tensor] = {}
    for tensor in _tensors(program):
        extra = tensor.extra_tensor_info
        first_list = extra is None or extra.mutable_data_segments_idx == 0
        if tensor.allocation_info is not None and first_list and not is_external(tensor):
            users.setdefault(tensor.data_buffer_idx, tensor)
    return _tensor_data(MUTABLE, sizes, users)


def _slot_sizes(program: Program, listed: SubsegmentOffsets) -> list[int]:
    """The bytes from each offset to the next; none where the offsets lead nowhere."""
    segments = program.segments or ()
    offsets = listed.offsets or ()
    end = segments[listed.segment_index].size if listed.segment_index < len(segments) else 0
    return [max(stop - start, 0) for start, stop in pairwise((*offsets, end))]


def _tensor_data(kind: str, sizes: Sequence[int], users: dict[int, Tensor]) -> DataFacts:
    """The facts of a list whose entry 0 is reserved."""
    if len(sizes) < 2:
        return DataFacts(kind, 0, 0)
    biggest = max(range(1, len(sizes)), key=lambda number: sizes[number])
    tensor = tensor_facts(users[biggest]) if biggest in users else None
    return DataFacts(kind, len(sizes) - 1, sum(sizes[1:]), sizes[biggest], biggest_tensor=tensor)


def _delegate_data_facts(program: Program) -> DataFacts:
    segments = [one.size for one in program.segments or ()]
    inline = [len(one.data or b"") for one in program.backend_delegate_data or ()]
    blobs: dict[tuple[bool, int], tuple[int, str]] = {}
    for location, index, backend in _delegate_references(program):
        sizes = segments if location == DataLocation.SEGMENT else inline
        if index < len(sizes):
            blobs.setdefault((location == DataLocation.SEGMENT, index), (sizes[index], backend))
    return _named_data(DELEGATES, len(blobs), list(blobs.values()))


def _named_facts(program: Program) -> DataFacts:
    segments = [one.size for one in program.segments or ()]
    blobs: dict[int, tuple[int, str]] = {}
    for named in program.named_data or ():
        if named.segment_index < len(segments):
            size = segments[named.segment_index]
            blobs.setdefault(named.segment_index, (size, printable(named.key or "")))
    return _named_data(NAMED, len(program.named_data or ()), list(blobs.values()))


def _named_data(kind: str, count: int, blobs: Sequence[tuple[int, str]]) -> DataFacts:
    if not blobs:
        return DataFacts(kind, count, 0)
    size, name = max(blobs, key=lambda blob: blob[0])
    return DataFacts(kind, count, sum(blob[0] for blob in blobs), size, biggest_name=name)
