"""Golden files and what their own releases found in them.

The facts are those of the JSON beside each file, which the release's own reader wrote, and the
bytes are cut out of the file at the offsets that the JSON names. Nothing here is read by the
reference, so that a mistake of it does not become an expectation.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pte_corpus

from pte_conformance.judging import Examination
from pte_reference import PTEFile
from pte_reference.model import ExecutionPlan, ScalarType, Tensor
from pte_reference.requirements import fidelity
from pte_reference.schema import Blob

LARGEST_ALIGNMENT = 1024
"""The largest alignment of constants that golden files were written with."""


def golden_files() -> dict[str, Path]:
    """The golden ``.pte`` files by release and name."""
    folder = pte_corpus.root() / "golden"
    return {f"{path.parent.name}/{path.stem}": path for path in sorted(folder.glob("*/*.pte"))}


@dataclass(frozen=True, slots=True)
class Golden:
    """A golden file and its facts."""

    data: bytes
    facts: dict[str, Any]

    @property
    def counts(self) -> dict[str, Any]:
        """What the release's reader found."""
        counts: dict[str, Any] = self.facts["counts"]
        return counts

    def segment(self, number: int) -> bytes:
        """The bytes of a segment."""
        entry = self.counts["segments"][number]
        base = self.facts["header"]["segment_base_offset"] if self.facts["header"] else 0
        return self.data[base + entry["offset"] : base + entry["offset"] + entry["size"]]

    def slots(self, entry: dict[str, Any]) -> list[bytes]:
        """The parts of a segment, each up to the next offset."""
        segment, offsets = self.segment(entry["segment_index"]), entry["offsets"]
        ends = [*offsets[1:], len(segment)]
        return [segment[start:end] for start, end in zip(offsets, ends, strict=True)]


@cache
def golden(path: Path) -> Golden:
    """The file at that path, with the JSON beside it."""
    return Golden(path.read_bytes(), json.loads(Path(f"{path}.json").read_text("utf-8")))


def reads_golden(examination: Examination, path: Path) -> None:
    """The file is read, and all facts are found in what comes back."""
    known = golden(path)
    examination.input = known.data
    content = examination.accepted(fidelity.VALID_FILE_READ, PTEFile, "deserialize", known.data)
    if content is None:
        return
    examination.hold(fidelity.GOLDEN_FACTS)
    for name, expected, actual in (*_program_facts(known, content), *_data_facts(known, content)):
        if expected != actual:
            message = f"{name}: {expected} in the file, {actual} read"
            examination.hold(fidelity.GOLDEN_FACTS, message, aspect=name)


def _program_facts(known: Golden, content: PTEFile) -> Iterator[tuple[str, Any, Any]]:
    counts = known.counts
    plans = content.program.execution_plan or ()
    yield "version", counts["version"], content.program.version
    yield "plans", counts["plans"], len(plans)
    yield "methods", counts["methods"], [plan.name for plan in plans]
    for name, actual in _tallies(plans).items():
        yield name, counts[name], actual
    operators = [f"{one.name}.{one.overload or ''}" for plan in plans for one in plan.operators or ()]
    yield "operators", counts["operators"], operators
    yield "inputs", counts["inputs"], [len(plan.inputs or ()) for plan in plans]
    yield "outputs", counts["outputs"], [len(plan.outputs or ()) for plan in plans]
    sizes = [list(plan.non_const_buffer_sizes or ()) for plan in plans]
    yield "non_const_buffer_sizes", counts["non_const_buffer_sizes"], sizes
    traces = sum(len(chain.stacktrace or ()) for plan in plans for chain in plan.chains or ())
    yield "stacktraces", counts["stacktraces"], traces


def _tallies(plans: Sequence[ExecutionPlan]) -> dict[str, dict[str, int]]:
    values = [value.val for plan in plans for value in plan.values or ()]
    steps = [
        step.instr_args for plan in plans for chain in plan.chains or () for step in chain.instructions or ()
    ]
    types = [_scalar_type_name(one.scalar_type) for one in values if isinstance(one, Tensor)]
    return {
        "values": dict(Counter(type(one).__name__ for one in values)),
        "tensor_scalar_types": dict(Counter(types)),
        "instructions": dict(Counter(type(one).__name__ for one in steps)),
    }


def _scalar_type_name(number: int) -> str:
    return ScalarType(number).name if number in set(ScalarType) else str(number)


def _data_facts(known: Golden, content: PTEFile) -> Iterator[tuple[str, Any, Any]]:
    yield from _constant_facts(known, content)
    states = known.counts["mutable_data_segments"] or ()
    # Entry 0 is reserved; where there is nothing else, a reader may leave the list out.
    expected = known.slots(states[0]) if states else [b""]
    yield from _blob_facts("mutable data", expected, content.mutable_data)
    named = {one["key"]: known.segment(one["segment_index"]) for one in known.counts["named_data"] or ()}
    yield "named data keys", sorted(named), sorted(content.named_data)
    for key, blob in named.items():
        if key in content.named_data:
            yield f"named data {key!r}", blob, bytes(content.named_data[key].data)
    yield from _delegate_facts(known, content)


def _constant_facts(known: Golden, content: PTEFile) -> Iterator[tuple[str, Any, Any]]:
    entry = known.counts["constant_segment"]
    if entry["offsets"]:
        step = math.gcd(LARGEST_ALIGNMENT, *entry["offsets"])
        yield from _blob_facts("constants", known.slots(entry), content.constants, step)
        return
    # Inside the program; the facts give the sizes, and the file must hold the bytes.
    sizes = known.counts["constant_buffer"] or [0]
    yield "constant sizes", sizes, [len(blob) for blob in content.constants]
    for number, blob in enumerate(content.constants):
        yield f"constant {number} is in the file", True, bytes(blob) in known.data


def _blob_facts(
    what: str, expected: Sequence[bytes], actual: Sequence[Blob], alignment: int = 1
) -> Iterator[tuple[str, Any, Any]]:
    """The entries of a list; a reader may or may not have cut off the padding between them."""
    yield f"number of {what}", len(expected), len(actual)
    last = len(expected) - 1
    for number, (slot, blob) in enumerate(zip(expected, actual, strict=False)):
        rest = slot[len(blob) :]
        padding = number < last and len(rest) < alignment and not any(rest)
        yield f"{what} {number}", slot[: len(blob)] if padding else slot, bytes(blob)


def _delegate_facts(known: Golden, content: PTEFile) -> Iterator[tuple[str, Any, Any]]:
    plans = content.program.execution_plan or ()
    delegates = [one for plan in plans for one in plan.delegates or ()]
    stated = known.counts["delegates"]
    yield "delegates", [one["id"] for one in stated], [one.id for one in delegates]
    specs = [len(one.compile_specs or ()) for one in delegates]
    yield "compile specs", [one["compile_specs"] for one in stated], specs
    for number, (fact, delegate) in enumerate(zip(stated, delegates, strict=False)):
        index = delegate.processed.index if delegate.processed else -1
        blob = bytes(content.delegate_data[index]) if 0 <= index < len(content.delegate_data) else None
        if fact["location"] == "SEGMENT":
            yield f"data of delegate {number}", known.segment(fact["index"]), blob
        else:
            size = known.counts["backend_delegate_data"][fact["index"]]
            yield f"size of the data of delegate {number}", size, len(blob or b"")
            yield f"data of delegate {number} is in the file", True, (blob or b"") in known.data
