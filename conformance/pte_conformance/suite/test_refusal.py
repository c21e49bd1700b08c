"""Damaged files are refused, on purpose and by everyone whom the broken rule binds."""

import pytest

from pte_conformance.holding import holds
from pte_conformance.judging import Examination, Judge, operations_bound
from pte_conformance.suite.damage import DAMAGED, Damaged


def refuses(examination: Examination, damaged: Damaged) -> None:
    """Every call that the broken rule binds ends in a refusal."""
    file = damaged.make()
    examination.input = file
    for operation in operations_bound(damaged.requirement, examination.subject.info):
        examination.refused(damaged.requirement, operation, file)


@pytest.mark.parametrize(
    "damaged",
    [pytest.param(one, marks=holds(one.requirement), id=one.name) for one in DAMAGED],
)
def test_damaged(judge: Judge, damaged: Damaged) -> None:
    """A file that breaks a MUST is not accepted, and nothing dies of it."""
    if judge.must_refuse():
        judge.example(damaged, refuses)
