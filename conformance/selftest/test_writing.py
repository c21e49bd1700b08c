"""What ``serialize`` writes, and what it refuses to write."""

from __future__ import annotations

import array
import copy
import dataclasses
import io
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from pte_reference import (
    AlignmentError,
    ContentError,
    FieldValueError,
    HeaderLengthError,
    LayoutInProgramError,
    PTEFile,
    WriteError,
    WriterOptions,
    check,
    deserialize,
    model,
    read,
    serialize,
    write,
)
from pte_reference.pte_file import NamedBlob
from selftest.covering import COVERING, every_instruction, every_value, one_plan, smallest, tensor

ALIGNMENTS = (1, 2, 8, 16, 64, 128, 1024, 4096, 65536)


@pytest.mark.parametrize("name", COVERING)
def test_the_same_content_gives_the_same_bytes(name: str) -> None:
    """Also from a copy that shares no object with the first, so sharing has no say."""
    content = COVERING[name]
    assert serialize(content) == serialize(content) == serialize(copy.deepcopy(content))


@pytest.mark.parametrize("name", COVERING)
def test_the_content_is_not_modified(name: str) -> None:
    """Writing leaves what it was given as it was."""
    content = COVERING[name]
    before = copy.deepcopy(content)
    serialize(content)
    assert content == before


@pytest.mark.parametrize("name", COVERING)
def test_streaming_gives_the_same_bytes(name: str) -> None:
    """``write`` puts into a file what ``serialize`` returns, and counts it."""
    file = io.BytesIO()
    size = write(COVERING[name], file)
    assert file.getvalue() == serialize(COVERING[name])
    assert size == len(file.getvalue())


def test_streaming_does_not_copy_blobs() -> None:
    """The writer hands over the caller's own objects."""
    blob = b"x" * 5000

    seen: list[Any] = []

    class Recorder(io.BytesIO):
        def write(self, chunk: Any) -> int:
            seen.append(chunk)
            return len(chunk)

    write(PTEFile(one_plan(), named_data={"a": NamedBlob(blob)}), Recorder())
    assert any(chunk.obj is blob for chunk in seen)


def test_nothing_is_written_when_the_content_is_refused() -> None:
    """All checks come before the first byte."""
    file = io.BytesIO()
    with pytest.raises(ContentError):
        write(PTEFile(one_plan(inputs=(3,))), file)
    assert file.getvalue() == b""


@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_segments_are_aligned_in_the_file(alignment: int) -> None:
    """Every segment, and so the base, at a multiple of the knob."""
    layout = read(serialize(every_value(), WriterOptions(segment_alignment=alignment))).layout
    starts = [layout.segment_start(number) for number in range(len(layout.segments))]
    assert all(start % alignment == 0 for start in starts)


@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_constants_are_aligned_in_the_file(alignment: int) -> None:
    """Also beyond the segment alignment."""
    layout = read(serialize(every_value(), WriterOptions(constant_alignment=alignment))).layout
    assert layout.constant_segment is not None
    base = layout.segment_start(layout.constant_segment.segment_index)
    assert all((base + offset) % alignment == 0 for offset in layout.constant_segment.offsets or ())


@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_inline_delegates_are_aligned_in_the_file(alignment: int) -> None:
    """At the knob's multiple, and never less than the schema's 16."""
    options = WriterOptions(delegates_in_segments=False, delegate_alignment=alignment)
    file = serialize(every_instruction(), options)
    assert read(file).layout.segments == (model.DataSegment(0, 0),)
    assert file.find(b"first delegate") % max(alignment, 16) == 0


def _named_starts(options: WriterOptions, *wishes: tuple[bytes, int]) -> tuple[int, list[int]]:
    named = {f"key {number}": NamedBlob(*wish) for number, wish in enumerate(wishes)}
    layout = read(serialize(PTEFile(one_plan(), named_data=named), options)).layout
    return layout.container.segment_base, [
        layout.segments[entry.segment_index].offset for entry in layout.named_data
    ]


@pytest.mark.parametrize("order", [(16, 4096), (4096, 16)])
def test_keys_that_share_a_blob_get_all_that_they_ask_for(order: tuple[int, int]) -> None:
    """The least common multiple of the requests, whichever comes first."""
    first, second = order
    wishes = ((b"x" * 300, 1), (b"shared", first), (b"shared", second))
    _, (_, one, other) = _named_starts(WriterOptions(), *wishes)
    assert one == other
    assert one % 4096 == 0


def test_large_alignments_hold_from_the_base_and_on_request_in_the_file() -> None:
    """As in all releases by default; absolutely with the option."""
    wish = (b"x", 65536)
    base, offsets = _named_starts(WriterOptions(), (b"y", 1), wish)
    assert offsets[1] % 65536 == 0
    assert base % 65536
    base, offsets = _named_starts(WriterOptions(absolute_alignment=True), (b"y", 1), wish)
    assert (base + offsets[1]) % 65536 == 0


def test_equal_blobs_share_a_segment() -> None:
    """Named data under two keys, and delegates with equal data, are stored once."""
    content = dataclasses.replace(
        every_instruction(),
        delegate_data=(b"same data", b"same data"),
        named_data={"a": NamedBlob(b"once only"), "b": NamedBlob(b"once only")},
    )
    file = serialize(content)
    assert file.count(b"same data") == file.count(b"once only") == 1


def test_a_header_of_24_bytes_says_no_data_size() -> None:
    """As releases before 1.0.0 wrote it."""
    header = read(serialize(every_value(), WriterOptions(header_length=24))).layout.container.header
    assert header is not None
    assert (header.length, header.segment_data_size) == (24, None)


def test_no_header_without_segment_data() -> None:
    """A header with nothing behind it would be misleading."""
    assert read(serialize(smallest())).layout.container.header is None


def test_no_file_is_too_short_for_a_loader() -> None:
    """Upstream reads 64 bytes to look for the header and refuses less."""
    file = serialize(PTEFile(model.Program()))
    assert len(file) >= 64
    assert check(file) == []


@pytest.mark.parametrize("alignment", [0, 3, -16, 24, 2**31])
@pytest.mark.parametrize("knob", ["segment_alignment", "constant_alignment", "delegate_alignment"])
def test_an_alignment_that_is_no_power_of_two_is_refused(knob: str, alignment: int) -> None:
    """The error is a ValueError and names the knob."""
    with pytest.raises(AlignmentError, match=knob) as caught:
        WriterOptions(**{knob: alignment})  # type: ignore[arg-type]
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("alignment", [0, 3, -16])
def test_an_alignment_of_named_data_that_is_no_power_of_two_is_refused(alignment: int) -> None:
    """The error names the key."""
    with pytest.raises(AlignmentError, match=r"named_data\['weights'\]"):
        serialize(PTEFile(one_plan(), named_data={"weights": NamedBlob(b"", alignment)}))


def test_a_header_length_of_no_release_is_refused() -> None:
    """Only 24 and 32 have ever been written."""
    with pytest.raises(HeaderLengthError, match="28"):
        WriterOptions(header_length=28)


REFUSED: dict[str, tuple[PTEFile, type[WriteError], str]] = {
    "input out of range": (PTEFile(one_plan(inputs=(1,))), ContentError, r"inputs\[0\]"),
    "memory that was not planned": (
        PTEFile(one_plan(tensor(1, planned_at=0))),
        ContentError,
        "memory_id",
    ),
    "device of no buffer": (
        PTEFile(one_plan(non_const_buffer_device=(model.NonConstBufferDevice(9),))),
        ContentError,
        "buffer_idx",
    ),
    "method names twice": (
        PTEFile(model.Program(execution_plan=(one_plan().execution_plan or ()) * 2)),
        ContentError,
        "method-names-unique",
    ),
    "constant that is not there": (PTEFile(one_plan(tensor(1, buffer=1))), ContentError, "data_buffer_idx"),
    "constant too short": (
        PTEFile(one_plan(tensor(2, buffer=1)), constants=(b"", b"1234")),
        ContentError,
        "constant-holds-tensor",
    ),
    "delegate that is not there": (
        dataclasses.replace(every_instruction(), delegate_data=(b"one",)),
        ContentError,
        r"delegates\[1\].processed",
    ),
    "needed field absent": (PTEFile(one_plan(delegates=None)), ContentError, "needed-field-present"),
    "value without content": (PTEFile(one_plan(model.EValue())), ContentError, r"values\[0\].val"),
    "layout in the program": (
        PTEFile(model.Program(constant_buffer=(model.Buffer(b"abc"),))),
        LayoutInProgramError,
        "constant_buffer",
    ),
    "number too large": (
        PTEFile(one_plan(model.EValue(model.Int(2**63)))),
        FieldValueError,
        r"values\[0\].val.int_val is 9223372036854775808",
    ),
    "text for a number": (
        PTEFile(one_plan(model.EValue(model.Int("5")))),  # type: ignore[arg-type]
        FieldValueError,
        r"int_val is '5'",
    ),
    "wrong kind of table": (
        PTEFile(one_plan(model.EValue(model.Operator()))),  # type: ignore[arg-type]
        FieldValueError,
        r"values\[0\].val is Operator",
    ),
    "lone surrogate": (
        PTEFile(one_plan(model.EValue(model.String("\ud800")))),
        FieldValueError,
        "UTF-8",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_content_that_makes_no_sense_is_refused(name: str) -> None:
    """The error is a ValueError that names the place."""
    content, error, text = REFUSED[name]
    with pytest.raises(error, match=text) as caught:
        serialize(content)
    assert isinstance(caught.value, ValueError)


def test_large_blobs_are_not_held_twice(tmp_path: Path) -> None:
    """Streaming 64 MiB of constants takes less than 2 MiB besides them, and reading too."""
    blob = bytes(64 * 2**20)
    content = PTEFile(one_plan(tensor(len(blob), scalar_type=0, buffer=1)), constants=(b"", blob))
    path = tmp_path / "large.pte"
    tracemalloc.start()
    try:
        with path.open("wb") as file:
            write(content, file)
        assert tracemalloc.get_traced_memory()[1] < 2 * 2**20
    finally:
        tracemalloc.stop()
    tracemalloc.start()
    try:
        assert len(deserialize(path).constants[1]) == len(blob)
        assert tracemalloc.get_traced_memory()[1] < 2 * 2**20
    finally:
        tracemalloc.stop()


def test_buffers_of_other_element_types_are_their_bytes() -> None:
    """What counts is bytes, not elements."""
    numbers: Any = array.array("I", [1, 2, 3])
    content = PTEFile(one_plan(), named_data={"a": NamedBlob(numbers)}, delegate_data=(numbers,))
    assert bytes(deserialize(serialize(content)).named_data["a"].data) == numbers.tobytes()
    setting = model.CompileSpec("a", numbers)
    reference = model.BackendDelegateDataReference()
    program = one_plan(delegates=(model.BackendDelegate("A", reference, (setting,)),))
    assert check(serialize(dataclasses.replace(content, program=program))) == []


@pytest.mark.parametrize("blob", ["text", 5, None, [1], memoryview(b"abcd")[::2]])
def test_a_blob_that_is_no_buffer_is_refused(blob: Any) -> None:
    """Where the content is made, with the place."""
    with pytest.raises(FieldValueError, match=r"constants\[1\] is a"):
        PTEFile(one_plan(), constants=(b"", blob))


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"name": 3}, "name is 3"),
        ({"inputs": (None,)}, r"inputs\[0\] is None"),
        ({"values": (model.Int(3),)}, r"values\[0\] is Int"),
        ({"values": (None,)}, r"values\[0\] is None"),
    ],
)
def test_content_of_the_wrong_type_is_named(fields: dict[str, Any], place: str) -> None:
    """Also where a check would stumble over it before it is packed."""
    with pytest.raises(FieldValueError, match=place):
        serialize(PTEFile(one_plan(**{"values": (), **fields})))


def test_only_a_ptefile_is_written() -> None:
    """A Program is what older releases took."""
    with pytest.raises(FieldValueError, match="not a Program"):
        serialize(one_plan())  # type: ignore[arg-type]


def test_files_that_take_few_bytes_at_a_time_get_them_all() -> None:
    """As unbuffered files may."""
    taken = bytearray()

    class Slow(io.BytesIO):
        def write(self, chunk: Any) -> int:
            taken.extend(chunk[:7])
            return min(len(chunk), 7)

    assert write(every_value(), Slow()) == len(taken)
    assert bytes(taken) == serialize(every_value())


def test_many_blobs_of_one_length_are_told_apart_once_each() -> None:
    """20,000 that begin alike: 200 million comparisons if each met every other."""
    blobs = {str(number): NamedBlob(bytes(200) + number.to_bytes(4, "big")) for number in range(20_000)}
    content = deserialize(serialize(PTEFile(one_plan(), named_data=blobs)))
    assert content.named_data == blobs
