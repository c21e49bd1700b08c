"""A lane: the forked process in which calls happen, one after the other.

It may crash, hang or run out of memory; the worker that forked it notices and forks another.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from pte_conformance.adapter import Accepted, Adapter, OutOfMemory, Stumbled
from pte_conformance.transport.classify import call_adapter
from pte_conformance.transport.limits import MEBIBYTE, Limits
from pte_conformance.transport.pipes import LineReader, write_all
from pte_conformance.transport.wire import outcome_to_line, value_from_json

_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux's prctl."""

_STATM = Path("/proc/self/statm")

MORE, LAST = b"+", b"-"
"""What an answer begins with: whether the lane takes another call after it."""


def serve(adapter: Adapter, requests: int, answers: int, limits: Limits, parent: int) -> None:
    """Answers calls until the worker closes the pipe, or a call leaves the process unsound."""
    _die_with_parent(parent)
    # Programs that the implementation starts belong to the lane, and end with it.
    os.setpgid(0, 0)
    # A crash is told by its signal; writing the memory of a torch process to disk takes seconds.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    _silence()
    reader = LineReader(requests)
    while (line := reader.read(None)) is not None:
        request = json.loads(line)
        arguments = tuple(map(value_from_json, request["arguments"]))
        with _memory_limit(limits.memory):
            outcome = call_adapter(adapter, request["operation"], arguments)
        if isinstance(outcome, Accepted) and not request["value"]:
            outcome = Accepted(None)
        # What was interrupted halfway may have left anything behind.
        spoiled = isinstance(outcome, Stumbled | OutOfMemory)
        write_all(answers, (LAST if spoiled else MORE) + outcome_to_line(outcome))
        if spoiled:
            return


def _die_with_parent(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    # The parent may have died before the request for the signal.
    if os.getppid() != parent:
        os._exit(0)


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)


@contextlib.contextmanager
def _memory_limit(mebibytes: int) -> Iterator[None]:
    """Limits the address space to what is in use now and so much more."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = _address_space()
    if used is None:
        # Elsewhere than on Linux the size is not known, and the limit mostly not kept either.
        yield
        return
    wanted = used + mebibytes * MEBIBYTE
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _address_space() -> int | None:
    try:
        pages = int(_STATM.read_text("ascii").split()[0])
    except OSError:
        return None
    return pages * resource.getpagesize()
