"""Sessions: the side that asks."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, ClassVar, Literal, Self

from pte_conformance.adapter import (
    Accepted,
    Adapter,
    AdapterInfo,
    AdapterUnavailable,
    Crashed,
    Outcome,
)
from pte_conformance.registry import adapter_class
from pte_conformance.transport.classify import call_adapter
from pte_conformance.transport.limits import Limits
from pte_conformance.transport.pipes import DeadlinePassed, LineReader, write_all
from pte_conformance.transport.wire import (
    PROTOCOL,
    encode_line,
    info_from_json,
    outcome_from_line,
    value_to_json,
)

Operation = Literal["serialize", "deserialize", "check", "load"]

_START_SECONDS = 120.0
_GRACE_SECONDS = 30.0
"""What the worker may take for a call beyond the call's own limit, fork included."""


class AdapterBroken(Exception):
    """An adapter raised something else than AdapterUnavailable when it was made."""

    def __init__(self, name: str, trace: str) -> None:
        self.name = name
        self.trace = trace
        last = trace.strip().rpartition("\n")[2]
        super().__init__(f"adapter {name!r} cannot be made: {last}")


class TransportFailure(Exception):
    """The worker process itself failed, which is nobody's fault but ours or the machine's."""


class Session(ABC):
    """An adapter that is ready to be called.

    Attributes:
        info: what the adapter declares.
        by_reference: whether calls get the very objects that they are given, not copies.
    """

    info: AdapterInfo
    by_reference: ClassVar[bool] = False

    @abstractmethod
    def call(self, operation: Operation, *arguments: Any, value: bool = True) -> Outcome:
        """Calls the implementation; how it ends is the outcome, whatever happens.

        Args:
            operation: what to do.
            arguments: bytes, or a PTEFile and WriterOptions for ``serialize``.
            value: whether the returned value is wanted; otherwise accepting is enough.

        Raises:
            TransportFailure: the call could not be made.
        """

    def close(self) -> None:  # noqa: B027 (a session that starts nothing has nothing to end)
        """Ends whatever the session started."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class InProcessSession(Session):
    """An adapter in this process: for implementations that neither crash nor hang."""

    by_reference: ClassVar[bool] = True

    def __init__(self, adapter: Adapter) -> None:
        self.info = adapter.info
        self._adapter = adapter

    def call(self, operation: Operation, *arguments: Any, value: bool = True) -> Outcome:
        """Calls the adapter."""
        outcome = call_adapter(self._adapter, operation, arguments)
        return outcome if value or not isinstance(outcome, Accepted) else Accepted(None)


class WorkerSession(Session):
    """An adapter in a worker process, under limits."""

    def __init__(self, name: str, limits: Limits) -> None:
        self._name = name
        self._limits = limits
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the session)
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self.info = self._start()
        # Also when the user interrupts: no worker may be left behind.
        except BaseException:
            self.close()
            raise

    def call(self, operation: Operation, *arguments: Any, value: bool = True) -> Outcome:
        """Sends the call to the worker and waits for its outcome."""
        if self._process is None:
            self._start()
        request = {"operation": operation, "arguments": [*map(value_to_json, arguments)], "value": value}
        try:
            write_all(self._requests, encode_line(request))
            line = self._answers.read(self._limits.seconds + _GRACE_SECONDS)
        except BrokenPipeError:
            line = None
        except DeadlinePassed:
            self._stop()
            raise TransportFailure("the worker process does not answer") from None
        if line is None:
            # Nothing of a call runs in the worker, but a lane can kill what it is not meant to.
            self._stop()
            return Crashed("the worker process ended with the call")
        return outcome_from_line(line)

    def close(self) -> None:
        """Ends the worker and its lanes."""
        self._stop()
        self._stderr.close()

    def _start(self) -> AdapterInfo:
        command = [sys.executable, "-P", "-m", "pte_conformance.transport.worker", self._name]
        command += ["--seconds", str(self._limits.seconds), "--memory", str(self._limits.memory)]
        # The worker has to find what this process finds, in the same order.
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)  # noqa: PTH109 (a string)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env={**os.environ, "PYTHONPATH": path},
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise TransportFailure("the worker process has no pipes")
        self._requests = self._process.stdin.fileno()
        self._answers = LineReader(self._process.stdout.fileno())
        try:
            line = self._answers.read(_START_SECONDS)
        except DeadlinePassed:
            raise TransportFailure(f"adapter {self._name!r} took too long to start") from None
        if line is None:
            raise TransportFailure(f"the worker process died while it started:\n{self._last_words()}")
        return self._read_hello(json.loads(line))

    def _read_hello(self, hello: dict[str, Any]) -> AdapterInfo:
        if hello["protocol"] != PROTOCOL:
            raise TransportFailure(f"the worker speaks protocol {hello['protocol']}, not {PROTOCOL}")
        if "unavailable" in hello:
            missing = hello["unavailable"]
            raise AdapterUnavailable(self._name, missing["reason"], missing["install"])
        if "broken" in hello:
            raise AdapterBroken(self._name, hello["broken"])
        return info_from_json(hello["info"])

    def _last_words(self) -> str:
        self._stderr.seek(0)
        return self._stderr.read()[-2000:].decode("utf-8", "replace").strip()

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def open_session(adapter: str | type[Adapter], limits: Limits | None = None) -> Session:
    """Makes the adapter ready, in this process or in a worker, as its class asks.

    Args:
        adapter: its name, or the class itself; one that goes to a worker must be found there
            by its module and name.
        limits: of each call, in a worker.

    Raises:
        UnknownAdapter: no adapter has that name.
        AdapterUnavailable: the implementation is not installed.
        AdapterBroken: the adapter cannot be made for another reason.
        TransportFailure: the worker cannot be started.
    """
    found = adapter_class(adapter) if isinstance(adapter, str) else adapter
    name = session_name(adapter)
    if found.isolated:
        if not hasattr(os, "fork"):
            raise TransportFailure(f"adapter {name!r} needs a system that can fork")
        return WorkerSession(name, limits or Limits())
    try:
        return InProcessSession(found())
    except AdapterUnavailable:
        raise
    # Whatever the adapter or the implementation raises while it is imported.
    except Exception as error:
        raise AdapterBroken(name, f"{type(error).__name__}: {error}") from error


def session_name(adapter: str | type[Adapter]) -> str:
    """The name of an adapter that may be given as its class."""
    return adapter if isinstance(adapter, str) else f"{adapter.__module__}:{adapter.__qualname__}"
