"""Liars: implementations that are wrong in one way each, which the suite must catch.

Each is the reference with a lie that its docstring tells, and names the requirements that the
lie breaks. An honest implementation must pass where they fail.
"""

from selftest.liars.base import Liar
from selftest.liars.readers import READERS
from selftest.liars.refusers import OVERLOOKING
from selftest.liars.writers import WRITERS

LIARS: tuple[type[Liar], ...] = (*READERS, *WRITERS, *OVERLOOKING)

__all__ = ["LIARS", "OVERLOOKING", "READERS", "WRITERS", "Liar"]
