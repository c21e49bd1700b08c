"""What the methods of a program are, as plain facts: the source of both forms of ``inspect``.

The facts come from the decoded tables alone and hold for broken files too, as far as they can
be decoded: no index is trusted. Tables that several places share are looked at once, and what a
file could make long without being long itself is bounded.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pte_conformance.cli.terminal import printable
from pte_reference.checks.tensors import is_external
from pte_reference.model import (
    Bool,
    DataLocation,
    DelegateCall,
    DeviceType,
    Double,
    ExecutionPlan,
    Int,
    KernelCall,
    Program,
    ScalarType,
    String,
    Tensor,
    TensorShapeDynamism,
)

MAX_LISTED = 10_000
"""Inputs, outputs and buffers of all methods together that are listed; the rest is only counted.

Methods can share these lists, so that a small file could ask for very many lines.
"""


@dataclass(frozen=True, slots=True)
class ValueFacts:
    """An input or output.

    Attributes:
        index: its number among the method's values.
        kind: the name of its table, such as ``Tensor``; ``absent`` where the index leads nowhere.
        value: what a number, truth value or text is.
        tensor: what a tensor is like.
    """

    index: int
    kind: str
    value: int | float | str | None = None
    tensor: TensorFacts | None = None


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """What a tensor is like.

    Attributes:
        scalar_type: the schema's name, or the number where it has none.
        sizes: its shape, or what ``dynamism`` makes of it.
        dim_order: its dimensions from the outermost in memory to the innermost.
        dynamism: the schema's name, or the number where it has none.
        memory: where its bytes are: ``planned``, ``caller`` (a pointer given at run time),
            ``constant``, ``initial state`` (planned and filled from the file) or ``external``.
        data_name: the name under which external data is found.
    """

    scalar_type: str | int
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]
    dynamism: str | int
    memory: str
    data_name: str | None = None


@dataclass(frozen=True, slots=True)
class OperatorFacts:
    """An operator, as ``name.overload``, and the number of its calls."""

    name: str
    calls: int


@dataclass(frozen=True, slots=True)
class DelegateFacts:
    """A part of a method that a backend runs.

    Attributes:
        id: the backend's name.
        calls: how often the method calls it.
        location: where its data is: ``segment``, ``inline``, or None where the file does not say.
        index: which segment or inline entry.
        size: bytes of its data; None where the index leads nowhere.
        compile_specs: the names of its settings and the bytes of each.
    """

    id: str
    calls: int
    location: str | None
    index: int | None
    size: int | None
    compile_specs: tuple[CompileSpecFacts, ...]


@dataclass(frozen=True, slots=True)
class CompileSpecFacts:
    """A setting of a delegate and the bytes of its value."""

    key: str
    size: int


@dataclass(frozen=True, slots=True)
class BufferFacts:
    """A buffer of planned memory: its number, bytes and device (``CPU``, ``CUDA:0``)."""

    memory_id: int
    size: int
    device: str


@dataclass(frozen=True, slots=True)
class MethodFacts:
    """A method.

    Attributes:
        name: its name.
        same_as: the number of the first method that is the very same table in the file; the
            facts are listed there.
        input_count: how many inputs it has.
        inputs: the inputs, up to a limit for the whole file.
        output_count: how many outputs it has.
        outputs: the outputs, up to that limit.
        value_count: how many values it has.
        instructions: how many it has of each kind, most frequent first.
        operators: its operators, most frequent first.
        delegates: its delegates, in their order.
        planned_memory: the buffers that it wants, without the reserved entry 0.
    """

    name: str
    same_as: int | None = None
    input_count: int = 0
    inputs: tuple[ValueFacts, ...] = ()
    output_count: int = 0
    outputs: tuple[ValueFacts, ...] = ()
    value_count: int = 0
    instructions: dict[str, int] = field(default_factory=dict)
    operators: tuple[OperatorFacts, ...] = ()
    delegates: tuple[DelegateFacts, ...] = ()
    planned_memory: tuple[BufferFacts, ...] = ()


def method_facts(program: Program) -> tuple[MethodFacts, ...]:
    """The facts of each method."""
    first: dict[int, int] = {}
    gathering = _Gathering(program)
    methods = []
    for number, plan in enumerate(program.execution_plan or ()):
        known = first.setdefault(id(plan), number)
        if known == number:
            methods.append(gathering.method(plan))
        else:
            methods.append(MethodFacts(printable(plan.name or ""), same_as=known))
    return tuple(methods)


class _Gathering:
    """Gathers the facts of a program's methods within one limit."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._left = MAX_LISTED

    def method(self, plan: ExecutionPlan) -> MethodFacts:
        kinds: Counter[str] = Counter()
        operator_calls: Counter[int] = Counter()
        delegate_calls: Counter[int] = Counter()
        for chain in plan.chains or ():
            for instruction in chain.instructions or ():
                step = instruction.instr_args
                kinds[type(step).__name__ if step is not None else "absent"] += 1
                if isinstance(step, KernelCall):
                    operator_calls[step.op_index] += 1
                elif isinstance(step, DelegateCall):
                    delegate_calls[step.delegate_index] += 1
        return MethodFacts(
            printable(plan.name or ""),
            input_count=len(plan.inputs or ()),
            inputs=self._values(plan, plan.inputs or ()),
            output_count=len(plan.outputs or ()),
            outputs=self._values(plan, plan.outputs or ()),
            value_count=len(plan.values or ()),
            instructions=dict(kinds.most_common()),
            operators=_operators(plan, operator_calls),
            delegates=tuple(self._delegates(plan, delegate_calls)),
            planned_memory=self._buffers(plan),
        )

    def _take(self, indices: Sequence[int]) -> Sequence[int]:
        taken = indices[: self._left]
        self._left -= len(taken)
        return taken

    def _values(self, plan: ExecutionPlan, indices: Sequence[int]) -> tuple[ValueFacts, ...]:
        return tuple(_value(plan, index) for index in self._take(indices))

    def _delegates(self, plan: ExecutionPlan, calls: Counter[int]) -> Iterator[DelegateFacts]:
        for number, delegate in enumerate(plan.delegates or ()):
            reference = delegate.processed
            location = index = size = None
            if reference is not None and reference.location in (DataLocation.INLINE, DataLocation.SEGMENT):
                location = DataLocation(reference.location).name.lower()
                index = reference.index
                size = self._data_size(location, index)
            specs = [
                CompileSpecFacts(printable(spec.key or ""), len(spec.value or b""))
                for spec in delegate.compile_specs or ()
            ]
            yield DelegateFacts(
                printable(delegate.id or ""), calls[number], location, index, size, tuple(specs)
            )

    def _data_size(self, location: str, index: int) -> int | None:
        if location == "segment":
            segments = self._program.segments or ()
            return segments[index].size if index < len(segments) else None
        inline = self._program.backend_delegate_data or ()
        return len(inline[index].data or b"") if index < len(inline) else None

    def _buffers(self, plan: ExecutionPlan) -> tuple[BufferFacts, ...]:
        sizes = plan.non_const_buffer_sizes or ()
        devices = {one.buffer_idx: one for one in plan.non_const_buffer_device or ()}
        buffers = []
        for number in self._take(range(1, len(sizes))):
            device = "CPU"
            if number in devices and devices[number].device_type != DeviceType.CPU:
                entry = devices[number]
                device = f"{enum_name(DeviceType, entry.device_type)}:{entry.device_index}"
            buffers.append(BufferFacts(number, sizes[number], device))
        return tuple(buffers)


def enum_name(names: type[ScalarType | TensorShapeDynamism | DeviceType], number: int) -> str | int:
    """The schema's name of a number, or the number where the schema has none."""
    return names(number).name if number in {one.value for one in names} else int(number)


def _value(plan: ExecutionPlan, index: int) -> ValueFacts:
    values = plan.values or ()
    content = values[index].val if 0 <= index < len(values) else None
    match content:
        case None:
            return ValueFacts(index, "absent")
        case Tensor():
            return ValueFacts(index, "Tensor", tensor=tensor_facts(content))
        case Int(number) | Bool(number):
            return ValueFacts(index, type(content).__name__, number)
        case Double(number):
            # JSON has no word for these.
            return ValueFacts(index, "Double", number if math.isfinite(number) else str(number))
        case String(text):
            return ValueFacts(index, "String", printable(text or ""))
        case _:
            return ValueFacts(index, type(content).__name__)


def tensor_facts(tensor: Tensor) -> TensorFacts:
    """The facts of a tensor."""
    name = None
    if is_external(tensor):
        memory = "external"
        extra = tensor.extra_tensor_info
        name = printable(extra.fully_qualified_name or "") if extra else None
    elif tensor.allocation_info is not None:
        memory = "initial state" if tensor.data_buffer_idx else "planned"
    else:
        memory = "constant" if tensor.data_buffer_idx else "caller"
    return TensorFacts(
        enum_name(ScalarType, tensor.scalar_type),
        tensor.sizes or (),
        tensor.dim_order or (),
        enum_name(TensorShapeDynamism, tensor.shape_dynamism),
        memory,
        name,
    )


def _operators(plan: ExecutionPlan, calls: Counter[int]) -> tuple[OperatorFacts, ...]:
    totals: Counter[str] = Counter()
    for number, operator in enumerate(plan.operators or ()):
        name = operator.name or ""
        if operator.overload:
            name += f".{operator.overload}"
        # Also those that are never called: the runtime looks all of them up.
        totals[printable(name)] += calls[number]
    return tuple(OperatorFacts(name, count) for name, count in totals.most_common())
