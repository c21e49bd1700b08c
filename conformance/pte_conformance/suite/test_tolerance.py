"""Valid files that look unusual are accepted, with all that is in them."""

import dataclasses
from collections.abc import Callable

import pytest

from pte_conformance.adapter import Capability
from pte_conformance.holding import holds
from pte_conformance.judging import Examination, Judge
from pte_conformance.suite.contents import CONTENTS
from pte_conformance.suite.damage import u32, u64
from pte_conformance.suite.steps import CONTENT_RULES
from pte_reference import PTEFile, WriterOptions, serialize
from pte_reference.requirements import fidelity

SHORT = WriterOptions(header_length=24)

PARENTS = {name: CONTENTS[name] for name in ("empty_among_others", "initial_states", "named_blobs")}


@dataclasses.dataclass(frozen=True, slots=True)
class Unusual:
    """Content and an unusual, valid file of it."""

    content: PTEFile
    file: bytes


def _trailing_bytes(content: PTEFile) -> bytes:
    """Bytes behind the last segment: FORMAT section 1."""
    return serialize(content) + b"\x2a" * 100


def _short_header(content: PTEFile) -> bytes:
    """The header of releases before 1.0.0, without the size of the segment data."""
    return serialize(content, SHORT)


def _bytes_behind_short_header(content: PTEFile) -> bytes:
    """A short header, where a long one would have an absurd size of the segment data."""
    file = serialize(content, SHORT)
    return file[:32] + u64(-1) + file[40:]


def _header_of_28(content: PTEFile) -> bytes:
    """A length between the two that releases write: the size is not there yet."""
    file = serialize(content)
    return file[:12] + u32(28) + file[16:]


def _longer_header(content: PTEFile) -> bytes:
    """A header of a later release, with a field that nobody knows yet."""
    file = serialize(content)
    root, size, base = (int.from_bytes(file[at:end], "little") for at, end in ((0, 4), (16, 24), (24, 32)))
    more = 128
    head = u32(root + 16) + file[4:12] + u32(40) + u64(size + 16) + u64(base + more) + file[32:40]
    body = head + u64(0x1234).ljust(16, b"\0") + file[40:size]
    return body.ljust(base + more, b"\0") + file[base:]


def _no_segment_data_size(content: PTEFile) -> bytes:
    """A writer that leaves the size of the segment data at 0 did not say it."""
    file = serialize(content)
    return file[:32] + u64(0) + file[40:]


MAKERS: tuple[Callable[[PTEFile], bytes], ...] = (
    _trailing_bytes,
    _short_header,
    _bytes_behind_short_header,
    _header_of_28,
    _longer_header,
    _no_segment_data_size,
)


def accepts(examination: Examination, unusual: Unusual) -> None:
    """The file is read, and its content is what it always is."""
    examination.input = unusual.file
    actual = examination.accepted(fidelity.VALID_FILE_READ, PTEFile, "deserialize", unusual.file)
    if actual is not None:
        examination.same(CONTENT_RULES, unusual.content, actual)


@holds(fidelity.VALID_FILE_READ, *CONTENT_RULES)
@pytest.mark.parametrize("parent", PARENTS.values(), ids=PARENTS.keys())
@pytest.mark.parametrize("make", MAKERS, ids=[one.__name__.strip("_") for one in MAKERS])
def test_unusual(judge: Judge, make: Callable[[PTEFile], bytes], parent: PTEFile) -> None:
    """An unusual file that breaks no MUST is read like any other."""
    if judge.needs(Capability.DESERIALIZE):
        judge.example(Unusual(parent, make(parent)), accepts)
