"""Compares the content that should be there with what is: differences, each of one requirement.

What the format leaves open is no difference: layout, alignment of named data, which of equal
blobs delegates share, padding behind constants, and whether an optional list is absent or
empty (null reads as empty: FORMAT section 7).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pte_conformance.events import Note
from pte_reference import PTEFile, Requirement, path_text
from pte_reference.blobs import same_bytes
from pte_reference.checks.data import tensors_with_data
from pte_reference.checks.tensors import tensor_bytes
from pte_reference.findings import Path
from pte_reference.model import BackendDelegate, BackendDelegateDataReference, Operator, Program
from pte_reference.requirements import fidelity as rules
from pte_reference.schema import (
    Blob,
    BlobField,
    Field,
    FieldType,
    ScalarField,
    ScalarVectorField,
    Table,
    TableField,
    TableVectorField,
    UnionField,
    schema_of,
)

_LAYOUT = frozenset(
    {
        "constant_buffer",
        "backend_delegate_data",
        "segments",
        "constant_segment",
        "mutable_data_segments",
        "named_data",
    }
)
"""Fields of Program that a PTEFile has empty: what they say is beside the program."""

_LONGEST_TEXT = 60


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where content is not what it should be.

    Attributes:
        requirement: the one rule that it breaks.
        path: where.
        aspect: which part of the rule: a field such as ``Tensor.sizes``, or the kind.
        kind: ``missing``, ``extra``, ``changed``, ``count``, ``type``.
        expected: what should be there, as text.
        actual: what is there, as text.
    """

    requirement: Requirement
    path: Path
    aspect: str
    kind: str
    expected: str
    actual: str

    @property
    def note(self) -> Note:
        """The difference as it stands in events."""
        match self.path:
            case ("named_data", str(key)):
                place = f"named_data[{key!r}]"
            case _:
                place = path_text(self.path)
        return Note(place, self.kind, self.expected, self.actual)


def compare(
    expected: PTEFile,
    actual: PTEFile,
    *,
    not_preserved: frozenset[str] = frozenset(),
) -> Iterator[Difference]:
    """What differs, in the order of the content; objects that are shared are looked at once.

    Args:
        expected: what should be there.
        actual: what is there.
        not_preserved: what is not promised: ``Table.field``, or the name of a list of data.
    """
    for found in _Comparison(expected, actual).run():
        parts = {found.aspect, str(found.path[0]) if found.path else ""}
        if not parts & not_preserved:
            yield found


class _Comparison:
    def __init__(self, expected: PTEFile, actual: PTEFile) -> None:
        self.expected = expected
        self.actual = actual
        # Pairs that were compared; the objects stay alive as long as this does.
        self._seen: set[tuple[int, int]] = set()

    def run(self) -> Iterator[Difference]:
        expected, actual = self.expected, self.actual
        yield from self._table(expected.program, actual.program, ())
        constants, mutable = _told_lengths(expected)
        yield from self._blobs(rules.CONSTANTS, "constants", expected.constants, actual.constants, constants)
        lists = [("mutable_data", expected.mutable_data, actual.mutable_data)]
        further = actual.further_mutable_data
        for number, blobs in enumerate(expected.further_mutable_data):
            there = further[number] if number < len(further) else ()
            lists.append((f"further_mutable_data[{number}]", blobs, there))
        for number, (name, blobs, there) in enumerate(lists):
            yield from self._blobs(rules.MUTABLE_DATA, name, blobs, there, mutable.get(number, {}))
        yield from self._named()

    def _table(self, expected: Table, actual: Table, path: Path) -> Iterator[Difference]:
        pair = (id(expected), id(actual))
        if pair in self._seen:
            return
        self._seen.add(pair)
        if type(expected) is not type(actual):
            yield _changed(path, type(expected).__name__, "type", expected, actual)
            return
        for field in schema_of(type(expected)).fields:
            if isinstance(expected, Program) and field.name in _LAYOUT:
                continue
            left, right = getattr(expected, field.name), getattr(actual, field.name)
            here = (*path, field.name)
            aspect = f"{type(expected).__name__}.{field.name}"
            if isinstance(left, BackendDelegateDataReference) and isinstance(expected, BackendDelegate):
                yield from self._delegate(left, right, here)
            else:
                yield from self._field(field, left, right, here, aspect)

    def _field(self, field: Field, left: Any, right: Any, path: Path, aspect: str) -> Iterator[Difference]:
        if not left and not right and _reads_as_empty(field, aspect):
            return
        if left is None or right is None:
            if left is not right:
                kind = "missing" if right is None else "extra"
                yield _changed(path, aspect, kind, left, right)
            return
        match field.type:
            case TableField():
                yield from self._table(left, right, path)
            case UnionField():
                if type(left) is not type(right):
                    yield _changed(path, aspect, "type", left, right)
                else:
                    yield from self._table(left, right, path)
            case TableVectorField():
                yield from self._tables(left, right, path, aspect)
            case _:
                if not _same_leaf(field.type, left, right):
                    yield _changed(path, aspect, "changed", left, right)

    def _tables(
        self, left: Sequence[Table], right: Sequence[Table], path: Path, aspect: str
    ) -> Iterator[Difference]:
        if (id(left), id(right)) in self._seen:
            return
        self._seen.add((id(left), id(right)))
        if len(left) != len(right):
            # Which entry is missing cannot be told, so that comparing the others would mislead.
            counts = f"{len(left)} entries", f"{len(right)} entries"
            yield Difference(rules.PROGRAM_FIELDS, path, aspect, "count", *counts)
            return
        for number, (one, other) in enumerate(zip(left, right, strict=True)):
            yield from self._table(one, other, (*path, number))

    def _delegate(
        self, left: BackendDelegateDataReference, right: BackendDelegateDataReference | None, path: Path
    ) -> Iterator[Difference]:
        blob = self.expected.delegate_data[left.index]
        there = self.actual.delegate_data
        if right is None or not right.index < len(there):
            index = "no reference" if right is None else f"entry {right.index} of {len(there)}"
            aspect = "empty data" if not blob else "missing"
            yield Difference(rules.DELEGATE_DATA, path, aspect, "missing", _text(blob), index)
        elif not same_bytes(blob, there[right.index]):
            expected, found = _bytes_text(blob, there[right.index])
            yield Difference(rules.DELEGATE_DATA, path, "changed", "changed", expected, found)

    def _blobs(
        self,
        rule: Requirement,
        name: str,
        expected: Sequence[Blob],
        actual: Sequence[Blob],
        told: dict[int, int],
    ) -> Iterator[Difference]:
        for number, blob in enumerate(expected):
            path: Path = (name, number)
            if number >= len(actual):
                aspect = "missing" if len(blob) else "empty entry missing"
                yield Difference(rule, path, aspect, "missing", _text(blob), "no entry")
            elif not self._same_data(blob, actual[number], told.get(number, 0)):
                text, found = _bytes_text(blob, actual[number])
                yield Difference(rule, path, "changed", "changed", text, found)
        if len(actual) > len(expected):
            counts = f"{len(expected)} entries", f"{len(actual)} entries"
            yield Difference(rule, (name,), "extra", "extra", *counts)

    def _same_data(self, blob: Blob, found: Blob, told: int) -> bool:
        if told:
            return len(found) >= told and same_bytes(blob[:told], found[:told])
        # A writer may align constants to more than it was asked for, so any padding will do.
        return (
            len(found) >= len(blob) and same_bytes(blob, found[: len(blob)]) and not any(found[len(blob) :])
        )

    def _named(self) -> Iterator[Difference]:
        rule, actual = rules.NAMED_DATA, self.actual.named_data
        for key, named in self.expected.named_data.items():
            path: Path = ("named_data", key)
            if key not in actual:
                aspect = "missing" if len(named.data) else "empty blob missing"
                yield Difference(rule, path, aspect, "missing", _text(named.data), "no such key")
            elif not same_bytes(named.data, actual[key].data):
                expected, found = _bytes_text(named.data, actual[key].data)
                yield Difference(rule, path, "changed", "changed", expected, found)
        for key in actual:
            if key not in self.expected.named_data:
                yield Difference(rule, ("named_data", key), "extra", "extra", "no such key", "a blob")


def _reads_as_empty(field: Field, aspect: str) -> bool:
    """Whether null and empty mean the same for this field, so that either may come back."""
    vector = isinstance(field.type, TableVectorField | ScalarVectorField | BlobField)
    return (vector and not field.needed) or aspect == f"{Operator.__name__}.overload"


def _told_lengths(content: PTEFile) -> tuple[dict[int, int], dict[int, dict[int, int]]]:
    """How many bytes of each constant and of each list of initial states tensors ask for."""
    constants: dict[int, int] = {}
    mutable: dict[int, dict[int, int]] = {}
    for _, tensor in tensors_with_data(content.program):
        lengths = constants
        if tensor.allocation_info is not None:
            extra = tensor.extra_tensor_info
            lengths = mutable.setdefault(extra.mutable_data_segments_idx if extra else 0, {})
        asked = tensor_bytes(tensor) or 0
        lengths[tensor.data_buffer_idx] = max(asked, lengths.get(tensor.data_buffer_idx, 0))
    return constants, mutable


def _same_leaf(kind: FieldType, left: Any, right: Any) -> bool:
    """Whether numbers, texts and blobs are the same."""
    match kind:
        case ScalarVectorField(scalar):
            return _same_numbers(scalar.code, left, right)
        case ScalarField(scalar):
            return _same_numbers(scalar.code, (left,), (right,))
        case BlobField():
            return same_bytes(left, right)
        case _:
            return bool(left == right)


def _same_numbers(code: str, left: Sequence[Any], right: Sequence[Any]) -> bool:
    if code == "d":
        return len(left) == len(right) and _bits(left) == _bits(right)
    return tuple(left) == tuple(right)


def _bits(numbers: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(numbers)}d", *numbers)


def _changed(path: Path, aspect: str, kind: str, left: object, right: object) -> Difference:
    return Difference(rules.PROGRAM_FIELDS, path, aspect, kind, _text(left), _text(right))


def _bytes_text(left: Blob, right: Blob) -> tuple[str, str]:
    """Both blobs in words, from the first byte in which they differ."""
    pairs = enumerate(zip(left, right, strict=False))
    at = next((at for at, (one, other) in pairs if one != other), None)
    if at is None:
        return _text(left), _text(right)
    excerpts = [f"{_text(blob)}, {bytes(blob[at : at + 8]).hex(' ')} at {at}" for blob in (left, right)]
    return excerpts[0], excerpts[1]


def _text(value: object) -> str:
    match value:
        case bytes() | memoryview():
            return f"{len(value)} bytes"
        case float():
            return f"{value!r} (bits {struct.pack('>d', value).hex()})"
        case Table():
            return type(value).__name__
        case None:
            return "nothing"
        case tuple() | list() if not value:
            return "an empty list"
        case _:
            text = repr(value)
            return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "..."
