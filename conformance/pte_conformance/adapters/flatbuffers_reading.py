"""The program part as the ``flatbuffers-python`` adapter reads it: with generated classes.

Written by hand, table by table, on purpose. It is a second opinion on the reference, so it
shares neither the reference's walk nor the table descriptions behind it, and it checks
nothing: offsets, lengths and types are believed, as the official runtime believes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pte_conformance.adapters.generated import program as fb
from pte_reference import model

T = TypeVar("T")

_FIRST_FIELD = 4
"""Where a vtable keeps the offset of the field with id 0; two bytes more for each id."""


def read_program(data: bytes) -> model.Program:
    """The root table of ``data``, with the layout fields that the file has."""
    root = fb.Program.GetRootAs(data, 0)
    segment = root.ConstantSegment()
    return model.Program(
        version=root.Version(),
        execution_plan=_tables(root, "ExecutionPlan", _plan),
        constant_buffer=_tables(
            root, "ConstantBuffer", lambda table: model.Buffer(_blob(table, _FIRST_FIELD))
        ),
        backend_delegate_data=_tables(
            root,
            "BackendDelegateData",
            lambda table: model.BackendDelegateInlineData(_blob(table, _FIRST_FIELD)),
        ),
        segments=_tables(root, "Segments", lambda table: model.DataSegment(table.Offset(), table.Size())),
        constant_segment=None if segment is None else _offsets(segment),
        mutable_data_segments=_tables(root, "MutableDataSegments", _offsets),
        named_data=_tables(
            root,
            "NamedData",
            lambda table: model.NamedData(_text(table.Key()), table.SegmentIndex()),
        ),
    )


def _offsets(table: Any) -> model.SubsegmentOffsets:
    return model.SubsegmentOffsets(table.SegmentIndex(), _numbers(table, "Offsets"))


def _plan(table: Any) -> model.ExecutionPlan:
    meta = table.ContainerMetaType()
    return model.ExecutionPlan(
        name=_text(table.Name()),
        container_meta_type=None
        if meta is None
        else model.ContainerMetadata(_text(meta.EncodedInpStr()), _text(meta.EncodedOutStr())),
        values=_tables(table, "Values", _value),
        inputs=_numbers(table, "Inputs"),
        outputs=_numbers(table, "Outputs"),
        chains=_tables(table, "Chains", _chain),
        operators=_tables(
            table,
            "Operators",
            lambda operator: model.Operator(_text(operator.Name()), _text(operator.Overload())),
        ),
        delegates=_tables(table, "Delegates", _delegate),
        non_const_buffer_sizes=_numbers(table, "NonConstBufferSizes"),
        non_const_buffer_device=_tables(
            table,
            "NonConstBufferDevice",
            lambda device: model.NonConstBufferDevice(
                device.BufferIdx(), device.DeviceType(), device.DeviceIndex()
            ),
        ),
    )


def _delegate(table: Any) -> model.BackendDelegate:
    processed = table.Processed()
    return model.BackendDelegate(
        id=_text(table.Id()),
        processed=None
        if processed is None
        else model.BackendDelegateDataReference(processed.Location(), processed.Index()),
        compile_specs=_tables(
            table,
            "CompileSpecs",
            lambda spec: model.CompileSpec(_text(spec.Key()), _blob(spec, _FIRST_FIELD + 2)),
        ),
    )


def _chain(table: Any) -> model.Chain:
    return model.Chain(
        inputs=_numbers(table, "Inputs"),
        outputs=_numbers(table, "Outputs"),
        instructions=_tables(table, "Instructions", _instruction),
        stacktrace=_tables(
            table,
            "Stacktrace",
            lambda stack: model.FrameList(_tables(stack, "Items", _frame)),
        ),
    )


def _frame(table: Any) -> model.Frame:
    return model.Frame(
        filename=_text(table.Filename()),
        lineno=table.Lineno(),
        name=_text(table.Name()),
        context=_text(table.Context()),
    )


def _instruction(table: Any) -> model.Instruction:
    kind = table.InstrArgsType()
    if kind == fb.InstructionArguments.NONE:
        return model.Instruction(None)
    generated, read = _INSTRUCTIONS[kind]
    return model.Instruction(read(_member(generated, table.InstrArgs())))


def _value(table: Any) -> model.EValue:
    kind = table.ValType()
    if kind == fb.KernelTypes.NONE:
        return model.EValue(None)
    generated, read = _VALUES[kind]
    return model.EValue(read(_member(generated, table.Val())))


def _tensor(table: Any) -> model.Tensor:
    allocation = table.AllocationInfo()
    extra = table.ExtraTensorInfo()
    return model.Tensor(
        scalar_type=table.ScalarType(),
        storage_offset=table.StorageOffset(),
        sizes=_numbers(table, "Sizes"),
        dim_order=_numbers(table, "DimOrder"),
        requires_grad=table.RequiresGrad(),
        data_buffer_idx=table.DataBufferIdx(),
        allocation_info=None
        if allocation is None
        else model.AllocationDetails(
            allocation.MemoryId(), allocation.MemoryOffsetLow(), allocation.MemoryOffsetHigh()
        ),
        layout=table.Layout(),
        shape_dynamism=table.ShapeDynamism(),
        extra_tensor_info=None
        if extra is None
        else model.ExtraTensorInfo(
            mutable_data_segments_idx=extra.MutableDataSegmentsIdx(),
            fully_qualified_name=_text(extra.FullyQualifiedName()),
            location=extra.Location(),
            device_type=extra.DeviceType(),
            device_index=extra.DeviceIndex(),
        ),
    )


_VALUES: dict[int, tuple[Any, Callable[[Any], Any]]] = {
    fb.KernelTypes.Null: (fb.Null, lambda _: model.Null()),
    fb.KernelTypes.Int: (fb.Int, lambda table: model.Int(table.IntVal())),
    fb.KernelTypes.Bool: (fb.Bool, lambda table: model.Bool(table.BoolVal())),
    fb.KernelTypes.Double: (fb.Double, lambda table: model.Double(table.DoubleVal())),
    fb.KernelTypes.Tensor: (fb.Tensor, _tensor),
    fb.KernelTypes.String: (fb.String, lambda table: model.String(_text(table.StringVal()))),
    fb.KernelTypes.IntList: (fb.IntList, lambda table: model.IntList(_numbers(table, "Items"))),
    fb.KernelTypes.DoubleList: (
        fb.DoubleList,
        lambda table: model.DoubleList(_numbers(table, "Items")),
    ),
    fb.KernelTypes.BoolList: (fb.BoolList, lambda table: model.BoolList(_numbers(table, "Items"))),
    fb.KernelTypes.TensorList: (
        fb.TensorList,
        lambda table: model.TensorList(_numbers(table, "Items")),
    ),
    fb.KernelTypes.OptionalTensorList: (
        fb.OptionalTensorList,
        lambda table: model.OptionalTensorList(_numbers(table, "Items")),
    ),
}

_INSTRUCTIONS: dict[int, tuple[Any, Callable[[Any], Any]]] = {
    fb.InstructionArguments.KernelCall: (
        fb.KernelCall,
        lambda table: model.KernelCall(table.OpIndex(), _numbers(table, "Args")),
    ),
    fb.InstructionArguments.DelegateCall: (
        fb.DelegateCall,
        lambda table: model.DelegateCall(table.DelegateIndex(), _numbers(table, "Args")),
    ),
    fb.InstructionArguments.MoveCall: (
        fb.MoveCall,
        lambda table: model.MoveCall(table.MoveFrom(), table.MoveTo()),
    ),
    fb.InstructionArguments.JumpFalseCall: (
        fb.JumpFalseCall,
        lambda table: model.JumpFalseCall(table.CondValueIndex(), table.DestinationInstruction()),
    ),
    fb.InstructionArguments.FreeCall: (
        fb.FreeCall,
        lambda table: model.FreeCall(table.ValueIndex()),
    ),
}


def _member(generated: Any, union: Any) -> Any:
    """The table behind a union, seen as the generated class that its type names."""
    table = generated()
    table.Init(union.Bytes, union.Pos)
    return table


def _tables(table: Any, field: str, read: Callable[[Any], T]) -> tuple[T, ...] | None:
    elements = _numbers(table, field)
    return None if elements is None else tuple(read(element) for element in elements)


def _numbers(table: Any, field: str) -> tuple[Any, ...] | None:
    if getattr(table, f"{field}IsNone")():
        return None
    element = getattr(table, field)
    return tuple(element(index) for index in range(getattr(table, f"{field}Length")()))


def _text(raw: bytes | None) -> str | None:
    return None if raw is None else raw.decode("utf-8")


def _blob(table: Any, vtable_offset: int) -> bytes | None:
    # The generated accessors hand out single bytes, or need numpy; the runtime's own
    # table class, which they are made of, knows where the vector lies.
    runtime = table._tab
    at = runtime.Offset(vtable_offset)
    if at == 0:
        return None
    start = runtime.Vector(at)
    return bytes(runtime.Bytes[start : start + runtime.VectorLen(at)])
