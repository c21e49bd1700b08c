"""Finds the field whose value its FlatBuffers type cannot store.

The builder does not look at every value: it packs, and only when that fails does this
slower walk name the place.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from pte_reference.findings import Path, path_text
from pte_reference.schema import (
    BlobField,
    Field,
    Scalar,
    ScalarField,
    ScalarVectorField,
    StringField,
    Table,
    TableField,
    TableVectorField,
    UnionField,
    schema_of,
)


def misfits(table: Table, path: Path = ()) -> Iterator[str]:
    """A sentence for each field below ``table`` that holds what its type cannot store."""
    for field in schema_of(type(table)).fields:
        value = getattr(table, field.name)
        place = (*path, field.name)
        if value is None and not isinstance(field.type, ScalarField):
            continue
        yield from _field(field, value, place)


def _field(field: Field, value: Any, path: Path) -> Iterator[str]:
    match field.type:
        case ScalarField(scalar):
            yield from _scalar(scalar, value, path)
        case StringField():
            yield from _string(value, path)
        case ScalarVectorField(scalar):
            yield from _elements(value, path, lambda one, at: _scalar(scalar, one, at))
        case TableVectorField(table):
            yield from _elements(value, path, lambda one, at: _table((table,), one, at))
        case TableField(table):
            yield from _table((table,), value, path)
        case UnionField(_, members):
            yield from _table(members, value, path)
        case BlobField():
            if not isinstance(value, bytes | memoryview):
                yield _sentence(path, value, "bytes or a memoryview")


def _scalar(scalar: Scalar, value: Any, path: Path) -> Iterator[str]:
    try:
        struct.pack(f"<{scalar.code}", value)
    except (struct.error, OverflowError):
        yield _sentence(path, value, f"a {scalar.name} of {scalar.size} bytes")


def _string(value: Any, path: Path) -> Iterator[str]:
    if not isinstance(value, str):
        yield _sentence(path, value, "a str")
        return
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        yield _sentence(path, value, "text that UTF-8 can encode")


def _elements(value: Any, path: Path, check: Any) -> Iterator[str]:
    if not isinstance(value, tuple | list):
        yield _sentence(path, value, "a tuple")
        return
    for number, element in enumerate(value):
        yield from check(element, (*path, number))


def _table(allowed: tuple[type[Table], ...], value: Any, path: Path) -> Iterator[str]:
    if type(value) not in allowed:
        names = " or ".join(one.__name__ for one in allowed)
        yield _sentence(path, value, f"a table of type {names}")
        return
    yield from misfits(value, path)


def _sentence(path: Path, value: Any, wanted: str) -> str:
    text = repr(value)
    if len(text) > 60:
        text = f"{text[:57]}..."
    return f"{path_text(path)} is {text}, not {wanted}"
