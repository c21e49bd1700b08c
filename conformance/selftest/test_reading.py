"""What ``deserialize`` gives back."""

from __future__ import annotations

import copy
import dataclasses
import mmap
import pickle
from pathlib import Path

import pytest

from pte_reference import (
    FormatError,
    PTEFile,
    Role,
    WriterOptions,
    deserialize,
    model,
    read,
    serialize,
)
from pte_reference.pte_file import NamedBlob
from pte_reference.requirements import program as rules
from selftest.broken_files import INLINE, SMALL, VALUES
from selftest.covering import COVERING, every_instruction, every_value, one_plan, smallest, tensor
from selftest.golden import GOLDEN
from selftest.rewriting import change_program


@pytest.mark.parametrize("name", COVERING)
def test_everything_comes_back(name: str) -> None:
    """Reading what was written gives the same content, for every table and field."""
    content = COVERING[name]
    assert deserialize(serialize(content)) == content.canonical()


@pytest.mark.parametrize("name", GOLDEN)
def test_a_golden_file_is_a_fixed_point(name: str) -> None:
    """Writing what was read and reading it again changes nothing."""
    content = deserialize(GOLDEN[name])
    written = serialize(content, WriterOptions(segment_alignment=1, constant_alignment=1))
    assert deserialize(serialize(content)).program == content.program
    assert (
        serialize(deserialize(written), WriterOptions(segment_alignment=1, constant_alignment=1)) == written
    )


def test_sources_of_all_kinds_give_the_same_content(tmp_path: Path) -> None:
    """Bytes, buffers, mapped files and paths."""
    path = tmp_path / "model.pte"
    path.write_bytes(VALUES)
    expected = deserialize(VALUES)
    with path.open("rb") as file:
        # Not closed by hand: the content's blobs are views of it.
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    for source in (mapped, bytearray(VALUES), memoryview(VALUES), path, str(path)):
        assert deserialize(source) == expected


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    """A path that leads nowhere is no finding about a file."""
    with pytest.raises(FileNotFoundError):
        deserialize(tmp_path / "missing.pte")


def test_an_empty_file_gives_a_finding(tmp_path: Path) -> None:
    """An empty file cannot be mapped, and is a broken file all the same."""
    path = tmp_path / "empty.pte"
    path.touch()
    with pytest.raises(FormatError, match="container/minimum-size"):
        deserialize(path)


def test_blobs_are_views_of_the_file() -> None:
    """No segment data is copied: changing the buffer changes the blob."""
    buffer = bytearray(serialize(every_value()))
    blob = deserialize(buffer).constants[1]
    assert isinstance(blob, memoryview)
    start = buffer.find(bytes(range(12)))
    buffer[start] = 99
    assert blob[0] == 99


def test_constants_have_the_length_that_their_tensors_tell() -> None:
    """12 bytes of three floats and 10 of five BFloat16, without the padding between."""
    blobs = deserialize(VALUES).constants
    assert [len(blob) for blob in blobs] == [0, 12, 10]


def test_a_constant_that_no_tensor_tells_about_reaches_to_the_next() -> None:
    """The format stores no length, so the padding is part of it."""
    content = PTEFile(one_plan(tensor(1, buffer=2)), constants=(b"", b"abc", b"1234"))
    assert [bytes(blob) for blob in deserialize(serialize(content)).constants] == [
        b"",
        b"abc".ljust(16, b"\0"),
        b"1234",
    ]


def test_a_constant_longer_than_its_tensors_loses_nothing() -> None:
    """Bytes behind the tensor's are kept unless they are padding."""
    content = PTEFile(
        one_plan(tensor(1, buffer=1), tensor(1, buffer=2)), constants=(b"", b"abcdefgh", b"1234")
    )
    assert bytes(deserialize(serialize(content)).constants[1]).rstrip(b"\0") == b"abcdefgh"


def test_old_files_give_the_same_content_as_new_ones() -> None:
    """Constants in constant_buffer and in constant_segment end up in one place."""
    old = deserialize(INLINE)
    assert [bytes(blob) for blob in old.constants] == [b"", b"abc"]
    assert deserialize(serialize(old)).constants == old.constants
    assert read(INLINE).layout.constants_inline
    assert not read(serialize(old)).layout.constants_inline


def test_the_program_of_the_result_holds_no_layout() -> None:
    """Segments and what refers to them are beside it."""
    program = deserialize(VALUES).program
    assert (program.segments, program.constant_buffer, program.backend_delegate_data) == ((), (), ())
    assert (program.constant_segment, program.mutable_data_segments, program.named_data) == (None,) * 3


def test_the_layout_tells_where_things_are() -> None:
    """Header, segments and keys as the file has them."""
    layout = read(VALUES).layout
    assert layout.container.header is not None
    assert layout.container.header.length == 32
    assert [entry.key for entry in layout.named_data] == ["weights", "bias"]
    start = layout.segment_start(layout.named_data[0].segment_index)
    assert VALUES[start : start + 5] == b"named"


def test_the_alignment_of_named_data_is_inferred_from_its_offset() -> None:
    """So that a blob asked for at 4096 stays there when the file is written again."""
    content = PTEFile(one_plan(), named_data={"a": NamedBlob(b"x" * 300, 16), "b": NamedBlob(b"y", 4096)})
    file = serialize(content)
    again = deserialize(file)
    assert again.named_data["b"].alignment == 4096
    assert serialize(again) == file


def test_delegates_come_in_the_order_of_their_first_use() -> None:
    """Equal blobs are one entry."""
    content = deserialize(serialize(every_instruction()))
    assert [bytes(blob) for blob in content.delegate_data] == [b"first delegate", b"second"]
    swapped = dataclasses.replace(every_instruction(), delegate_data=(b"same", b"same"))
    plans = deserialize(serialize(swapped)).program.execution_plan or ()
    assert [one.processed.index for one in plans[0].delegates or () if one.processed] == [0, 0, 0]


def test_further_mutable_segments_come_back() -> None:
    """Files may have more than the one mutable segment that releases write."""
    extra = model.ExtraTensorInfo(mutable_data_segments_idx=1)
    state = model.Tensor(
        sizes=(2,),
        dim_order=(0,),
        data_buffer_idx=1,
        allocation_info=model.AllocationDetails(1),
        extra_tensor_info=extra,
    )
    content = PTEFile(
        one_plan(model.EValue(state), non_const_buffer_sizes=(0, 8)),
        further_mutable_data=((b"", b"ab", b"c"),),
    )
    assert deserialize(serialize(content)) == content


def test_a_reader_accepts_what_only_loaders_must_refuse() -> None:
    """A newer version is decoded for a reader and refused for a loader."""
    newer = change_program(SMALL, version=7)
    assert deserialize(newer).program.version == 7
    with pytest.raises(FormatError) as caught:
        deserialize(newer, role=Role.LOADER)
    assert [one.requirement for one in caught.value.findings] == [rules.VERSION]


def test_the_error_says_what_and_where() -> None:
    """Requirement, path, byte offset and numbers are in the text."""
    with pytest.raises(FormatError) as caught:
        deserialize(VALUES[:-1])
    text = str(caught.value)
    assert "container/segment-within-file at segments[3], byte" in text
    assert f"the file has {len(VALUES) - 1} bytes" in text


def test_the_old_kind_of_program_has_everything_inside() -> None:
    """As before release 1.1.0: constants and delegates are in the Program."""
    program = deserialize(VALUES).as_program()
    assert [bytes(one.storage or b"") for one in program.constant_buffer or ()] == [
        b"",
        bytes(range(12)),
        bytes(range(10)),
    ]
    inside = deserialize(serialize(every_instruction())).as_program()
    assert [bytes(one.data or b"") for one in inside.backend_delegate_data or ()] == [
        b"first delegate",
        b"second",
    ]


def test_nothing_is_not_the_same_as_empty_entries() -> None:
    """A list of entries that are all empty survives; the placeholder alone is no entry."""
    content = deserialize(serialize(COVERING["only_empty_blobs"]))
    assert content.constants == content.mutable_data == (b"", b"")
    assert deserialize(serialize(smallest())).mutable_data == (b"",)
    assert PTEFile(one_plan()) == PTEFile(one_plan(), constants=(), mutable_data=())


def test_owned_content_is_free_of_the_file() -> None:
    """It is equal, holds no views, and can be pickled and copied."""
    for data in (VALUES, serialize(every_instruction())):
        content = deserialize(data)
        owned = content.owned()
        assert owned == content
        assert pickle.loads(pickle.dumps(owned)) == copy.deepcopy(owned) == content
