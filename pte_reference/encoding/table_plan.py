"""How the tables of one class are laid out when they are written.

A table is its vtable offset, its stored offsets, the last field's first, then its scalars
from large to small, so that nothing inside it needs padding.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from pte_reference.schema import Field, ScalarField, Table, UnionField, schema_of

Values: TypeAlias = tuple[Any, ...]
Flags: TypeAlias = tuple[bool, ...]
"""Which scalars, union types and pointers of a table are stored, in this order."""


@dataclass(frozen=True, slots=True, eq=False)
class TableLayout:
    """Where the stored fields of a table go.

    Attributes:
        vtable: the vtable's bytes.
        size: bytes of a table, with the zero bytes up to the next multiple of 4.
        mask: one less than the alignment that the table needs.
        phase: what its distance from the (aligned) end must be modulo that alignment.
        pick: brings the scalars into the order in which they are stored.
        pack_scalars: packs the scalars in that order.
        pack: packs a whole table: the vtable offset, the stored offsets, the scalars (with
            floats among them, as bytes that ``pack_scalars`` made).
        complete: whether every needed field is stored.
    """

    vtable: bytes
    size: int
    mask: int
    phase: int
    pick: Callable[[Values], Values]
    pack_scalars: Callable[..., bytes]
    pack: Callable[..., bytes]
    complete: bool


@dataclass(frozen=True, slots=True, eq=False)
class TablePlan:
    """The fields of a table class, sorted by how they are stored.

    Attributes:
        scalars: the scalar fields; the types of unions follow them in rows of values.
        pointers: the fields stored as offsets, unions included.
        scalars_of: a table's scalars.
        pointers_of: a table's strings, vectors and tables, None where absent.
        defaults: what scalars and union types are when they are not stored.
        tag_readers: for each union, its index among the pointers and its types' numbers.
        doubles: indices of the 64-bit floats among the scalars.
    """

    table: type[Table]
    scalars: tuple[Field, ...]
    pointers: tuple[Field, ...]
    scalars_of: Callable[[Table], Values]
    pointers_of: Callable[[Table], Values]
    defaults: Values
    tag_readers: tuple[tuple[int, dict[type, int]], ...]
    doubles: tuple[int, ...]

    def tags(self, pointers: Values) -> Values:
        """The types of the unions among ``pointers``."""
        return tuple(numbers[type(pointers[index])] for index, numbers in self.tag_readers)

    def exact_flags(self, flags: Flags, scalars: Values) -> Flags:
        """Stores floats by their bits: -0.0 equals the default, but reads back otherwise."""
        exact = list(flags)
        for index in self.doubles:
            exact[index] = struct.pack("<d", scalars[index]) != bytes(8)
        return tuple(exact)

    def layout(self, flags: Flags) -> TableLayout:
        """The layout of the tables that store just the fields of ``flags``."""
        scalar_flags, pointer_flags = flags[: len(self.defaults)], flags[len(self.defaults) :]
        pointers = [one for one, stored in zip(self.pointers, pointer_flags, strict=True) if stored]
        slots = self._scalar_slots()
        order = sorted(
            (index for index, stored in enumerate(scalar_flags) if stored),
            key=lambda index: -slots[index][2],
        )
        places: dict[int, int] = {}
        position = 4
        for pointer in reversed(pointers):
            places[pointer.slot] = position
            position += 4
        first = position
        for index in order:
            slot, _, size = slots[index]
            places[slot] = position
            position += size
        codes = "".join(slots[index][1] for index in order)
        # Rows of floats come packed: see what lowers them.
        stored = f"{position - first}s" if self.doubles else codes
        # Tables start at multiples of 4: packing the bytes up to there saves a piece each.
        padding = -position % 4
        wide = bool(order) and slots[order[0]][2] == 8
        return TableLayout(
            vtable=_vtable(places, position),
            size=position + padding,
            mask=7 if wide else 3,
            # The first scalar, 8 bytes wide, is to lie at a multiple of 8.
            phase=first & 7 if wide else 0,
            pick=_picker(order),
            pack_scalars=struct.Struct(f"<{codes}").pack,
            pack=struct.Struct(f"<i{len(pointers)}I{stored}{padding}x").pack,
            complete=not any(
                field.needed and not stored
                for field, stored in zip(self.pointers, pointer_flags, strict=True)
            ),
        )

    def _scalar_slots(self) -> list[tuple[int, str, int]]:
        """Slot, struct code and size of each scalar and union type."""
        slots = [
            (field.slot, field.type.scalar.code, field.type.scalar.size)
            for field in self.scalars
            if isinstance(field.type, ScalarField)
        ]
        slots.extend((self.pointers[index].slot - 1, "B", 1) for index, _ in self.tag_readers)
        return slots


_plans: dict[type[Table], TablePlan] = {}


def plan_of(table: type[Table]) -> TablePlan:
    """The plan of a table class."""
    plan = _plans.get(table)
    if plan is None:
        plan = _plans[table] = _make_plan(table)
    return plan


def _make_plan(table: type[Table]) -> TablePlan:
    fields = schema_of(table).fields
    scalars = tuple(field for field in fields if isinstance(field.type, ScalarField))
    pointers = tuple(field for field in fields if not isinstance(field.type, ScalarField))
    tag_readers = []
    for index, field in enumerate(pointers):
        if isinstance(field.type, UnionField):
            numbers: dict[type, int] = {member: number for number, member in enumerate(field.type.members, 1)}
            tag_readers.append((index, {**numbers, type(None): 0}))
    return TablePlan(
        table,
        scalars,
        pointers,
        _getter(scalars),
        _getter(pointers),
        tuple(field.default for field in scalars) + (0,) * len(tag_readers),
        tuple(tag_readers),
        tuple(index for index, field in enumerate(scalars) if field.default.__class__ is float),
    )


def _getter(fields: tuple[Field, ...]) -> Callable[[Any], Values]:
    names = [field.name for field in fields]
    if len(names) > 1:
        return operator.attrgetter(*names)
    if not names:
        return lambda _: ()
    single = operator.attrgetter(names[0])
    return lambda table: (single(table),)


def _picker(order: list[int]) -> Callable[[Values], Values]:
    if len(order) > 1:
        return operator.itemgetter(*order)
    first = order[0] if order else 0
    return operator.itemgetter(slice(first, first + len(order)))


def _vtable(places: dict[int, int], table_size: int) -> bytes:
    """The vtable for fields at ``places`` by slot; trailing absent slots are left out."""
    slots = max(places, default=-1) + 1
    entries = [places.get(slot, 0) for slot in range(slots)]
    return struct.pack(f"<{slots + 2}H", 4 + 2 * slots, table_size, *entries)
