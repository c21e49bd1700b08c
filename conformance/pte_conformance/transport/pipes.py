"""Lines through pipes, with a deadline."""

from __future__ import annotations

import os
import select
import time

_CHUNK = 1 << 16


class DeadlinePassed(Exception):
    """No whole line came in time."""


class WatchedClosed(Exception):
    """Whoever asked has gone."""


class LineReader:
    """Reads lines from a file descriptor, and never waits longer than it is told."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._buffer = bytearray()

    def read(self, seconds: float | None, *, watched: int | None = None) -> bytes | None:
        """The next line, or None when the other side has closed the pipe.

        Args:
            seconds: how long to wait; None for ever.
            watched: another descriptor, on which nothing is expected: when it becomes
                readable its other side has gone, and so the answer is of no use.

        Raises:
            DeadlinePassed: the line did not come in time.
            WatchedClosed: the watched descriptor was closed.
        """
        end = None if seconds is None else time.monotonic() + seconds
        descriptors = [self.descriptor] if watched is None else [self.descriptor, watched]
        searched = 0
        while True:
            at = self._buffer.find(b"\n", searched)
            if at >= 0:
                line = bytes(self._buffer[:at])
                del self._buffer[: at + 1]
                return line
            searched = len(self._buffer)
            left = None if end is None else max(0.0, end - time.monotonic())
            ready, _, _ = select.select(descriptors, [], [], left)
            if not ready:
                raise DeadlinePassed
            if self.descriptor not in ready:
                raise WatchedClosed
            chunk = os.read(self.descriptor, _CHUNK)
            if not chunk:
                return None
            self._buffer += chunk


def write_all(descriptor: int, data: bytes) -> None:
    """Writes all of ``data``.

    Raises:
        BrokenPipeError: the other side has closed the pipe.
    """
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
