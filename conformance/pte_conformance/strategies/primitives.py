"""Numbers, texts and blobs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=True, allow_infinity=True)
"""All floats: infinities, NaN with any bits, both zeros."""

INDICES = st.integers(0, 15)
"""An index, to be fitted by :func:`pick`."""


def pick(candidates: Sequence[T], index: int) -> T:
    """The candidate that a freely drawn index stands for; there must be one."""
    return candidates[index % len(candidates)]


@cache
def some(elements: st.SearchStrategy[T], largest: int, smallest: int = 0) -> st.SearchStrategy[tuple[T, ...]]:
    """Tuples of up to ``largest`` elements."""
    return st.lists(elements, min_size=smallest, max_size=largest).map(tuple)


@cache
def texts(max_size: int = 12) -> st.SearchStrategy[str]:
    """Any text that UTF-8 can store, NUL included."""
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=max_size)


@cache
def names(min_size: int = 1, max_size: int = 12) -> st.SearchStrategy[str]:
    """Texts without NUL, as the names and keys of a program must be."""
    alphabet = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
    return st.text(alphabet, min_size=min_size, max_size=max_size)


BLOBS = st.one_of(st.sampled_from([b"", b"\0", b"shared blob"]), st.binary(max_size=40))
"""Short blobs, often empty or equal to one another, as what is shared must be tried too."""
