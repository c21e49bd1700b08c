"""The check that needed fields are present, derived from the model's annotations."""

from __future__ import annotations

from collections.abc import Iterator

from pte_reference.findings import Finding, Path
from pte_reference.model import Program
from pte_reference.requirements.program import FIELD_PRESENT
from pte_reference.schema import (
    Field,
    Table,
    TableField,
    TableVectorField,
    UnionField,
    schema_of,
)


def absent_fields(program: Program) -> Iterator[Finding]:
    """A finding for each needed field that is absent, first place of shared objects only."""
    yield from _absent(program, (), set())


def _absent(table: Table, path: Path, clean: set[int]) -> Iterator[Finding]:
    for field in schema_of(type(table)).fields:
        value = getattr(table, field.name)
        if value is None and field.needed:
            yield Finding(
                FIELD_PRESENT,
                f"{type(table).__name__}.{field.name} is absent",
                (*path, field.name),
                hint="write it, if it is empty",
            )
        if value is None or id(value) in clean or not _leads_on(field):
            continue
        # Set before the walk: a shared object's findings are given for its first place.
        clean.add(id(value))
        if isinstance(value, tuple):
            for number, element in enumerate(value):
                if id(element) not in clean:
                    clean.add(id(element))
                    yield from _absent(element, (*path, field.name, number), clean)
        else:
            yield from _absent(value, (*path, field.name), clean)


def _leads_on(field: Field) -> bool:
    return isinstance(field.type, TableField | TableVectorField | UnionField)
