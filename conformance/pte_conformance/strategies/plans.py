"""Execution plans: instructions, operators, delegates, stack traces, planned memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from pte_conformance.strategies.data import Entry
from pte_conformance.strategies.primitives import BLOBS, INDICES, INT32, names, pick, some, texts
from pte_conformance.strategies.values import LISTS, VALUES, Loose, fit_values
from pte_reference import model as m
from pte_reference.checks.tensors import tensor_bytes

_ARGUMENTS = some(INDICES, 4)
_INSTRUCTIONS = st.builds(
    m.Instruction,
    st.one_of(
        st.builds(m.KernelCall, INDICES, _ARGUMENTS),
        st.builds(m.DelegateCall, INDICES, _ARGUMENTS),
        st.builds(m.MoveCall, INDICES, INDICES),
        st.builds(m.JumpFalseCall, INDICES, INDICES),
        st.builds(m.FreeCall, INDICES),
    ),
)
_FRAME_LISTS = st.builds(m.FrameList, some(st.builds(m.Frame, texts(), INT32, texts(), texts()), 2))
_CHAINS = st.builds(
    m.Chain, _ARGUMENTS, _ARGUMENTS, some(_INSTRUCTIONS, 5), st.none() | some(_FRAME_LISTS, 5, 5)
)
_DELEGATES = st.builds(
    m.BackendDelegate,
    id=names(),
    processed=st.builds(m.BackendDelegateDataReference, index=INDICES),
    compile_specs=some(st.builds(m.CompileSpec, names(), BLOBS), 2),
)
_DEVICES = st.builds(m.NonConstBufferDevice, INDICES, st.sampled_from(m.DeviceType), st.integers(-1, 127))


@dataclass(frozen=True, slots=True)
class LoosePlan:
    """A plan that is not fitted yet.

    Attributes:
        plan: its chains, delegates, inputs and so on, whose indices are any numbers.
        values: its values but for lists.
        lists: its lists.
        spare: bytes that planned buffers have more than is needed.
    """

    plan: m.ExecutionPlan
    values: tuple[Loose, ...]
    lists: tuple[m.IntList | m.TensorList | m.OptionalTensorList, ...]
    spare: int

    def fitted(
        self, name: str, constants: Sequence[Entry], states: Sequence[Entry], blobs: int
    ) -> m.ExecutionPlan:
        """The plan as a method of that name, over this data and so many blobs for delegates."""
        values = fit_values(self.values, self.lists, constants, states)
        loose = self.plan
        delegates = tuple(_fit_delegate(one, blobs) for one in loose.delegates or () if blobs)
        sizes = _buffer_sizes(values, self.spare)
        devices = loose.non_const_buffer_device
        if devices is not None:
            devices = tuple(
                dataclasses.replace(one, buffer_idx=one.buffer_idx % len(sizes)) for one in devices
            )
        fitting = _Fitting(values, len(loose.operators or ()), len(delegates))
        return dataclasses.replace(
            loose,
            name=name,
            values=values,
            inputs=fitting.indices(loose.inputs),
            outputs=fitting.indices(loose.outputs),
            chains=tuple(map(fitting.chain, loose.chains or ())),
            delegates=delegates,
            non_const_buffer_sizes=sizes,
            non_const_buffer_device=devices,
        )


PLANS = st.builds(
    LoosePlan,
    plan=st.builds(
        m.ExecutionPlan,
        container_meta_type=st.none() | st.builds(m.ContainerMetadata, texts(), texts()),
        inputs=_ARGUMENTS,
        outputs=_ARGUMENTS,
        chains=some(_CHAINS, 2, 1),
        operators=some(st.builds(m.Operator, names(), names(min_size=0)), 3),
        delegates=some(_DELEGATES, 2),
        non_const_buffer_device=st.none() | some(_DEVICES, 2, 1),
    ),
    values=VALUES,
    lists=LISTS,
    spare=st.integers(0, 64),
)
"""Plans, not fitted yet."""


def _fit_delegate(delegate: m.BackendDelegate, blobs: int) -> m.BackendDelegate:
    index = delegate.processed.index % blobs if delegate.processed else 0
    return dataclasses.replace(delegate, processed=m.BackendDelegateDataReference(index=index))


def _buffer_sizes(values: Sequence[m.EValue], spare: int) -> tuple[int, ...]:
    """Planned buffers that hold every planned tensor, behind the reserved entry."""
    sizes = [0]
    for value in values:
        tensor = value.val
        if isinstance(tensor, m.Tensor) and tensor.allocation_info is not None:
            place = tensor.allocation_info
            sizes.extend([0] * (place.memory_id + 1 - len(sizes)))
            end = place.memory_offset + (tensor_bytes(tensor) or 0)
            sizes[place.memory_id] = max(sizes[place.memory_id], end)
    return (0, *(size + spare for size in sizes[1:]))


class _Fitting:
    """Fits indices into one plan; what has nothing to refer to is left out."""

    def __init__(self, values: Sequence[m.EValue], operators: int, delegates: int) -> None:
        self._values = range(len(values))
        self._conditions = [at for at, one in enumerate(values) if isinstance(one.val, m.Bool | m.Tensor)]
        self._operators = range(operators)
        self._delegates = range(delegates)

    def indices(self, loose: tuple[int, ...] | None) -> tuple[int, ...]:
        """Indices of values."""
        return tuple(pick(self._values, at) for at in loose or () if self._values)

    def chain(self, loose: m.Chain) -> m.Chain:
        """A chain, with a stack trace for each of its instructions or none at all."""
        steps = [one for one in loose.instructions or () if self._has_what_it_needs(one.instr_args)]
        traces = loose.stacktrace
        return m.Chain(
            self.indices(loose.inputs),
            self.indices(loose.outputs),
            tuple(m.Instruction(self._step(one.instr_args, len(steps))) for one in steps),
            None if traces is None else traces[: len(steps)],
        )

    def _has_what_it_needs(self, step: m.InstructionArguments | None) -> bool:
        match step:
            case m.KernelCall():
                return bool(self._operators)
            case m.DelegateCall():
                return bool(self._delegates)
            case m.JumpFalseCall():
                return bool(self._conditions)
            case _:
                return bool(self._values)

    def _step(self, step: m.InstructionArguments | None, steps: int) -> m.InstructionArguments | None:
        match step:
            case m.KernelCall(index, arguments):
                return m.KernelCall(pick(self._operators, index), self.indices(arguments))
            case m.DelegateCall(index, arguments):
                return m.DelegateCall(pick(self._delegates, index), self.indices(arguments))
            case m.JumpFalseCall(condition, destination):
                return m.JumpFalseCall(pick(self._conditions, condition), destination % (steps + 1))
            case m.MoveCall(source, target):
                return m.MoveCall(pick(self._values, source), pick(self._values, target))
            case m.FreeCall(index):
                return m.FreeCall(pick(self._values, index))
            case _:
                return step
