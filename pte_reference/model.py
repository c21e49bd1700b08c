"""The tables of a ``.pte`` program: the single description of the format.

Field order is id order and the names are the schema's own, so that everything else
(decoding, encoding, JSON form, ``.fbs`` text) is derived from these classes. A field that
is absent in a file decodes to ``None`` (tables, strings, vectors) or zero.

Source: ``program.fbs`` and ``scalar_type.fbs`` of ExecuTorch 1.5.1, held against these
classes by ``flatc --conform`` in the self-tests.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, TypeAlias

from pte_reference.schema import (
    Blob,
    Boolean,
    Enumeration,
    Float64,
    ForceAlign,
    Int8,
    Int32,
    Int64,
    Needed,
    Table,
    UInt8,
    UInt32,
    UInt64,
    UnionName,
)

IDENTIFIER = b"ET12"
"""Bytes 4 to 7 of every ``.pte`` file."""

FILE_EXTENSION = "pte"
NAMESPACE = "executorch_flatbuffer"

INLINE_ALIGNMENT = 16
"""The schema's ``force_align`` for constants and delegate data kept inside the program."""


class ScalarType(IntEnum):
    """Element type of a tensor. 8-10 and 18-21 are reserved and not part of the schema."""

    BYTE = 0
    CHAR = 1
    SHORT = 2
    INT = 3
    LONG = 4
    HALF = 5
    FLOAT = 6
    DOUBLE = 7
    BOOL = 11
    QINT8 = 12
    QUINT8 = 13
    QINT32 = 14
    BFLOAT16 = 15
    QUINT4X2 = 16
    QUINT2X4 = 17
    BITS16 = 22
    FLOAT8E5M2 = 23
    FLOAT8E4M3FN = 24
    FLOAT8E5M2FNUZ = 25
    FLOAT8E4M3FNUZ = 26
    UINT16 = 27
    UINT32 = 28
    UINT64 = 29


ELEMENT_SIZES: dict[int, int] = {
    **dict.fromkeys((0, 1, 11, 12, 13, 16, 17, 18, 19, 20, 21, 23, 24, 25, 26), 1),
    **dict.fromkeys((2, 5, 15, 22, 27), 2),
    **dict.fromkeys((3, 6, 8, 14, 28), 4),
    **dict.fromkeys((4, 7, 9, 29), 8),
    10: 16,
}
"""Bytes per element of each scalar type, the reserved numbers included (8-10 are complex)."""


class TensorShapeDynamism(IntEnum):
    """Whether a tensor's ``sizes`` are its shape, an upper bound, or a hint."""

    STATIC = 0
    DYNAMIC_BOUND = 1
    DYNAMIC_UNBOUND = 2


class TensorDataLocation(IntEnum):
    """Whether a tensor's data is in this file or in a ``.ptd`` file."""

    SEGMENT = 0
    EXTERNAL = 1


class DeviceType(IntEnum):
    """The kind of device a tensor or a planned buffer lives on."""

    CPU = 0
    CUDA = 1


class DataLocation(IntEnum):
    """Where a delegate's data is: ``backend_delegate_data`` or ``segments``."""

    INLINE = 0
    SEGMENT = 1


@dataclass(frozen=True, slots=True)
class ContainerMetadata(Table):
    """How to rebuild the nested inputs and outputs of the exported Python function."""

    encoded_inp_str: str | None = None
    encoded_out_str: str | None = None


@dataclass(frozen=True, slots=True)
class AllocationDetails(Table):
    """A tensor's place in planned memory; offsets in bytes, low and high 32 bits."""

    memory_id: UInt32 = 0
    memory_offset_low: UInt32 = 0
    memory_offset_high: UInt32 = 0

    @property
    def memory_offset(self) -> int:
        """The 64-bit offset, in bytes, from the start of the planned buffer."""
        return self.memory_offset_high << 32 | self.memory_offset_low


@dataclass(frozen=True, slots=True)
class ExtraTensorInfo(Table):
    """What few tensors need: the name of external data, the mutable segment, the device."""

    mutable_data_segments_idx: UInt64 = 0
    fully_qualified_name: str | None = None
    location: Annotated[int, Enumeration(TensorDataLocation)] = TensorDataLocation.SEGMENT
    device_type: Annotated[int, Enumeration(DeviceType)] = DeviceType.CPU
    device_index: Int8 = 0


@dataclass(frozen=True, slots=True)
class Tensor(Table):
    """A tensor value.

    ``data_buffer_idx`` > 0 without ``allocation_info`` is a constant, with it a mutable
    tensor that has an initial state; 0 is a tensor without data in the file.
    """

    scalar_type: Annotated[int, Enumeration(ScalarType)] = ScalarType.BYTE
    storage_offset: Int32 = 0
    sizes: Needed[tuple[Int32, ...]] = ()
    dim_order: Needed[tuple[UInt8, ...]] = ()
    requires_grad: Boolean = False
    data_buffer_idx: UInt32 = 0
    allocation_info: AllocationDetails | None = None
    layout: Int8 = 0
    shape_dynamism: Annotated[int, Enumeration(TensorShapeDynamism)] = TensorShapeDynamism.STATIC
    extra_tensor_info: ExtraTensorInfo | None = None


@dataclass(frozen=True, slots=True)
class Null(Table):
    """The value None."""


@dataclass(frozen=True, slots=True)
class Int(Table):
    """A 64-bit integer value."""

    int_val: Int64 = 0


@dataclass(frozen=True, slots=True)
class Bool(Table):
    """A truth value."""

    bool_val: Boolean = False


@dataclass(frozen=True, slots=True, eq=False)
class Double(Table):
    """A 64-bit float. Equal when the bits are: NaN equals itself, 0.0 is not -0.0."""

    double_val: Float64 = 0.0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Double) and self._bits() == other._bits()

    def __hash__(self) -> int:
        return hash(self._bits())

    def _bits(self) -> bytes:
        return struct.pack("<d", self.double_val)


@dataclass(frozen=True, slots=True)
class String(Table):
    """A text value; it may hold NUL characters."""

    string_val: Needed[str] = ""


@dataclass(frozen=True, slots=True)
class IntList(Table):
    """A list of ints by the indices of their values in the plan (a boxed list)."""

    items: Needed[tuple[Int64, ...]] = ()


@dataclass(frozen=True, slots=True, eq=False)
class DoubleList(Table):
    """A list of floats, stored in place. Equal when the bits are."""

    items: Needed[tuple[Float64, ...]] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DoubleList) and self._bits() == other._bits()

    def __hash__(self) -> int:
        return hash(self._bits())

    def _bits(self) -> bytes | None:
        return None if self.items is None else struct.pack(f"<{len(self.items)}d", *self.items)


@dataclass(frozen=True, slots=True)
class BoolList(Table):
    """A list of truth values, stored in place."""

    items: Needed[tuple[Boolean, ...]] = ()


@dataclass(frozen=True, slots=True)
class TensorList(Table):
    """A list of tensors by the indices of their values in the plan."""

    items: Needed[tuple[Int32, ...]] = ()


@dataclass(frozen=True, slots=True)
class OptionalTensorList(Table):
    """A list of tensors by index, where -1 stands for none."""

    items: Needed[tuple[Int32, ...]] = ()


KernelTypes: TypeAlias = (
    Null
    | Int
    | Bool
    | Double
    | Tensor
    | String
    | IntList
    | DoubleList
    | BoolList
    | TensorList
    | OptionalTensorList
)


@dataclass(frozen=True, slots=True)
class EValue(Table):
    """One value of a plan."""

    val: Annotated[Needed[KernelTypes], UnionName("KernelTypes")] = None


@dataclass(frozen=True, slots=True)
class Operator(Table):
    """An operator by name and overload, such as ``aten::add`` and ``out``."""

    name: Needed[str] = ""
    overload: str | None = ""


@dataclass(frozen=True, slots=True)
class KernelCall(Table):
    """A call of ``operators[op_index]`` with ``args``, indices of values, in and out."""

    op_index: Int32 = 0
    args: Needed[tuple[Int32, ...]] = ()


@dataclass(frozen=True, slots=True)
class DelegateCall(Table):
    """A call of ``delegates[delegate_index]`` with ``args``, indices of values."""

    delegate_index: Int32 = 0
    args: Needed[tuple[Int32, ...]] = ()


@dataclass(frozen=True, slots=True)
class MoveCall(Table):
    """Copies one value to another, by index."""

    move_from: Int32 = 0
    move_to: Int32 = 0


@dataclass(frozen=True, slots=True)
class JumpFalseCall(Table):
    """Goes on at ``destination_instruction`` if the Bool at ``cond_value_index`` is false."""

    cond_value_index: Int32 = 0
    destination_instruction: Int32 = 0


@dataclass(frozen=True, slots=True)
class FreeCall(Table):
    """Frees the data of the tensor at ``value_index``."""

    value_index: Int32 = 0


InstructionArguments: TypeAlias = KernelCall | DelegateCall | MoveCall | JumpFalseCall | FreeCall


@dataclass(frozen=True, slots=True)
class Instruction(Table):
    """One step of a chain."""

    instr_args: Annotated[Needed[InstructionArguments], UnionName("InstructionArguments")] = None


@dataclass(frozen=True, slots=True)
class Frame(Table):
    """One line of Python source that an instruction came from."""

    filename: str | None = None
    lineno: Int32 = 0
    name: str | None = None
    context: str | None = None


@dataclass(frozen=True, slots=True)
class FrameList(Table):
    """The call stack of one instruction."""

    items: tuple[Frame, ...] | None = ()


@dataclass(frozen=True, slots=True)
class BackendDelegateDataReference(Table):
    """Where a delegate's data is.

    In a :class:`~pte_reference.pte_file.PTEFile` the location is INLINE and the index one
    into ``PTEFile.delegate_data``; in a file it is what the schema says.
    """

    location: Annotated[int, Enumeration(DataLocation)] = DataLocation.INLINE
    index: UInt32 = 0


@dataclass(frozen=True, slots=True)
class CompileSpec(Table):
    """One named setting that a backend was compiled with."""

    key: Needed[str] = ""
    value: Needed[Blob] = b""


@dataclass(frozen=True, slots=True)
class BackendDelegate(Table):
    """A part of the plan that the backend ``id`` runs."""

    id: Needed[str] = ""
    processed: Needed[BackendDelegateDataReference] = None
    compile_specs: tuple[CompileSpec, ...] | None = ()


@dataclass(frozen=True, slots=True)
class Chain(Table):
    """Instructions that run one after the other."""

    inputs: tuple[Int32, ...] | None = ()
    outputs: tuple[Int32, ...] | None = ()
    instructions: Needed[tuple[Instruction, ...]] = ()
    stacktrace: tuple[FrameList, ...] | None = None


@dataclass(frozen=True, slots=True)
class NonConstBufferDevice(Table):
    """The device of one planned buffer."""

    buffer_idx: Int32 = 0
    device_type: Annotated[int, Enumeration(DeviceType)] = DeviceType.CPU
    device_index: Int8 = 0


@dataclass(frozen=True, slots=True)
class ExecutionPlan(Table):
    """One method of the model; ``non_const_buffer_sizes`` in bytes, entry 0 reserved."""

    name: Needed[str] = ""
    container_meta_type: ContainerMetadata | None = None
    values: Needed[tuple[EValue, ...]] = ()
    inputs: Needed[tuple[Int32, ...]] = ()
    outputs: Needed[tuple[Int32, ...]] = ()
    chains: Needed[tuple[Chain, ...]] = ()
    operators: tuple[Operator, ...] | None = ()
    delegates: Needed[tuple[BackendDelegate, ...]] = ()
    non_const_buffer_sizes: Needed[tuple[Int64, ...]] = (0,)
    non_const_buffer_device: tuple[NonConstBufferDevice, ...] | None = None


@dataclass(frozen=True, slots=True)
class Buffer(Table):
    """Constant data inside the program, as files before release 0.4.0 have it."""

    storage: Annotated[Blob | None, ForceAlign(INLINE_ALIGNMENT)] = b""


@dataclass(frozen=True, slots=True)
class BackendDelegateInlineData(Table):
    """Delegate data inside the program."""

    data: Annotated[Blob | None, ForceAlign(INLINE_ALIGNMENT)] = b""


@dataclass(frozen=True, slots=True)
class DataSegment(Table):
    """A segment: offset from the segment base, and size, both in bytes."""

    offset: UInt64 = 0
    size: UInt64 = 0


@dataclass(frozen=True, slots=True)
class SubsegmentOffsets(Table):
    """Offsets, in bytes, of blobs within ``segments[segment_index]``."""

    segment_index: UInt32 = 0
    offsets: Needed[tuple[UInt64, ...]] = ()


@dataclass(frozen=True, slots=True)
class NamedData(Table):
    """A blob under a name: the whole of ``segments[segment_index]``."""

    key: Needed[str] = ""
    segment_index: UInt32 = 0


@dataclass(frozen=True, slots=True)
class Program(Table):
    """The root table."""

    version: UInt32 = 0
    execution_plan: Needed[tuple[ExecutionPlan, ...]] = ()
    constant_buffer: tuple[Buffer, ...] | None = ()
    backend_delegate_data: tuple[BackendDelegateInlineData, ...] | None = ()
    segments: tuple[DataSegment, ...] | None = ()
    constant_segment: SubsegmentOffsets | None = None
    mutable_data_segments: tuple[SubsegmentOffsets, ...] | None = None
    named_data: tuple[NamedData, ...] | None = None
