"""The ``executorch-python`` adapter converts without loss and shows what upstream loses."""

from __future__ import annotations

import dataclasses
import math
import struct
from pathlib import Path
from typing import Any

import pytest
from pte_conformance.adapter import AdapterUnavailable, NotSupported, Refused
from pte_conformance.adapters.executorch_python import ExecutorchPython
from pte_conformance.adapters.flatbuffers_python import FlatbuffersPython
from pte_corpus import root

from pte_reference import PTEFile, WriterOptions, deserialize, model, serialize
from pte_reference.pte_file import NamedBlob
from selftest.covering import COVERING, every_instruction, every_value, one_plan, tensor

pytestmark = pytest.mark.real

GOLDEN = sorted((root() / "golden").glob("*/*.pte"))
GOLDEN_IDS = [f"{path.parent.name}/{path.stem}" for path in GOLDEN]

STALE = {"program.segments", "program.constant_segment"}
"""Layout that upstream's reader leaves in the program of a file without extended header."""

LOST_IN_READING = {
    "only_empty_blobs": {
        "constants",
        "mutable_data",
        "named_data",
        # The entries that it restored nothing from are still there.
        "program.mutable_data_segments",
        "program.named_data",
    },
}
"""What upstream's reader loses of right files: fields by content."""

LOST_IN_WRITING = {
    "awkward_numbers": {"program.execution_plan"},
    "empty_blobs": {"mutable_data"},
    "only_empty_blobs": {"mutable_data"},
}
"""What upstream's writer loses of right content: fields by content."""

OPTIONS = {
    "defaults": WriterOptions(),
    "all inline": WriterOptions(delegates_in_segments=False, delegate_alignment=64),
    "wide": WriterOptions(segment_alignment=256, constant_alignment=64),
}

each_content = pytest.mark.parametrize("name", COVERING)
each_options = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
each_golden = pytest.mark.parametrize("path", GOLDEN, ids=GOLDEN_IDS)


@pytest.fixture(name="upstream", scope="module")
def _upstream() -> ExecutorchPython:
    try:
        return ExecutorchPython()
    except AdapterUnavailable as reason:
        pytest.skip(str(reason))


@each_content
def test_conversion_there_and_back(upstream: ExecutorchPython, name: str) -> None:
    """Our content as upstream's dataclasses and back is the same content."""
    assert upstream.from_upstream(upstream.to_upstream(COVERING[name])) == COVERING[name]


@each_golden
def test_conversion_back_and_there(upstream: ExecutorchPython, path: Path) -> None:
    """What upstream reads from a golden file survives the way through our classes."""
    read = upstream._program.deserialize_pte_binary(path.read_bytes())
    converted = upstream.to_upstream(upstream.from_upstream(read))
    # Our lists say in one way what upstream's can say in two: no constants, no named data.
    read.program.constant_buffer = read.program.constant_buffer or converted.program.constant_buffer
    read.program.named_data = read.program.named_data or None
    assert converted.program == read.program
    assert converted.mutable_data == read.mutable_data
    assert _named(converted) == _named(read)


@each_content
@each_options
def test_reads_the_references_files(upstream: ExecutorchPython, name: str, options: WriterOptions) -> None:
    """Upstream reads from the reference's files all but what it is known to lose."""
    content = COVERING[name]
    data = serialize(content, options)
    assert _differences(_read(upstream, data, content), content) == _lost_in_reading(name, data)


@each_content
@each_options
def test_reads_the_flatbuffers_adapters_files(
    upstream: ExecutorchPython, name: str, options: WriterOptions
) -> None:
    """Upstream reads the same from files of the plain writer."""
    content = COVERING[name]
    data = FlatbuffersPython().serialize(content, options)
    assert _differences(_read(upstream, data, content), content) == _lost_in_reading(name, data)


@each_content
@each_options
def test_the_reference_reads_its_files(upstream: ExecutorchPython, name: str, options: WriterOptions) -> None:
    """The reference reads from upstream's files all but what upstream is known not to write."""
    read = deserialize(upstream.serialize(COVERING[name], options))
    assert _differences(read, COVERING[name]) == LOST_IN_WRITING.get(name, set())


@each_content
@each_options
def test_the_flatbuffers_adapter_reads_its_files(
    upstream: ExecutorchPython, name: str, options: WriterOptions
) -> None:
    """The plain reader reads the same from upstream's files."""
    read = FlatbuffersPython().deserialize(upstream.serialize(COVERING[name], options))
    assert _differences(read, COVERING[name]) == LOST_IN_WRITING.get(name, set())


@each_golden
def test_golden_files_read_as_by_the_reference(upstream: ExecutorchPython, path: Path) -> None:
    """On golden files upstream differs from the reference by padding and stale layout only."""
    data = path.read_bytes()
    expected = deserialize(data)
    # Old files without header may have no layout that could be left over.
    allowed: list[set[str]] = [set()] if _has_header(data) else [set(), STALE]
    assert _differences(_read(upstream, data, expected), expected) in allowed


def test_the_writer_drops_the_sign_of_zero(upstream: ExecutorchPython) -> None:
    """Of the awkward numbers upstream's writer loses exactly the sign of a zero Double."""
    content = PTEFile(one_plan(model.EValue(model.Double(-0.0))))
    read = FlatbuffersPython().deserialize(upstream.serialize(content, WriterOptions()))
    assert math.copysign(1, _first_value(read).double_val) == 1  # type: ignore[union-attr]
    wanted, got = (
        _values(COVERING["awkward_numbers"]),
        _values(deserialize(upstream.serialize(COVERING["awkward_numbers"], WriterOptions()))),
    )
    changed = [value for value, other in zip(wanted, got, strict=True) if value != other]
    assert changed == [model.EValue(model.Double(-0.0))]


def test_shared_delegate_data_comes_back_twice(upstream: ExecutorchPython) -> None:
    """A segment that two delegates share is read as two blobs, and shown as such."""
    read = upstream.deserialize(upstream.serialize(every_instruction(), WriterOptions()))
    assert read.delegate_data == (b"first delegate", b"second", b"first delegate")


def test_knobs_reach_the_writer(upstream: ExecutorchPython) -> None:
    """Each knob that upstream has is the one of that name."""
    content = dataclasses.replace(every_instruction(), constants=(b"", b"constant 1", b"constant 2"))
    segments = upstream.serialize(content, WriterOptions(segment_alignment=2048))
    (base,) = struct.unpack_from("<Q", segments, 24)
    assert base == 2048
    assert segments.find(b"first delegate") == 2 * base
    constants = upstream.serialize(content, WriterOptions(constant_alignment=32))
    assert constants.find(b"constant 2") - constants.find(b"constant 1") == 32
    inline = WriterOptions(delegates_in_segments=False, delegate_alignment=512)
    delegates = upstream.serialize(content, inline)
    (base,) = struct.unpack_from("<Q", delegates, 24)
    assert delegates.find(b"first delegate") < base
    assert delegates.find(b"first delegate") % 512 == 0
    assert delegates.find(b"second") % 512 == 0


def test_a_shared_blob_follows_its_first_key(upstream: ExecutorchPython) -> None:
    """Of two alignments for equal blobs upstream's store takes the first one."""
    data = upstream.serialize(COVERING["shared_blobs"], WriterOptions())
    (base,) = struct.unpack_from("<Q", data, 24)
    assert data.count(b"shared") == 1
    assert (data.find(b"shared") - base) % 4096 != 0


@pytest.mark.parametrize(
    ("content", "options", "reason"),
    [
        pytest.param(every_value(), WriterOptions(header_length=24), "header", id="short header"),
        pytest.param(every_value(), WriterOptions(absolute_alignment=True), "aligns", id="absolute"),
        pytest.param(
            PTEFile(one_plan(), further_mutable_data=((b"", b"x"),)),
            WriterOptions(),
            "one list of mutable data",
            id="second mutable list",
        ),
        pytest.param(
            PTEFile(one_plan(tensor(1, scalar_type=99))),
            WriterOptions(),
            "ScalarType has no number 99",
            id="unknown enum number",
        ),
        pytest.param(
            PTEFile(model.Program(constant_buffer=(model.Buffer(b"x"),))),
            WriterOptions(),
            "repeats data",
            id="data in the program",
        ),
    ],
)
def test_what_upstream_lacks_is_not_supported(
    upstream: ExecutorchPython, content: PTEFile, options: WriterOptions, reason: str
) -> None:
    """What its dataclasses or its writer have no place for is said, not dropped."""
    with pytest.raises(NotSupported, match=reason):
        upstream.serialize(content, options)


def test_a_refusal_of_the_writer(upstream: ExecutorchPython) -> None:
    """A ValueError that upstream's writer raises on purpose is a refusal."""
    content = PTEFile(one_plan(), delegate_data=(b"unused",))
    with pytest.raises(Refused, match="Did not handle all elements"):
        upstream.serialize(content, WriterOptions())


def test_a_refusal_of_the_named_data_store(upstream: ExecutorchPython) -> None:
    """So is one that the store of named data raises."""
    content = PTEFile(one_plan(), named_data={"key": NamedBlob(b"x", -1)})
    with pytest.raises(Refused, match="greater than 0"):
        upstream.serialize(content, WriterOptions())


def test_a_refusal_of_the_reader(upstream: ExecutorchPython) -> None:
    """So is one that its reader raises: here for a segment beyond the end."""
    data = serialize(every_value())
    with pytest.raises(Refused, match="overflows data length"):
        upstream.deserialize(data[:-1])


def test_an_unknown_enum_number_is_a_stumble(upstream: ExecutorchPython) -> None:
    """The enum class's ValueError is nobody's check, and is let through as it is."""
    data = FlatbuffersPython().serialize(PTEFile(one_plan(tensor(1, scalar_type=99))), WriterOptions())
    with pytest.raises(ValueError, match="99 is not a valid ScalarType"):
        upstream.deserialize(data)


def test_broken_text_is_a_stumble(upstream: ExecutorchPython) -> None:
    """So is the ValueError of a codec called from upstream's own code."""
    data = serialize(PTEFile(one_plan(model.EValue(model.String("abcdef")))))
    with pytest.raises(UnicodeDecodeError):
        upstream.deserialize(data.replace(b"abcdef", b"abc\xffef"))


def test_a_broken_encoding_is_a_stumble(upstream: ExecutorchPython) -> None:
    """A root offset past the end ends in an exception from the depths."""
    data = serialize(COVERING["smallest"])
    with pytest.raises(struct.error):
        upstream.deserialize(struct.pack("<I", len(data) + 8) + data[4:])


def _lost_in_reading(name: str, data: bytes) -> set[str]:
    return LOST_IN_READING.get(name, set()) | (set() if _has_header(data) else STALE)


def _has_header(data: bytes) -> bool:
    return data[8:12] == b"eh00"


def _read(upstream: ExecutorchPython, data: bytes, truth: PTEFile) -> PTEFile:
    """What upstream reads, with equal delegate blobs merged and constants cut to length.

    Only zeros are cut: it returns a constant with the padding after it.
    """
    read = upstream.deserialize(data)
    constants = tuple(
        blob[: len(wanted)] if not any(blob[len(wanted) :]) else blob
        for blob, wanted in zip(read.constants, truth.constants, strict=False)
    )
    surplus = read.constants[len(constants) :]
    return dataclasses.replace(read, constants=constants + surplus).canonical()


def _differences(left: PTEFile, right: PTEFile) -> set[str]:
    """The names of the fields in which two contents differ."""
    right = right.canonical()
    found = {f"program.{name}" for name in _unequal(left.program, right.program)}
    return found | (_unequal(left, right) - {"program"})


def _unequal(left: PTEFile | model.Program, right: PTEFile | model.Program) -> set[str]:
    names = [field.name for field in dataclasses.fields(left)]
    return {name for name in names if getattr(left, name) != getattr(right, name)}


def _values(content: PTEFile) -> tuple[model.EValue, ...]:
    plans = content.program.execution_plan
    assert plans is not None
    assert plans[0].values is not None
    return plans[0].values


def _first_value(content: PTEFile) -> model.KernelTypes:
    value = _values(content)[0].val
    assert value is not None
    return value


def _named(upstream_file: Any) -> dict[str, bytes]:
    store = upstream_file.named_data
    if store is None:
        return {}
    return {key: store.buffers[entry.buffer_index] for key, entry in store.pte_data.items()}
