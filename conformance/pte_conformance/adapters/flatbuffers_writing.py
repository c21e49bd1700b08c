"""The program part as the ``flatbuffers-python`` adapter writes it: with generated classes.

The counterpart of :mod:`pte_conformance.adapters.flatbuffers_reading`: by hand, and
independent of the reference's encoder. Children are written before the table that points
to them, since the builder grows towards the front.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import flatbuffers

from pte_conformance.adapters.generated import program as fb
from pte_reference import model
from pte_reference.schema import Blob

T = TypeVar("T")


def write_program(program: model.Program, delegate_alignment: int) -> bytes:
    """``program``, layout fields included, as FlatBuffers data without extended header."""
    b = flatbuffers.Builder()
    plans = _tables(b, program.execution_plan, _plan)
    constants = _tables(b, program.constant_buffer, _buffer)
    delegates = _tables(
        b, program.backend_delegate_data, lambda b, data: _inline(b, data, delegate_alignment)
    )
    segments = _tables(b, program.segments, _segment)
    constant_segment = _table(b, program.constant_segment, _offsets)
    mutable = _tables(b, program.mutable_data_segments, _offsets)
    named = _tables(b, program.named_data, _named)
    fb.ProgramStart(b)
    fb.ProgramAddVersion(b, program.version)
    _add(b, fb.ProgramAddExecutionPlan, plans)
    _add(b, fb.ProgramAddConstantBuffer, constants)
    _add(b, fb.ProgramAddBackendDelegateData, delegates)
    _add(b, fb.ProgramAddSegments, segments)
    _add(b, fb.ProgramAddConstantSegment, constant_segment)
    _add(b, fb.ProgramAddMutableDataSegments, mutable)
    _add(b, fb.ProgramAddNamedData, named)
    b.Finish(fb.ProgramEnd(b), file_identifier=model.IDENTIFIER)
    return bytes(b.Output())


def _buffer(b: Any, buffer: model.Buffer) -> int:
    storage = _blob(b, buffer.storage, model.INLINE_ALIGNMENT)
    fb.BufferStart(b)
    _add(b, fb.BufferAddStorage, storage)
    return int(fb.BufferEnd(b))


def _inline(b: Any, inline: model.BackendDelegateInlineData, alignment: int) -> int:
    # The generated "start vector" function forgets the schema's force_align, so it is
    # asked for here; the knob can only raise it.
    data = _blob(b, inline.data, max(alignment, model.INLINE_ALIGNMENT))
    fb.BackendDelegateInlineDataStart(b)
    _add(b, fb.BackendDelegateInlineDataAddData, data)
    return int(fb.BackendDelegateInlineDataEnd(b))


def _segment(b: Any, segment: model.DataSegment) -> int:
    fb.DataSegmentStart(b)
    fb.DataSegmentAddOffset(b, segment.offset)
    fb.DataSegmentAddSize(b, segment.size)
    return int(fb.DataSegmentEnd(b))


def _offsets(b: Any, offsets: model.SubsegmentOffsets) -> int:
    vector = _scalars(b, offsets.offsets, 8, "PrependUint64")
    fb.SubsegmentOffsetsStart(b)
    fb.SubsegmentOffsetsAddSegmentIndex(b, offsets.segment_index)
    _add(b, fb.SubsegmentOffsetsAddOffsets, vector)
    return int(fb.SubsegmentOffsetsEnd(b))


def _named(b: Any, named: model.NamedData) -> int:
    key = _text(b, named.key)
    fb.NamedDataStart(b)
    _add(b, fb.NamedDataAddKey, key)
    fb.NamedDataAddSegmentIndex(b, named.segment_index)
    return int(fb.NamedDataEnd(b))


def _plan(b: Any, plan: model.ExecutionPlan) -> int:
    name = _text(b, plan.name)
    meta = _table(b, plan.container_meta_type, _container_metadata)
    values = _tables(b, plan.values, _value)
    inputs = _indices(b, plan.inputs)
    outputs = _indices(b, plan.outputs)
    chains = _tables(b, plan.chains, _chain)
    operators = _tables(b, plan.operators, _operator)
    delegates = _tables(b, plan.delegates, _delegate)
    sizes = _scalars(b, plan.non_const_buffer_sizes, 8, "PrependInt64")
    devices = _tables(b, plan.non_const_buffer_device, _device)
    fb.ExecutionPlanStart(b)
    _add(b, fb.ExecutionPlanAddName, name)
    _add(b, fb.ExecutionPlanAddContainerMetaType, meta)
    _add(b, fb.ExecutionPlanAddValues, values)
    _add(b, fb.ExecutionPlanAddInputs, inputs)
    _add(b, fb.ExecutionPlanAddOutputs, outputs)
    _add(b, fb.ExecutionPlanAddChains, chains)
    _add(b, fb.ExecutionPlanAddOperators, operators)
    _add(b, fb.ExecutionPlanAddDelegates, delegates)
    _add(b, fb.ExecutionPlanAddNonConstBufferSizes, sizes)
    _add(b, fb.ExecutionPlanAddNonConstBufferDevice, devices)
    return int(fb.ExecutionPlanEnd(b))


def _container_metadata(b: Any, meta: model.ContainerMetadata) -> int:
    inputs = _text(b, meta.encoded_inp_str)
    outputs = _text(b, meta.encoded_out_str)
    fb.ContainerMetadataStart(b)
    _add(b, fb.ContainerMetadataAddEncodedInpStr, inputs)
    _add(b, fb.ContainerMetadataAddEncodedOutStr, outputs)
    return int(fb.ContainerMetadataEnd(b))


def _operator(b: Any, operator: model.Operator) -> int:
    name = _text(b, operator.name)
    overload = _text(b, operator.overload)
    fb.OperatorStart(b)
    _add(b, fb.OperatorAddName, name)
    _add(b, fb.OperatorAddOverload, overload)
    return int(fb.OperatorEnd(b))


def _delegate(b: Any, delegate: model.BackendDelegate) -> int:
    identifier = _text(b, delegate.id)
    processed = _table(b, delegate.processed, _reference)
    specs = _tables(b, delegate.compile_specs, _compile_spec)
    fb.BackendDelegateStart(b)
    _add(b, fb.BackendDelegateAddId, identifier)
    _add(b, fb.BackendDelegateAddProcessed, processed)
    _add(b, fb.BackendDelegateAddCompileSpecs, specs)
    return int(fb.BackendDelegateEnd(b))


def _reference(b: Any, reference: model.BackendDelegateDataReference) -> int:
    fb.BackendDelegateDataReferenceStart(b)
    fb.BackendDelegateDataReferenceAddLocation(b, reference.location)
    fb.BackendDelegateDataReferenceAddIndex(b, reference.index)
    return int(fb.BackendDelegateDataReferenceEnd(b))


def _compile_spec(b: Any, spec: model.CompileSpec) -> int:
    key = _text(b, spec.key)
    value = _blob(b, spec.value, 1)
    fb.CompileSpecStart(b)
    _add(b, fb.CompileSpecAddKey, key)
    _add(b, fb.CompileSpecAddValue, value)
    return int(fb.CompileSpecEnd(b))


def _device(b: Any, device: model.NonConstBufferDevice) -> int:
    fb.NonConstBufferDeviceStart(b)
    fb.NonConstBufferDeviceAddBufferIdx(b, device.buffer_idx)
    fb.NonConstBufferDeviceAddDeviceType(b, device.device_type)
    fb.NonConstBufferDeviceAddDeviceIndex(b, device.device_index)
    return int(fb.NonConstBufferDeviceEnd(b))


def _chain(b: Any, chain: model.Chain) -> int:
    inputs = _indices(b, chain.inputs)
    outputs = _indices(b, chain.outputs)
    instructions = _tables(b, chain.instructions, _instruction)
    stacktrace = _tables(b, chain.stacktrace, _frame_list)
    fb.ChainStart(b)
    _add(b, fb.ChainAddInputs, inputs)
    _add(b, fb.ChainAddOutputs, outputs)
    _add(b, fb.ChainAddInstructions, instructions)
    _add(b, fb.ChainAddStacktrace, stacktrace)
    return int(fb.ChainEnd(b))


def _frame_list(b: Any, stack: model.FrameList) -> int:
    items = _tables(b, stack.items, _frame)
    fb.FrameListStart(b)
    _add(b, fb.FrameListAddItems, items)
    return int(fb.FrameListEnd(b))


def _frame(b: Any, frame: model.Frame) -> int:
    filename = _text(b, frame.filename)
    name = _text(b, frame.name)
    context = _text(b, frame.context)
    fb.FrameStart(b)
    _add(b, fb.FrameAddFilename, filename)
    fb.FrameAddLineno(b, frame.lineno)
    _add(b, fb.FrameAddName, name)
    _add(b, fb.FrameAddContext, context)
    return int(fb.FrameEnd(b))


def _instruction(b: Any, instruction: model.Instruction) -> int:
    arguments = instruction.instr_args
    table = None if arguments is None else _arguments(b, arguments)
    fb.InstructionStart(b)
    if table is not None:
        fb.InstructionAddInstrArgsType(b, getattr(fb.InstructionArguments, type(arguments).__name__))
        fb.InstructionAddInstrArgs(b, table)
    return int(fb.InstructionEnd(b))


def _arguments(b: Any, arguments: model.InstructionArguments) -> int:
    match arguments:
        case model.KernelCall(op_index, args):
            vector = _indices(b, args)
            fb.KernelCallStart(b)
            fb.KernelCallAddOpIndex(b, op_index)
            _add(b, fb.KernelCallAddArgs, vector)
            return int(fb.KernelCallEnd(b))
        case model.DelegateCall(delegate_index, args):
            vector = _indices(b, args)
            fb.DelegateCallStart(b)
            fb.DelegateCallAddDelegateIndex(b, delegate_index)
            _add(b, fb.DelegateCallAddArgs, vector)
            return int(fb.DelegateCallEnd(b))
        case model.MoveCall(move_from, move_to):
            fb.MoveCallStart(b)
            fb.MoveCallAddMoveFrom(b, move_from)
            fb.MoveCallAddMoveTo(b, move_to)
            return int(fb.MoveCallEnd(b))
        case model.JumpFalseCall(condition, destination):
            fb.JumpFalseCallStart(b)
            fb.JumpFalseCallAddCondValueIndex(b, condition)
            fb.JumpFalseCallAddDestinationInstruction(b, destination)
            return int(fb.JumpFalseCallEnd(b))
        case model.FreeCall(value_index):
            fb.FreeCallStart(b)
            fb.FreeCallAddValueIndex(b, value_index)
            return int(fb.FreeCallEnd(b))


def _value(b: Any, value: model.EValue) -> int:
    table = None if value.val is None else _kernel_type(b, value.val)
    fb.EValueStart(b)
    if table is not None:
        fb.EValueAddValType(b, getattr(fb.KernelTypes, type(value.val).__name__))
        fb.EValueAddVal(b, table)
    return int(fb.EValueEnd(b))


def _kernel_type(b: Any, value: model.KernelTypes) -> int:
    match value:
        case model.Tensor():
            return _tensor(b, value)
        case model.Double(number):
            fb.DoubleStart(b)
            # The builder leaves out what equals the default, and -0.0 == 0.0.
            b.ForceDefaults(True)
            fb.DoubleAddDoubleVal(b, number)
            b.ForceDefaults(False)
            return int(fb.DoubleEnd(b))
        case model.Null():
            fb.NullStart(b)
            return int(fb.NullEnd(b))
        case model.Int(number):
            fb.IntStart(b)
            fb.IntAddIntVal(b, number)
            return int(fb.IntEnd(b))
        case model.Bool(truth):
            fb.BoolStart(b)
            fb.BoolAddBoolVal(b, truth)
            return int(fb.BoolEnd(b))
        case model.String(text):
            string = _text(b, text)
            fb.StringStart(b)
            _add(b, fb.StringAddStringVal, string)
            return int(fb.StringEnd(b))
        case _:
            return _list(b, value)


def _list(
    b: Any,
    value: model.IntList | model.DoubleList | model.BoolList | model.TensorList | model.OptionalTensorList,
) -> int:
    name = type(value).__name__
    width, prepend = {
        "IntList": (8, "PrependInt64"),
        "DoubleList": (8, "PrependFloat64"),
        "BoolList": (1, "PrependBool"),
        "TensorList": (4, "PrependInt32"),
        "OptionalTensorList": (4, "PrependInt32"),
    }[name]
    items = _scalars(b, value.items, width, prepend)
    getattr(fb, f"{name}Start")(b)
    _add(b, getattr(fb, f"{name}AddItems"), items)
    return int(getattr(fb, f"{name}End")(b))


def _tensor(b: Any, tensor: model.Tensor) -> int:
    sizes = _indices(b, tensor.sizes)
    order = _scalars(b, tensor.dim_order, 1, "PrependUint8")
    allocation = _table(b, tensor.allocation_info, _allocation)
    extra = _table(b, tensor.extra_tensor_info, _extra_info)
    fb.TensorStart(b)
    fb.TensorAddScalarType(b, tensor.scalar_type)
    fb.TensorAddStorageOffset(b, tensor.storage_offset)
    _add(b, fb.TensorAddSizes, sizes)
    _add(b, fb.TensorAddDimOrder, order)
    fb.TensorAddRequiresGrad(b, tensor.requires_grad)
    fb.TensorAddDataBufferIdx(b, tensor.data_buffer_idx)
    _add(b, fb.TensorAddAllocationInfo, allocation)
    fb.TensorAddLayout(b, tensor.layout)
    fb.TensorAddShapeDynamism(b, tensor.shape_dynamism)
    _add(b, fb.TensorAddExtraTensorInfo, extra)
    return int(fb.TensorEnd(b))


def _allocation(b: Any, allocation: model.AllocationDetails) -> int:
    fb.AllocationDetailsStart(b)
    fb.AllocationDetailsAddMemoryId(b, allocation.memory_id)
    fb.AllocationDetailsAddMemoryOffsetLow(b, allocation.memory_offset_low)
    fb.AllocationDetailsAddMemoryOffsetHigh(b, allocation.memory_offset_high)
    return int(fb.AllocationDetailsEnd(b))


def _extra_info(b: Any, extra: model.ExtraTensorInfo) -> int:
    name = _text(b, extra.fully_qualified_name)
    fb.ExtraTensorInfoStart(b)
    fb.ExtraTensorInfoAddMutableDataSegmentsIdx(b, extra.mutable_data_segments_idx)
    _add(b, fb.ExtraTensorInfoAddFullyQualifiedName, name)
    fb.ExtraTensorInfoAddLocation(b, extra.location)
    fb.ExtraTensorInfoAddDeviceType(b, extra.device_type)
    fb.ExtraTensorInfoAddDeviceIndex(b, extra.device_index)
    return int(fb.ExtraTensorInfoEnd(b))


def _add(b: Any, add: Callable[[Any, int], None], offset: int | None) -> None:
    if offset is not None:
        add(b, offset)


def _table(b: Any, table: T | None, write: Callable[[Any, T], int]) -> int | None:
    return None if table is None else write(b, table)


def _tables(b: Any, tables: Sequence[T] | None, write: Callable[[Any, T], int]) -> int | None:
    if tables is None:
        return None
    offsets = [write(b, table) for table in tables]
    return _scalars(b, offsets, 4, "PrependUOffsetTRelative")


def _indices(b: Any, numbers: Sequence[int] | None) -> int | None:
    return _scalars(b, numbers, 4, "PrependInt32")


def _scalars(b: Any, numbers: Sequence[Any] | None, width: int, prepend: str) -> int | None:
    if numbers is None:
        return None
    b.StartVector(width, len(numbers), width)
    for number in reversed(numbers):
        getattr(b, prepend)(number)
    return int(b.EndVector())


def _text(b: Any, text: str | None) -> int | None:
    return None if text is None else int(b.CreateString(text))


def _blob(b: Any, blob: Blob | None, alignment: int) -> int | None:
    if blob is None:
        return None
    # CreateByteVector would do, but aligns to one byte only.
    b.StartVector(1, len(blob), alignment)
    b.head = b.Head() - len(blob)
    b.Bytes[b.Head() : b.Head() + len(blob)] = bytes(blob)
    return int(b.EndVector())
