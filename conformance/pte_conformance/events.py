"""What happens in a run, as typed events; every report is a listener on them.

Events are plain data, so that they travel from the process that runs a test to the one that
reports, and from one version of a report to the next. Nothing in them depends on time, the
machine or chance: the same seed gives the same events.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Json: TypeAlias = Any


class Status(enum.Enum):
    """How a case ended for one requirement.

    ``ADVISORY`` is a broken SHOULD; ``SKIPPED`` was not declared, so there is nothing to
    judge; ``NOT_REACHED`` could not be judged, as an earlier step failed.
    """

    PASSED = "passed"
    FAILED = "failed"
    ADVISORY = "advisory"
    SKIPPED = "skipped"
    NOT_REACHED = "not-reached"


class Blame(enum.Enum):
    """Whose fault it is that a case did not pass."""

    IMPLEMENTATION = "implementation"
    ADAPTER = "adapter"
    SUITE = "suite"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class Note:
    """One difference, written out.

    Attributes:
        path: where, such as ``execution_plan[0].values[3].val.sizes``.
        kind: what sort of difference.
        expected: what should be there.
        actual: what is there.
    """

    path: str
    kind: str
    expected: str
    actual: str


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run of one adapter begins.

    Attributes:
        suite_version: version of this package.
        catalogue: hash of the requirements.
        seed: of everything that is generated.
        examples: how many examples are generated for a case.
        strict: whether a broken SHOULD counts as a failure.
        python: version of Python.
        adapter: what the adapter declares.
        name: the name by which the adapter was asked for.
    """

    name: str
    adapter: Json
    suite_version: str
    catalogue: str
    seed: int
    examples: int
    strict: bool
    python: str


@dataclass(frozen=True, slots=True)
class CaseJudged:
    """One case was judged by one requirement.

    A requirement that a case breaks in several ways (fields, outcomes) gives one event each.

    Attributes:
        requirement: its id.
        case: name of the case; stable, and never a pytest node id.
        status: how it ended.
        aspect: which of the ways: the field, the kind of difference, or the outcome.
        outcome: kind of the outcome that decided.
        blame: whose fault it is; None where there is none.
        message: what happened, in a sentence.
        differences: what differs.
        example: path of the saved input, relative to the output directory.
    """

    requirement: str
    case: str
    status: Status
    aspect: str = ""
    outcome: str = "accept"
    blame: Blame | None = None
    message: str = ""
    differences: tuple[Note, ...] = ()
    example: str | None = None

    @property
    def order(self) -> tuple[str, str, str]:
        """What reports sort by."""
        return (self.requirement, self.case, self.aspect)


@dataclass(frozen=True, slots=True)
class RunFinished:
    """A run ended.

    Attributes:
        exit_code: 0 conforming, 1 not, 3 the suite or the environment failed.
        cases: how many verdicts of each status there are.
        passed_must: MUST requirements that were judged and never broken.
        judged_must: MUST requirements that some case judged.
        declared_must: MUST requirements that the adapter is bound by.
        all_must: MUST requirements in the catalogue that the run chose.
        problems: what the suite itself stumbled over.
    """

    exit_code: int
    cases: dict[str, int] = field(default_factory=dict)
    passed_must: int = 0
    judged_must: int = 0
    declared_must: int = 0
    all_must: int = 0
    problems: tuple[str, ...] = ()


Event: TypeAlias = RunStarted | CaseJudged | RunFinished
Listener: TypeAlias = Callable[[Event], None]

_KINDS: dict[str, type[Any]] = {
    "run-started": RunStarted,
    "case-judged": CaseJudged,
    "run-finished": RunFinished,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def to_json(event: Event) -> dict[str, Json]:
    """The event as plain JSON data."""
    document: dict[str, Json] = {"event": _NAMES[type(event)]}
    for one in dataclasses.fields(event):
        document[one.name] = _plain(getattr(event, one.name))
    return document


def _plain(value: object) -> Json:
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Note):
        return dataclasses.asdict(value)
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value


def from_json(document: dict[str, Json]) -> Event:
    """The event that :func:`to_json` wrote."""
    parts = dict(document)
    kind = _KINDS[parts.pop("event")]
    if kind is CaseJudged:
        parts["status"] = Status(parts["status"])
        parts["blame"] = None if parts["blame"] is None else Blame(parts["blame"])
        parts["differences"] = tuple(Note(**one) for one in parts["differences"])
    if kind is RunFinished:
        parts["problems"] = tuple(parts["problems"])
    event: Event = kind(**parts)
    return event
