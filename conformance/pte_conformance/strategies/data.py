"""Constants, initial states, named data and delegate data."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from pte_conformance.strategies.options import alignments
from pte_conformance.strategies.primitives import BLOBS, names, some
from pte_reference import NamedBlob
from pte_reference.model import ELEMENT_SIZES, ScalarType


@dataclass(frozen=True, slots=True)
class Shape:
    """Element type and sizes of a tensor.

    Attributes:
        scalar_type: the element type.
        sizes: the sizes.
        dim_order: their order in memory.
    """

    scalar_type: ScalarType
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes of a tensor of this shape."""
        return ELEMENT_SIZES[self.scalar_type] * math.prod(self.sizes)


def _shape(scalar_type: ScalarType, dimensions: Sequence[tuple[int, int]]) -> Shape:
    """A shape of sizes, each with a number by which the dimensions are put in order."""
    order = sorted(range(len(dimensions)), key=lambda at: dimensions[at][1])
    return Shape(scalar_type, tuple(size for size, _ in dimensions), tuple(order))


SHAPES = st.builds(
    _shape, st.sampled_from(ScalarType), some(st.tuples(st.integers(0, 3), st.integers(0, 9)), 4)
)
"""Small tensors of every element type and rank, scalars and empty ones included."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a list of data, and the shape of the tensors that may use it.

    Attributes:
        blob: the bytes; as many as the shape asks for.
        shape: the shape, None where no tensor may use the entry, so that its length is told
            by nothing.
    """

    blob: bytes
    shape: Shape | None


def _entry(pattern: bytes, shape: Shape | None) -> Entry:
    if shape is None:
        return Entry(pattern, None)
    return Entry(bytes(itertools.islice(itertools.cycle(pattern or b"\0"), shape.size)), shape)


ENTRIES = some(st.builds(_entry, BLOBS, st.none() | SHAPES), 4)
"""The entries behind the reserved one, those with a shape as long as that asks for."""

NAMED_DATA = st.dictionaries(
    names(min_size=0), st.builds(NamedBlob, BLOBS, st.none() | alignments()), max_size=4
)
"""Blobs by key: some shared by several keys, some empty, with and without alignment."""

DELEGATE_DATA = some(BLOBS, 3)
"""Blobs for delegates."""
