"""Encoding: lowers a table to nodes, gives each node a place, and emits the bytes.

Nodes are made from the leaves up, and what is equal is one node: equal strings, vectors and
tables are written once. So the bytes depend on the content alone, and content in which a
few objects are shared many times never unfolds. Nodes are placed in the opposite order,
parents before children, since offsets lead forward.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pte_reference.blobs import DistinctBlobs
from pte_reference.encoding.decode import collection_paused
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
"""Lowers a value to a node and gives the node's number."""

Present: TypeAlias = tuple[tuple[int, Lower], ...]
"""The pointers that a table stores: index among its pointers, and what lowers it."""


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


Node: TypeAlias = tuple[int, int, int, TableLayout | None, tuple[int, ...], Any]
"""A run of bytes to be placed: size, alignment mask, residue, layout, children, content.

A table has a layout, and as content its scalars in the order in which they are stored. A
vector of offsets has None as content; anything else the bytes themselves, except that a
blob's length, which comes before it, is not part of them. (A plain tuple: there are as many
nodes as objects, and making instances of a class would take half of the writing time.)
"""


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
    with collection_paused():
        builder = _Builder(blob_alignment)
        number = builder.table(type(root))(root)
        return builder.emit(number, start)


class _Builder:
    def __init__(self, blob_alignment: int) -> None:
        self.blob_alignment = blob_alignment
        self.complete = True
        self.nodes: list[Node] = []
        self._known: dict[Any, int] = {}
        self._lowered: dict[type[Table], Lower] = {}
        self._blobs = DistinctBlobs()
        self._vtables: dict[bytes, None] = {}

    def _node(self, key: Any, node: Node) -> int:
        """The number of the node known by ``key``, which is added if it is new."""
        number = self._known.setdefault(key, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node)
        return number

    def table(self, table: type[Table]) -> Lower:
        """What lowers tables of a class."""
        if table not in self._lowered:
            self._lowered[table] = self._make_table(table)
        return self._lowered[table]

    def _make_table(self, table: type[Table]) -> Lower:
        plan = plan_of(table)
        followers = [self._pointer(field.type) for field in plan.pointers]
        layouts: dict[Flags, tuple[TableLayout, Present]] = {}
        seen: dict[int, int] = {}
        known, nodes = self._known, self.nodes
        scalars_of, pointers_of, defaults = plan.scalars_of, plan.pointers_of, plan.defaults
        nothing = (None,) * len(plan.pointers)

        def lower(value: Table) -> int:
            number = seen.get(id(value))
            if number is not None:
                return number
            if type(value) is not table:
                raise TypeError(f"{table.__name__} expected, not {type(value).__name__}")
            scalars, pointers = scalars_of(value), pointers_of(value)
            if plan.tag_readers:
                scalars += plan.tags(pointers)
            flags = (
                tuple(map(operator.ne, scalars, defaults)),
                tuple(map(operator.is_not, pointers, nothing)),
            )
            if plan.doubles:
                flags = plan.exact_flags(flags, scalars)
            known_layout = layouts.get(flags)
            if known_layout is None:
                known_layout = layouts[flags] = self._layout(plan, flags, followers)
            layout, present = known_layout
            children = tuple([follow(pointers[index]) for index, follow in present])
            stored = layout.pick(scalars)
            # Floats are told apart by their bits: 0.0 == -0.0, and NaN is unequal to itself.
            content = layout.pack_scalars(*stored) if plan.doubles else stored
            key = (layout, content, children)
            number = seen[id(value)] = known.setdefault(key, len(nodes))
            if number == len(nodes):
                nodes.append((layout.size, layout.mask, layout.residue, layout, children, stored))
            return number

        return lower

    def _layout(
        self, plan: TablePlan, flags: Flags, followers: Sequence[Lower]
    ) -> tuple[TableLayout, Present]:
        layout = plan.layout(flags)
        self._vtables[layout.vtable] = None
        self.complete = self.complete and layout.complete
        present = [(index, followers[index]) for index, stored in enumerate(flags[1]) if stored]
        # Children are lowered, and offsets to them stored, last to first: what is made first
        # is placed last, so that they come to lie in field order.
        return layout, tuple(present[::-1])

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
        encoded = text.encode("utf-8")
        payload = struct.pack("<I", len(encoded)) + encoded + b"\0"
        return self._node(payload, (len(payload), 3, 0, None, (), payload))

    def _scalar_vector(self, code: str, size: int) -> Lower:
        mask = max(size, 4) - 1
        seen: dict[int, int] = {}
        packers: dict[int, Callable[..., bytes]] = {}

        def lower(elements: Sequence[Any]) -> int:
            number = seen.get(id(elements))
            if number is None:
                count = len(elements)
                pack = packers.get(count)
                if pack is None:
                    pack = packers[count] = struct.Struct(f"<I{count}{code}").pack
                payload = pack(count, *elements)
                needed = mask if count else 3
                node = (len(payload), needed, -4 & needed, None, (), payload)
                number = seen[id(elements)] = self._node((needed, payload), node)
            return number

        return lower

    def _blob(self, blob: Blob, alignment: int) -> int:
        size = len(blob)
        if size > MAX_OFFSET:
            raise SizeLimitError(f"a blob of {size} bytes is too large to be inside the program")
        mask = max(alignment, 4) - 1 if size else 3
        body = self._blobs.place(blob)
        node = (4 + size, mask, -4 & mask, None, (), self._blobs.blobs[body])
        return self._node(("blob", body, mask), node)

    def _table_vector(self, lower_element: Lower) -> Lower:
        seen: dict[int, int] = {}

        def lower(elements: Sequence[Table]) -> int:
            number = seen.get(id(elements))
            if number is None:
                children = [lower_element(element) for element in reversed(elements)]
                kept = tuple(children[::-1])
                node = (4 + 4 * len(kept), 3, 0, None, kept, None)
                number = seen[id(elements)] = self._node(("vector", kept), node)
            return number

        return lower

    def emit(self, root: int, start: int) -> Encoded:
        """Places all nodes from ``start`` on, the last made first, and writes them."""
        vtables: dict[bytes, int] = {}
        position = start
        for vtable in self._vtables:
            vtables[vtable] = position
            position += len(vtable)
        places = [0] * len(self.nodes)
        for number in range(len(self.nodes) - 1, -1, -1):
            size, mask, residue, _, _, _ = self.nodes[number]
            position += (residue - position) & mask
            places[number] = position
            position += size
        if position > MAX_OFFSET:
            raise SizeLimitError(
                f"the program would have {position} bytes; FlatBuffers offsets end at {MAX_OFFSET}"
            )
        return Encoded(
            tuple(_emit_nodes(self.nodes, places, vtables, start)),
            position,
            places[root],
            self.complete,
        )


def _emit_nodes(nodes: list[Node], places: list[int], vtables: dict[bytes, int], start: int) -> list[Blob]:
    """The bytes of vtables and nodes in the order of their places, with padding between."""
    chunks: list[Blob] = list(vtables)
    position = start + sum(map(len, vtables))
    for number in range(len(nodes) - 1, -1, -1):
        size, _, _, layout, children, content = nodes[number]
        place = places[number]
        if place != position:
            chunks.append(bytes(place - position))
        position = place + size
        at = place
        offsets = [places[child] - (at := at + 4) for child in children]
        if layout is not None:
            chunks.append(layout.pack(place - vtables[layout.vtable], *offsets, *content))
        elif content is None:
            chunks.append(struct.pack(f"<{len(offsets) + 1}I", len(offsets), *offsets))
        else:
            if len(content) < size:
                chunks.append(struct.pack("<I", len(content)))
            chunks.append(content)
    return chunks
