"""The limits of one call."""

from __future__ import annotations

from dataclasses import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call may use.

    Attributes:
        seconds: wall-clock time.
        memory: MiB of address space more than the process has when the call begins.
    """

    seconds: float = 5.0
    memory: int = 1024
