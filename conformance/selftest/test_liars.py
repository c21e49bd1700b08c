"""Every liar is caught, for what it lies about and nothing else; the honest reference passes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from pte_conformance.adapters.reference import Reference
from pte_conformance.events import Blame, Status
from pte_conformance.running import Plan, run_conformance

from pte_reference import Requirement
from selftest.liars import LIARS, READERS, WRITERS, Liar


def broken(
    adapter: type[Reference], output: Path, *, examples: int = 2, held: Iterable[Requirement] = ()
) -> set[str]:
    """The ids of the requirements that the suite finds broken, of all or those that are named."""
    chosen = tuple(one.id for one in held)
    result = run_conformance(adapter, Plan(output=output, examples=examples, requirements=chosen))
    assert result.finished.problems == ()
    failed = [one for one in result.judged if one.status is Status.FAILED]
    assert all(one.blame is Blame.IMPLEMENTATION and one.message and one.example for one in failed)
    assert all((output / str(one.example)).is_file() for one in failed)
    assert result.finished.exit_code == (1 if failed else 0)
    return {one.requirement for one in failed}


@pytest.mark.parametrize("liar", LIARS, ids=lambda liar: liar.__name__)
def test_a_liar_is_caught_for_its_lie(liar: type[Liar], tmp_path: Path) -> None:
    """The suite finds broken what the lie breaks."""
    assert broken(liar, tmp_path, held=liar.breaks) == {one.id for one in liar.breaks}


@pytest.mark.slow
@pytest.mark.parametrize("liar", [*READERS, *WRITERS], ids=lambda liar: liar.__name__)
def test_a_liar_passes_where_it_is_honest(liar: type[Liar], tmp_path: Path) -> None:
    """A lie has consequences for its own requirements only, so that a report names the cause."""
    assert broken(liar, tmp_path) == {one.id for one in liar.breaks}


def test_the_reference_passes(tmp_path: Path) -> None:
    """Where the liars fail, honesty is possible."""
    assert broken(Reference, tmp_path, examples=20) == set()


def test_every_lie_is_told_once() -> None:
    """Each liar says in its docstring what it does, and they are all different."""
    tales = [liar.__doc__ for liar in LIARS]
    assert None not in tales
    assert len(set(tales)) == len(tales)
