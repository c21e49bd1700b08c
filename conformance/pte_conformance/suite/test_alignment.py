"""A writer puts segments, constants, delegate data and named blobs where its knobs say."""

import pytest

from pte_conformance.adapter import Capability
from pte_conformance.holding import holds
from pte_conformance.judging import Judge
from pte_conformance.strategies import written_files
from pte_conformance.strategies.files import Written
from pte_conformance.suite.contents import (
    constants_of_odd_sizes,
    delegates_that_share,
    every_instruction,
    initial_states,
    program,
)
from pte_conformance.suite.placement import PLACES, aligns, aligns_inline_delegates
from pte_conformance.suite.steps import LAYOUT_RULES
from pte_reference import NamedBlob, PTEFile, WriterOptions
from pte_reference.requirements import writer

SOUND = (writer.CONTENT_WRITTEN, writer.OUTPUT_VALID, *LAYOUT_RULES.values())


def _named(**blobs: NamedBlob) -> PTEFile:
    return PTEFile(program(), named_data=blobs)


def _two(first: int | None, second: int | None, *, absolute: bool = False) -> Written:
    """Two keys with equal bytes and different wishes, behind a blob that leaves them off the grid."""
    content = _named(
        before=NamedBlob(b"x" * 5),
        first=NamedBlob(b"shared", first),
        between=NamedBlob(b"y" * 200),
        second=NamedBlob(b"shared", second),
    )
    return Written(content, WriterOptions(absolute_alignment=absolute))


@holds(*SOUND, writer.SEGMENT_ALIGNMENT, writer.CONSTANT_ALIGNMENT)
@pytest.mark.parametrize("alignment", [1, 16, 128, 4096])
@pytest.mark.parametrize(
    "content",
    [constants_of_odd_sizes(), initial_states(), every_instruction(), delegates_that_share()],
    ids=["constants", "states", "delegates", "shared delegates"],
)
def test_segments(judge: Judge, content: PTEFile, alignment: int) -> None:
    """Segments of every kind start at multiples of the segment alignment."""
    if judge.needs(Capability.SERIALIZE):
        judge.example(Written(content, WriterOptions(segment_alignment=alignment)), aligns)


@holds(*SOUND, writer.SEGMENT_ALIGNMENT, writer.CONSTANT_ALIGNMENT)
@pytest.mark.parametrize("alignment", [1, 16, 64, 1024])
@pytest.mark.parametrize("segment_alignment", [1, 128, 4096])
def test_constants(judge: Judge, segment_alignment: int, alignment: int) -> None:
    """Constants start at multiples of their alignment, also where segments have a smaller one."""
    if judge.needs(Capability.SERIALIZE):
        options = WriterOptions(segment_alignment=segment_alignment, constant_alignment=alignment)
        judge.example(Written(constants_of_odd_sizes(), options), aligns)


@holds(writer.CONTENT_WRITTEN, writer.DELEGATE_ALIGNMENT)
@pytest.mark.parametrize("alignment", [1, 16, 64, 1024])
def test_inline_delegates(judge: Judge, alignment: int) -> None:
    """Delegate data inside the program starts at multiples of the delegate alignment."""
    if judge.needs(Capability.SERIALIZE):
        options = WriterOptions(delegates_in_segments=False, delegate_alignment=alignment)
        judge.example(Written(every_instruction(), options), aligns_inline_delegates)


@holds(*SOUND, writer.SEGMENT_ALIGNMENT, writer.NAMED_ALIGNMENT)
@pytest.mark.parametrize("alignment", [None, 1, 64, 1024, 16384])
def test_named_blobs(judge: Judge, alignment: int | None) -> None:
    """A named blob lies where it asks to."""
    if judge.needs(Capability.SERIALIZE):
        content = _named(before=NamedBlob(b"x" * 5), wishing=NamedBlob(b"blob", alignment))
        judge.example(Written(content), aligns)


SHARED = {
    "larger wish last": _two(16, 4096),
    "larger wish first": _two(4096, 16),
    "wish only last": _two(None, 1024),
    "absolute": _two(16, 4096, absolute=True),
}


@holds(*SOUND, writer.SEGMENT_ALIGNMENT, writer.SHARED_ALIGNMENT, writer.NAMED_ALIGNMENT)
@pytest.mark.parametrize("written", SHARED.values(), ids=SHARED.keys())
def test_shared_blobs(judge: Judge, written: Written) -> None:
    """Where keys share a blob, all of them find it where they ask for it."""
    if judge.needs(Capability.SERIALIZE):
        judge.example(written, aligns)


@holds(*SOUND, *PLACES)
def test_generated(judge: Judge) -> None:
    """Any content lies where its knobs and wishes say."""
    if judge.needs(Capability.SERIALIZE):
        judge.generated(written_files(), aligns)
