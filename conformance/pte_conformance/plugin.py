"""The pytest plugin: holds one implementation to the tests of ``pte_conformance.suite``.

It does nothing in runs that use neither its options nor its fixtures, and imports nothing but
the standard library, pytest and ``pte_reference`` when it is loaded.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pte_conformance.judging import Judge, Setting, Subject

EVENT = "pte_conformance.event"
"""Name of the user property that carries an event of a test."""

ADAPTER = "pte_conformance.adapter"
"""Name of the user property that carries what the adapter declares, once per process."""

GIVEN_SUBJECT: pytest.StashKey[Subject] = pytest.StashKey()
"""Where a program that drives pytest puts a subject that it has made ready itself."""

_SETTING: pytest.StashKey[Setting] = pytest.StashKey()
_TOLD: pytest.StashKey[bool] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options; their defaults are those of ``pte-conformance run``."""
    group = parser.getgroup("pte-conformance", "conformance of .pte implementations")
    group.addoption("--pte-adapter", default="reference", metavar="NAME", help="adapter to test")
    group.addoption("--pte-seed", type=int, default=0, metavar="N", help="seed of generated examples")
    group.addoption("--pte-examples", type=int, default=60, metavar="N", help="examples for each case")
    group.addoption(
        "--pte-requirement",
        action="append",
        default=[],
        metavar="ID|GLOB",
        help="judge only these requirements (repeatable)",
    )
    group.addoption("--pte-strict", action="store_true", help="a broken SHOULD is a failure too")
    group.addoption("--pte-output", type=Path, metavar="DIR", help="where failing inputs are kept")


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker, and refuses requirements that do not exist."""
    config.addinivalue_line("markers", "pte_holds(*requirements): what the test holds an implementation to")
    if config.getoption("pte_requirement"):
        _setting(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out tests that hold none of the chosen requirements."""
    if not config.getoption("pte_requirement"):
        return
    from pte_conformance.holding import MARKER, held_by

    chosen = _setting(config).chosen
    dropped = [
        one for one in items if one.get_closest_marker(MARKER) and not chosen.intersection(held_by(one))
    ]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [one for one in items if one not in dropped]


def _setting(config: pytest.Config) -> Setting:
    """What the options ask for; made once."""
    if _SETTING not in config.stash:
        from pte_conformance.catalogue import NoSuchRequirement, choose
        from pte_conformance.judging import Setting

        try:
            chosen = choose(config.getoption("pte_requirement"))
        except NoSuchRequirement as error:
            raise pytest.UsageError(str(error)) from None
        config.stash[_SETTING] = Setting(
            chosen=chosen,
            seed=config.getoption("pte_seed"),
            examples=config.getoption("pte_examples"),
            strict=config.getoption("pte_strict"),
        )
    return config.stash[_SETTING]


@pytest.fixture(scope="session")
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """The implementation under test."""
    config = request.config
    if GIVEN_SUBJECT in config.stash:
        yield config.stash[GIVEN_SUBJECT]
        return
    from pte_conformance.adapter import AdapterUnavailable
    from pte_conformance.judging import Subject
    from pte_conformance.registry import UnknownAdapter
    from pte_conformance.transport import AdapterBroken, TransportFailure, open_session

    name = config.getoption("pte_adapter")
    try:
        session = open_session(name)
    except (AdapterUnavailable, AdapterBroken, TransportFailure, UnknownAdapter) as error:
        # Not a skip: whoever names an adapter wants it tested.
        if hasattr(config, "workerinput"):
            # A worker of pytest-xdist that exits takes its reason with it.
            pytest.fail(str(error), pytrace=False)
        pytest.exit(str(error), returncode=2 if isinstance(error, UnknownAdapter) else 3)
    with session:
        yield Subject(session, name)


@pytest.fixture
def judge(request: pytest.FixtureRequest, subject: Subject) -> Judge:
    """Judges what the test finds by the requirements that it holds."""
    from pte_conformance.examples import DEFAULT_OUTPUT, ExampleStore
    from pte_conformance.holding import case_name, held_by
    from pte_conformance.judging import Judge

    config = request.config
    output = config.getoption("pte_output") or config.invocation_params.dir / DEFAULT_OUTPUT
    store = ExampleStore(output, subject.name)
    return Judge(subject, held_by(request.node), case_name(request.node), _setting(config), store.save)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Takes the verdicts of a test along with its report, and fails or skips it by them."""
    found: Any = pyfuncitem.funcargs.get("judge")
    if type(found).__module__ != "pte_conformance.judging":
        return (yield)
    try:
        result = yield
    # Whatever a test of the suite fails with, what it holds was not judged; the error goes on.
    except Exception as error:
        found.give_up(error)
        raise
    finally:
        _report(pyfuncitem, found)
    _conclude(found)
    return result


def _report(item: pytest.Item, judge: Judge) -> None:
    from pte_conformance.events import to_json
    from pte_conformance.transport.wire import info_to_json

    if not item.config.stash.get(_TOLD, False):
        item.config.stash[_TOLD] = True
        item.user_properties.append((ADAPTER, info_to_json(judge.subject.info)))
    item.user_properties.extend((EVENT, to_json(event)) for event in judge.events)


def _conclude(judge: Judge) -> None:
    """Fails the test for a broken requirement, skips it where nothing could be judged."""
    from pte_conformance.events import Status

    failed = [one for one in judge.events if one.status is Status.FAILED]
    if failed:
        lines = [f"{one.requirement}: {one.message} [{one.example}]" for one in failed]
        pytest.fail("\n".join(lines), pytrace=False)
    judged = {Status.PASSED, Status.ADVISORY}
    if judge.events and not any(one.status in judged for one in judge.events):
        pytest.skip("; ".join(dict.fromkeys(one.message for one in judge.events)))
