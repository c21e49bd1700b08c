"""Writers that lay files out wrongly, or misbehave."""

from __future__ import annotations

import dataclasses

from pte_conformance.adapter import Refused

from pte_reference import NamedBlob, PTEFile, WriterOptions, read
from pte_reference.requirements import writer
from selftest.liars.base import Liar
from selftest.rewriting import change_program


class FillsGapsWithRubbish(Liar):
    """Leaves what was in memory where padding should be."""

    breaks = (writer.PADDING_ZERO,)

    def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
        """A file in whose first gap a byte is not zero."""
        data = super().serialize(pte_file, options)
        layout = read(data).layout
        end = layout.container.program_end
        if layout.container.segment_base > end:
            return data[:end] + b"\xaa" + data[end + 1 :]
        return data


class WritesTooMuch(Liar):
    """Rounds the size of the file up."""

    breaks = (writer.NOTHING_BEHIND,)

    def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
        """A file with zeros at the end."""
        return super().serialize(pte_file, options) + bytes(64)


class ListsSegmentsBackwards(Liar):
    """Lists the last segment first."""

    breaks = (writer.SEGMENTS_SORTED,)

    def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
        """A file of named data whose segments are in the wrong order."""
        data = super().serialize(pte_file, options)
        layout = read(data).layout
        named = layout.named_data
        used = sorted({entry.segment_index for entry in named})
        # Writing the program again moves the segment base, which only absolute alignment minds.
        if len(used) < 2 or options.absolute_alignment:
            return data
        swap = {used[0]: used[-1], used[-1]: used[0]}
        count = len(layout.segments)
        segments = [layout.segments[swap.get(number, number)] for number in range(count)]
        entries = [
            dataclasses.replace(one, segment_index=swap.get(one.segment_index, one.segment_index))
            for one in named
        ]
        return change_program(data, segments=tuple(segments), named_data=tuple(entries))


class MiscountsItsData(Liar):
    """States one byte too many of segment data."""

    breaks = (writer.OUTPUT_VALID,)

    def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
        """A file whose header is wrong."""
        data = super().serialize(pte_file, options)
        header = read(data).layout.container.header
        if header is None or header.segment_data_size is None:
            return data
        return data[:32] + (header.segment_data_size + 1).to_bytes(8, "little") + data[40:]


class IgnoresSegmentAlignment(Liar):
    """Aligns segments to 16 bytes, whatever is asked for."""

    breaks = (writer.SEGMENT_ALIGNMENT, writer.NAMED_ALIGNMENT)

    def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
        """A file with segments on a grid of 16."""
        smaller = min(options.segment_alignment, 16)
        return super().serialize(pte_file, dataclasses.replace(options, segment_alignment=smaller))


class IgnoresConstantAlignment(Liar):
    """Packs constants without gaps."""

    breaks = (writer.CONSTANT_ALIGNMENT,)

    def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
        """A file with packed constants."""
        return super().serialize(pte_file, dataclasses.replace(options, constant_alignment=1))


class IgnoresDelegateAlignment(Liar):
    """Gives delegate data inside the program what the schema asks for, and no more."""

    breaks = (writer.DELEGATE_ALIGNMENT,)

    def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
        """A file with delegate data on a grid of 16."""
        return super().serialize(pte_file, dataclasses.replace(options, delegate_alignment=16))


class IgnoresWishes(Liar):
    """Forgets what alignment named blobs ask for."""

    breaks = (writer.NAMED_ALIGNMENT, writer.SHARED_ALIGNMENT)

    def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
        """A file with named blobs on the segment alignment."""
        named = {key: NamedBlob(one.data) for key, one in pte_file.named_data.items()}
        return super().serialize(dataclasses.replace(pte_file, named_data=named), options)


class HearsOnlyTheFirst(Liar):
    """Where keys share a blob, only the first key's wish counts, as in release 1.1.0 and later."""

    breaks = (writer.SHARED_ALIGNMENT,)

    def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
        """A file in which a shared blob suits its first key."""
        first: dict[bytes, int | None] = {}
        named = {
            key: NamedBlob(one.data, first.setdefault(bytes(one.data), one.alignment))
            for key, one in pte_file.named_data.items()
        }
        return super().serialize(dataclasses.replace(pte_file, named_data=named), options)


class NeverWritesTheSame(Liar):
    """Writes the header one way and then the other."""

    breaks = (writer.DETERMINISTIC,)

    def __init__(self) -> None:
        super().__init__()
        self._calls = 0

    def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
        """A short header every other time."""
        self._calls += 1
        length = (24, 32)[self._calls % 2]
        return super().serialize(pte_file, dataclasses.replace(options, header_length=length))


class EatsItsInput(Liar):
    """Empties the named data of the content that it writes."""

    breaks = (writer.INPUT_UNTOUCHED,)

    def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
        """The right file, once."""
        data = super().serialize(pte_file, options)
        if isinstance(pte_file.named_data, dict):
            pte_file.named_data.clear()
        return data


class WritesOneMethod(Liar):
    """Refuses programs of several methods."""

    breaks = (writer.CONTENT_WRITTEN,)

    def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
        """A file with one method."""
        if len(pte_file.program.execution_plan or ()) > 1:
            raise Refused("too many methods")
        return super().serialize(pte_file, options)


WRITERS: tuple[type[Liar], ...] = (
    FillsGapsWithRubbish,
    WritesTooMuch,
    ListsSegmentsBackwards,
    MiscountsItsData,
    IgnoresSegmentAlignment,
    IgnoresConstantAlignment,
    IgnoresDelegateAlignment,
    IgnoresWishes,
    HearsOnlyTheFirst,
    NeverWritesTheSame,
    EatsItsInput,
    WritesOneMethod,
)
