"""Requirements of the program's content: what its fields mean to each other.

Where a rule binds writers too, the reference refuses to write content that breaks it, and
refuses to return it from a file, since whatever it returns can be written.
"""

from __future__ import annotations

from pte_reference.requirements.registry import Level, Role, declare

_LOADER_WRITER = (Role.LOADER, Role.WRITER)
_SCHEMA = "ExecuTorch program.fbs"
_RUNTIME = "ExecuTorch runtime, Method::load"

VERSION = declare(
    "program/version",
    Level.MUST,
    Role.LOADER,
    "The schema version is 0, the only one that a release has written.",
    source="ExecuTorch 1.5.0: the runtime refuses newer versions",
    consequence="a program of a newer schema is misread (releases before 1.5 do)",
    since="1.5.0",
)

FIELD_PRESENT = declare(
    "program/needed-field-present",
    Level.MUST,
    _LOADER_WRITER,
    "The fields that the runtime follows without asking are present: the execution plans; a"
    " plan's name, values, inputs, outputs, chains, delegates and buffer sizes; a chain's"
    " instructions; a call's args; a list's items; a tensor's sizes and dim_order; a string's"
    " text; the names of operators, delegates, compile specs and named data; a delegate's"
    " processed; the value of a compile spec; offsets of a segment; the content of values and"
    " instructions.",
    source="ExecuTorch 0.2.0 to 1.3.0: InvalidProgram, where it was a crash before",
    consequence="null dereference",
)

METHOD_NAME = declare(
    "program/method-name-not-empty",
    Level.MUST,
    _LOADER_WRITER,
    "A method has a name of at least one character.",
    source="FORMAT section 3",
    consequence="the method cannot be called",
)

METHOD_UNIQUE = declare(
    "program/method-names-unique",
    Level.MUST,
    _LOADER_WRITER,
    "No two methods have the same name.",
    source="FORMAT section 3",
    consequence="the second method cannot be reached",
)

NAME_WITHOUT_NUL = declare(
    "program/name-without-nul",
    Level.MUST,
    Role.CHECKER,
    "The names of methods, operators, overloads, delegates and the keys of compile specs and"
    " named data hold no NUL.",
    source="FORMAT section 7",
    consequence="C readers see a shorter name, perhaps another one's",
)

RUNNABLE = declare(
    "program/plan-has-chain",
    Level.MUST,
    Role.LOADER,
    "A method has at least one chain.",
    source="ExecuTorch 0.2.0: InvalidProgram",
    consequence="nothing to run, noticed late",
)

VALUE_INDEX = declare(
    "program/value-index-in-range",
    Level.MUST,
    _LOADER_WRITER,
    "Every index of a value (inputs and outputs of plans and chains, args, list items, moves,"
    " jumps, frees) names a value of the plan; in an OptionalTensorList -1 stands for none.",
    source=_RUNTIME,
    consequence="out-of-bounds access",
)

OPERATOR_INDEX = declare(
    "program/operator-index-in-range",
    Level.MUST,
    _LOADER_WRITER,
    "A kernel call's op_index names an operator of the plan.",
    source=_RUNTIME,
    consequence="out-of-bounds read",
)

DELEGATE_INDEX = declare(
    "program/delegate-index-in-range",
    Level.MUST,
    _LOADER_WRITER,
    "A delegate call's delegate_index names a delegate of the plan.",
    source=_RUNTIME,
    consequence="out-of-bounds read, or an error only while running",
)

JUMP_TARGET = declare(
    "program/jump-destination-in-range",
    Level.MUST,
    _LOADER_WRITER,
    "A jump leads to an instruction of its chain or to the end right behind the last.",
    source=_RUNTIME,
    consequence="instructions are read past the end of the chain",
)

LIST_OF_TENSORS = declare(
    "program/tensor-list-names-tensors",
    Level.MUST,
    _LOADER_WRITER,
    "The items of a TensorList name tensors, those of an OptionalTensorList tensors or None.",
    source=_RUNTIME,
    consequence="a value is taken for a tensor",
)

JUMP_CONDITION = declare(
    "program/jump-condition-type",
    Level.MUST,
    _LOADER_WRITER,
    "The condition of a jump is a Bool or a tensor.",
    source=_RUNTIME,
    consequence="the process aborts while running",
)

RANK = declare(
    "program/tensor-rank",
    Level.MUST,
    _LOADER_WRITER,
    "A tensor has at most 16 dimensions.",
    source="ExecuTorch 1.0.0: kTensorDimensionLimit",
    consequence="fixed-size arrays on the stack are overrun",
)

SIZES = declare(
    "program/tensor-sizes-not-negative",
    Level.MUST,
    _LOADER_WRITER,
    "A tensor's sizes are not negative.",
    source="ExecuTorch 1.3.0",
    consequence="a negative size becomes a huge allocation",
)

DIM_ORDER = declare(
    "program/dim-order-permutes",
    Level.MUST,
    _LOADER_WRITER,
    "A tensor's dim_order has an entry for each of its sizes and is a permutation of 0 to rank - 1.",
    source="ExecuTorch 0.2.0 (length), 1.2.0 (repeated entries)",
    consequence="read past the vector, or strides from uninitialised memory",
)

TENSOR_BYTES = declare(
    "program/tensor-bytes-fit",
    Level.MUST,
    Role.LOADER,
    "A tensor's element count and byte count stay below 2**63; the sizes of a dynamic plan"
    " input are bounds and only checked when the real size is known.",
    source="ExecuTorch 1.1.0, 1.3.0",
    consequence="the product wraps and too little memory is set aside",
)

SCALAR_TYPE = declare(
    "program/scalar-type-known",
    Level.MUST,
    Role.LOADER,
    "A tensor's scalar type is a number from 0 to 29.",
    source="FORMAT section 3",
    consequence="the element size is not known",
)

SCALAR_TYPE_IN_SCHEMA = declare(
    "program/scalar-type-in-schema",
    Level.SHOULD,
    Role.CHECKER,
    "A tensor's scalar type is none of the reserved numbers 8 to 10 and 18 to 21.",
    source="scalar_type.fbs",
    consequence="some readers know the number, some do not",
)

ENUM_KNOWN = declare(
    "program/enum-number-known",
    Level.MUST,
    Role.CHECKER,
    "The numbers of shape dynamism, tensor data location and device type are ones that the schema lists.",
    source="FORMAT section 7",
    consequence="readers take the number for one that they know",
)

DATA_INDEX = declare(
    "program/data-index-in-range",
    Level.MUST,
    _LOADER_WRITER,
    "A tensor's data_buffer_idx names an entry of the constants or, with allocation_info, of"
    " the mutable data that mutable_data_segments_idx selects.",
    source=f"{_SCHEMA}: Tensor",
    consequence="read outside the segment, or another tensor's data",
)

MEMORY_ID = declare(
    "program/memory-id-in-range",
    Level.MUST,
    _LOADER_WRITER,
    "A memory_id is at least 1 and names an entry of non_const_buffer_sizes.",
    source="FORMAT section 3",
    consequence="a tensor is placed in memory that was not planned",
)

MEMORY_RANGE = declare(
    "program/planned-memory-holds-tensor",
    Level.MUST,
    Role.LOADER,
    "A planned tensor's offset and bytes lie inside its buffer.",
    source="FORMAT section 3",
    consequence="the tensor overruns the planned buffer",
)

BUFFER_SIZES = declare(
    "program/buffer-sizes-not-negative",
    Level.MUST,
    Role.LOADER,
    "The planned buffer sizes are not negative.",
    source="ExecuTorch 1.3.0",
    consequence="a negative size becomes a huge allocation",
)

BUFFER_DEVICE = declare(
    "program/buffer-device-index-in-range",
    Level.MUST,
    (Role.CHECKER, Role.WRITER),
    "A buffer_idx of non_const_buffer_device names an entry of non_const_buffer_sizes.",
    source=f"{_SCHEMA}: NonConstBufferDevice",
    consequence="a device is given to a buffer that does not exist",
    since="1.3.1",
)

EXTERNAL_NAME = declare(
    "program/external-tensor-named",
    Level.MUST,
    Role.LOADER,
    "A tensor with location EXTERNAL has a fully_qualified_name that is not empty.",
    source=f"{_SCHEMA}: ExtraTensorInfo",
    consequence="its data cannot be found",
    since="0.5.0",
)

STORAGE_OFFSET = declare(
    "program/storage-offset-zero",
    Level.SHOULD,
    Role.CHECKER,
    "A tensor's storage_offset is 0.",
    source=f"{_SCHEMA}: the runtime supports no other value",
    consequence="today's runtime refuses the method",
)
