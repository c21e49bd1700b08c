"""Collects the events that tests send along with their pytest reports.

They arrive in the process that reports, wherever the tests ran (``pytest -n`` has workers).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import pytest

from pte_conformance.adapter import AdapterInfo
from pte_conformance.events import Blame, CaseJudged, RunFinished, Status, from_json
from pte_conformance.holding import MARKER
from pte_conformance.plugin import EVENT
from pte_reference import Level, Requirement

EXIT_CONFORMING = 0
EXIT_NOT_CONFORMING = 1
EXIT_USAGE = 2
EXIT_ENVIRONMENT = 3


class Recorder:
    """A pytest plugin that hears of every verdict.

    Args:
        heard: called with each verdict.
        progress: called with the number of tests that are done, and of all.

    Attributes:
        problems: what the suite itself stumbled over.
    """

    def __init__(
        self,
        heard: Callable[[CaseJudged], None],
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        self.problems: list[str] = []
        self._heard = heard
        self._progress = progress
        self._done = self._total = 0

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Knows now how many tests there are."""
        self._total = len(session.items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module of the suite that cannot be imported is a fault of the suite."""
        if report.failed:
            self.problems.append(f"{report.nodeid or 'the suite'}: {_last_line(report.longreprtext)}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Takes the events out of the report."""
        if MARKER not in report.keywords:
            return
        events = 0
        if report.when == "call":
            for name, value in report.user_properties:
                if name == EVENT and isinstance(value, dict):
                    event = from_json(value)
                    if isinstance(event, CaseJudged):
                        events += 1
                        self._heard(event)
        if report.failed and not events:
            self.problems.append(f"{report.nodeid} ({report.when}): {_last_line(report.longreprtext)}")
        if report.when == "teardown":
            self._done += 1
            self._progress(self._done, self._total)


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def finish(
    judged: Iterable[CaseJudged],
    problems: Iterable[str],
    info: AdapterInfo,
    chosen: Iterable[Requirement],
) -> RunFinished:
    """What all verdicts of a run come to."""
    judged, problems = list(judged), [*problems]
    statuses: dict[str, set[Status]] = {}
    for one in judged:
        statuses.setdefault(one.requirement, set()).add(one.status)
    musts = [one for one in chosen if one.level is Level.MUST]
    declared = [one for one in musts if any(one.binds_role(role) for role in info.roles)]
    passed = [one for one in declared if passes(statuses.get(one.id, set()))]
    blamed = {Blame.SUITE, Blame.ENVIRONMENT}
    problems += [f"{one.case}: {one.message}" for one in judged if one.blame in blamed]
    if not any(_is_judged({one.status}) for one in judged):
        reasons = dict.fromkeys(one.message for one in judged if one.message)
        problems.append(f"nothing was judged: {'; '.join(list(reasons)[:3]) or 'no test ran'}")
    # What could not be judged because an earlier step failed is no conformance either.
    short = any(one.status in (Status.FAILED, Status.NOT_REACHED) for one in judged)
    code = EXIT_ENVIRONMENT if problems else EXIT_NOT_CONFORMING if short else EXIT_CONFORMING
    return RunFinished(
        exit_code=code,
        cases={status.value: Counter(one.status for one in judged)[status] for status in Status},
        passed_must=len(passed),
        judged_must=sum(_is_judged(statuses.get(one.id, set())) for one in declared),
        declared_must=len(declared),
        all_must=len(musts),
        problems=tuple(dict.fromkeys(problems)),
    )


def _is_judged(statuses: set[Status]) -> bool:
    return not statuses.isdisjoint({Status.PASSED, Status.FAILED, Status.ADVISORY})


def passes(statuses: Iterable[Status]) -> bool:
    """Whether a requirement with these verdicts was judged and never broken."""
    statuses = set(statuses)
    return Status.PASSED in statuses and not statuses & {Status.FAILED, Status.ADVISORY}
