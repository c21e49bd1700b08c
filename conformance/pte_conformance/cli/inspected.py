"""All that ``inspect`` tells of one file."""

from __future__ import annotations

from dataclasses import dataclass, field

from pte_conformance.cli.data_facts import (
    DataFacts,
    SegmentFacts,
    SpaceFacts,
    data_facts,
    external_tensors,
    segment_facts,
    space_facts,
)
from pte_conformance.cli.method_facts import MethodFacts, method_facts
from pte_reference import Finding, FormatError, check, file_map
from pte_reference.container import Container, ExtendedHeader, read_container
from pte_reference.encoding.decode import decode_root
from pte_reference.encoding.sites import Breach
from pte_reference.model import Program


@dataclass(frozen=True, slots=True)
class ProgramFacts:
    """What the program says.

    Attributes:
        version: the version of the schema.
        methods: its methods.
        data: the kinds of data.
        external_tensors: how many tensors have their data in a ``.ptd`` file.
        segments: its segments.
    """

    version: int
    methods: tuple[MethodFacts, ...]
    data: tuple[DataFacts, ...]
    external_tensors: int
    segments: tuple[SegmentFacts, ...]


@dataclass(frozen=True, slots=True)
class Inspected:
    """What can be told of a file, broken or not.

    Attributes:
        size: its bytes.
        identifier: bytes 4 to 7, as text.
        header: the extended header, None without one or where it is broken.
        program: None where the program cannot be decoded.
        space: what each byte is for, added up; the sizes make up the file's.
        findings: the breaches of MUST.
    """

    size: int
    identifier: str
    header: ExtendedHeader | None
    program: ProgramFacts | None
    space: tuple[SpaceFacts, ...]
    findings: tuple[Finding, ...] = field(default=())


def inspected(data: memoryview, max_tables: int) -> Inspected:
    """Everything that can be told of a file."""
    container, program = _decoded(data, max_tables)
    findings = [one for one in check(data, max_tables=max_tables) if one.is_breach]
    space = space_facts(program, container, file_map(data, max_tables=max_tables))
    return Inspected(
        len(data),
        bytes(data[4:8]).decode("latin-1"),
        container.header if container else None,
        _program_facts(program, container) if program and container else None,
        tuple(space),
        tuple(findings),
    )


def _decoded(data: memoryview, max_tables: int) -> tuple[Container | None, Program | None]:
    try:
        container = read_container(data)
    except FormatError:
        return None, None
    start, end = container.program_start, container.program_end
    try:
        return container, decode_root(Program, data, start, end, max_tables=max_tables).root
    except Breach:
        return container, None


def _program_facts(program: Program, container: Container) -> ProgramFacts:
    return ProgramFacts(
        program.version,
        method_facts(program),
        data_facts(program),
        external_tensors(program),
        segment_facts(program, container),
    )
