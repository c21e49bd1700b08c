"""Between this project's dataclasses and those of ``executorch.exir.schema``, without loss.

Both sides name tables and fields as the schema does, so the model's own description drives
the conversion; only numbers, enums and Double need a word of their own. Nothing of
executorch is imported here: its schema module is handed in.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, TypeVar, cast

from pte_conformance.adapter import NotSupported
from pte_reference.schema import (
    BlobField,
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

T = TypeVar("T", bound=Table)


class Converter:
    """Converts tables, recursively, in either direction.

    Args:
        schema: the module ``executorch.exir.schema``.
    """

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._fields: dict[type[Table], frozenset[str]] = {}

    def to_upstream(self, table: Table) -> Any:
        """Upstream's dataclass with the content of ``table``.

        A field that is None stays None even where upstream's annotation has no place for
        it: its classes check nothing, and its writer must show what it makes of that.

        Raises:
            NotSupported: upstream's classes cannot hold a value.
        """
        description = schema_of(type(table))
        upstream = self._class(type(table))
        known = self._known_fields(type(table))
        values = {}
        for field in description.fields:
            value = getattr(table, field.name)
            if field.name in known:
                values[field.name] = self._value_to_upstream(field.type, value)
            elif value != field.default:
                raise NotSupported(f"its {description.name} has no field {field.name!r}")
        return upstream(**values)

    def from_upstream(self, table: type[T], value: Any) -> T:
        """``table`` with the content of upstream's dataclass ``value``."""
        known = self._known_fields(table)
        return table(
            **{
                field.name: self._value_from_upstream(field.type, getattr(value, field.name))
                for field in schema_of(table).fields
                if field.name in known
            }
        )

    def _class(self, table: type[Table]) -> Any:
        upstream = getattr(self._schema, table.__name__, None)
        if upstream is None:
            raise NotSupported(f"it has no {table.__name__}")
        return upstream

    def _known_fields(self, table: type[Table]) -> frozenset[str]:
        if table not in self._fields:
            upstream = self._class(table)
            self._fields[table] = frozenset(field.name for field in dataclasses.fields(upstream))
        return self._fields[table]

    def _value_to_upstream(self, kind: FieldType, value: Any) -> Any:
        if value is None:
            return None
        match kind:
            case ScalarField(_, values) if values is not None:
                return self._enum_to_upstream(values, value)
            case ScalarField() | StringField():
                return value
            case BlobField():
                return bytes(value)
            case ScalarVectorField():
                return list(value)
            case TableField() | UnionField():
                return self.to_upstream(value)
            case TableVectorField():
                return [self.to_upstream(one) for one in value]

    def _enum_to_upstream(self, values: type[enum.IntEnum], number: int) -> Any:
        upstream = cast("type[enum.IntEnum]", getattr(self._schema, values.__name__))
        if number not in {member.value for member in upstream}:
            raise NotSupported(f"its {values.__name__} has no number {int(number)}")
        return upstream(number)

    def _value_from_upstream(self, kind: FieldType, value: Any) -> Any:
        if value is None:
            return None
        match kind:
            case ScalarField(scalar, values):
                if values is not None:
                    return _known_number(values, value)
                # Infinities are the strings "inf" and "-inf" in upstream's Double.
                return float(value) if scalar.code == "d" else value
            case BlobField():
                return bytes(value)
            case StringField():
                return value
            case ScalarVectorField():
                return tuple(value)
            case TableField(table):
                return self.from_upstream(table, value)
            case TableVectorField(table):
                return tuple(self.from_upstream(table, one) for one in value)
            case UnionField(_, members):
                by_name = {member.__name__: member for member in members}
                return self.from_upstream(by_name[type(value).__name__], value)


def _known_number(values: type[enum.IntEnum], number: int) -> int:
    """The enum's member, or a plain int: upstream's ScalarType knows reserved numbers too."""
    try:
        return values(number)
    except ValueError:
        return int(number)
