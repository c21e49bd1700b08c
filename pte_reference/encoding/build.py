"""Encoding: turns a table, and all that hangs on it, into bytes in one pass.

Objects are written from the end of the program towards its start, children before parents,
since offsets lead forward. An object's place is its *distance*: how many bytes before the
end it starts. The end is a multiple of every alignment, so distances tell alignment too.

What is equal is written once: equal strings, vectors and tables share their bytes. So the
bytes depend on the content alone, not on which Python objects it shares. Vectors are also
remembered by identity, so that content in which a few objects are shared many times never
unfolds: no vector's elements are looked at twice, and a table is a few fields.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pte_reference.blobs import DistinctBlobs, as_blob
from pte_reference.encoding.sites import MAX_OFFSET
from pte_reference.encoding.table_plan import Flags, TableLayout, TablePlan, plan_of
from pte_reference.errors import SizeLimitError
from pte_reference.schema import (
    Blob,
    BlobField,
    FieldType,
    ScalarField,
    ScalarVectorField,
    StringField,
    Table,
    TableField,
    TableVectorField,
    UnionField,
)

Lower: TypeAlias = Callable[[Any], int]
"""Writes a value, unless an equal one is there, and gives its distance from the end."""

_SHORT = 16
"""Vectors of fewer elements are looked up by value before they are packed."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encoded program.

    Attributes:
        chunks: the bytes, in pieces; inline blobs are not copied.
        end: where the last byte ends, counted from the start of the file.
        root: the root table's position.
        complete: whether every needed field of every table was present.
    """

    chunks: tuple[Blob, ...]
    end: int
    root: int
    complete: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """A table layout with what this program's tables of that layout need.

    Attributes:
        layout: the layout.
        vtable: the vtable's distance from the end.
        present: index among the pointers, and what writes it, last field first.
    """

    layout: TableLayout
    vtable: int
    present: tuple[tuple[int, Lower], ...]


def encode_root(root: Table, start: int, blob_alignment: int) -> Encoded:
    """Encodes ``root`` and all that hangs on it.

    Args:
        root: the root table.
        start: the file offset at which the first byte will be.
        blob_alignment: alignment in bytes of blobs that the schema aligns; at least the
            schema's own.

    Raises:
        SizeLimitError: the program is too large for FlatBuffers offsets.
        KeyError, OverflowError, TypeError, UnicodeEncodeError, struct.error: a field holds
            what its type cannot store; see :func:`~pte_reference.encoding.values.misfits`.
    """
    builder = _Builder(blob_alignment)
    try:
        return builder.finish(builder.table(type(root))(root), start)
    finally:
        builder.release()


class _Builder:
    """Writes one program. ``chunks`` holds its bytes from the end to the start."""

    def __init__(self, blob_alignment: int) -> None:
        self.blob_alignment = blob_alignment
        self.alignment = 8
        self.complete = True
        self.chunks: list[Blob] = []
        self.distance = 0
        self._known: dict[Any, int] = {}
        self._lowered: dict[type[Table], Lower] = {}
        self._blobs = DistinctBlobs()

    def finish(self, root: int, start: int) -> Encoded:
        """The program with its first byte at ``start`` or, for alignment, a little later."""
        end = -(-(start + self.distance) // self.alignment) * self.alignment
        if end > MAX_OFFSET:
            raise SizeLimitError(
                f"the program would have {end} bytes; FlatBuffers offsets end at {MAX_OFFSET}"
            )
        self.chunks.append(bytes(end - self.distance - start))
        return Encoded(tuple(reversed(self.chunks)), end, end - root, self.complete)

    def release(self) -> None:
        """Lets go of the closures, which hold the builder: no cycle is left to collect."""
        self._lowered.clear()

    def _place(self, size: int, alignment: int, phase: int) -> int:
        """The distance of ``size`` bytes whose distance is ``phase`` modulo ``alignment``."""
        distance = self.distance + size
        padding = (phase - distance) % alignment
        if padding:
            self.chunks.append(bytes(padding))
        self.distance = distance + padding
        return self.distance

    def _run(self, payload: bytes, alignment: int) -> int:
        """Bytes that start with a length, behind which elements are to be aligned."""
        key = (alignment, payload)
        distance = self._known.get(key)
        if distance is None:
            distance = self._known[key] = self._place(len(payload), alignment, 4 % alignment)
            self.chunks.append(payload)
        return distance

    def table(self, table: type[Table]) -> Lower:
        """What writes tables of a class."""
        if table not in self._lowered:
            self._lowered[table] = self._make_table(table)
        return self._lowered[table]

    def _make_table(self, table: type[Table]) -> Lower:
        plan = plan_of(table)
        if len(plan.pointers) == len(plan.tag_readers) == 1 and not plan.scalars:
            return self._make_union_table(plan)
        if not plan.pointers:
            return self._make_flat_table(plan)
        followers = [self._pointer(field.type) for field in plan.pointers]
        layouts: dict[Flags, _Placed] = {}
        write = self._write_table
        scalars_of, pointers_of, defaults = plan.scalars_of, plan.pointers_of, plan.defaults
        nothing = (None,) * len(plan.pointers)

        def lower(value: Table) -> int:
            if type(value) is not table:
                raise TypeError(f"{table.__name__} expected, not {type(value).__name__}")
            scalars, pointers = scalars_of(value), pointers_of(value)
            if plan.tag_readers:
                scalars += plan.tags(pointers)
            flags = (*map(operator.ne, scalars, defaults), *map(operator.is_not, pointers, nothing))
            placed = layouts.get(flags)
            if placed is None:
                placed = layouts[flags] = self._layout(plan, flags, followers)
            children = tuple([follow(pointers[index]) for index, follow in placed.present])
            return write(placed, placed.layout.pick(scalars), children)

        return lower

    def _make_flat_table(self, plan: TablePlan) -> Lower:
        """The same for tables of scalars only."""
        table, scalars_of, defaults = plan.table, plan.scalars_of, plan.defaults
        layouts: dict[Flags, _Placed] = {}
        write = self._write_table

        def lower(value: Table) -> int:
            if type(value) is not table:
                raise TypeError(f"{table.__name__} expected, not {type(value).__name__}")
            scalars = scalars_of(value)
            flags = tuple(map(operator.ne, scalars, defaults))
            if plan.doubles:
                flags = plan.exact_flags(flags, scalars)
            placed = layouts.get(flags)
            if placed is None:
                placed = layouts[flags] = self._layout(plan, flags, ())
            stored = placed.layout.pick(scalars)
            if plan.doubles:
                # Told apart by their bits: 0.0 == -0.0, and NaN is unequal to itself.
                stored = (placed.layout.pack_scalars(*stored),)
            return write(placed, stored, ())

        return lower

    def _make_union_table(self, plan: TablePlan) -> Lower:
        """The same for tables of nothing but one union, of which programs have the most."""
        table, pointers_of = plan.table, plan.pointers_of
        lowered: dict[type, tuple[Lower, tuple[int]]] = {
            member: (self.table(member), (number,))
            for member, number in plan.tag_readers[0][1].items()
            if issubclass(member, Table)
        }
        layouts: dict[bool, _Placed] = {}
        write = self._write_table

        def lower(value: Table) -> int:
            if type(value) is not table:
                raise TypeError(f"{table.__name__} expected, not {type(value).__name__}")
            (content,) = pointers_of(value)
            present = content is not None
            children: tuple[int, ...] = ()
            tag: tuple[int, ...] = ()
            if present:
                follow, tag = lowered[type(content)]
                children = (follow(content),)
            placed = layouts.get(present)
            if placed is None:
                placed = layouts[present] = self._layout(plan, (present, present), ())
            return write(placed, tag, children)

        return lower

    def _write_table(self, placed: _Placed, stored: tuple[Any, ...], children: tuple[int, ...]) -> int:
        key = (placed, *stored, *children)
        distance = self._known.get(key)
        if distance is None:
            layout = placed.layout
            end = self.distance + layout.size
            distance = end + (layout.phase - end & layout.mask)
            if distance != end:
                self.chunks.append(bytes(distance - end))
            at = distance
            offsets = [(at := at - 4) - child for child in children] if children else ()
            self.chunks.append(layout.pack(placed.vtable - distance, *offsets, *stored))
            self._known[key] = self.distance = distance
        return distance

    def _layout(self, plan: TablePlan, flags: Flags, followers: Sequence[Lower]) -> _Placed:
        layout = plan.layout(flags)
        self.complete = self.complete and layout.complete
        vtable = self._known.get(layout.vtable)
        if vtable is None:
            vtable = self._known[layout.vtable] = self._place(len(layout.vtable), 2, 0)
            self.chunks.append(layout.vtable)
        stored = flags[len(plan.defaults) :]
        present = [(index, follow) for index, follow in enumerate(followers) if stored[index]]
        # Children are written last to first, so that they come to lie in field order.
        return _Placed(layout, vtable, tuple(present[::-1]))

    def _pointer(self, kind: FieldType) -> Lower:
        match kind:
            case TableField(table):
                return self.table(table)
            case TableVectorField(table):
                return self._table_vector(self.table(table))
            case UnionField(_, members):
                lowered = {member: self.table(member) for member in members}
                return lambda value: lowered[type(value)](value)
            case StringField():
                return self._string
            case ScalarVectorField(scalar):
                return self._scalar_vector(scalar.code, scalar.size)
            case BlobField(alignment):
                effective = max(alignment, self.blob_alignment) if alignment > 1 else 1
                return lambda value: self._blob(value, effective)
            case ScalarField():
                raise AssertionError("a scalar is stored in place")

    def _string(self, text: str) -> int:
        distance = self._known.get(text)
        if distance is None:
            encoded = text.encode("utf-8")
            payload = struct.pack("<I", len(encoded)) + encoded + b"\0"
            distance = self._known[text] = self._run(payload, 4)
        return distance

    def _scalar_vector(self, code: str, size: int) -> Lower:
        seen: dict[int, int] = {}
        short: dict[Sequence[Any], int] = {}
        packers: dict[int, Callable[..., bytes]] = {}

        def lower(elements: Sequence[Any]) -> int:
            count = len(elements)
            # Floats are equal by their bits only; long vectors would be hashed every time.
            by_value = count < _SHORT and code != "d" and type(elements) is tuple
            distance = short.get(elements) if by_value else seen.get(id(elements))
            if distance is None:
                pack = packers.get(count)
                if pack is None:
                    pack = packers[count] = struct.Struct(f"<I{count}{code}").pack
                distance = self._run(pack(count, *elements), max(size, 4) if count else 4)
                if by_value:
                    short[elements] = distance
                else:
                    seen[id(elements)] = distance
            return distance

        return lower

    def _blob(self, blob: Blob, alignment: int) -> int:
        blob = as_blob(blob, "a blob of the program")
        size = len(blob)
        if size > MAX_OFFSET:
            raise SizeLimitError(f"a blob of {size} bytes is too large to be inside the program")
        alignment = max(alignment, 4) if size else 4
        key = ("blob", self._blobs.place(blob), alignment)
        distance = self._known.get(key)
        if distance is None:
            self.alignment = max(self.alignment, alignment)
            distance = self._known[key] = self._place(4 + size, alignment, 4 % alignment)
            self.chunks += (blob, struct.pack("<I", size))
        return distance

    def _table_vector(self, lower_element: Lower) -> Lower:
        seen: dict[int, int] = {}

        def lower(elements: Sequence[Table]) -> int:
            distance = seen.get(id(elements))
            if distance is None:
                children = [lower_element(element) for element in reversed(elements)]
                distance = seen[id(elements)] = self._offset_vector(tuple(children[::-1]))
            return distance

        return lower

    def _offset_vector(self, children: tuple[int, ...]) -> int:
        key = ("vector", children)
        distance = self._known.get(key)
        if distance is None:
            count = len(children)
            distance = at = self._known[key] = self._place(4 + 4 * count, 4, 0)
            offsets = [(at := at - 4) - child for child in children]
            self.chunks.append(struct.pack(f"<{count + 1}I", count, *offsets))
        return distance
