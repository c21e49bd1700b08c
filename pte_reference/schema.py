"""What a dataclass of :mod:`pte_reference.model` says about its FlatBuffers form.

The model's annotations are the only description of the format. This module turns the
annotations of one class into a :class:`TableSchema`: its fields in id order, each with its
FlatBuffers type. Decoding, encoding, the JSON form and the printed ``.fbs`` text all start
from here.

Source of the encoding rules: the FlatBuffers "internals" document; ids, types and defaults:
``program.fbs`` of ExecuTorch 1.5.1.
"""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeAlias, TypeVar, Union

Blob: TypeAlias = bytes | memoryview
"""A run of bytes of the file: read-only and, when it comes from a reader, not a copy."""

T = TypeVar("T")

_ZEROS: dict[str, bool | float] = {"?": False, "d": 0.0}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A FlatBuffers scalar type.

    Attributes:
        name: its name in a ``.fbs`` file.
        code: its :mod:`struct` format character (little-endian, standard size).
        size: its size in bytes, which is also its alignment.
    """

    name: str
    code: str
    size: int


BOOL = Scalar("bool", "?", 1)
BYTE = Scalar("byte", "b", 1)
UBYTE = Scalar("ubyte", "B", 1)
INT = Scalar("int", "i", 4)
UINT = Scalar("uint", "I", 4)
LONG = Scalar("long", "q", 8)
ULONG = Scalar("ulong", "Q", 8)
DOUBLE = Scalar("double", "d", 8)

Boolean = Annotated[bool, BOOL]
Int8 = Annotated[int, BYTE]
UInt8 = Annotated[int, UBYTE]
Int32 = Annotated[int, INT]
UInt32 = Annotated[int, UINT]
Int64 = Annotated[int, LONG]
UInt64 = Annotated[int, ULONG]
Float64 = Annotated[float, DOUBLE]


@dataclass(frozen=True, slots=True)
class Enumeration:
    """Marks an int field as an enum stored in one signed byte.

    A number that the enum does not know stays a plain ``int``: a newer writer may have
    put it there, and a reader that only decodes need not know its meaning.
    """

    values: type[enum.IntEnum]


@dataclass(frozen=True, slots=True)
class ForceAlign:
    """The ``force_align`` attribute: alignment in bytes of a vector's first element."""

    alignment: int


@dataclass(frozen=True, slots=True)
class UnionName:
    """The name under which a union of tables stands in the ``.fbs`` file."""

    name: str


class Presence(enum.Enum):
    """Whether today's runtime needs a field to be there (FORMAT notes of release 1.5)."""

    NEEDED = "a loader refuses a file without it; writers always write it"
    OPTIONAL = "absent reads as null, false or zero"


Needed = Annotated[T | None, Presence.NEEDED]
"""``Needed[X]``: null is representable, since files without the field can be decoded."""


@dataclass(frozen=True, slots=True)
class ScalarField:
    """A scalar stored in the table itself; ``enum`` names its meaning where it has one."""

    scalar: Scalar
    enum: type[enum.IntEnum] | None = None


@dataclass(frozen=True, slots=True)
class StringField:
    """An offset to a string."""


@dataclass(frozen=True, slots=True)
class TableField:
    """An offset to a table of class ``table``."""

    table: type[Table]


@dataclass(frozen=True, slots=True)
class ScalarVectorField:
    """An offset to a vector of scalars, decoded to a tuple."""

    scalar: Scalar


@dataclass(frozen=True, slots=True)
class BlobField:
    """An offset to a vector of bytes that stays a view of the file."""

    force_align: int = 1


@dataclass(frozen=True, slots=True)
class TableVectorField:
    """An offset to a vector of offsets to tables."""

    table: type[Table]


@dataclass(frozen=True, slots=True)
class UnionField:
    """Two fields: the type (one byte, ``<name>_type``) and an offset to that type's table.

    ``members[k]`` has the type number ``k + 1``; 0 means none.
    """

    name: str
    members: tuple[type[Table], ...]


FieldType: TypeAlias = (
    ScalarField | StringField | TableField | ScalarVectorField | BlobField | TableVectorField | UnionField
)


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a table.

    Attributes:
        name: its name, in the dataclass and in the ``.fbs`` file alike.
        slot: its FlatBuffers id; a union's *value*, whose type has the id before it.
        type: its FlatBuffers type.
        default: what an absent field reads as: 0, False or None.
        needed: whether a loader refuses a file without it.
    """

    name: str
    slot: int
    type: FieldType
    default: Any
    needed: bool


@dataclass(frozen=True, slots=True)
class TableSchema:
    """The fields of one table class in the order of the dataclass, which is id order."""

    table: type[Table]
    name: str
    fields: tuple[Field, ...]
    slots: int

    def field(self, name: str) -> Field:
        """The field called ``name``.

        Raises:
            KeyError: the table has no such field.
        """
        for candidate in self.fields:
            if candidate.name == name:
                return candidate
        raise KeyError(f"{self.name} has no field {name!r}")


class Table:
    """Base of the model's dataclasses: one FlatBuffers table each."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]


_schemas: dict[type[Table], TableSchema] = {}


def schema_of(table: type[Table]) -> TableSchema:
    """The FlatBuffers description that ``table``'s annotations spell out.

    Raises:
        TypeError: an annotation has no FlatBuffers form (a mistake in the model).
    """
    schema = _schemas.get(table)
    if schema is None:
        schema = _schemas[table] = _read_annotations(table)
    return schema


def _read_annotations(table: type[Table]) -> TableSchema:
    hints = typing.get_type_hints(table, include_extras=True)
    fields: list[Field] = []
    slot = 0
    for declared in dataclasses.fields(table):
        kind, marks = _field_type(hints[declared.name])
        if isinstance(kind, UnionField):
            slot += 1
        default: Any = None
        if isinstance(kind, ScalarField):
            default = kind.enum(0) if kind.enum else _ZEROS.get(kind.scalar.code, 0)
        fields.append(Field(declared.name, slot, kind, default, Presence.NEEDED in marks))
        slot += 1
    return TableSchema(table, table.__name__, tuple(fields), slot)


def reachable_tables(root: type[Table]) -> tuple[type[Table], ...]:
    """``root`` and every table class that its fields lead to, in first-use order."""
    found: dict[type[Table], None] = {}
    pending = [root]
    while pending:
        table = pending.pop(0)
        if table in found:
            continue
        found[table] = None
        for field in schema_of(table).fields:
            match field.type:
                case TableField(child) | TableVectorField(child):
                    pending.append(child)
                case UnionField(_, members):
                    pending.extend(members)
                case _:
                    pass
    return tuple(found)


def _field_type(hint: Any) -> tuple[FieldType, tuple[Any, ...]]:
    """The FlatBuffers type of one annotation, and the marks found around it."""
    marks: tuple[Any, ...] = ()
    while typing.get_origin(hint) is Annotated:
        hint, *extra = typing.get_args(hint)
        marks += tuple(extra)
    if typing.get_origin(hint) in (Union, types.UnionType):
        return _choice_type(hint, marks)
    scalar = next((mark for mark in marks if isinstance(mark, Scalar)), None)
    if scalar is not None:
        return ScalarField(scalar), marks
    values = next((mark.values for mark in marks if isinstance(mark, Enumeration)), None)
    if values is not None:
        return ScalarField(BYTE, values), marks
    if hint is str:
        return StringField(), marks
    if isinstance(hint, type) and issubclass(hint, Table):
        return TableField(hint), marks
    if typing.get_origin(hint) is tuple:
        element, _ = _field_type(typing.get_args(hint)[0])
        if isinstance(element, ScalarField):
            return ScalarVectorField(element.scalar), marks
        if isinstance(element, TableField):
            return TableVectorField(element.table), marks
    raise TypeError(f"no FlatBuffers type for the annotation {hint!r}")


def _choice_type(hint: Any, marks: tuple[Any, ...]) -> tuple[FieldType, tuple[Any, ...]]:
    """The FlatBuffers type of ``X | None``, of a blob, or of a union of tables."""
    members = [arg for arg in typing.get_args(hint) if arg is not type(None)]
    for mark in marks:
        if isinstance(mark, UnionName):
            return UnionField(mark.name, tuple(members)), marks
    if members == [bytes, memoryview]:
        aligned = [mark.alignment for mark in marks if isinstance(mark, ForceAlign)]
        return BlobField(*aligned), marks
    if len(members) == 1:
        kind, inner = _field_type(members[0])
        return kind, marks + inner
    raise TypeError(f"no FlatBuffers type for the annotation {hint!r}")
