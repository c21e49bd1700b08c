"""The ``flatbuffers-python`` adapter reads and writes valid files rightly, by its own means."""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from pte_conformance.adapter import Refused
from pte_conformance.adapters import flatbuffers_python, flatbuffers_reading, flatbuffers_writing
from pte_corpus import root

from pte_reference import PTEFile, WriterOptions, deserialize, model, serialize
from pte_reference.pte_file import NamedBlob
from selftest.covering import COVERING, every_instruction, one_plan, shared_blobs, tensor

GOLDEN = sorted((root() / "golden").glob("*/*.pte"))
GOLDEN_IDS = [f"{path.parent.name}/{path.stem}" for path in GOLDEN]

OPTIONS = {
    "defaults": WriterOptions(),
    "all inline": WriterOptions(delegates_in_segments=False, delegate_alignment=64),
    "tight": WriterOptions(segment_alignment=1, constant_alignment=1, delegate_alignment=1),
    "wide": WriterOptions(segment_alignment=64, constant_alignment=256, absolute_alignment=True),
    "short header": WriterOptions(header_length=24),
}

each_content = pytest.mark.parametrize("content", COVERING.values(), ids=COVERING.keys())
each_options = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
each_golden = pytest.mark.parametrize("path", GOLDEN, ids=GOLDEN_IDS)


@pytest.fixture(name="adapter", scope="module")
def _adapter() -> flatbuffers_python.FlatbuffersPython:
    return flatbuffers_python.FlatbuffersPython()


Plain = flatbuffers_python.FlatbuffersPython


@each_content
@each_options
def test_round_trip(adapter: Plain, content: PTEFile, options: WriterOptions) -> None:
    """Everything that is written comes back, whatever the knobs."""
    assert adapter.deserialize(adapter.serialize(content, options)) == content.canonical()


@each_content
@each_options
def test_reads_the_references_files(adapter: Plain, content: PTEFile, options: WriterOptions) -> None:
    """A file of the reference holds what the reference was given."""
    assert adapter.deserialize(serialize(content, options)) == content.canonical()


@each_content
@each_options
def test_the_reference_reads_its_files(adapter: Plain, content: PTEFile, options: WriterOptions) -> None:
    """The reference finds nothing wrong with a file of this writer, and all of the content."""
    assert deserialize(adapter.serialize(content, options)) == content.canonical()


@each_golden
def test_golden_files_read_as_by_the_reference(adapter: Plain, path: Path) -> None:
    """Two readers that share no decoding code agree on each golden file."""
    data = path.read_bytes()
    assert adapter.deserialize(data) == deserialize(data)


@each_content
def test_writing_is_repeatable_and_leaves_its_input_alone(adapter: Plain, content: PTEFile) -> None:
    """Equal content gives equal bytes, and the content is afterwards what it was before."""
    before = copy.deepcopy(content)
    first = adapter.serialize(content, WriterOptions())
    assert adapter.serialize(content, WriterOptions()) == first
    assert content == before


@pytest.mark.parametrize("alignment", [16, 64, 512])
def test_inline_delegates_are_aligned_in_the_file(adapter: Plain, alignment: int) -> None:
    """Delegate data inside the program lies on the multiple asked for, header or not."""
    options = WriterOptions(delegates_in_segments=False, delegate_alignment=alignment)
    content = every_instruction()
    with_header = dataclasses.replace(content, constants=(b"", b"constant"))
    for data in (adapter.serialize(content, options), adapter.serialize(with_header, options)):
        assert data.find(b"first delegate") % alignment == 0
        assert data.find(b"second") % alignment == 0


@pytest.mark.parametrize("alignment", [1, 16, 4096])
def test_segments_are_aligned_in_the_file(adapter: Plain, alignment: int) -> None:
    """The segment base and all segments lie on the segment alignment."""
    data = adapter.serialize(every_instruction(), WriterOptions(segment_alignment=alignment))
    assert data.find(b"first delegate") % alignment == 0
    assert data.find(b"second") % alignment == 0


@pytest.mark.parametrize("alignment", [1, 16, 64, 2048])
def test_constants_are_aligned_in_the_file(adapter: Plain, alignment: int) -> None:
    """Each constant lies on its alignment, also where the segments' one is smaller."""
    content = PTEFile(one_plan(), constants=(b"", b"first", b"second", b"third"))
    options = WriterOptions(segment_alignment=8, constant_alignment=alignment)
    data = adapter.serialize(content, options)
    first = data.find(b"first")
    assert first % alignment == 0
    assert data.find(b"second") - first == max(alignment, 5)
    assert data.find(b"third") - data.find(b"second") == max(alignment, 6)


@pytest.mark.parametrize("absolute", [False, True])
def test_a_shared_blob_suits_all_its_keys(adapter: Plain, absolute: bool) -> None:
    """Keys with equal bytes share a segment on the least common multiple of their wishes."""
    content = shared_blobs()
    data = adapter.serialize(content, WriterOptions(absolute_alignment=absolute))
    assert data.count(b"shared") == 1
    (base,) = struct.unpack_from("<Q", data, 24)
    assert (data.find(b"shared") - (0 if absolute else base)) % 4096 == 0


@pytest.mark.parametrize("length", [24, 32])
def test_header_has_the_length_asked_for(adapter: Plain, length: int) -> None:
    """The header says its length, and only the longer one tells the size of the segments."""
    data = adapter.serialize(shared_blobs(), WriterOptions(header_length=length))
    magic, stated, program_size, base, segments = struct.unpack_from("<4sIQQQ", data, 8)
    assert (magic, stated) == (b"eh00", length)
    assert program_size <= base < len(data)
    assert segments == (len(data) - base if length == 32 else 0)


@pytest.mark.parametrize("name", ["smallest", "only_empty_blobs"])
def test_no_header_without_segment_data(adapter: Plain, name: str) -> None:
    """A file without segment data has no extended header."""
    assert adapter.serialize(COVERING[name], WriterOptions())[8:12] != b"eh00"


def test_further_mutable_lists_survive(adapter: Plain) -> None:
    """Mutable segments after the first are kept, though no release writes them."""
    content = PTEFile(one_plan(), further_mutable_data=((b"", b"state"), (b"", b"")))
    assert adapter.deserialize(adapter.serialize(content, WriterOptions())) == content


def test_unused_delegate_data_survives(adapter: Plain) -> None:
    """Delegate data that no delegate uses is not lost, and comes last."""
    content = every_instruction()
    content = dataclasses.replace(content, delegate_data=(*content.delegate_data, b"unused"))
    assert adapter.deserialize(adapter.serialize(content, WriterOptions())) == content


@pytest.mark.parametrize(
    "constant", [b"four" + b"more", b"four" + bytes(16)], ids=["not zero", "too long for padding"]
)
def test_constants_longer_than_their_tensors_are_kept(adapter: Plain, constant: bytes) -> None:
    """What cannot be padding stays, though no tensor asks for it."""
    content = PTEFile(one_plan(tensor(1, buffer=1)), constants=(b"", constant, b"12", b"3"))
    read = adapter.deserialize(adapter.serialize(content, WriterOptions()))
    assert bytes(read.constants[1]).startswith(constant)


def test_constants_lose_their_padding(adapter: Plain) -> None:
    """A constant has the length that its largest tensor needs, not up to the next one."""
    program = one_plan(tensor(1, buffer=1), tensor(3, buffer=1), tensor(1, buffer=2))
    content = PTEFile(program, constants=(b"", b"twelve bytes", b"four"))
    data = adapter.serialize(content, WriterOptions(constant_alignment=128))
    assert adapter.deserialize(data).constants == content.constants


def test_external_tensors_say_nothing_about_constants(adapter: Plain) -> None:
    """A tensor whose data is in another file does not tell how long a constant is."""
    outside = model.Tensor(
        sizes=(9,),
        dim_order=(0,),
        data_buffer_idx=1,
        extra_tensor_info=model.ExtraTensorInfo(
            fully_qualified_name="weight", location=model.TensorDataLocation.EXTERNAL
        ),
    )
    program = one_plan(tensor(1, buffer=1), model.EValue(outside))
    content = PTEFile(program, constants=(b"", b"four", b"more"))
    assert adapter.deserialize(adapter.serialize(content, WriterOptions())) == content


@pytest.mark.parametrize(
    ("position", "replacement"),
    [
        pytest.param(4, b"ET99", id="identifier"),
        pytest.param(12, struct.pack("<I", 23), id="header length"),
        pytest.param(16, struct.pack("<Q", 2**40), id="program size"),
        pytest.param(24, struct.pack("<Q", 2**40), id="segment base"),
        pytest.param(32, struct.pack("<Q", 2**40), id="segment data size"),
    ],
)
def test_wrong_headers_are_refused(adapter: Plain, position: int, replacement: bytes) -> None:
    """Identifier, header length and sizes are looked at."""
    data = bytearray(adapter.serialize(shared_blobs(), WriterOptions()))
    data[position : position + len(replacement)] = replacement
    with pytest.raises(Refused):
        adapter.deserialize(bytes(data))


def test_a_wrong_program_comes_through(adapter: Plain) -> None:
    """Beyond the header nothing is checked: an index out of range is read as it stands."""
    content = PTEFile(one_plan(inputs=(99,)))
    assert adapter.deserialize(adapter.serialize(content, WriterOptions())) == content


def test_a_broken_encoding_is_a_stumble_not_a_refusal(adapter: Plain) -> None:
    """A root offset past the end ends in the runtime's own exception."""
    data = adapter.serialize(COVERING["smallest"], WriterOptions())
    with pytest.raises(struct.error):
        adapter.deserialize(struct.pack("<I", len(data) + 8) + data[4:])


def test_it_shares_no_coding_with_the_reference() -> None:
    """Only the model, PTEFile and plain names are imported from the reference."""
    allowed = {"pte_reference", "pte_reference.pte_file", "pte_reference.schema"}
    names = {"PTEFile", "Role", "WriterOptions", "model", "NamedBlob", "Blob"}
    for module in (flatbuffers_python, flatbuffers_reading, flatbuffers_writing):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Import):
                assert not [a.name for a in node.names if a.name.startswith("pte_reference")]
            elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("pte_reference"):
                assert node.module in allowed
                assert {alias.name for alias in node.names} <= names


def test_it_works_without_numpy() -> None:
    """Reading and writing need nothing beside the flatbuffers runtime."""
    program = (
        # The runtime asks PathFinder whether numpy is there, so that is what has to say no.
        "import sys\n"
        "from importlib.machinery import PathFinder\n"
        "find = PathFinder.find_spec\n"
        "PathFinder.find_spec = lambda name, *more: None if name == 'numpy' else find(name, *more)\n"
        "from selftest.covering import every_value\n"
        "from pte_conformance.adapters.flatbuffers_python import ADAPTER\n"
        "from pte_reference import WriterOptions\n"
        "adapter, content = ADAPTER(), every_value()\n"
        "assert adapter.deserialize(adapter.serialize(content, WriterOptions())) == content\n"
        "assert 'numpy' not in sys.modules\n"
    )
    folder = Path(__file__).parents[1]
    subprocess.run([sys.executable, "-c", program], cwd=folder, check=True)


def test_named_data_keeps_its_order(adapter: Plain) -> None:
    """Keys come back in the order in which they were given."""
    named = {key: NamedBlob(key.encode()) for key in ("zeta", "alpha", "mid")}
    content = PTEFile(one_plan(), named_data=named)
    assert list(adapter.deserialize(adapter.serialize(content, WriterOptions())).named_data) == list(named)


def test_shared_delegate_data_is_written_once(adapter: Plain) -> None:
    """Delegates with equal blobs share a segment."""
    content = every_instruction()
    again = model.BackendDelegate("C", model.BackendDelegateDataReference(index=2))
    plan = content.program.execution_plan[0]  # type: ignore[index]
    plan = dataclasses.replace(plan, delegates=(*plan.delegates, again))  # type: ignore[misc]
    content = PTEFile(
        dataclasses.replace(content.program, execution_plan=(plan,)),
        delegate_data=(*content.delegate_data, b"first delegate"),
    )
    data = adapter.serialize(content, WriterOptions())
    assert data.count(b"first delegate") == 1
    assert adapter.deserialize(data) == content.canonical()
