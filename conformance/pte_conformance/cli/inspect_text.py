"""The text form of what ``inspect`` tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from pte_conformance.cli.data_facts import DataFacts, SegmentFacts, SpaceFacts
from pte_conformance.cli.inspected import Inspected, ProgramFacts
from pte_conformance.cli.method_facts import DelegateFacts, MethodFacts, TensorFacts, ValueFacts
from pte_conformance.cli.terminal import Screen, amount, file_name, printable

_MOST = 20
"""Entries of most lists that are shown."""

_MOST_METHODS = 50

_BAR = 30

# Users know the types by PyTorch's names.
_TORCH_NAMES = {
    "BYTE": "uint8",
    "CHAR": "int8",
    "SHORT": "int16",
    "INT": "int32",
    "LONG": "int64",
    "HALF": "float16",
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "FLOAT8E5M2": "float8_e5m2",
    "FLOAT8E4M3FN": "float8_e4m3fn",
    "FLOAT8E5M2FNUZ": "float8_e5m2fnuz",
    "FLOAT8E4M3FNUZ": "float8_e4m3fnuz",
}

_MEMORY = {
    "planned": "in planned memory",
    "caller": "memory from the caller",
    "constant": "constant in the file",
    "initial state": "in planned memory, filled from the file",
    "external": "data in another file",
}

_DYNAMISM = {
    "STATIC": "",
    "DYNAMIC_BOUND": ", dynamic up to this shape",
    "DYNAMIC_UNBOUND": ", dynamic without bound",
}


def inspected_lines(path: Path, facts: Inspected, screen: Screen) -> Iterator[str]:
    """The lines to print for one file."""
    yield screen.bold(file_name(path))
    yield f"  {amount(facts.size, 'byte')}, identifier {printable(facts.identifier)}{_version(facts)}"
    if facts.header is not None:
        header = facts.header
        text = f"  header of {header.length} bytes: the program ends at byte {header.program_size:,}"
        yield text + (
            f", segments start at {header.segment_base_offset:,}" if header.segment_base_offset else ""
        )
    elif facts.program is not None:
        yield "  no header: the whole file is the program"
    if facts.findings:
        yield from _finding_lines(facts, screen)
    if facts.program is not None:
        yield from _program_lines(facts.program, screen)
    yield from _space_lines(facts, screen)
    yield ""


def _version(facts: Inspected) -> str:
    return f", schema version {facts.program.version}" if facts.program else ""


def _finding_lines(facts: Inspected, screen: Screen) -> Iterator[str]:
    yield ""
    broken = screen.paint(f"  Broken: {len(facts.findings):,} MUST", "red", bold=True)
    yield f"{broken} (the command check shows where)"
    times = Counter(one.requirement for one in facts.findings)
    # The first finding of each requirement in the order in which they were found.
    for requirement, first in {one.requirement: one for one in reversed(facts.findings)}.items():
        more = f" (and {times[requirement] - 1:,} more like it)" if times[requirement] > 1 else ""
        text = printable(first.message) + more
        yield screen.wrap(text, " " * 6, first=f"    {requirement.id}: ")
    if facts.program is None:
        yield "  The program cannot be decoded, so its methods and data are not known."


def _rest(entries: Sequence[object], indent: str) -> Iterator[str]:
    if len(entries) > _MOST:
        yield f"{indent}and {len(entries) - _MOST:,} more"


def _program_lines(program: ProgramFacts, screen: Screen) -> Iterator[str]:
    short = False
    for number, method in enumerate(program.methods[:_MOST_METHODS]):
        was_short, short = short, _is_short(method)
        if not (short and was_short):
            yield ""
        yield from _method_lines(number, method, screen)
    if (rest := len(program.methods) - _MOST_METHODS) > 0:
        yield f"  and {amount(rest, 'more method')}"
    if not program.methods:
        yield ""
        yield "  No methods"
    yield ""
    yield screen.bold("  Data")
    for one in program.data:
        yield f"    {one.kind:<15} {_data_text(one)}"
    if program.external_tensors:
        yield f"    elsewhere       {amount(program.external_tensors, 'tensor')} with data in a .ptd file"
    if program.segments:
        yield from _segment_lines(program.segments, screen)


def _method_lines(number: int, method: MethodFacts, screen: Screen) -> Iterator[str]:
    title = screen.bold(f"  Method {method.name}")
    if method.same_as is not None:
        yield f"{title} (number {number}): the same table as method number {method.same_as}"
        return
    if _is_short(method):
        yield f"{title} returns {', '.join(_type_text(one) for one in method.outputs[:_MOST])}"
        return
    yield title
    yield from _value_lines("input", method.inputs, method.input_count)
    yield from _value_lines("output", method.outputs, method.output_count)
    kinds = ", ".join(f"{count:,} {name}" for name, count in method.instructions.items())
    steps = sum(method.instructions.values())
    yield f"    {amount(method.value_count, 'value')}, {amount(steps, 'instruction')}" + (
        kinds and f": {kinds}"
    )
    yield from _operator_lines(method)
    yield from _delegate_lines(method.delegates)
    yield from _memory_lines(method)


def _is_short(method: MethodFacts) -> bool:
    """Whether a method takes and does nothing: exporters store settings of a model as such."""
    if method.same_as is not None:
        return True
    fixed = all(one.tensor is None for one in method.outputs)
    return fixed and bool(method.outputs) and not method.input_count and not method.instructions


def _value_lines(word: str, values: Sequence[ValueFacts], count: int) -> Iterator[str]:
    yield f"    {amount(count, word)}"
    texts = [(_type_text(one), _memory_text(one.tensor)) for one in values]
    # Models with caches have long rows of inputs that are all alike.
    runs = [(*text, len(list(alike))) for text, alike in groupby(texts)]
    shown = runs[:_MOST]
    width = max((len(text) for text, _, _ in shown), default=0)
    for text, memory, times in shown:
        line = f"      {text:<{width}}  {memory}".rstrip()
        yield f"{line}, {times} alike" if times > 1 else line
    if rest := count - sum(times for _, _, times in shown):
        yield f"      and {rest:,} more"


def _type_text(value: ValueFacts) -> str:
    if value.tensor is not None:
        return tensor_text(value.tensor)
    return value.kind if value.value is None else f"{value.kind} {value.value!r}"


def tensor_text(tensor: TensorFacts) -> str:
    """A tensor's type and shape, and its dimension order where that is not the usual one."""
    kind = tensor.scalar_type
    name = _TORCH_NAMES.get(kind, kind.lower()) if isinstance(kind, str) else f"scalar type {kind}"
    text = f"{name} {_list_text(tensor.sizes)}"
    if tensor.dim_order != tuple(range(len(tensor.sizes))):
        text += f", dim order {_list_text(tensor.dim_order)}"
    return text + _DYNAMISM.get(str(tensor.dynamism), f", dynamism {tensor.dynamism}")


def _list_text(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:_MOST]))
    return f"[{shown}, ...]" if len(numbers) > _MOST else f"[{shown}]"


def _memory_text(tensor: TensorFacts | None) -> str:
    if tensor is None:
        return ""
    text = _MEMORY[tensor.memory]
    return f"{text}: {tensor.data_name}" if tensor.data_name else text


def _operator_lines(method: MethodFacts) -> Iterator[str]:
    if not method.operators:
        return
    yield f"    {amount(len(method.operators), 'operator')}, with the number of calls"
    shown = method.operators[:_MOST]
    width = max(len(f"{one.calls:,}") for one in shown)
    for one in shown:
        yield f"      {one.calls:>{width},}  {one.name}"
    yield from _rest(method.operators, "      ")


def _delegate_lines(delegates: Sequence[DelegateFacts]) -> Iterator[str]:
    if not delegates:
        return
    yield f"    {amount(len(delegates), 'delegate')}"
    for one in delegates[:_MOST]:
        yield f"      {one.id}: {_delegate_data_text(one)}, {amount(one.calls, 'call')}"
        specs = ", ".join(f"{spec.key} ({amount(spec.size, 'byte')})" for spec in one.compile_specs[:_MOST])
        if specs:
            yield f"        compiled with {specs}" + ("".join(_rest(one.compile_specs, " ")))
    yield from _rest(delegates, "      ")


def _delegate_data_text(delegate: DelegateFacts) -> str:
    if delegate.location is None:
        return "no data"
    place = f"in segment {delegate.index}" if delegate.location == "segment" else "inside the program"
    if delegate.size is None:
        return f"data missing, said to be {place}"
    return f"{amount(delegate.size, 'byte')} {place}"


def _memory_lines(method: MethodFacts) -> Iterator[str]:
    buffers = [one for one in method.planned_memory if one.size]
    if not buffers:
        yield "    no planned memory"
    elif len(buffers) == 1:
        yield f"    planned memory: {amount(buffers[0].size, 'byte')} on {buffers[0].device}"
    else:
        total = amount(sum(one.size for one in buffers), "byte")
        yield f"    planned memory: {total} in {len(buffers):,} buffers"
        for one in buffers[:_MOST]:
            yield f"      buffer {one.memory_id}: {amount(one.size, 'byte')} on {one.device}"
        yield from _rest(buffers, "      ")


def _data_text(data: DataFacts) -> str:
    if not data.count:
        return "none"
    text = f"{data.count:,}, {amount(data.size, 'byte')}"
    if data.biggest is None or data.count == 1:
        return text + _of_text(data)
    return f"{text}, the biggest {amount(data.biggest, 'byte')}{_of_text(data)}"


def _of_text(data: DataFacts) -> str:
    if data.biggest_tensor is not None:
        return f" ({tensor_text(data.biggest_tensor)})"
    return f" ({data.biggest_name})" if data.biggest_name else ""


def _segment_lines(segments: Sequence[SegmentFacts], screen: Screen) -> Iterator[str]:
    yield ""
    yield screen.bold("  Segments") + "   at byte        bytes  holds"
    biggest = sorted(range(len(segments)), key=lambda number: -segments[number].size)[:_MOST]
    for number in sorted(biggest):
        one = segments[number]
        users = ", ".join(one.users[:3]) or "nothing that the program names"
        more = f" and {len(one.users) - 3:,} more" if len(one.users) > 3 else ""
        # An empty segment is nowhere, and in files without segment data its offset says nothing.
        start = f"{one.start:,}" if one.size else "-"
        yield f"    {number:>6} {start:>11} {one.size:>12,}  {users}{more}"
    if len(segments) > _MOST:
        yield f"    and {len(segments) - _MOST:,} smaller ones"


def _space_lines(facts: Inspected, screen: Screen) -> Iterator[str]:
    yield ""
    yield screen.bold("  What takes the space") + f"{'bytes':>26}"
    inside = [one for one in facts.space if one.in_program]
    beside = [one for one in facts.space if not one.in_program]
    total = facts.size or 1
    if inside:
        yield _space_line("program", sum(one.size for one in inside), total, "    ")
    for one in _by_size(inside):
        yield _space_line(one.name, one.size, total, "      ")
    for one in _by_size(beside):
        yield _space_line(one.name, one.size, total, "    ")
    yield f"    {'total':<32} {facts.size:>12,}"


def _by_size(space: Sequence[SpaceFacts]) -> list[SpaceFacts]:
    return sorted(space, key=lambda one: -one.size)


def _space_line(name: str, size: int, total: int, indent: str) -> str:
    share = size / total
    return f"{indent + name:<36} {size:>12,} {share:>6.1%} {'#' * round(share * _BAR)}".rstrip()
