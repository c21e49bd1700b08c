"""Prints a table class and all it leads to as FlatBuffers schema text (``.fbs``)."""

from __future__ import annotations

import enum

from pte_reference import model
from pte_reference.schema import (
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
    reachable_tables,
    schema_of,
)


def program_fbs() -> str:
    """The schema of ``.pte`` programs, printed from :mod:`pte_reference.model`."""
    return schema_text(
        model.Program,
        namespace=model.NAMESPACE,
        identifier=model.IDENTIFIER.decode("ascii"),
        extension=model.FILE_EXTENSION,
    )


def schema_text(root: type[Table], *, namespace: str, identifier: str, extension: str) -> str:
    """The ``.fbs`` text whose root type is ``root``.

    Args:
        root: the root table's class.
        namespace: the FlatBuffers namespace.
        identifier: the four characters at bytes 4 to 7 of a file.
        extension: the file extension, without the dot.
    """
    tables = [schema_of(table) for table in reachable_tables(root)]
    enums: dict[type[enum.IntEnum], None] = {}
    unions: dict[str, tuple[type[Table], ...]] = {}
    for table in tables:
        for field in table.fields:
            match field.type:
                case ScalarField(_, values) if values is not None:
                    enums[values] = None
                case UnionField(name, members):
                    unions[name] = members
                case _:
                    pass
    parts = [f"namespace {namespace};", f'file_identifier "{identifier}";']
    parts.append(f'file_extension "{extension}";')
    for values in enums:
        body = "".join(f"  {value.name} = {value.value},\n" for value in values)
        parts.append(f"enum {values.__name__} : byte {{\n{body}}}")
    for name, members in unions.items():
        body = "".join(f"  {member.__name__},\n" for member in members)
        parts.append(f"union {name} {{\n{body}}}")
    for table in tables:
        body = "".join(f"  {_declaration(field)}\n" for field in table.fields)
        parts.append(f"table {table.name} {{\n{body}}}")
    parts.append(f"root_type {root.__name__};")
    return "\n\n".join(parts) + "\n"


def _declaration(field: Field) -> str:
    return f"{field.name}: {_type_text(field.type)};"


def _type_text(kind: FieldType) -> str:
    match kind:
        case ScalarField(scalar, values):
            return values.__name__ if values else scalar.name
        case StringField():
            return "string"
        case TableField(table):
            return table.__name__
        case TableVectorField(table):
            return f"[{table.__name__}]"
        case ScalarVectorField(scalar):
            return f"[{scalar.name}]"
        case BlobField(alignment):
            return "[ubyte]" + (f" (force_align: {alignment})" if alignment > 1 else "")
        case UnionField(name, _):
            return name
