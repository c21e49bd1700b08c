"""Keeps the cyclic garbage collector out of work that makes many objects and no cycles."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """Pauses the collector.

    A large program is hundreds of thousands of tuples and tables. The collector would look
    at all of them again and again while they are made, and can find nothing among them.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
