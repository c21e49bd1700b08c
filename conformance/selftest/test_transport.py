"""Whatever an implementation does ends as the outcome of that one call."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pte_conformance.adapter import (
    Accepted,
    AdapterUnavailable,
    Crashed,
    Hung,
    Outcome,
    OutOfMemory,
    Rejected,
    Stumbled,
    Unsupported,
)
from pte_conformance.registry import UnknownAdapter, adapter_class
from pte_conformance.suite.contents import CONTENTS
from pte_conformance.transport import AdapterBroken, InProcessSession, Limits, open_session
from pte_conformance.transport.classify import call_adapter
from pte_conformance.transport.session import WorkerSession
from pte_conformance.transport.wire import Foreign

from pte_reference import PTEFile, WriterOptions, serialize
from selftest.liars import processes
from selftest.liars.base import Liar
from selftest.liars.processes import TRIGGER

LIMITS = Limits(seconds=1.0, memory=256)
CONTENT = CONTENTS["every_instruction"]
FILE = serialize(CONTENT)


MISBEHAVIOUR: list[tuple[type, Callable[[Outcome], bool]]] = [
    (processes.Crashes, lambda one: one == Crashed("SIGSEGV")),
    (processes.Aborts, lambda one: one == Crashed("SIGABRT")),
    (processes.Leaves, lambda one: one == Crashed("exit code 7")),
    (processes.Hangs, lambda one: one == Hung(1.0)),
    (processes.EatsMemory, lambda one: isinstance(one, OutOfMemory)),
    (processes.Stumbles, lambda one: isinstance(one, Stumbled) and one.error == "TypeError"),
]


@pytest.mark.parametrize(("liar", "is_right"), MISBEHAVIOUR, ids=[one.__name__ for one, _ in MISBEHAVIOUR])
def test_misbehaviour_is_an_outcome_and_the_next_call_is_answered(
    liar: type, is_right: Callable[[Outcome], bool]
) -> None:
    """A call that goes wrong is told as what it was, and harms no other call."""
    with open_session(liar, LIMITS) as session:
        for _ in range(2):
            outcome = session.call("deserialize", TRIGGER)
            assert is_right(outcome), outcome
            assert session.call("deserialize", FILE) == Accepted(CONTENT.canonical())


def test_what_an_implementation_prints_does_not_disturb_the_protocol() -> None:
    """Standard output and input of the implementation are not those of the worker."""
    with open_session(processes.Chatters, LIMITS) as session:
        assert session.call("deserialize", FILE) == Accepted(CONTENT.canonical())
        assert session.call("serialize", CONTENT, WriterOptions()) == Accepted(FILE)
        assert isinstance(session, WorkerSession)
        assert session._last_words() == ""


def test_a_refusal_and_a_lack_come_through_as_such() -> None:
    """The two answers that an adapter speaks for keep their kind and their reason."""
    with open_session(processes.Crashes, LIMITS) as session:
        refusal = session.call("deserialize", b"ET")
        assert isinstance(refusal, Rejected)
        assert "container/minimum-size" in refusal.reason
        assert isinstance(session.call("load", FILE), Unsupported)


@pytest.mark.parametrize("name", CONTENTS)
def test_content_survives_the_way_to_the_worker_and_back(name: str) -> None:
    """What is written in a worker is what is written here, and read back the same."""
    options = WriterOptions(segment_alignment=16, constant_alignment=1)
    with _shared_session() as session:
        written = session.call("serialize", CONTENTS[name], options)
        assert written == Accepted(serialize(CONTENTS[name], options))
        assert session.call("deserialize", written.value) == Accepted(CONTENTS[name].canonical())


def _shared_session() -> WorkerSession:
    session = open_session(processes.Crashes, LIMITS)
    assert isinstance(session, WorkerSession)
    return session


def test_a_value_that_is_not_wanted_stays_where_it_is() -> None:
    """Accepting is enough for a question of yes or no."""
    with _shared_session() as session:
        assert session.call("deserialize", FILE, value=False) == Accepted(None)


def test_nonsense_is_passed_on_as_such() -> None:
    """A value that no adapter may return does not break the protocol."""
    with open_session(processes.ReturnsNonsense, LIMITS) as session:
        outcome = session.call("deserialize", FILE)
        assert outcome == Accepted(Foreign("a value of type set"))


def test_only_an_isolated_adapter_gets_a_process() -> None:
    """The reference is called where it is."""
    with open_session("reference") as session:
        assert isinstance(session, InProcessSession)
        assert session.call("deserialize", FILE) == Accepted(CONTENT.canonical())


def test_addresses_of_objects_are_no_part_of_a_reason() -> None:
    """Two runs give the same words."""

    class Puzzled(Liar):
        """Complains about an object."""

        def deserialize(self, data: bytes) -> PTEFile:
            raise ValueError(f"what is {object()!r}?")

    outcome = call_adapter(Puzzled(), "deserialize", (b"",))
    assert isinstance(outcome, Stumbled)
    assert outcome.reason == "what is <object object at 0x...>?"


def processes_of(session: WorkerSession) -> list[int]:
    """The worker and its lanes."""
    assert session._process is not None
    worker = session._process.pid
    children = Path(f"/proc/{worker}/task/{worker}/children").read_text("ascii").split()
    return [worker, *map(int, children)]


def is_alive(pid: int) -> bool:
    """Whether a process is there and not just waiting to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def all_end(pids: list[int], seconds: float = 5.0) -> bool:
    """Whether all of the processes end in time."""
    end = time.monotonic() + seconds
    while any(map(is_alive, pids)):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@linux
def test_closing_ends_all_processes() -> None:
    """No process outlives its session."""
    session = _shared_session()
    session.call("deserialize", FILE)
    pids = processes_of(session)
    assert len(pids) == 2
    session.close()
    assert all_end(pids)


@linux
def test_lanes_end_when_their_worker_is_killed() -> None:
    """Nobody is left behind, and the session goes on with a new worker."""
    with _shared_session() as session:
        session.call("deserialize", FILE)
        pids = processes_of(session)
        os.kill(pids[0], signal.SIGKILL)
        assert all_end(pids)
        assert isinstance(session.call("deserialize", FILE), Crashed)
        assert session.call("deserialize", FILE) == Accepted(CONTENT.canonical())


@linux
def test_a_lane_that_hangs_ends_when_its_worker_is_killed() -> None:
    """It cannot see that the pipe was closed; the system ends it."""
    with open_session(processes.Hangs, Limits(seconds=60)) as session:
        assert isinstance(session, WorkerSession)
        session.call("deserialize", FILE)
        pids = processes_of(session)
        killer = threading.Timer(0.3, os.kill, (pids[0], signal.SIGKILL))
        killer.start()
        assert isinstance(session.call("deserialize", TRIGGER), Crashed)
        killer.join()
        assert all_end(pids)


@linux
def test_everything_ends_when_whoever_asked_is_killed(tmp_path: Path) -> None:
    """A run that is killed in the middle of a call that hangs leaves no process behind."""
    told = tmp_path / "pids"
    script = (
        "import sys, threading, time\n"
        "from pathlib import Path\n"
        "from pte_conformance.transport import Limits, open_session\n"
        "from selftest.test_transport import processes_of\n"
        "session = open_session('selftest.liars.processes:Hangs', Limits(seconds=60))\n"
        "session.call('deserialize', b'')\n"
        f"Path({str(told)!r}).write_text(' '.join(map(str, processes_of(session))))\n"
        "session.call('deserialize', b'trigger')\n"
    )
    path = os.pathsep.join(sys.path)
    with subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": path}) as asker:
        end = time.monotonic() + 20
        while not (told.exists() and len(told.read_text("ascii").split()) == 2):
            assert time.monotonic() < end
            time.sleep(0.01)
        time.sleep(0.2)
        asker.kill()
    assert all_end([int(one) for one in told.read_text("ascii").split()])


@linux
def test_what_an_implementation_starts_ends_with_its_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killing a call that hangs kills the programs that it started."""
    told = tmp_path / "pid"
    monkeypatch.setenv("LIAR_CHILD", str(told))
    with open_session(processes.HangsWithChildren, LIMITS) as session:
        assert session.call("deserialize", TRIGGER) == Hung(1.0)
        assert all_end([int(told.read_text("ascii"))])


def test_the_worker_loads_nothing_but_what_it_needs() -> None:
    """The worker side is the standard library, the reference and the adapter."""
    script = (
        "import sys, pte_conformance.transport.worker, pte_conformance.adapters.reference\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, sep='\\n')"
    )
    path = os.pathsep.join(sys.path)
    command = [sys.executable, "-I", "-c", f"import sys; sys.path[:0] = {path.split(os.pathsep)!r}\n{script}"]
    found = set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    assert not found & {"pytest", "hypothesis", "click", "rich", "numpy", "flatbuffers"}


def test_an_adapter_that_is_not_installed_names_the_command() -> None:
    """Absence is an error of its own, with what to do about it."""
    with pytest.raises(AdapterUnavailable) as caught:
        open_session("selftest.test_transport:Absent")
    assert caught.value.install == "pip install nothing"


class Absent(Liar):
    """Is not there."""

    isolated = True

    def __init__(self) -> None:
        raise AdapterUnavailable("absent", "it never was", "pip install nothing")


class Broken(Liar):
    """Cannot be made."""

    isolated = True

    def __init__(self) -> None:
        raise KeyError("a mistake in the adapter")


@pytest.mark.parametrize("isolated", [True, False])
def test_an_adapter_that_cannot_be_made_tells_why(isolated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake in an adapter is no missing implementation."""
    monkeypatch.setattr(Broken, "isolated", isolated)
    with pytest.raises(AdapterBroken, match="a mistake in the adapter"):
        open_session(Broken)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("refrence", "did you mean reference"),
        ("nosuchmodule:Adapter", "there is no module 'nosuchmodule'"),
        ("selftest.liars:Nobody", "has no 'Nobody'"),
        ("selftest.liars:LIARS", "is not a subclass"),
    ],
)
def test_an_unknown_name_gets_a_hint(name: str, hint: str) -> None:
    """A name that leads nowhere says where it could have led."""
    with pytest.raises(UnknownAdapter, match=hint):
        adapter_class(name)
