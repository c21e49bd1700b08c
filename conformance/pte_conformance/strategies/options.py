"""The writer's knobs."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from pte_reference import WriterOptions


@cache
def alignments(largest: int = 4096) -> st.SearchStrategy[int]:
    """Powers of two, from 1."""
    return st.sampled_from([1 << bits for bits in range(largest.bit_length())])


@cache
def writer_options() -> st.SearchStrategy[WriterOptions]:
    """Knobs that every release's writer has; the header and absolute alignment stay as they are."""
    return st.builds(
        WriterOptions,
        segment_alignment=alignments(),
        constant_alignment=alignments(1024),
        delegate_alignment=alignments(1024),
        delegates_in_segments=st.booleans(),
    )
