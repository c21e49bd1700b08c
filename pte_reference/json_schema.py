"""The JSON Schema of the JSON form, derived from the model."""

from __future__ import annotations

from typing import Any

from pte_reference.model import Program
from pte_reference.schema import (
    BlobField,
    FieldType,
    Scalar,
    ScalarField,
    ScalarVectorField,
    StringField,
    Table,
    TableField,
    TableVectorField,
    UnionField,
    reachable_tables,
    schema_of,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FILE_NAME = "pte_file.schema.json"
"""Where the package keeps the printed schema, for users without Python."""

_BLOB = {"type": "string", "contentEncoding": "base64"}
_BLOBS = {"type": "array", "items": _BLOB}
_FLOAT = {
    "anyOf": [
        {"type": "number"},
        {"enum": ["NaN", "Infinity", "-Infinity"]},
        {"type": "string", "pattern": "^0x[0-9a-f]{16}$"},
    ]
}


def json_schema() -> dict[str, Any]:
    """The schema that :func:`pte_reference.json_form.to_json` documents conform to."""
    named = {
        "type": "object",
        "properties": {
            "key": {"type": "string"},
            "data": _BLOB,
            "alignment": {"type": ["integer", "null"], "minimum": 1},
        },
        "required": ["key", "data"],
        "additionalProperties": False,
    }
    properties = {
        "program": _reference(Program),
        "constants": _BLOBS,
        "mutable_data": _BLOBS,
        "named_data": {"type": "array", "items": named},
        "delegate_data": _BLOBS,
        "further_mutable_data": {"type": "array", "items": _BLOBS},
    }
    return {
        "$schema": DIALECT,
        "title": "PTEFile",
        "description": "The content of an ExecuTorch .pte file, free of layout.",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        "$defs": {table.__name__: _table(table) for table in reachable_tables(Program)},
    }


def _reference(table: type[Table]) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{table.__name__}"}


def _table(table: type[Table]) -> dict[str, Any]:
    fields = schema_of(table).fields
    return {
        "type": "object",
        "properties": {field.name: _nullable(_value(field.type)) for field in fields},
        "additionalProperties": False,
    }


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _value(kind: FieldType) -> dict[str, Any]:
    match kind:
        case ScalarField(scalar, values):
            number = _number(scalar)
            if values is None:
                return number
            return {"anyOf": [{"enum": list(values.__members__)}, number]}
        case StringField():
            return {"type": "string"}
        case TableField(table):
            return _reference(table)
        case TableVectorField(table):
            return {"type": "array", "items": _reference(table)}
        case ScalarVectorField(scalar):
            return {"type": "array", "items": _number(scalar)}
        case BlobField():
            return _BLOB
        case UnionField(_, members):
            return {"anyOf": [_member(member) for member in members]}


def _member(table: type[Table]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"type": {"const": table.__name__}, "value": _reference(table)},
        "required": ["type", "value"],
        "additionalProperties": False,
    }


def _number(scalar: Scalar) -> dict[str, Any]:
    if scalar.code == "d":
        return _FLOAT
    if scalar.code == "?":
        return {"type": "boolean"}
    bits = 8 * scalar.size
    if scalar.code.isupper():
        return {"type": "integer", "minimum": 0, "maximum": 2**bits - 1}
    return {"type": "integer", "minimum": -(2 ** (bits - 1)), "maximum": 2 ** (bits - 1) - 1}
