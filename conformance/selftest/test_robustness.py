"""Whatever the bytes, the reference answers with content or findings, in bounded memory."""

from __future__ import annotations

import dataclasses
import tracemalloc

import pytest

from pte_reference import (
    FormatError,
    PTEFile,
    WriterOptions,
    check,
    deserialize,
    file_map,
    model,
    serialize,
)
from pte_reference.container import read_container
from pte_reference.encoding.decode import decode_root
from pte_reference.encoding.sites import Breach
from pte_reference.encoding.trace import MAX_FINDINGS, trace_root
from pte_reference.pte_file import NamedBlob
from pte_reference.requirements import encoding as rules
from selftest.broken_files import BROKEN, SMALL, overlapping_vectors
from selftest.covering import one_plan, smallest
from selftest.golden import GOLDEN, mutants, small_golden
from selftest.rewriting import change_plan, change_program


def judge(what: str, data: bytes) -> None:
    """Holds the reference to its promises on one byte string."""
    findings = check(data)
    breaches = [one for one in findings if one.is_breach]
    try:
        content = deserialize(data)
    except FormatError as error:
        assert set(error.findings) <= set(breaches), what
    else:
        written = serialize(content)
        again = deserialize(written)
        assert up_to_padding(again) == up_to_padding(content), what
        assert serialize(again) == written, what
    walks_agree(what, data)
    every_byte_is_mapped(what, data)


def up_to_padding(content: PTEFile) -> PTEFile:
    """The content with constants cut before trailing zeros.

    The format keeps no length of a constant that no tensor tells about: padding comes back.
    """
    constants = tuple(bytes(blob).rstrip(b"\0") for blob in content.constants)
    return dataclasses.replace(content, constants=constants)


def walks_agree(what: str, data: bytes) -> None:
    """The tracing walk finds something if the fast one does, and the same thing first."""
    view = memoryview(data)
    try:
        container = read_container(view)
    except FormatError:
        return
    start, end = container.program_start, container.program_end
    traced = trace_root(model.Program, view, start, end).findings
    try:
        decode_root(model.Program, view, start, end)
    except Breach as breach:
        first = traced[0]
        assert (first.requirement, first.offset, first.message) == (
            breach.requirement,
            breach.offset,
            breach.message,
        ), what
    else:
        assert not traced, what


def every_byte_is_mapped(what: str, data: bytes) -> None:
    """The ranges of the map follow each other without a gap."""
    position = 0
    for one in file_map(data).ranges:
        assert one.start == position < one.end, what
        position = one.end
    assert position == len(data), what


def test_golden_and_broken_files_are_judged_alike_by_both_walks() -> None:
    """On every file of the corpus and every broken file of the tests."""
    for name, path in GOLDEN.items():
        judge(name, path.read_bytes())
    for requirement, name, make in BROKEN:
        if requirement is not rules.TABLE_COUNT:
            judge(f"{requirement.id} {name}", make())


def test_every_seventh_prefix_of_some_golden_files_gives_findings() -> None:
    """A truncated file is never taken for a whole one."""
    for name, data in list(small_golden().items())[::12]:
        for size in range(0, len(data), 7):
            assert any(one.is_breach for one in check(data[:size])), (name, size)


def test_a_thousand_mutants_give_content_or_findings() -> None:
    """Random changes of one to four bytes lead to no other kind of answer."""
    for what, data in mutants(seed=1, count=1000):
        judge(what, data)


def test_no_mutant_takes_much_memory() -> None:
    """What a length field says is never allocated: files of 4 KB take less than 2 MiB."""
    cases = list(mutants(seed=3, count=150))
    for what, data in cases:
        judge(what, data)
    tracemalloc.start()
    try:
        for what, data in cases:
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            judge(what, data)
            assert tracemalloc.get_traced_memory()[1] - before < 2 * 2**20, what
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_every_prefix_of_every_small_golden_file_gives_findings() -> None:
    """All prefixes of all golden files up to 4 KB."""
    for name, data in small_golden().items():
        for size in range(len(data)):
            prefix = data[:size]
            assert any(one.is_breach for one in check(prefix)), (name, size)
            with pytest.raises(FormatError):
                deserialize(prefix)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 24))
def test_a_hundred_thousand_mutants_give_content_or_findings(seed: int) -> None:
    """The same as above, many more times, in four parts."""
    for what, data in mutants(seed=seed, count=25_000):
        judge(what, data)


def test_a_small_file_that_fans_out_is_refused() -> None:
    """In 2 KB, a hundred places each lead to one plan, chain, list and frame: 10**8 tables.

    A reader that made them all would not come back.
    """
    frames = model.FrameList((model.Frame(),) * 100)
    chain = model.Chain(stacktrace=(frames,) * 100)
    plan = model.ExecutionPlan(name="forward", chains=(chain,) * 100)
    file = change_program(SMALL, execution_plan=(plan,) * 100)
    assert len(file) < 2048
    findings = check(file)
    assert [one.requirement for one in findings] == [rules.TABLE_COUNT]
    visits = next(int(word) for word in findings[0].message.split() if word.isdigit())
    assert visits > 10**8


def test_overlapping_vectors_take_no_memory() -> None:
    """A thousand lists over the same bytes are refused before they are decoded."""
    file = overlapping_vectors(2000)
    tracemalloc.start()
    try:
        findings = check(file)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert {one.requirement for one in findings} == {rules.DECODED_SIZE}
    assert peak < 20 * 2**20


def test_what_is_shared_stays_shared_when_it_is_written() -> None:
    """Content that unfolds to 900,000 tables is a file of a few kilobytes, both ways."""
    steps = (model.Instruction(model.MoveCall(0, 0)),) * 450
    chain = model.Chain(instructions=steps)
    plan = one_plan(model.EValue(model.Int(1)), chains=(chain,) * 999)
    content = dataclasses.replace(smallest(), program=plan)
    file = serialize(content)
    assert len(file) < 8192
    assert deserialize(file) == content
    assert serialize(deserialize(file)) == file


@pytest.mark.slow
def test_a_legal_program_of_600000_tables_is_read() -> None:
    """Large is not broken: 200,000 values of three tables each."""
    values = tuple(
        model.EValue(model.Tensor(model.ScalarType.BYTE, allocation_info=model.AllocationDetails(1, number)))
        for number in range(200_000)
    )
    content = dataclasses.replace(smallest(), program=one_plan(*values, non_const_buffer_sizes=(0, 2**20)))
    file = serialize(content)
    assert deserialize(file) == content


@pytest.mark.slow
def test_more_than_a_million_tables_need_a_higher_limit() -> None:
    """The limit is the caller's to raise."""
    values = tuple(model.EValue(model.Int(number)) for number in range(500_001))
    file = serialize(dataclasses.replace(smallest(), program=one_plan(*values)), WriterOptions())
    assert [one.requirement for one in check(file)] == [rules.TABLE_COUNT]
    assert check(file, max_tables=2_000_000) == []


def test_long_vectors_that_many_places_share_are_looked_at_once() -> None:
    """20,000 plans, chains and tensors around vectors of 100,000 numbers: 10**9 steps if not."""
    long = (0,) * 100_000
    plans = tuple(
        model.ExecutionPlan(name=f"method {number}", chains=(), inputs=long, outputs=long)
        for number in range(20_000)
    )
    file = change_program(SMALL, execution_plan=plans)
    assert rules.TABLE_COUNT not in {one.requirement for one in check(file)}
    values = tuple(
        model.EValue(model.Tensor(sizes=long, dim_order=long, data_buffer_idx=number))
        for number in range(20_000)
    )
    assert len(check(change_plan(SMALL, values=values))) == MAX_FINDINGS
    segments = tuple(model.DataSegment(0, 0) for _ in range(20_000))
    states = tuple(model.SubsegmentOffsets(number, long) for number in range(20_000))
    findings = check(change_program(SMALL, segments=segments, mutable_data_segments=states))
    assert [one.requirement for one in findings] == [rules.DECODED_SIZE]


def test_delegates_on_overlapping_segments_are_not_all_compared() -> None:
    """3,000 segments of 4 MB each in a file of 4 MB would be 12 GB to compare."""
    size = 4 * 2**20
    content = PTEFile(one_plan(), named_data={"large": NamedBlob(bytes(size + 3000))})
    file = serialize(content)
    segments = (*(model.DataSegment(0, 0),), *(model.DataSegment(at, size) for at in range(3000)))
    delegates = tuple(
        model.BackendDelegate("A", model.BackendDelegateDataReference(model.DataLocation.SEGMENT, number + 1))
        for number in range(3000)
    )
    overlapping = change_plan(change_program(file, segments=segments, named_data=None), delegates=delegates)
    assert len(deserialize(overlapping).delegate_data) > 2000
