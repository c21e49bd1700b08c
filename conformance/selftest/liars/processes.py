"""Implementations that do what only a process of their own survives."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import ClassVar

from pte_conformance.adapters.reference import Reference

from pte_reference import PTEFile, WriterOptions

TRIGGER = b"trigger"
"""Data that makes a liar of this module misbehave; it is honest with all other."""


class _Isolated(Reference):
    isolated: ClassVar[bool] = True

    def deserialize(self, data: bytes) -> PTEFile:
        """Misbehaves, or reads."""
        if data == TRIGGER:
            self.misbehave()
        return super().deserialize(data)

    def misbehave(self) -> None:
        """What the liar does."""


class Crashes(_Isolated):
    """Dies of a signal."""

    def misbehave(self) -> None:
        """Ends as after a wild pointer."""
        os.kill(os.getpid(), signal.SIGSEGV)


class Aborts(_Isolated):
    """Gives up the way C++ does."""

    def misbehave(self) -> None:
        """Calls abort."""
        os.abort()


class Leaves(_Isolated):
    """Ends the process in all order."""

    def misbehave(self) -> None:
        """Exits."""
        sys.exit(7)


class Hangs(_Isolated):
    """Never answers."""

    def misbehave(self) -> None:
        """Waits for ever."""
        while True:
            time.sleep(1)


class HangsWithChildren(_Isolated):
    """Starts a process and never answers."""

    def misbehave(self) -> None:
        """Leaves the child's number in the file that the environment names, then waits."""
        child = os.fork()
        if not child:
            time.sleep(600)
            os._exit(0)
        Path(os.environ["LIAR_CHILD"]).write_text(str(child), "ascii")
        time.sleep(600)


class EatsMemory(_Isolated):
    """Takes more memory than there is."""

    def misbehave(self) -> None:
        """Allocates 64 GiB in pieces."""
        kept = [bytearray(64 << 20) for _ in range(1024)]
        raise AssertionError(f"{len(kept)} pieces were to be had")


class Stumbles(_Isolated):
    """Falls over its own feet, and stays down."""

    def __init__(self) -> None:
        super().__init__()
        self._down = False

    def deserialize(self, data: bytes) -> PTEFile:
        """Reads, as long as it has not stumbled."""
        if self._down:
            raise RuntimeError("still down")
        return super().deserialize(data)

    def misbehave(self) -> None:
        """Raises what is no refusal."""
        self._down = True
        raise TypeError("'NoneType' object is not subscriptable")


class Chatters(_Isolated):
    """Prints to standard output, past Python too, reads standard input, and is right."""

    def deserialize(self, data: bytes) -> PTEFile:
        """Reads, and talks."""
        print('{"outcome":"reject","reason":"this is not the protocol"}', flush=True)
        os.write(1, b'{"outcome":"reject"}\n')
        sys.stdin.read()
        return super().deserialize(data)

    def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
        """Writes, and talks."""
        os.write(1, b"\n\n\n")
        return super().serialize(pte_file, options)


class ReturnsNonsense(_Isolated):
    """Returns what an adapter must not."""

    def deserialize(self, data: bytes) -> PTEFile:
        """A set."""
        return {1, 2}  # type: ignore[return-value]
