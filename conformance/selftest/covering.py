"""Fixed contents that, taken together, use every table and every field of the model."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator

from pte_reference import PTEFile, model
from pte_reference.pte_file import NamedBlob
from pte_reference.schema import Table

FLOAT = model.ScalarType.FLOAT
NAN_WITH_PAYLOAD: float = struct.unpack("<d", (0x7FF8_0000_DEAD_BEEF).to_bytes(8, "little"))[0]


def tensor(
    *sizes: int, scalar_type: int = FLOAT, buffer: int = 0, planned_at: int | None = None
) -> model.EValue:
    """A tensor value: planned at an offset of memory 1 if that is given."""
    where = None if planned_at is None else model.AllocationDetails(1, planned_at)
    return model.EValue(
        model.Tensor(
            scalar_type=scalar_type,
            sizes=sizes,
            dim_order=tuple(range(len(sizes))),
            data_buffer_idx=buffer,
            allocation_info=where,
        )
    )


def one_plan(*values: model.EValue, **fields: object) -> model.Program:
    """A program with one plan, which has one empty chain unless ``fields`` say otherwise."""
    plan = model.ExecutionPlan(
        name="forward",
        container_meta_type=model.ContainerMetadata("T(*)", "*"),
        values=values,
        chains=(model.Chain(),),
    )
    return model.Program(execution_plan=(dataclasses.replace(plan, **fields),))  # type: ignore[arg-type]


def smallest() -> PTEFile:
    """One method that does nothing, and no data."""
    return PTEFile(one_plan())


def every_value() -> PTEFile:
    """All kinds of values, with all fields of tensors, and data behind them."""
    state = model.Tensor(
        scalar_type=model.ScalarType.LONG,
        sizes=(2, 3),
        dim_order=(1, 0),
        requires_grad=True,
        data_buffer_idx=1,
        allocation_info=model.AllocationDetails(1, 64),
        shape_dynamism=model.TensorShapeDynamism.DYNAMIC_BOUND,
        extra_tensor_info=model.ExtraTensorInfo(0, "layer.state", device_type=1, device_index=3),
    )
    outside = model.Tensor(
        scalar_type=FLOAT,
        sizes=(4,),
        dim_order=(0,),
        extra_tensor_info=model.ExtraTensorInfo(
            fully_qualified_name="layer.weight", location=model.TensorDataLocation.EXTERNAL
        ),
    )
    program = one_plan(
        tensor(2, planned_at=0),
        tensor(3, buffer=1),
        tensor(5, scalar_type=model.ScalarType.BFLOAT16, buffer=2),
        model.EValue(state),
        model.EValue(outside),
        model.EValue(model.Null()),
        model.EValue(model.Int(-7)),
        model.EValue(model.Bool(True)),
        model.EValue(model.Double(0.1)),
        model.EValue(model.String("mean")),
        model.EValue(model.IntList((6, 6))),
        model.EValue(model.DoubleList((1.5, -2.25))),
        model.EValue(model.BoolList((True, False))),
        model.EValue(model.TensorList((0, 1))),
        model.EValue(model.OptionalTensorList((1, -1))),
        inputs=(0,),
        outputs=(1, 8),
        non_const_buffer_sizes=(0, 4096),
        non_const_buffer_device=(model.NonConstBufferDevice(1, model.DeviceType.CUDA, 2),),
    )
    return PTEFile(
        program,
        constants=(b"", bytes(range(12)), bytes(range(10))),
        mutable_data=(b"", bytes(range(48))),
        named_data={"weights": NamedBlob(b"named", 64), "bias": NamedBlob(b"other")},
    )


def every_instruction() -> PTEFile:
    """All kinds of instructions, with operators, delegates and stack traces."""
    chain = model.Chain(
        inputs=(0,),
        outputs=(1,),
        instructions=(
            model.Instruction(model.KernelCall(1, (0, 0, 1))),
            model.Instruction(model.DelegateCall(1, (0, 1))),
            model.Instruction(model.MoveCall(0, 1)),
            model.Instruction(model.MoveCall(1, 0)),
            model.Instruction(model.JumpFalseCall(2, 5)),
            model.Instruction(model.FreeCall(1)),
        ),
        stacktrace=(
            model.FrameList((model.Frame("model.py", 12, "forward", "return x + x"),)),
            *(model.FrameList() for _ in range(5)),
        ),
    )
    settings = (model.CompileSpec("level", b"\x02"), model.CompileSpec("empty", b""))
    program = one_plan(
        tensor(2, planned_at=0),
        tensor(2, planned_at=16),
        model.EValue(model.Bool(False)),
        inputs=(0,),
        outputs=(1,),
        chains=(chain, chain),
        operators=(model.Operator("aten::add", "out"), model.Operator("aten::mul", "")),
        delegates=(
            model.BackendDelegate("A", model.BackendDelegateDataReference(index=0), settings),
            model.BackendDelegate("B", model.BackendDelegateDataReference(index=1)),
            # The blob of the first delegate again, with settings of its own.
            model.BackendDelegate("A", model.BackendDelegateDataReference(index=0)),
        ),
        non_const_buffer_sizes=(0, 32),
    )
    return PTEFile(program, delegate_data=(b"first delegate", b"second"))


def awkward_numbers() -> PTEFile:
    """Numbers at the edge of their type, signed zeros, NaN, and texts with NUL."""
    doubles = (0.0, -0.0, float("inf"), float("-inf"), NAN_WITH_PAYLOAD, 5e-324)
    texts = ("", "a\0b", "\0", "äß漢😀")
    return PTEFile(
        one_plan(
            *(model.EValue(model.Double(number)) for number in doubles),
            *(model.EValue(model.Int(number)) for number in (-(2**63), 2**63 - 1, 0)),
            *(model.EValue(model.String(text)) for text in texts),
            model.EValue(model.DoubleList(doubles)),
            model.EValue(model.BoolList()),
        )
    )


def far_memory() -> PTEFile:
    """A tensor without elements, far behind in more planned memory than any machine has."""
    far = model.AllocationDetails(1, 0xFFFF_FFF0, 0x7FFF)
    return PTEFile(
        one_plan(
            model.EValue(model.Tensor(FLOAT, sizes=(1, 0, 3), dim_order=(2, 1, 0), allocation_info=far)),
            non_const_buffer_sizes=(0, 2**62),
        )
    )


def absent_parts() -> PTEFile:
    """Optional fields absent in one plan and empty in the next, which is not the same."""
    absent = model.ExecutionPlan(
        name="absent",
        container_meta_type=None,
        chains=(model.Chain(inputs=None, outputs=None, stacktrace=None),),
        operators=None,
        delegates=(model.BackendDelegate("A", model.BackendDelegateDataReference(), compile_specs=None),),
    )
    empty = model.ExecutionPlan(
        name="empty",
        container_meta_type=model.ContainerMetadata(None, ""),
        chains=(model.Chain(stacktrace=(model.FrameList(None), model.FrameList())),),
        operators=(model.Operator("a", None), model.Operator("a", "")),
        delegates=(model.BackendDelegate("A", model.BackendDelegateDataReference()),),
        non_const_buffer_device=(),
    )
    return PTEFile(model.Program(execution_plan=(absent, empty)), delegate_data=(b"data",))


def shared_blobs() -> PTEFile:
    """Two keys with equal bytes and different wishes, between blobs of odd lengths."""
    return PTEFile(
        one_plan(tensor(1, buffer=1)),
        constants=(b"", b"abcd"),
        named_data={
            "first": NamedBlob(b"x" * 5, 16),
            "small": NamedBlob(b"shared", 16),
            "between": NamedBlob(b"y" * 200, 1),
            "large": NamedBlob(b"shared", 4096),
        },
    )


def empty_blobs() -> PTEFile:
    """Data lists whose entries are empty: still entries."""
    return PTEFile(
        one_plan(tensor(0, buffer=1), tensor(1, buffer=2), tensor(0, buffer=3)),
        constants=(b"", b"", b"abcd", b""),
        mutable_data=(b"", b"", b""),
        named_data={"nothing": NamedBlob(b""), "something": NamedBlob(b"1")},
    )


def only_empty_blobs() -> PTEFile:
    """Data lists whose entries are all empty, so that the file has no segment data."""
    return PTEFile(
        one_plan(tensor(0, buffer=1)),
        constants=(b"", b""),
        mutable_data=(b"", b""),
        named_data={"nothing": NamedBlob(b"")},
    )


COVERING = {
    build.__name__: build()
    for build in (
        smallest,
        every_value,
        every_instruction,
        awkward_numbers,
        far_memory,
        absent_parts,
        shared_blobs,
        empty_blobs,
        only_empty_blobs,
    )
}
"""All of them by name."""


def tables_in(table: Table) -> Iterator[Table]:
    """``table`` and all tables below it."""
    yield table
    for field in dataclasses.fields(table):
        value = getattr(table, field.name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Table):
                yield from tables_in(part)
