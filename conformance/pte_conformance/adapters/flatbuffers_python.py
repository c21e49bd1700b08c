"""The adapter ``flatbuffers-python``: the official runtime, used as its documents tell.

An independent second implementation in plain code: header and segments as FORMAT facts
describe them, the program part by classes that ``flatc`` generated. It reads and writes
valid files rightly. It looks at the identifier, the header's magic and sizes, and at
nothing else, so it also shows what a reader of this kind lets through; the runtime has no
verifier, and whatever it trips over deeper down comes out as it is.
"""

from __future__ import annotations

import dataclasses
import math
import struct
from collections.abc import Iterable
from importlib import metadata

from pte_conformance.adapter import Adapter, AdapterInfo, AdapterUnavailable, Capability, Refused
from pte_reference import PTEFile, Role, WriterOptions, model
from pte_reference.pte_file import NamedBlob
from pte_reference.schema import Blob

HEADER_MAGIC = b"eh00"
HEADER_POSITION = 8
SHORT_HEADER = 24
FULL_HEADER = 32


class FlatbuffersPython(Adapter):
    """The official ``flatbuffers`` runtime with classes generated from the printed schema.

    A child process is asked for although nothing is native: a small file in which many
    places share a table unfolds to a very large program.
    """

    install = "pip install flatbuffers"

    def __init__(self) -> None:
        try:
            from pte_conformance.adapters import (  # noqa: PLC0415  (that it may be missing is the point)
                flatbuffers_reading,
                flatbuffers_writing,
            )
        except ImportError as error:
            raise AdapterUnavailable("flatbuffers-python", str(error), self.install) from error
        self._read_program = flatbuffers_reading.read_program
        self._write_program = flatbuffers_writing.write_program
        version = metadata.version("flatbuffers")
        self.info = AdapterInfo(
            name="flatbuffers-python",
            version=version,
            capabilities=frozenset({Capability.SERIALIZE, Capability.DESERIALIZE}),
            roles=frozenset({Role.READER, Role.WRITER}),
            dependencies={"flatbuffers": version},
            not_preserved={"named_data.alignment": "the format does not store it, and nothing is inferred"},
        )

    def deserialize(self, data: bytes) -> PTEFile:
        """The content of ``data``; every blob is a copy.

        Raises:
            Refused: the identifier, the header or the sizes are wrong.
        """
        program_size, base = _read_header(data)
        program = self._read_program(data[:program_size])
        segments = [
            data[base + segment.offset : base + segment.offset + segment.size]
            for segment in program.segments or ()
        ]
        return _content(program, segments)

    def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
        """The file for this content, written with these knobs."""
        segments = _Segments(options.segment_alignment)
        program = _laid_out(pte_file, options, segments)
        encoded = self._write_program(program, options.delegate_alignment)
        if not segments.data:
            return encoded
        inserted = _padded(options.header_length, math.lcm(16, options.delegate_alignment))
        base_alignment = options.segment_alignment
        if any(pte_file.constants):
            base_alignment = math.lcm(base_alignment, options.constant_alignment)
        if options.absolute_alignment:
            base_alignment = math.lcm(base_alignment, *segments.alignments)
        program_size = len(encoded) + inserted
        base = _padded(program_size, base_alignment)
        header = struct.pack("<4sIQQ", HEADER_MAGIC, options.header_length, program_size, base)
        if options.header_length >= FULL_HEADER:
            header += struct.pack("<Q", len(segments.data))
        (root,) = struct.unpack_from("<I", encoded)
        file = struct.pack("<I", root + inserted) + encoded[4:HEADER_POSITION]
        file += header.ljust(inserted, b"\0") + encoded[HEADER_POSITION:]
        return file.ljust(base, b"\0") + segments.data


ADAPTER = FlatbuffersPython


def _read_header(data: bytes) -> tuple[int, int]:
    """The size of the program part and the segment base.

    Raises:
        Refused: not the identifier of a program, or sizes beyond the file.
    """
    if data[4:8] != model.IDENTIFIER:
        raise Refused(f"the file identifier is {data[4:8]!r}, not {model.IDENTIFIER!r}")
    if data[8:12] != HEADER_MAGIC:
        return len(data), 0
    if len(data) < HEADER_POSITION + SHORT_HEADER:
        raise Refused("the file ends inside the extended header")
    length, program_size, base = struct.unpack_from("<IQQ", data, 12)
    if length < SHORT_HEADER:
        raise Refused(f"the extended header claims {length} bytes")
    segments_size = 0
    if length >= FULL_HEADER and len(data) >= HEADER_POSITION + FULL_HEADER:
        (segments_size,) = struct.unpack_from("<Q", data, 32)
    if max(program_size, base + segments_size) > len(data):
        raise Refused(f"the header speaks of more than the file's {len(data)} bytes")
    return program_size, base


def _content(program: model.Program, segments: list[bytes]) -> PTEFile:
    """What a program with layout and its segments hold."""
    mutable = [_split(entry, segments) for entry in program.mutable_data_segments or ()]
    if program.constant_segment is not None and program.constant_segment.offsets:
        constants = _split(program.constant_segment, segments)
        _cut_padding(constants, program.constant_segment.offsets, _tensor_lengths(program))
    else:
        constants = [bytes(buffer.storage or b"") for buffer in program.constant_buffer or ()]
    delegate_data, plans = _collect_delegates(program, segments)
    return PTEFile(
        program=model.Program(version=program.version, execution_plan=plans),
        constants=tuple(constants),
        mutable_data=tuple(mutable[0]) if mutable else (),
        named_data={
            str(entry.key): NamedBlob(segments[entry.segment_index]) for entry in program.named_data or ()
        },
        delegate_data=tuple(delegate_data),
        further_mutable_data=tuple(tuple(blobs) for blobs in mutable[1:]),
    )


def _split(entry: model.SubsegmentOffsets, segments: list[bytes]) -> list[bytes]:
    """The blobs of a segment, each up to where the next one begins."""
    starts = list(entry.offsets or ())
    segment = segments[entry.segment_index]
    ends = [*starts[1:], len(segment)]
    return [segment[start:end] for start, end in zip(starts, ends, strict=True)]


def _cut_padding(constants: list[bytes], offsets: tuple[int, ...], lengths: dict[int, int]) -> None:
    """Takes the padding between constants away, where the tensors tell how long they are.

    More than the alignment needs, or anything but zeros, is data that no tensor asks for;
    behind the last constant there is no padding.
    """
    step = math.gcd(*offsets)
    alignment = step & -step
    for index, blob in enumerate(constants[:-1]):
        length = lengths.get(index, 0)
        if length > 0 and len(blob) - length < alignment and not any(blob[length:]):
            constants[index] = blob[:length]


def _tensor_lengths(program: model.Program) -> dict[int, int]:
    """How many bytes of each constant its tensors use: the file itself does not say."""
    lengths: dict[int, int] = {}
    for plan in program.execution_plan or ():
        for value in plan.values or ():
            tensor = value.val
            if not isinstance(tensor, model.Tensor) or tensor.allocation_info is not None:
                continue
            extra = tensor.extra_tensor_info
            if extra is not None and extra.location == model.TensorDataLocation.EXTERNAL:
                continue
            element = model.ELEMENT_SIZES.get(tensor.scalar_type, 0)
            length = math.prod(tensor.sizes or ()) * element
            index = tensor.data_buffer_idx
            lengths[index] = max(length, lengths.get(index, 0))
    return lengths


def _collect_delegates(
    program: model.Program, segments: list[bytes]
) -> tuple[list[bytes], tuple[model.ExecutionPlan, ...] | None]:
    """The delegates' data, equal blobs once, and the plans that refer to that list."""
    inline = [bytes(entry.data or b"") for entry in program.backend_delegate_data or ()]
    places: dict[bytes, int] = {}

    def moved(delegate: model.BackendDelegate) -> model.BackendDelegate:
        processed = delegate.processed
        if processed is None:
            return delegate
        source = segments if processed.location == model.DataLocation.SEGMENT else inline
        index = places.setdefault(source[processed.index], len(places))
        return dataclasses.replace(delegate, processed=model.BackendDelegateDataReference(index=index))

    if program.execution_plan is None:
        plans = None
    else:
        plans = tuple(
            _with_delegates(plan, map(moved, plan.delegates or ())) for plan in program.execution_plan
        )
    for blob in inline:
        places.setdefault(blob, len(places))
    return list(places), plans


def _with_delegates(
    plan: model.ExecutionPlan, delegates: Iterable[model.BackendDelegate]
) -> model.ExecutionPlan:
    if plan.delegates is None:
        return plan
    return dataclasses.replace(plan, delegates=tuple(delegates))


def _padded(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


class _Segments:
    """The segment area while it grows, and the list that describes it."""

    def __init__(self, alignment: int) -> None:
        self.data = b""
        self.entries: list[model.DataSegment] = []
        self.alignments: list[int] = [1]
        self._alignment = alignment

    def add(self, blob: bytes, alignment: int = 1) -> int:
        """Appends a segment on a multiple of both alignments; returns its index."""
        offset = _padded(len(self.data), math.lcm(self._alignment, alignment))
        self.data = self.data.ljust(offset, b"\0") + blob
        self.entries.append(model.DataSegment(offset, len(blob)))
        self.alignments.append(alignment)
        return len(self.entries) - 1

    def add_list(self, blobs: Iterable[Blob], alignment: int) -> model.SubsegmentOffsets:
        """Appends one segment that holds ``blobs`` one after the other, each aligned."""
        joined = b""
        offsets = []
        for blob in blobs:
            joined = joined.ljust(_padded(len(joined), alignment), b"\0")
            offsets.append(len(joined))
            joined += bytes(blob)
        return model.SubsegmentOffsets(self.add(joined, alignment), tuple(offsets))


def _laid_out(pte_file: PTEFile, options: WriterOptions, segments: _Segments) -> model.Program:
    """The program with its layout fields, its data being put into ``segments``."""
    constants = segments.add_list(pte_file.constants, options.constant_alignment)
    mutable_lists = [pte_file.mutable_data, *pte_file.further_mutable_data]
    if mutable_lists == [(b"",)]:
        mutable_lists = []
    mutable = tuple(segments.add_list(blobs, 1) for blobs in mutable_lists)
    plans, inline = _place_delegates(pte_file, options, segments)
    named = _place_named_data(pte_file, segments)
    return dataclasses.replace(
        pte_file.program,
        execution_plan=plans,
        backend_delegate_data=tuple(model.BackendDelegateInlineData(blob) for blob in inline),
        constant_segment=constants,
        mutable_data_segments=mutable or None,
        named_data=named or None,
        segments=tuple(segments.entries),
    )


def _place_delegates(
    pte_file: PTEFile, options: WriterOptions, segments: _Segments
) -> tuple[tuple[model.ExecutionPlan, ...] | None, list[bytes]]:
    """The plans with final references, and the blobs that stay inside the program.

    Blobs that no delegate uses stay there too: a segment that nothing names is lost.
    """
    inline: dict[bytes, int] = {}
    placed: dict[bytes, int] = {}

    def reference(index: int) -> model.BackendDelegateDataReference:
        blob = bytes(pte_file.delegate_data[index])
        if not (options.delegates_in_segments and blob):
            at = inline.setdefault(blob, len(inline))
            return model.BackendDelegateDataReference(model.DataLocation.INLINE, at)
        if blob not in placed:
            placed[blob] = segments.add(blob)
        return model.BackendDelegateDataReference(model.DataLocation.SEGMENT, placed[blob])

    def moved(delegate: model.BackendDelegate) -> model.BackendDelegate:
        if delegate.processed is None:
            return delegate
        return dataclasses.replace(delegate, processed=reference(delegate.processed.index))

    plans = pte_file.program.execution_plan
    if plans is not None:
        plans = tuple(_with_delegates(plan, map(moved, plan.delegates or ())) for plan in plans)
    for blob in map(bytes, pte_file.delegate_data):
        if blob not in placed:
            inline.setdefault(blob, len(inline))
    return plans, list(inline)


def _place_named_data(pte_file: PTEFile, segments: _Segments) -> tuple[model.NamedData, ...]:
    """The named entries; equal blobs share a segment that suits the wishes of all keys."""
    alignments: dict[bytes, int] = {}
    for named in pte_file.named_data.values():
        blob = bytes(named.data)
        alignments[blob] = math.lcm(alignments.get(blob, 1), named.alignment or 1)
    placed = {blob: segments.add(blob, alignment) for blob, alignment in alignments.items()}
    return tuple(
        model.NamedData(key, placed[bytes(named.data)]) for key, named in pte_file.named_data.items()
    )
