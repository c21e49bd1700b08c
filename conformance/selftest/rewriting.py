"""Makes files that ``serialize`` refuses to make: valid ones with their program changed."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable
from typing import Any

from pte_reference import FileMap, MappedRange, Region, file_map, model, path_text
from pte_reference.container import ExtendedHeader, read_container
from pte_reference.encoding.build import encode_root
from pte_reference.encoding.decode import decode_root


def raw_program(data: bytes) -> model.Program:
    """The program as it stands in the file, layout included."""
    view = memoryview(data)
    container = read_container(view)
    program = decode_root(model.Program, view, container.program_start, container.program_end).root
    assert isinstance(program, model.Program)
    return program


def rewrite(data: bytes, change: Callable[[model.Program], model.Program]) -> bytes:
    """The file with ``change`` done to its program, and everything else as it was."""
    container = read_container(memoryview(data))
    encoded = encode_root(change(raw_program(data)), container.program_start, 16)
    body = b"".join(encoded.chunks)
    root = struct.pack("<I", encoded.root) + model.IDENTIFIER
    if container.header is None:
        return (root + body).ljust(64, b"\0")
    base = -(-encoded.end // 128) * 128
    header = ExtendedHeader(
        container.header.length, encoded.end, base, container.header.segment_data_size
    ).to_bytes()
    head = (root + header).ljust(container.program_start, b"\0")
    return (head + body).ljust(base, b"\0") + data[container.segment_base :]


def change_plan(data: bytes, **fields: Any) -> bytes:
    """The file with fields of its first plan replaced."""

    def change(program: model.Program) -> model.Program:
        assert program.execution_plan is not None
        first, *others = program.execution_plan
        return dataclasses.replace(program, execution_plan=(dataclasses.replace(first, **fields), *others))

    return rewrite(data, change)


def change_program(data: bytes, **fields: Any) -> bytes:
    """The file with fields of its program replaced."""
    return rewrite(data, lambda program: dataclasses.replace(program, **fields))


def poke(data: bytes, offset: int, patch: bytes) -> bytes:
    """The file with the bytes at ``offset`` overwritten."""
    assert offset + len(patch) <= len(data)
    return data[:offset] + patch + data[offset + len(patch) :]


def spot(data: bytes, region: Region, path: str) -> MappedRange:
    """The first range of a valid file with this use and path."""
    mapped: FileMap = file_map(data)
    assert mapped.complete
    for one in mapped.ranges:
        if one.region is region and path_text(one.path) == path:
            return one
    raise LookupError(f"no {region.value} at {path!r}; there are {mapped.ranges}")


def u32(number: int) -> bytes:
    """Four bytes, little-endian."""
    return struct.pack("<I", number & 0xFFFFFFFF)


def u64(number: int) -> bytes:
    """Eight bytes, little-endian."""
    return struct.pack("<Q", number & 0xFFFFFFFFFFFFFFFF)
