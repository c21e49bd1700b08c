"""Values of a plan: tensors of every kind, scalars, texts and lists."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from pte_conformance.strategies.data import SHAPES, Entry, Shape
from pte_conformance.strategies.primitives import FLOATS, INDICES, INT64, names, pick, some, texts
from pte_reference import model as m


class TensorKind(enum.Enum):
    """Where a tensor's data comes from."""

    GIVEN = "given at run time"
    PLANNED = "planned memory"
    CONSTANT = "the constants"
    STATE = "the initial states"
    EXTERNAL = "another file"


@dataclass(frozen=True, slots=True)
class LooseTensor:
    """A tensor that is not fitted yet: what it refers to is any number.

    Attributes:
        kind: where its data comes from, if there is such data.
        data: which entry of the data.
        shape: its shape, where no data says so.
        place: its place in planned memory.
        name: its name outside of the file.
        tensor: all its other fields.
    """

    kind: TensorKind
    data: int
    shape: Shape
    place: m.AllocationDetails
    name: str
    tensor: m.Tensor

    def fitted(self, constants: Sequence[Entry], states: Sequence[Entry]) -> m.Tensor:
        """The tensor, over these lists of data."""
        kind, shape, index = self.kind, self.shape, 0
        if kind in _LISTS:
            entries = constants if kind is TensorKind.CONSTANT else states
            usable = [(at, one.shape) for at, one in enumerate(entries, start=1) if one.shape]
            if usable:
                index, shape = pick(usable, self.data)
            else:
                kind = TensorKind.GIVEN
        extra = self.tensor.extra_tensor_info
        if kind is TensorKind.EXTERNAL:
            outside = m.TensorDataLocation.EXTERNAL
            extra = m.ExtraTensorInfo(fully_qualified_name=self.name, location=outside)
        return dataclasses.replace(
            self.tensor,
            scalar_type=shape.scalar_type,
            sizes=shape.sizes,
            dim_order=shape.dim_order,
            data_buffer_idx=index,
            allocation_info=self.place if kind in {TensorKind.PLANNED, TensorKind.STATE} else None,
            extra_tensor_info=extra,
        )


_LISTS = {TensorKind.CONSTANT, TensorKind.STATE}

_OFFSETS = st.integers(0, 256) | st.integers(0, 2**40)
_PLACES = st.builds(
    lambda memory, offset: m.AllocationDetails(memory, offset & 0xFFFF_FFFF, offset >> 32),
    st.integers(1, 3),
    _OFFSETS,
)
_EXTRA_INFOS = st.builds(
    m.ExtraTensorInfo,
    fully_qualified_name=st.none() | names(min_size=0),
    device_type=st.sampled_from(m.DeviceType),
    device_index=st.integers(-1, 127),
)
_TENSORS = st.builds(
    LooseTensor,
    kind=st.sampled_from(TensorKind),
    data=INDICES,
    shape=SHAPES,
    place=_PLACES,
    name=names(),
    tensor=st.builds(
        m.Tensor,
        requires_grad=st.booleans(),
        layout=st.integers(-128, 127),
        shape_dynamism=st.sampled_from(m.TensorShapeDynamism),
        extra_tensor_info=st.none() | _EXTRA_INFOS,
    ),
)
_PLAIN = st.one_of(
    st.builds(m.Null),
    st.builds(m.Int, INT64),
    st.builds(m.Bool, st.booleans()),
    st.builds(m.Double, FLOATS),
    st.builds(m.String, texts()),
    st.builds(m.DoubleList, some(FLOATS, 3)),
    st.builds(m.BoolList, some(st.booleans(), 3)),
)

Loose = LooseTensor | m.Null | m.Int | m.Bool | m.Double | m.String | m.DoubleList | m.BoolList

# Every other value is a tensor: they lead to most of what a file holds.
VALUES: st.SearchStrategy[tuple[Loose, ...]] = some(
    st.booleans().flatmap(lambda plain: _PLAIN if plain else _TENSORS), 6
)
"""Values that refer to no other value, not fitted yet."""

LISTS = some(
    st.one_of(
        st.builds(m.IntList, some(INDICES, 4)),
        st.builds(m.TensorList, some(INDICES, 4)),
        st.builds(m.OptionalTensorList, some(st.integers(-1, 15), 4)),
    ),
    3,
)
"""Values that refer to others, not fitted yet."""


def fit_values(
    loose: Sequence[Loose],
    lists: Sequence[m.IntList | m.TensorList | m.OptionalTensorList],
    constants: Sequence[Entry],
    states: Sequence[Entry],
) -> tuple[m.EValue, ...]:
    """The values of a plan; lists come last and refer to what is before them."""
    found: list[m.KernelTypes] = [
        one.fitted(constants, states) if isinstance(one, LooseTensor) else one for one in loose
    ]
    tensors = [at for at, one in enumerate(found) if isinstance(one, m.Tensor)]
    ints = [at for at, one in enumerate(found) if isinstance(one, m.Int)]
    for one in lists:
        candidates = ints if isinstance(one, m.IntList) else tensors
        items = [-1 if at < 0 else pick(candidates, at) for at in one.items or () if at < 0 or candidates]
        found.append(dataclasses.replace(one, items=tuple(items)))
    return tuple(map(m.EValue, found))
