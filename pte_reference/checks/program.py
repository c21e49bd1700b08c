"""Checks of the program layer: plans, values, instructions, indices, names.

They work on a decoded :class:`~pte_reference.model.Program` together with the sizes of the
data lists that it refers to, so that reader and writer share them. Objects that many places
share are looked at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pte_reference.checks.presence import absent_fields
from pte_reference.checks.tensors import TensorChecks
from pte_reference.findings import Finding, Path, quoted
from pte_reference.model import (
    Bool,
    Chain,
    DelegateCall,
    DeviceType,
    EValue,
    ExecutionPlan,
    FreeCall,
    Instruction,
    IntList,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    Null,
    OptionalTensorList,
    Program,
    Tensor,
    TensorList,
)
from pte_reference.requirements import program as rules

SCHEMA_VERSION = 0


@dataclass(frozen=True, slots=True)
class DataCounts:
    """How many entries the lists have that a program's tensors refer to.

    Attributes:
        constants: entries of the constants, the placeholder included.
        mutable: entries of each list of mutable data, the placeholders included.
    """

    constants: int
    mutable: tuple[int, ...]


def check_program(program: Program, counts: DataCounts, *, complete: bool = False) -> Iterator[Finding]:
    """Everything that is wrong with a program, in the order in which a reader meets it.

    Args:
        program: the program.
        counts: the sizes of the lists that it refers to.
        complete: whether it is known that no needed field is absent.
    """
    missing = [] if complete else list(absent_fields(program))
    yield from missing
    if missing:
        # What refers to an absent field cannot be judged: one cause, one finding.
        return
    if program.version != SCHEMA_VERSION:
        yield Finding(
            rules.VERSION,
            f"the schema version is {program.version}; releases up to 1.5 write 0",
            ("version",),
            hint="the file comes from a newer writer; use a newer runtime",
        )
    yield from _check_method_names(program)
    once = _Once()
    seen: set[int] = set()
    for number, plan in enumerate(program.execution_plan or ()):
        if id(plan) not in seen:
            seen.add(id(plan))
            yield from _PlanChecks(plan, ("execution_plan", number), counts, once).run()
    for number, entry in enumerate(program.named_data or ()):
        yield from once.check_nul(entry.key, ("named_data", number, "key"))


def _check_method_names(program: Program) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for number, plan in enumerate(program.execution_plan or ()):
        path: Path = ("execution_plan", number, "name")
        name = plan.name or ""
        if not name:
            yield Finding(rules.METHOD_NAME, "the method's name is empty", path)
        elif name in first:
            yield Finding(
                rules.METHOD_UNIQUE,
                f"{quoted(name)} is also the name of execution_plan[{first[name]}]",
                path,
                hint="give each method a name of its own",
            )
        first.setdefault(name, number)


class _Once:
    """What is known of strings and vectors, however many places of a program share them."""

    def __init__(self) -> None:
        self._clean_texts: set[int] = set()
        self._ranges: dict[int, tuple[int, int]] = {}
        self._members: dict[int, frozenset[int]] = {}

    def check_nul(self, text: str | None, path: Path) -> Iterator[Finding]:
        """A finding for a name that holds a NUL."""
        if not text or id(text) in self._clean_texts:
            return
        if "\0" in text:
            yield Finding(rules.NAME_WITHOUT_NUL, f"{quoted(text)} holds a NUL", path)
        else:
            self._clean_texts.add(id(text))

    def range_of(self, numbers: tuple[int, ...]) -> tuple[int, int]:
        """The smallest and the largest of some numbers, of which there are any."""
        known = self._ranges.get(id(numbers))
        if known is None:
            known = self._ranges[id(numbers)] = min(numbers), max(numbers)
        return known

    def members_of(self, numbers: tuple[int, ...]) -> frozenset[int]:
        """The numbers as a set."""
        known = self._members.get(id(numbers))
        if known is None:
            known = self._members[id(numbers)] = frozenset(numbers)
        return known


class _PlanChecks:
    """The checks of one plan, which share what is known of it."""

    def __init__(self, plan: ExecutionPlan, path: Path, counts: DataCounts, once: _Once) -> None:
        self.plan = plan
        self.path = path
        self.counts = counts
        self.values: tuple[EValue, ...] = plan.values or ()
        self.once = once

    def run(self) -> Iterator[Finding]:
        """All findings of the plan."""
        plan, path = self.plan, self.path
        yield from self._check_names()
        yield from self._check_buffers()
        yield from self._check_values()
        for name, indices in (("inputs", plan.inputs), ("outputs", plan.outputs)):
            yield from self._check_indices(indices, (*path, name))
        if not plan.chains:
            yield Finding(
                rules.RUNNABLE,
                "the method has no chain, so there is nothing to run",
                (*path, "chains"),
            )
        seen: set[int] = set()
        for number, chain in enumerate(plan.chains or ()):
            if id(chain) not in seen:
                seen.add(id(chain))
                yield from self._check_chain(chain, (*path, "chains", number))

    def _check_names(self) -> Iterator[Finding]:
        plan, path = self.plan, self.path
        yield from self.once.check_nul(plan.name, (*path, "name"))
        for number, operator in enumerate(plan.operators or ()):
            yield from self.once.check_nul(operator.name, (*path, "operators", number, "name"))
            yield from self.once.check_nul(operator.overload, (*path, "operators", number, "overload"))
        for number, delegate in enumerate(plan.delegates or ()):
            place: Path = (*path, "delegates", number)
            yield from self.once.check_nul(delegate.id, (*place, "id"))
            for at, spec in enumerate(delegate.compile_specs or ()):
                yield from self.once.check_nul(spec.key, (*place, "compile_specs", at, "key"))

    def _check_buffers(self) -> Iterator[Finding]:
        sizes = self.plan.non_const_buffer_sizes or ()
        some_negative = bool(sizes) and self.once.range_of(sizes)[0] < 0
        for number, size in enumerate(sizes if some_negative else ()):
            if size < 0:
                yield Finding(
                    rules.BUFFER_SIZES,
                    f"the size is {size}",
                    (*self.path, "non_const_buffer_sizes", number),
                )
        for number, device in enumerate(self.plan.non_const_buffer_device or ()):
            place: Path = (*self.path, "non_const_buffer_device", number)
            if not 0 <= device.buffer_idx < len(sizes):
                yield Finding(
                    rules.BUFFER_DEVICE,
                    f"the index is {device.buffer_idx}; the plan has {len(sizes)} buffer sizes",
                    (*place, "buffer_idx"),
                )
            if not isinstance(device.device_type, DeviceType):
                yield Finding(
                    rules.ENUM_KNOWN,
                    f"device type {device.device_type} is not in the schema",
                    (*place, "device_type"),
                )

    def _check_values(self) -> Iterator[Finding]:
        inputs = self.once.members_of(self.plan.inputs or ())
        tensors = TensorChecks(
            self.counts.constants, self.counts.mutable, self.plan.non_const_buffer_sizes or ()
        )
        is_wrong = tensors.is_wrong
        for number, value in enumerate(self.values):
            content = value.val
            if type(content) is Tensor:
                if is_wrong(content):
                    path = (*self.path, "values", number, "val")
                    yield from tensors.findings(content, path, is_input=number in inputs)
            elif isinstance(content, IntList | TensorList | OptionalTensorList):
                yield from self._check_list(content, (*self.path, "values", number, "val"))

    def _check_list(
        self, content: IntList | TensorList | OptionalTensorList, path: Path
    ) -> Iterator[Finding]:
        items = content.items or ()
        optional = isinstance(content, OptionalTensorList)
        broken = list(self._check_indices(items, (*path, "items"), lowest=-1 if optional else 0))
        yield from broken
        if broken or isinstance(content, IntList):
            return
        allowed = (Tensor, Null) if optional else (Tensor,)
        for number, index in enumerate(items):
            if index >= 0 and not isinstance(self.values[index].val, allowed):
                kind = type(self.values[index].val).__name__
                yield Finding(
                    rules.LIST_OF_TENSORS,
                    f"value {index} is of kind {kind}, not Tensor",
                    (*path, "items", number),
                )
                return

    def _check_indices(
        self, indices: tuple[int, ...] | None, path: Path, *, lowest: int = 0
    ) -> Iterator[Finding]:
        if not indices:
            return
        count = len(self.values)
        smallest, largest = self.once.range_of(indices)
        if smallest >= lowest and largest < count:
            return
        for number, index in enumerate(indices):
            if not lowest <= index < count:
                yield _index_finding(index, count, (*path, number))

    def _check_chain(self, chain: Chain, path: Path) -> Iterator[Finding]:
        yield from self._check_indices(chain.inputs, (*path, "inputs"))
        yield from self._check_indices(chain.outputs, (*path, "outputs"))
        steps = chain.instructions or ()
        clean: set[int] = set()
        for number, step in enumerate(steps):
            # Identity of shared steps: what was clean in this chain is clean again.
            if id(step) not in clean:
                found = list(self._check_step(step, len(steps), (*path, "instructions", number)))
                yield from found
                if not found:
                    clean.add(id(step))

    def _check_step(self, step: Instruction, steps: int, path: Path) -> Iterator[Finding]:
        call = step.instr_args
        place: Path = (*path, "instr_args")
        if isinstance(call, KernelCall):
            operators = len(self.plan.operators or ())
            if not 0 <= call.op_index < operators:
                yield Finding(
                    rules.OPERATOR_INDEX,
                    f"the index is {call.op_index}; the plan has {operators} operators",
                    (*place, "op_index"),
                )
            yield from self._check_indices(call.args, (*place, "args"))
        elif isinstance(call, DelegateCall):
            delegates = len(self.plan.delegates or ())
            if not 0 <= call.delegate_index < delegates:
                yield Finding(
                    rules.DELEGATE_INDEX,
                    f"the index is {call.delegate_index}; the plan has {delegates} delegates",
                    (*place, "delegate_index"),
                )
            yield from self._check_indices(call.args, (*place, "args"))
        elif isinstance(call, JumpFalseCall):
            yield from self._check_jump(call, steps, place)
        elif isinstance(call, MoveCall):
            yield from self._check_index(call.move_from, (*place, "move_from"))
            yield from self._check_index(call.move_to, (*place, "move_to"))
        elif isinstance(call, FreeCall):
            yield from self._check_index(call.value_index, (*place, "value_index"))

    def _check_index(self, index: int, path: Path) -> Iterator[Finding]:
        if not 0 <= index < len(self.values):
            yield _index_finding(index, len(self.values), path)

    def _check_jump(self, call: JumpFalseCall, steps: int, path: Path) -> Iterator[Finding]:
        condition = call.cond_value_index
        broken = list(self._check_index(condition, (*path, "cond_value_index")))
        yield from broken
        if not broken and not isinstance(self.values[condition].val, Bool | Tensor):
            kind = type(self.values[condition].val).__name__
            yield Finding(
                rules.JUMP_CONDITION,
                f"value {condition} is of kind {kind}, not Bool",
                (*path, "cond_value_index"),
            )
        if not 0 <= call.destination_instruction <= steps:
            yield Finding(
                rules.JUMP_TARGET,
                f"the destination is {call.destination_instruction}; the chain has {steps} instructions",
                (*path, "destination_instruction"),
            )


def _index_finding(index: int, count: int, path: Path) -> Finding:
    return Finding(
        rules.VALUE_INDEX,
        f"the index is {index}; the plan has {count} values",
        path,
    )
