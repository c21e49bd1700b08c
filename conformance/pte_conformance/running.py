"""Runs the suite on one implementation, in this process, and tells listeners what happens."""

from __future__ import annotations

import contextlib
import os
import platform
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import pytest

from pte_conformance import plugin
from pte_conformance.adapter import Adapter
from pte_conformance.catalogue import catalogue_hash, choose
from pte_conformance.events import CaseJudged, Listener, RunFinished, RunStarted
from pte_conformance.examples import DEFAULT_OUTPUT, ExampleStore
from pte_conformance.judging import Subject
from pte_conformance.recording import Recorder, finish
from pte_conformance.transport import Limits, Session, open_session
from pte_conformance.transport.session import session_name
from pte_conformance.transport.wire import info_to_json
from pte_reference import Requirement

SUITE = "pte_conformance.suite"

_FOREIGN_SETTINGS = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")


class NothingToJudge(Exception):
    """No test of the suite holds any of the chosen requirements."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How to run.

    Attributes:
        seed: of everything that is generated.
        examples: how many examples to generate for a case.
        requirements: ids or patterns; empty for all.
        output: where failing inputs are kept.
        strict: whether a broken SHOULD counts as a failure.
        limits: of each call of an implementation in a process of its own.
    """

    seed: int = 0
    examples: int = 60
    requirements: tuple[str, ...] = ()
    output: Path = Path(DEFAULT_OUTPUT)
    strict: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Result:
    """What a run came to, with its verdicts in the order of requirement and case."""

    started: RunStarted
    judged: tuple[CaseJudged, ...]
    finished: RunFinished


def run_conformance(
    adapter: str | type[Adapter],
    plan: Plan | None = None,
    *,
    listeners: Sequence[Listener] = (),
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Result:
    """Holds an implementation to the suite.

    Args:
        adapter: an adapter's name, or its class.
        plan: how to run.
        listeners: called with each event as it happens.
        progress: called with the number of tests that are done, and of all.

    Raises:
        UnknownAdapter: no adapter has that name.
        AdapterUnavailable: the implementation is not installed.
        AdapterBroken: the adapter cannot be made for another reason.
        TransportFailure: the worker cannot be started.
        NoSuchRequirement: an id or pattern fits no requirement.
        NothingToJudge: no test holds the requirements.
    """
    plan = plan or Plan()
    chosen = choose(plan.requirements)
    with open_session(adapter, plan.limits) as session:
        return _run(Subject(session, session_name(adapter)), plan, chosen, listeners, progress)


def _run(
    subject: Subject,
    plan: Plan,
    chosen: frozenset[Requirement],
    listeners: Sequence[Listener],
    progress: Callable[[int, int], None],
) -> Result:
    judged: list[CaseJudged] = []

    def tell(event: RunStarted | CaseJudged | RunFinished) -> None:
        for listener in listeners:
            listener(event)

    def heard(event: CaseJudged) -> None:
        judged.append(event)
        tell(event)

    started = _started(subject.session, subject.name, plan)
    tell(started)
    ExampleStore(plan.output, subject.name).clear()
    recorder = Recorder(heard, progress)
    code = _drive_pytest(subject, plan, recorder)
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        raise NothingToJudge(f"no test holds {', '.join(plan.requirements)} yet")
    problems = list(recorder.problems)
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and not problems:
        problems.append(f"pytest ended with {code!r}")
    judged.sort(key=lambda one: one.order)
    finished = finish(judged, problems, subject.info, chosen)
    tell(finished)
    return Result(started, tuple(judged), finished)


def _started(session: Session, name: str, plan: Plan) -> RunStarted:
    return RunStarted(
        name=name,
        adapter=info_to_json(session.info),
        suite_version=suite_version(),
        catalogue=catalogue_hash(),
        seed=plan.seed,
        examples=plan.examples,
        strict=plan.strict,
        python=platform.python_version(),
    )


def suite_version() -> str:
    """The version of this package; a checkout that is not installed has none."""
    try:
        return metadata.version("pte-conformance")
    except metadata.PackageNotFoundError:
        return "0+unknown"


class _Subject:
    """A pytest plugin that hands the subject to the fixtures."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[plugin.GIVEN_SUBJECT] = self._subject


def _drive_pytest(subject: Subject, plan: Plan, recorder: Recorder) -> int:
    folder = Path(__file__).parent / "suite"
    arguments = [
        *("--pyargs", SUITE, "-c", str(folder / "run.ini"), "--rootdir", str(folder), "--noconftest"),
        # No cache, no compiled tests, no output: only what the listeners say.
        *("-p", "no:cacheprovider", "-p", "no:terminal", "--assert=plain", "--import-mode=append"),
        f"--pte-adapter={subject.name}",
        f"--pte-seed={plan.seed}",
        f"--pte-examples={plan.examples}",
        f"--pte-output={plan.output.absolute()}",
        *(f"--pte-requirement={one}" for one in plan.requirements),
        *(["--pte-strict"] if plan.strict else []),
    ]
    with _own_pytest(), _own_hypothesis():
        return int(pytest.main(arguments, plugins=[plugin, _Subject(subject), recorder]))


@contextlib.contextmanager
def _own_pytest() -> Iterator[None]:
    """Keeps plugins and options out that are installed or set for other tests."""
    before = {name: os.environ.pop(name) for name in _FOREIGN_SETTINGS if name in os.environ}
    autoload = os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        os.environ.update(before)
        if autoload is None:
            del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        else:
            os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = autoload


@contextlib.contextmanager
def _own_hypothesis() -> Iterator[None]:
    """Lets Hypothesis keep its tables in a folder that goes away, not where the user is."""
    from hypothesis import configuration

    with tempfile.TemporaryDirectory(prefix="pte-conformance-") as folder:
        configuration.set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            configuration.set_hypothesis_home_dir(None)
