"""The language-neutral form of a PTEFile: plain JSON data.

Tables are objects with the schema's field names; an absent field is null or left out. A
union is ``{"type": NAME, "value": {...}}``, an enum its name (a number where the schema has
none), a float that JSON cannot hold ``"NaN"``, ``"Infinity"``, ``"-Infinity"`` or, for a NaN
with other bits, ``"0x" + 16 hex digits``. Blobs are base64. The JSON Schema is shipped beside
this module as ``pte_file.schema.json``.
"""

from __future__ import annotations

import base64
import math
import re
import struct
from collections.abc import Callable
from typing import Any, TypeAlias

from pte_reference.errors import JsonFormError
from pte_reference.findings import Path, path_text
from pte_reference.model import Program
from pte_reference.pte_file import NamedBlob, PTEFile
from pte_reference.schema import (
    Blob,
    BlobField,
    Field,
    FieldType,
    ScalarField,
    ScalarVectorField,
    StringField,
    Table,
    TableField,
    TableVectorField,
    UnionField,
    schema_of,
)

Json: TypeAlias = Any
_NAN_BITS = struct.pack("<d", math.nan)
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def to_json(pte_file: PTEFile) -> dict[str, Json]:
    """The JSON form. Objects shared inside the program are shared in the result."""
    return {
        "program": _TableWriter().table(pte_file.program),
        "constants": [_blob(blob) for blob in pte_file.constants],
        "mutable_data": [_blob(blob) for blob in pte_file.mutable_data],
        "named_data": [
            {"key": key, "data": _blob(blob.data), "alignment": blob.alignment}
            for key, blob in pte_file.named_data.items()
        ],
        "delegate_data": [_blob(blob) for blob in pte_file.delegate_data],
        "further_mutable_data": [[_blob(blob) for blob in blobs] for blobs in pte_file.further_mutable_data],
    }


def from_json(document: Json) -> PTEFile:
    """The content that a JSON form describes.

    Raises:
        JsonFormError: the document is not one; the message names the place.
    """
    parts = _object(document, ())
    _known_keys(parts, set(_PARTS), ())
    for name in _PARTS:
        if name not in parts:
            raise JsonFormError(f"{name} is missing")
    named: dict[str, NamedBlob] = {}
    for number, entry in enumerate(_array(parts["named_data"], ("named_data",))):
        path: Path = ("named_data", number)
        one = _object(entry, path)
        _known_keys(one, {"key", "data", "alignment"}, path)
        key = _text(one.get("key"), (*path, "key"))
        if key in named:
            raise JsonFormError(f"{path_text(path)}: the key {key!r} is there twice")
        alignment = one.get("alignment")
        if alignment is not None and type(alignment) is not int:
            raise _mistake((*path, "alignment"), alignment, "a whole number or null")
        named[key] = NamedBlob(_bytes(one.get("data"), (*path, "data")), alignment)
    return PTEFile(
        _read_table(Program, parts["program"], ("program",)),
        constants=_blobs(parts["constants"], ("constants",)),
        mutable_data=_blobs(parts["mutable_data"], ("mutable_data",)),
        named_data=named,
        delegate_data=_blobs(parts["delegate_data"], ("delegate_data",)),
        further_mutable_data=tuple(
            _blobs(one, ("further_mutable_data", number))
            for number, one in enumerate(_array(parts["further_mutable_data"], ("further_mutable_data",)))
        ),
    )


_PARTS = (
    "program",
    "constants",
    "mutable_data",
    "named_data",
    "delegate_data",
    "further_mutable_data",
)


class _TableWriter:
    """Writes tables; what is shared is written once and referred to again."""

    def __init__(self) -> None:
        self._known: dict[int, Json] = {}

    def table(self, table: Table) -> Json:
        written = self._known.get(id(table))
        if written is None:
            written = self._known[id(table)] = {
                field.name: self._value(field.type, getattr(table, field.name))
                for field in schema_of(type(table)).fields
            }
        return written

    def _value(self, kind: FieldType, value: Any) -> Json:
        if value is None:
            return None
        match kind:
            case ScalarField(scalar, values):
                if values is not None:
                    known = {one.value for one in values}
                    return values(value).name if value in known else int(value)
                return _float(value) if scalar.code == "d" else value
            case StringField():
                return value
            case TableField():
                return self.table(value)
            case TableVectorField():
                return self._shared(value, self.table)
            case ScalarVectorField(scalar):
                return self._shared(value, _float if scalar.code == "d" else lambda one: one)
            case BlobField():
                return _blob(value)
            case UnionField():
                return {"type": type(value).__name__, "value": self.table(value)}

    def _shared(self, elements: tuple[Any, ...], write: Callable[[Any], Json]) -> Json:
        written = self._known.get(id(elements))
        if written is None:
            written = self._known[id(elements)] = [write(element) for element in elements]
        return written


def _blob(blob: Blob) -> str:
    return base64.b64encode(blob).decode("ascii")


def _float(value: float) -> Json:
    if math.isnan(value):
        bits = struct.pack("<d", value)
        return "NaN" if bits == _NAN_BITS else f"0x{int.from_bytes(bits, 'little'):016x}"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _read_table(table: type[Table], document: Json, path: Path) -> Any:
    parts = _object(document, path)
    schema = schema_of(table)
    _known_keys(parts, {field.name for field in schema.fields}, path)
    return table(*(_read_field(field, parts.get(field.name), (*path, field.name)) for field in schema.fields))


def _read_field(field: Field, document: Json, path: Path) -> Any:
    if document is None:
        return field.default
    match field.type:
        case ScalarField(scalar, values):
            if values is not None and isinstance(document, str):
                if document not in values.__members__:
                    raise _mistake(path, document, f"a name of {values.__name__}")
                return values[document]
            number = _number(scalar.code, document, path)
            return values(number) if values and number in set(values) else number
        case StringField():
            return _text(document, path)
        case TableField(table):
            return _read_table(table, document, path)
        case TableVectorField(table):
            elements = enumerate(_array(document, path))
            return tuple(_read_table(table, one, (*path, number)) for number, one in elements)
        case ScalarVectorField(scalar):
            elements = enumerate(_array(document, path))
            return tuple(_number(scalar.code, one, (*path, number)) for number, one in elements)
        case BlobField():
            return _bytes(document, path)
        case UnionField(_, members):
            parts = _object(document, path)
            by_name = {member.__name__: member for member in members}
            _known_keys(parts, {"type", "value"}, path)
            name = parts.get("type")
            if not isinstance(name, str) or name not in by_name:
                raise _mistake((*path, "type"), name, f"one of {', '.join(by_name)}")
            return _read_table(by_name[name], parts.get("value"), path)


def _number(code: str, document: Json, path: Path) -> Any:
    if code == "d":
        return _read_float(document, path)
    if code == "?":
        if not isinstance(document, bool):
            raise _mistake(path, document, "true or false")
        return document
    if isinstance(document, bool) or not isinstance(document, int):
        raise _mistake(path, document, "a whole number")
    try:
        struct.pack(f"<{code}", document)
    except struct.error:
        raise _mistake(path, document, f"a number that {struct.calcsize(code)} bytes can hold") from None
    return document


def _read_float(document: Json, path: Path) -> float:
    if isinstance(document, str):
        if document in _SPECIAL:
            return _SPECIAL[document]
        if re.fullmatch("0x[0-9a-f]{16}", document):
            return float(struct.unpack(">d", bytes.fromhex(document[2:]))[0])
    if isinstance(document, bool) or not isinstance(document, int | float):
        raise _mistake(path, document, "a number, NaN or an infinity")
    try:
        return float(document)
    except OverflowError:
        raise _mistake(path, document, "a number that 64 bits can hold") from None


def _blobs(document: Json, path: Path) -> tuple[bytes, ...]:
    return tuple(_bytes(one, (*path, number)) for number, one in enumerate(_array(document, path)))


def _bytes(document: Json, path: Path) -> bytes:
    try:
        return base64.b64decode(_text(document, path), validate=True)
    except ValueError as error:
        raise JsonFormError(f"{path_text(path)} is not base64: {error}") from None


def _text(document: Json, path: Path) -> str:
    if not isinstance(document, str):
        raise _mistake(path, document, "a string")
    return document


def _array(document: Json, path: Path) -> list[Json]:
    if not isinstance(document, list):
        raise _mistake(path, document, "an array")
    return document


def _object(document: Json, path: Path) -> dict[str, Json]:
    if not isinstance(document, dict):
        raise _mistake(path, document, "an object")
    return document


def _known_keys(parts: dict[str, Json], known: set[str], path: Path) -> None:
    for key in parts:
        if key not in known:
            raise JsonFormError(f"{path_text((*path, key))}: no field has that name")


def _mistake(path: Path, document: Json, wanted: str) -> JsonFormError:
    text = repr(document)
    return JsonFormError(f"{path_text(path) or 'the document'} is {text[:60]}, not {wanted}")
