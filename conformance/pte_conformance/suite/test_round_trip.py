"""What is written and read stays what it was."""

import pytest

from pte_conformance.adapter import Capability
from pte_conformance.holding import holds
from pte_conformance.judging import Judge
from pte_conformance.strategies import written_files
from pte_conformance.strategies.files import Written
from pte_conformance.suite.contents import FIXED
from pte_conformance.suite.steps import (
    CONTENT_RULES,
    LAYOUT_RULES,
    leaves_its_input_alone,
    reads,
    round_trip,
    writes,
    writes_the_same_again,
)
from pte_reference.requirements import fidelity, writer

READS, WRITES = Capability.DESERIALIZE, Capability.SERIALIZE

READING = holds(fidelity.VALID_FILE_READ, *CONTENT_RULES)
WRITING = holds(writer.CONTENT_WRITTEN, writer.OUTPUT_VALID, *LAYOUT_RULES.values(), *CONTENT_RULES)
BOTH = holds(writer.CONTENT_WRITTEN, fidelity.VALID_FILE_READ, *CONTENT_RULES)

each_content = pytest.mark.parametrize("written", FIXED.values(), ids=FIXED.keys())


@READING
@each_content
def test_reads(judge: Judge, written: Written) -> None:
    """A reader gets from a valid file all that is in it."""
    if judge.needs(READS):
        judge.example(written, reads)


@READING
def test_reads_generated(judge: Judge) -> None:
    """A reader gets from any valid file all that is in it."""
    if judge.needs(READS):
        judge.generated(written_files(), reads)


@WRITING
@each_content
def test_writes(judge: Judge, written: Written) -> None:
    """A writer makes a valid file that holds all it was given."""
    if judge.needs(WRITES):
        judge.example(written, writes)


@WRITING
def test_writes_generated(judge: Judge) -> None:
    """A writer makes a valid file of any content and with any knobs."""
    if judge.needs(WRITES):
        judge.generated(written_files(), writes)


@BOTH
@each_content
def test_round_trip(judge: Judge, written: Written) -> None:
    """An implementation gets back what it wrote, and again when it writes that."""
    if judge.needs(READS, WRITES):
        judge.example(written, round_trip)


@BOTH
def test_round_trip_generated(judge: Judge) -> None:
    """An implementation gets back any content that it wrote."""
    if judge.needs(READS, WRITES):
        judge.generated(written_files(), round_trip)


@holds(writer.CONTENT_WRITTEN, writer.DETERMINISTIC)
@each_content
def test_writes_the_same_again(judge: Judge, written: Written) -> None:
    """The same content gives the same bytes."""
    if judge.needs(WRITES):
        judge.example(written, writes_the_same_again)


@holds(writer.CONTENT_WRITTEN, writer.DETERMINISTIC)
def test_writes_the_same_again_generated(judge: Judge) -> None:
    """Any content gives the same bytes each time."""
    if judge.needs(WRITES):
        judge.generated(written_files(), writes_the_same_again)


@holds(writer.CONTENT_WRITTEN, writer.INPUT_UNTOUCHED)
@each_content
def test_leaves_its_input_alone(judge: Judge, written: Written) -> None:
    """Writing changes nothing of the content that is written."""
    if judge.needs(WRITES) and judge.shares_input():
        judge.example(written, leaves_its_input_alone)
