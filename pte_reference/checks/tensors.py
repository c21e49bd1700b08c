"""Checks of tensors: shape, element type, data, planned memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from pte_reference.findings import Finding, Path
from pte_reference.model import (
    ELEMENT_SIZES,
    AllocationDetails,
    DeviceType,
    ExtraTensorInfo,
    ScalarType,
    Tensor,
    TensorDataLocation,
    TensorShapeDynamism,
)
from pte_reference.requirements import program as rules

MAX_RANK = 16
_WORD_LIMIT = 2**63


def tensor_bytes(tensor: Tensor) -> int | None:
    """The bytes that a tensor's sizes and scalar type ask for; None when they cannot tell."""
    element = ELEMENT_SIZES.get(tensor.scalar_type)
    if element is None or tensor.sizes is None or any(size < 0 for size in tensor.sizes):
        return None
    return element * math.prod(tensor.sizes)


def is_external(tensor: Tensor) -> bool:
    """Whether the tensor's data is in a ``.ptd`` file; data_buffer_idx is ignored then."""
    extra = tensor.extra_tensor_info
    return extra is not None and extra.location == TensorDataLocation.EXTERNAL


class TensorChecks:
    """The checks of the tensors of one plan.

    Args:
        constants: entries of the constants.
        mutable: entries of each list of mutable data.
        buffers: the plan's planned buffer sizes in bytes.
    """

    def __init__(self, constants: int, mutable: Sequence[int], buffers: Sequence[int]) -> None:
        self.constants = constants
        self.mutable = mutable
        self.buffers = buffers
        # Bytes of the shapes that are in order, and None for those that are not: a large
        # program has few shapes, so that most tensors cost one look-up.
        self._shapes: dict[tuple[object, ...], int | None] = {}

    def is_wrong(self, tensor: Tensor) -> bool:
        """Whether :meth:`findings` may find something; the fast path of large programs."""
        if len(tensor.sizes or ()) > MAX_RANK or len(tensor.dim_order or ()) > MAX_RANK:
            return True
        key = (tensor.scalar_type, tensor.sizes, tensor.dim_order)
        try:
            size = self._shapes[key]
        except KeyError:
            size = None
            if not any(self._shape(tensor, (), is_input=False)):
                size = tensor_bytes(tensor)
            self._shapes[key] = size
        place = tensor.allocation_info
        if (
            size is None
            or tensor.extra_tensor_info is not None
            or tensor.storage_offset
            or type(tensor.shape_dynamism) is not TensorShapeDynamism
        ):
            return True
        if place is None:
            return tensor.data_buffer_idx >= self.constants
        buffer = place.memory_id
        return (
            not 0 < buffer < len(self.buffers)
            or place.memory_offset_low + (place.memory_offset_high << 32) + size > self.buffers[buffer]
            or (tensor.data_buffer_idx > 0 and any(self._data(tensor, ())))
        )

    def findings(self, tensor: Tensor, path: Path, *, is_input: bool) -> Iterator[Finding]:
        """Everything that is wrong with one tensor."""
        shape = list(self._shape(tensor, path, is_input=is_input))
        yield from shape
        if tensor.storage_offset:
            yield Finding(
                rules.STORAGE_OFFSET,
                f"the storage offset is {tensor.storage_offset}",
                (*path, "storage_offset"),
            )
        if not isinstance(tensor.shape_dynamism, TensorShapeDynamism):
            yield Finding(
                rules.ENUM_KNOWN,
                f"shape dynamism {tensor.shape_dynamism} is not in the schema",
                (*path, "shape_dynamism"),
            )
        if tensor.extra_tensor_info is not None:
            yield from _check_extra(tensor.extra_tensor_info, (*path, "extra_tensor_info"))
        yield from self._data(tensor, path)
        if tensor.allocation_info is not None:
            size = None if shape or _has_bounds_only(tensor, is_input) else tensor_bytes(tensor)
            yield from self._memory(tensor, tensor.allocation_info, size, (*path, "allocation_info"))

    def _shape(self, tensor: Tensor, path: Path, *, is_input: bool) -> Iterator[Finding]:
        sizes, order = tensor.sizes or (), tensor.dim_order or ()
        element = ELEMENT_SIZES.get(tensor.scalar_type)
        if element is None:
            yield Finding(
                rules.SCALAR_TYPE,
                f"scalar type {tensor.scalar_type} does not exist",
                (*path, "scalar_type"),
            )
        elif not isinstance(tensor.scalar_type, ScalarType):
            yield Finding(
                rules.SCALAR_TYPE_IN_SCHEMA,
                f"scalar type {tensor.scalar_type} is reserved",
                (*path, "scalar_type"),
            )
        if len(sizes) > MAX_RANK:
            # Nothing more is looked at: such vectors can be long, and many tensors share one.
            yield Finding(rules.RANK, f"{len(sizes)} dimensions", (*path, "sizes"))
            return
        negative = [number for number, size in enumerate(sizes) if size < 0]
        if negative:
            yield Finding(rules.SIZES, f"the size is {sizes[negative[0]]}", (*path, "sizes", negative[0]))
        if len(order) != len(sizes) or sorted(order) != list(range(len(sizes))):
            yield Finding(
                rules.DIM_ORDER,
                f"dim_order {list(order[:MAX_RANK])} for {len(sizes)} sizes",
                (*path, "dim_order"),
            )
        if element is None or negative:
            return
        if element * math.prod(sizes) >= _WORD_LIMIT and not _has_bounds_only(tensor, is_input):
            yield Finding(
                rules.TENSOR_BYTES,
                f"sizes {list(sizes)} of {element} bytes an element make 2**63 bytes or more",
                (*path, "sizes"),
            )

    def _data(self, tensor: Tensor, path: Path) -> Iterator[Finding]:
        index = tensor.data_buffer_idx
        if not index or is_external(tensor):
            return
        if tensor.allocation_info is None:
            if index >= self.constants:
                yield Finding(
                    rules.DATA_INDEX,
                    f"the index is {index}; there are {self.constants} constants with entry 0",
                    (*path, "data_buffer_idx"),
                )
            return
        extra = tensor.extra_tensor_info
        selected = extra.mutable_data_segments_idx if extra else 0
        if selected >= len(self.mutable):
            yield Finding(
                rules.DATA_INDEX,
                f"mutable segment {selected} is named; there are {len(self.mutable)}",
                (*path, "extra_tensor_info", "mutable_data_segments_idx")
                if extra
                else (*path, "data_buffer_idx"),
            )
        elif index >= self.mutable[selected]:
            yield Finding(
                rules.DATA_INDEX,
                f"the index is {index}; the mutable data has {self.mutable[selected]} entries with entry 0",
                (*path, "data_buffer_idx"),
            )

    def _memory(
        self, tensor: Tensor, place: AllocationDetails, size: int | None, path: Path
    ) -> Iterator[Finding]:
        if not 0 < place.memory_id < len(self.buffers):
            yield Finding(
                rules.MEMORY_ID,
                f"the memory id is {place.memory_id}; the plan has {len(self.buffers)} buffer sizes",
                (*path, "memory_id"),
            )
            return
        capacity = self.buffers[place.memory_id]
        unbound = tensor.shape_dynamism == TensorShapeDynamism.DYNAMIC_UNBOUND
        if size is None or capacity < 0 or unbound:
            return
        if place.memory_offset + size > capacity:
            yield Finding(
                rules.MEMORY_RANGE,
                f"{size} bytes at offset {place.memory_offset} of buffer {place.memory_id}, which"
                f" has {capacity}",
                path,
            )


def _has_bounds_only(tensor: Tensor, is_input: bool) -> bool:
    """Whether the sizes are bounds, checked when the real ones are known (dynamic plan inputs)."""
    return is_input and tensor.shape_dynamism != TensorShapeDynamism.STATIC


def _check_extra(extra: ExtraTensorInfo, path: Path) -> Iterator[Finding]:
    if not isinstance(extra.location, TensorDataLocation):
        yield Finding(
            rules.ENUM_KNOWN,
            f"tensor data location {extra.location} is not in the schema",
            (*path, "location"),
        )
    if not isinstance(extra.device_type, DeviceType):
        yield Finding(
            rules.ENUM_KNOWN,
            f"device type {extra.device_type} is not in the schema",
            (*path, "device_type"),
        )
    if "\0" in (extra.fully_qualified_name or ""):
        yield Finding(
            rules.NAME_WITHOUT_NUL, "the tensor's name holds a NUL", (*path, "fully_qualified_name")
        )
    if extra.location == TensorDataLocation.EXTERNAL and not extra.fully_qualified_name:
        yield Finding(
            rules.EXTERNAL_NAME,
            "an external tensor without a name",
            (*path, "fully_qualified_name"),
            hint="its data in the .ptd file is found by that name",
        )
