"""Generation that goes on after a failure, until no new one appears.

Each round is one Hypothesis run over the same examples. A round stops at the first breach that
earlier rounds did not find, and shrinks the example for that breach alone; the next round sets
it aside. So every fault gets an example of its own, as small as it gets.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, strategies
from hypothesis.errors import Flaky

from pte_conformance.judging import Examination

MAX_FAULTS = 12
"""More kinds of fault than this in one case tell nobody more."""


MAX_VAIN_SHRINKS = 100
"""Attempts in a row that make an example no smaller. A limit of time would make reports differ."""


class _Found(Exception):
    """An example broke what the round looks for."""


class _Box:
    """Hides an example from Hypothesis, which writes out the last one even where nobody reads it.

    For nested content that takes longer than the whole search.
    """

    def __init__(self, example: Any) -> None:
        self.example = example


class _SmallEnough(BaseException):
    """Ends a round at once, past Hypothesis, which treats exceptions as failures of the example."""


def search(
    strategy: strategies.SearchStrategy[Any],
    examine: Callable[[Any], Examination],
    seed: str,
    examples: int,
) -> list[Examination]:
    """The smallest examination for each fault, and one that tells what was reached in all.

    Args:
        strategy: where examples come from.
        examine: asks about one example.
        seed: the same seed gives the same examples.
        examples: how many examples to try in each round.
    """
    overall: Examination | None = None
    smallest: dict[tuple[str, str], Examination] = {}
    while len(smallest) < MAX_FAULTS:
        hunt = _Hunt(examine, frozenset(smallest), overall)
        hunt.run(strategy, seed, examples)
        overall = hunt.overall
        if hunt.target is None or hunt.last is None:
            break
        hunt.last.breaches = {hunt.target: hunt.last.breaches[hunt.target]}
        smallest[hunt.target] = hunt.last
    return [*smallest.values(), *([overall] if overall else [])]


class _Hunt:
    """One round: looks for one fault that is not set aside.

    Attributes:
        target: the fault that was found.
        last: the last examination that showed it, which is the smallest.
        overall: what all examples so far reached, without their breaches.
    """

    def __init__(
        self,
        examine: Callable[[Any], Examination],
        aside: frozenset[tuple[str, str]],
        overall: Examination | None,
    ) -> None:
        self._examine = examine
        self._aside = aside
        self.overall = overall
        self.target: tuple[str, str] | None = None
        self.last: Examination | None = None
        self._vain = 0

    def run(self, strategy: strategies.SearchStrategy[Any], seed: str, examples: int) -> None:
        """Looks at up to ``examples`` examples, and shrinks the first fault that is found."""
        settings = hypothesis.settings(
            max_examples=examples,
            database=None,
            deadline=None,
            derandomize=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
            verbosity=hypothesis.Verbosity.quiet,
        )

        @strategies.composite
        def counted(draw: strategies.DrawFn) -> _Box:
            self._count()
            return _Box(draw(strategy))

        def look(box: _Box) -> None:
            self._look(box.example)

        test = settings(hypothesis.seed(_number(seed))(hypothesis.given(counted())(look)))
        # Hypothesis runs the smallest example last, so that it is the one in `last`. An
        # implementation that answers differently each time is flaky to it, and no less at fault.
        with contextlib.suppress(_Found, _SmallEnough, Flaky):
            test()

    def _count(self) -> None:
        # Before anything is drawn: most attempts to shrink end before there is an example.
        if self.target is not None:
            self._vain += 1
            if self._vain > MAX_VAIN_SHRINKS:
                raise _SmallEnough

    def _look(self, example: Any) -> None:
        examination = self._examine(example)
        if self.overall is None:
            self.overall = Examination(examination.subject)
        self.overall.reached |= examination.reached
        self.overall.unsupported = self.overall.unsupported or examination.unsupported
        self.overall.unanswered = self.overall.unanswered or examination.unanswered
        if self.target is None:
            self.target = next((key for key in examination.breaches if key not in self._aside), None)
        if self.target in examination.breaches:
            self.last = examination
            self._vain = 0
            raise _Found


def _number(seed: str) -> int:
    return random.Random(seed).getrandbits(64)  # noqa: S311 (repeatable on purpose)
