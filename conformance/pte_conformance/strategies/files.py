"""Whole contents of ``.pte`` files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from hypothesis import strategies as st

from pte_conformance.strategies.data import DELEGATE_DATA, ENTRIES, NAMED_DATA, Entry
from pte_conformance.strategies.options import writer_options
from pte_conformance.strategies.plans import PLANS, LoosePlan
from pte_conformance.strategies.primitives import names
from pte_reference import NamedBlob, PTEFile, WriterOptions, model
from pte_reference.pte_file import map_delegate_references


@cache
def pte_files(max_plans: int = 3) -> st.SearchStrategy[PTEFile]:
    """Valid content: several methods over the same data, which is partly empty and shared."""
    methods = st.dictionaries(names(), PLANS, min_size=1, max_size=max_plans)
    return st.builds(_fitted, methods, ENTRIES, ENTRIES, NAMED_DATA, DELEGATE_DATA)


def _fitted(
    methods: Mapping[str, LoosePlan],
    constants: Sequence[Entry],
    states: Sequence[Entry],
    named_data: Mapping[str, NamedBlob],
    blobs: tuple[bytes, ...],
) -> PTEFile:
    plans = tuple(loose.fitted(name, constants, states, len(blobs)) for name, loose in methods.items())
    program, used = _without_unused(model.Program(execution_plan=plans), blobs)
    return PTEFile(
        program,
        constants=(b"", *(one.blob for one in constants)),
        mutable_data=(b"", *(one.blob for one in states)),
        named_data=named_data,
        delegate_data=used,
    )


def _without_unused(
    program: model.Program, blobs: tuple[bytes, ...]
) -> tuple[model.Program, tuple[bytes, ...]]:
    """Leaves out delegate data that no delegate uses: no release would write it."""
    kept: dict[int, int] = {}
    moved = map_delegate_references(
        program,
        lambda one: dataclasses.replace(one, index=kept.setdefault(one.index, len(kept))),
    )
    return moved, tuple(blobs[index] for index in kept)


@dataclass(frozen=True, slots=True)
class Written:
    """Content, and the knobs to write it with."""

    content: PTEFile
    options: WriterOptions = dataclasses.field(default_factory=WriterOptions)


@cache
def written_files() -> st.SearchStrategy[Written]:
    """Valid content with any knobs."""
    return st.builds(Written, pte_files(), writer_options())
