"""Fixed contents, each for something that implementations are known to get wrong.

They speak for themselves in a report, and are there in every run, whatever the seed.
"""

from __future__ import annotations

import dataclasses
import math
import struct
from typing import Any

from pte_conformance.strategies.files import Written
from pte_reference import NamedBlob, PTEFile, WriterOptions, model

_NAN_WITH_PAYLOAD: float = struct.unpack("<d", bytes.fromhex("efbeadde0000f87f"))[0]


def tensor(*sizes: int, constant: int = 0, state: int = 0, planned_at: int | None = None) -> model.EValue:
    """A float tensor: a constant, a state, planned at an offset of buffer 1, or none of these."""
    place = None if planned_at is None else model.AllocationDetails(1, planned_at)
    return model.EValue(
        model.Tensor(
            scalar_type=model.ScalarType.FLOAT,
            sizes=sizes,
            dim_order=tuple(range(len(sizes))),
            data_buffer_idx=constant or state,
            allocation_info=place,
        )
    )


def program(*values: model.EValue, **fields: Any) -> model.Program:
    """A program with one method, which has one empty chain unless ``fields`` say otherwise."""
    plan = model.ExecutionPlan(name="forward", values=values, chains=(model.Chain(),))
    return model.Program(execution_plan=(dataclasses.replace(plan, **fields),))


def _values(*contents: model.KernelTypes) -> PTEFile:
    return PTEFile(program(*map(model.EValue, contents)))


def nothing() -> PTEFile:
    """One method that does nothing, and no data."""
    return PTEFile(program())


def two_methods() -> PTEFile:
    """Two methods that share a constant."""
    first = program(tensor(2, constant=1)).execution_plan or ()
    second = program(tensor(2, constant=1), name="other").execution_plan or ()
    return PTEFile(model.Program(execution_plan=(*first, *second)), constants=(b"", b"8 bytes."))


def every_kind_of_value() -> PTEFile:
    """All eleven kinds of values."""
    contents = (
        model.Null(),
        model.Int(-7),
        model.Bool(True),
        model.Double(0.1),
        model.String("mean"),
        model.IntList((1, 1)),
        model.DoubleList((1.5, -2.25)),
        model.BoolList((True, False)),
        model.TensorList((9,)),
        tensor(2, 3).val,
        model.OptionalTensorList((9, -1)),
    )
    return PTEFile(program(*map(model.EValue, contents), inputs=(9,), outputs=(1, 9)))


def edges_of_numbers() -> PTEFile:
    """The smallest and the largest integers, and floats that compare oddly."""
    floats = (0.0, -0.0, math.inf, -math.inf, _NAN_WITH_PAYLOAD, 5e-324)
    return _values(
        *map(model.Double, floats),
        model.DoubleList(floats),
        *map(model.Int, (-(2**63), 2**63 - 1)),
    )


def awkward_texts() -> PTEFile:
    """Texts that are empty, hold NUL, or need more than one byte a character."""
    return _values(*map(model.String, ("", "a\0b", "\0", "h\u00e9llo", "\u6f22\u5b57", "\U0001f600")))


def every_field_of_a_tensor() -> PTEFile:
    """A tensor with a value other than the default in every field it may have one in."""
    full = model.Tensor(
        scalar_type=model.ScalarType.LONG,
        sizes=(2, 3),
        dim_order=(1, 0),
        requires_grad=True,
        data_buffer_idx=1,
        allocation_info=model.AllocationDetails(1, 64, 2),
        layout=3,
        shape_dynamism=model.TensorShapeDynamism.DYNAMIC_BOUND,
        extra_tensor_info=model.ExtraTensorInfo(
            fully_qualified_name="layer.state", device_type=model.DeviceType.CUDA, device_index=3
        ),
    )
    planned = program(model.EValue(full), non_const_buffer_sizes=(0, 2**34))
    return PTEFile(planned, mutable_data=(b"", bytes(range(48))))


def external_tensor() -> PTEFile:
    """A tensor whose data is in a file of its own."""
    extra = model.ExtraTensorInfo(
        fully_qualified_name="layer.weight", location=model.TensorDataLocation.EXTERNAL
    )
    outside = model.Tensor(model.ScalarType.FLOAT, sizes=(4,), dim_order=(0,), extra_tensor_info=extra)
    return PTEFile(program(model.EValue(outside)))


def every_instruction() -> PTEFile:
    """All five kinds of instructions, with operators, delegates and stack traces."""
    steps = (
        model.KernelCall(1, (0, 0, 1)),
        model.DelegateCall(1, (0, 1)),
        model.MoveCall(0, 1),
        model.JumpFalseCall(2, 5),
        model.FreeCall(1),
    )
    frame = model.Frame("model.py", 12, "forward", "return x + x")
    chain = model.Chain(
        inputs=(0,),
        outputs=(1,),
        instructions=tuple(model.Instruction(one) for one in steps),
        stacktrace=(model.FrameList((frame,)), *(model.FrameList() for _ in steps[1:])),
    )
    settings = (model.CompileSpec("level", b"\x02"), model.CompileSpec("empty", b""))
    delegates = (
        model.BackendDelegate("A", model.BackendDelegateDataReference(index=0), settings),
        model.BackendDelegate("B", model.BackendDelegateDataReference(index=1)),
    )
    plan = program(
        tensor(2, planned_at=0),
        tensor(2, planned_at=16),
        model.EValue(model.Bool(False)),
        chains=(chain, chain),
        operators=(model.Operator("aten::add", "out"), model.Operator("aten::mul", "")),
        delegates=delegates,
        non_const_buffer_sizes=(0, 32),
        non_const_buffer_device=(model.NonConstBufferDevice(1, model.DeviceType.CUDA, 2),),
        container_meta_type=model.ContainerMetadata("T(*)", "*"),
    )
    return PTEFile(plan, delegate_data=(b"first delegate", b"second"))


def delegates_that_share() -> PTEFile:
    """Two delegates with the same data and different settings, and one whose data is empty."""
    first, empty = model.BackendDelegateDataReference(index=0), model.BackendDelegateDataReference(index=1)
    delegates = (
        model.BackendDelegate("A", first, (model.CompileSpec("level", b"1"),)),
        model.BackendDelegate("A", first, (model.CompileSpec("level", b"2"),)),
        model.BackendDelegate("B", empty),
    )
    return PTEFile(program(delegates=delegates), delegate_data=(b"shared", b""))


def constants_of_odd_sizes() -> PTEFile:
    """Constants of 4, 12 and 20 bytes, so that padding lies between them."""
    values = (tensor(1, constant=1), tensor(3, constant=2), tensor(5, constant=3))
    blobs = (bytes(range(1, 5)), bytes(range(1, 13)), bytes(range(1, 21)))
    return PTEFile(program(*values), constants=(b"", *blobs))


def empty_among_others() -> PTEFile:
    """Empty constants, states and named blobs beside ones that are not."""
    values = (tensor(0, constant=1), tensor(1, constant=2), tensor(0, constant=3))
    return PTEFile(
        program(*values),
        constants=(b"", b"", b"abcd", b""),
        mutable_data=(b"", b"", b"state", b""),
        named_data={"nothing": NamedBlob(b""), "something": NamedBlob(b"1")},
    )


def only_empty_constants() -> PTEFile:
    """An empty constant, and no other data."""
    return PTEFile(program(tensor(0, constant=1)), constants=(b"", b""))


def only_empty_named_data() -> PTEFile:
    """A key without bytes, and no other data."""
    return PTEFile(program(), named_data={"nothing": NamedBlob(b"")})


def initial_states() -> PTEFile:
    """Mutable tensors with initial states of odd sizes."""
    values = (tensor(1, state=1, planned_at=0), tensor(3, state=2, planned_at=16))
    return PTEFile(
        program(*values, non_const_buffer_sizes=(0, 64)),
        mutable_data=(b"", bytes(range(4)), bytes(range(12))),
    )


def named_blobs() -> PTEFile:
    """Named blobs with keys of all sorts, one of them empty, two with equal bytes."""
    return PTEFile(
        program(),
        named_data={
            "weights": NamedBlob(b"first", 64),
            "": NamedBlob(b"under the empty key"),
            "w\u00e4ights": NamedBlob(b"first"),
            "weights2": NamedBlob(b"second", 4096),
        },
    )


CONTENTS: dict[str, PTEFile] = {
    build.__name__: build()
    for build in (
        nothing,
        two_methods,
        every_kind_of_value,
        edges_of_numbers,
        awkward_texts,
        every_field_of_a_tensor,
        external_tensor,
        every_instruction,
        delegates_that_share,
        constants_of_odd_sizes,
        empty_among_others,
        only_empty_constants,
        only_empty_named_data,
        initial_states,
        named_blobs,
    )
}
"""The contents by name."""

FIXED: dict[str, Written] = {
    **{name: Written(content) for name, content in CONTENTS.items()},
    "inline_delegates": Written(every_instruction(), WriterOptions(delegates_in_segments=False)),
    "tight": Written(
        empty_among_others(), WriterOptions(segment_alignment=1, constant_alignment=1, delegate_alignment=1)
    ),
    "short_header": Written(constants_of_odd_sizes(), WriterOptions(header_length=24)),
}
"""The contents with the knobs to write them with."""
