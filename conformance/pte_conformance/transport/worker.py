"""The worker process: imports one implementation, once, and forks lanes that it calls.

Started as ``python -m pte_conformance.transport.worker NAME``. It says hello on standard
output, then answers each request line with one outcome line, and ends when standard input
does. It stays single-threaded, so that forking is safe, and touches the implementation only
to import it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import time
import traceback
from dataclasses import dataclass

from pte_conformance.adapter import Adapter, AdapterUnavailable, Crashed, Hung, Outcome
from pte_conformance.registry import UnknownAdapter, adapter_class
from pte_conformance.transport.lane import LAST, serve
from pte_conformance.transport.limits import Limits
from pte_conformance.transport.pipes import DeadlinePassed, LineReader, WatchedClosed, write_all
from pte_conformance.transport.wire import PROTOCOL, encode_line, info_to_json, outcome_to_line

_DYING_SECONDS = 2.0
"""What a process may take to end once it has closed its pipe."""


@dataclass(frozen=True, slots=True)
class Lane:
    """A forked process and the pipes that lead to it."""

    pid: int
    requests: int
    answers: LineReader

    def end(self, *, kill: bool) -> int:
        """Closes the pipes, ends the process and its children, and returns its wait status."""
        os.close(self.requests)
        os.close(self.answers.descriptor)
        status = None if kill else self._wait(_DYING_SECONDS)
        if status is None:
            # Between fork and setpgid the group is not there yet.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            _, status = os.waitpid(self.pid, 0)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        return status

    def _wait(self, seconds: float) -> int | None:
        """The wait status of the process, None if it does not end in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return status
            time.sleep(0.001)
        return None


class Worker:
    """Passes requests to a lane and makes outcomes of whatever happens to it."""

    def __init__(self, adapter: Adapter, requests: LineReader, answers: int, limits: Limits) -> None:
        self.adapter = adapter
        self.requests = requests
        self.answers = answers
        self.limits = limits
        self._lane: Lane | None = None

    def run(self) -> None:
        """Answers requests until there are no more."""
        try:
            while (request := self.requests.read(None)) is not None:
                write_all(self.answers, self._answer(request))
        except (WatchedClosed, BrokenPipeError):
            # Whoever asks has gone.
            pass
        finally:
            if self._lane is not None:
                self._lane.end(kill=True)

    def _answer(self, request: bytes) -> bytes:
        if self._lane is None:
            self._lane = self._fork()
        lane = self._lane
        try:
            write_all(lane.requests, request + b"\n")
            line = lane.answers.read(self.limits.seconds, watched=self.requests.descriptor)
        except BrokenPipeError:
            line = None
        except DeadlinePassed:
            return self._ended(Hung(self.limits.seconds), kill=True)
        if line is None:
            return self._ended(None, kill=False)
        if line.startswith(LAST):
            self._ended(None, kill=False)
        return line[1:] + b"\n"

    def _ended(self, outcome: Outcome | None, *, kill: bool) -> bytes:
        """Buries the lane; the outcome is the one given, or how it died."""
        lane, self._lane = self._lane, None
        if lane is None:
            raise RuntimeError("there is no lane to bury")
        status = lane.end(kill=kill)
        return outcome_to_line(outcome or Crashed(_cause_of_death(status)))

    def _fork(self) -> Lane:
        request_end, requests = os.pipe()
        answers, answer_end = os.pipe()
        parent = os.getpid()
        pid = os.fork()
        if pid:
            os.close(request_end)
            os.close(answer_end)
            return Lane(pid, requests, LineReader(answers))
        try:
            for descriptor in (requests, answers, self.requests.descriptor, self.answers):
                os.close(descriptor)
            serve(self.adapter, request_end, answer_end, self.limits, parent)
        except SystemExit as error:
            # The implementation ended the process; the worker tells so by the code.
            code = 0 if error.code is None else error.code
            os._exit(code % 256 if isinstance(code, int) else 1)
        # The child must not run what only the worker may: exit handlers, flushing its buffers.
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)


def _cause_of_death(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def main() -> None:
    """Entry point of the worker process."""
    parser = argparse.ArgumentParser(prog="python -m pte_conformance.transport.worker")
    parser.add_argument("name")
    parser.add_argument("--seconds", type=float, default=Limits().seconds)
    parser.add_argument("--memory", type=int, default=Limits().memory)
    options = parser.parse_args()
    # The protocol moves to descriptors that nobody else knows: what the implementation prints
    # goes to standard error, and it cannot read requests.
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    hello, adapter = _load(options.name)
    write_all(answers, encode_line({"protocol": PROTOCOL, **hello}))
    if adapter is not None:
        Worker(adapter, LineReader(requests), answers, Limits(options.seconds, options.memory)).run()


def _load(name: str) -> tuple[dict[str, object], Adapter | None]:
    """The hello message, and the adapter where there is one."""
    try:
        adapter = adapter_class(name)()
        return {"info": info_to_json(adapter.info)}, adapter
    except AdapterUnavailable as error:
        return {"unavailable": {"reason": error.reason, "install": error.install}}, None
    except UnknownAdapter as error:
        return {"broken": str(error)}, None
    # Whatever the adapter or the implementation raises while it is imported.
    except Exception:
        return {"broken": traceback.format_exc()}, None


if __name__ == "__main__":
    # Under its own name, so that classes exist once.
    sys.modules.setdefault("pte_conformance.transport.worker", sys.modules["__main__"])
    main()
