"""What every report says of a run: verdicts by requirement, and failures that are alike."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from pte_conformance.events import CaseJudged, RunStarted, Status
from pte_reference import REGISTRY, Requirement

_WORST_FIRST = (Status.FAILED, Status.ADVISORY, Status.NOT_REACHED, Status.PASSED, Status.SKIPPED)


@dataclass(frozen=True, slots=True)
class Row:
    """The verdicts of one requirement.

    Attributes:
        requirement: the requirement.
        status: the worst of its verdicts; that it passed counts more than that it was skipped.
        cases: how many verdicts of each status there are.
    """

    requirement: Requirement
    status: Status
    cases: Counter[Status]


def rows(judged: Iterable[CaseJudged]) -> list[Row]:
    """A row for each requirement that was looked at, in the order of the catalogue."""
    cases: dict[str, Counter[Status]] = {}
    for one in judged:
        cases.setdefault(one.requirement, Counter())[one.status] += 1
    return [
        Row(one, next(status for status in _WORST_FIRST if cases[one.id][status]), cases[one.id])
        for one in REGISTRY
        if one.id in cases
    ]


@dataclass(frozen=True, slots=True)
class Failure:
    """Failures of one requirement that are alike, and one of them to show.

    Attributes:
        shown: the first of them, by name of the case.
        alike: how many there are.
    """

    shown: CaseJudged
    alike: int


def failures(judged: Iterable[CaseJudged]) -> dict[Requirement, list[Failure]]:
    """What is broken, requirement by requirement, each way to break it once."""
    groups: dict[str, dict[str, list[CaseJudged]]] = {}
    for one in judged:
        if one.status in {Status.FAILED, Status.ADVISORY}:
            groups.setdefault(one.requirement, {}).setdefault(one.aspect, []).append(one)
    return {
        one: [Failure(alike[0], len(alike)) for alike in groups[one.id].values()]
        for one in REGISTRY
        if one.id in groups
    }


def repeat_command(started: RunStarted, requirement: Requirement) -> str:
    """The command that judges one requirement again, in the same way."""
    words = ["pte-conformance", "run", started.name, "--seed", str(started.seed)]
    if started.strict:
        words.append("--strict")
    return shlex.join([*words, "--requirement", requirement.id])
