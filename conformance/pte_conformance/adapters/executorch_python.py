"""The adapter ``executorch-python``: the Python serializer inside ExecuTorch 1.5.

What it returns is converted faithfully. ``deserialize_pte_binary`` puts constants back with
the padding up to the next one, gives each delegate a copy of the data that it shared, and
leaves ``segments`` and offsets in the program where it restored nothing; all that shows in
the resulting PTEFile as it is, so that the suite can judge it.

A refusal is a ``ValueError`` that a ``raise`` statement of ``executorch.exir._serialize``
raised: that is how this code reports what its own checks find. Every other exception (a
``struct.error``, a failed enum look-up, an ``AssertionError``, even a ``TypeError`` from the
same package) is a stumble over something unforeseen, and is let through.
"""

from __future__ import annotations

import dataclasses
import linecache
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from types import TracebackType
from typing import Any

from pte_conformance.adapter import (
    Adapter,
    AdapterInfo,
    AdapterUnavailable,
    Capability,
    NotSupported,
    Refused,
)
from pte_conformance.adapters.executorch_conversion import Converter
from pte_reference import PTEFile, Role, WriterOptions, model
from pte_reference.pte_file import PLACEHOLDER, NamedBlob

SERIALIZER_PACKAGE = "executorch.exir._serialize"


class ExecutorchPython(Adapter):
    """``serialize_pte_binary`` and ``deserialize_pte_binary`` of the installed executorch."""

    install = "pip install 'pte-conformance[executorch]'"

    def __init__(self) -> None:
        try:
            with _quiet():
                # Here, because it takes seconds and needs torch.
                from executorch.exir import schema  # noqa: PLC0415
                from executorch.exir._serialize import (  # noqa: PLC0415
                    _named_data_store,
                    _program,
                )

                self._file_class = _program.PTEFile
        except (ImportError, AttributeError) as error:
            raise AdapterUnavailable("executorch-python", str(error), self.install) from error
        self._program = _program
        self._schema = schema
        self._store_class = _named_data_store.NamedDataStore
        self._converter = Converter(schema)
        self.info = AdapterInfo(
            name="executorch-python",
            version=metadata.version("executorch"),
            capabilities=frozenset({Capability.SERIALIZE, Capability.DESERIALIZE}),
            roles=frozenset({Role.READER, Role.WRITER}),
            dependencies={name: metadata.version(name) for name in ("flatbuffers", "numpy", "torch")},
            not_preserved={"named_data.alignment": "its reader says that it does not preserve alignment"},
        )

    def deserialize(self, data: bytes) -> PTEFile:
        """What ``deserialize_pte_binary`` returns for ``data``."""
        with _quiet(), _refusals_told():
            restored = self._program.deserialize_pte_binary(data)
        return self.from_upstream(restored)

    def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
        """What ``serialize_pte_binary`` writes for this content and these knobs."""
        if options.header_length != 32:
            raise NotSupported("its writer knows the header of 32 bytes only")
        if options.absolute_alignment:
            raise NotSupported("its writer aligns within the segment area only")
        with _quiet(), _refusals_told():
            written = self._program.serialize_pte_binary(
                self.to_upstream(pte_file),
                extract_delegate_segments=options.delegates_in_segments,
                segment_alignment=options.segment_alignment,
                constant_tensor_alignment=options.constant_alignment,
                delegate_alignment=options.delegate_alignment,
            )
        return bytes(written)

    def to_upstream(self, pte_file: PTEFile) -> Any:
        """Upstream's PTEFile with the content of ours.

        Raises:
            NotSupported: upstream has no place for something.
            ValueError: its store of named data refuses a blob.
        """
        if pte_file.further_mutable_data:
            raise NotSupported("its PTEFile holds one list of mutable data only")
        if pte_file.program.constant_buffer or pte_file.program.backend_delegate_data:
            raise NotSupported("the program repeats data that belongs into the PTEFile")
        program = self._converter.to_upstream(pte_file.program)
        program.constant_buffer = self._buffers(pte_file.constants)
        program.backend_delegate_data = [
            self._schema.BackendDelegateInlineData(data=bytes(blob)) for blob in pte_file.delegate_data
        ]
        if program.constant_segment is None:
            program.constant_segment = self._schema.SubsegmentOffsets(segment_index=0, offsets=[])
        keeps_state = pte_file.mutable_data != PLACEHOLDER
        return self._file_class(
            program=program,
            mutable_data=self._buffers(pte_file.mutable_data) if keeps_state else None,
            named_data=self._named_data(pte_file.named_data),
        )

    def from_upstream(self, restored: Any) -> PTEFile:
        """Our PTEFile with the content of upstream's.

        Raises:
            NotSupported: it holds data for ``.ptd`` files.
        """
        program = self._converter.from_upstream(model.Program, restored.program)
        constants = program.constant_buffer or ()
        delegates = program.backend_delegate_data or ()
        segment = program.constant_segment
        return PTEFile(
            # Empty lists are how upstream says "none"; what is left in them stays.
            program=dataclasses.replace(
                program,
                constant_buffer=(),
                backend_delegate_data=(),
                segments=program.segments or (),
                constant_segment=segment if segment and segment.offsets else None,
                mutable_data_segments=program.mutable_data_segments or None,
                named_data=program.named_data or None,
            ),
            constants=tuple(entry.storage or b"" for entry in constants),
            mutable_data=tuple(bytes(entry.storage) for entry in restored.mutable_data or ()),
            named_data=_named_blobs(restored.named_data),
            delegate_data=tuple(entry.data or b"" for entry in delegates),
        )

    def _buffers(self, blobs: tuple[bytes | memoryview, ...]) -> list[Any]:
        return [self._schema.Buffer(storage=bytes(blob)) for blob in blobs]

    def _named_data(self, named_data: Mapping[str, NamedBlob]) -> Any:
        """The blobs as upstream's store keeps them, put in as a user would."""
        if not named_data:
            return None
        store = self._store_class()
        for key, named in named_data.items():
            store.add_named_data(key, bytes(named.data), alignment=named.alignment)
        return store.get_named_data_store_output()


ADAPTER = ExecutorchPython


def _named_blobs(store: Any) -> dict[str, NamedBlob]:
    if store is None:
        return {}
    if store.external_data:
        raise NotSupported("named data outside of the file has no place in a PTEFile")
    return {
        key: NamedBlob(bytes(store.buffers[entry.buffer_index]), entry.alignment)
        for key, entry in store.pte_data.items()
    }


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps warnings of upstream's code from becoming outcomes where the caller fails on them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _refusals_told() -> Iterator[None]:
    """Turns a ValueError that the serializer raises on purpose into Refused."""
    try:
        yield
    except ValueError as error:
        if _is_refusal(error):
            raise Refused(str(error)) from error
        raise


def _is_refusal(error: ValueError) -> bool:
    """Whether a ``raise`` statement of the serializer's own code raised ``error``.

    Its own code calls much that raises a ValueError too: enum classes, codecs, ``int``.
    Python code has a frame of its own, where the search ends; code in C has none, so the
    innermost line must itself be a ``raise`` statement.
    """
    trace = error.__traceback__
    if trace is None:
        return False
    trace = _innermost(trace)
    frame = trace.tb_frame
    if not str(frame.f_globals.get("__name__", "")).startswith(f"{SERIALIZER_PACKAGE}."):
        return False
    line = linecache.getline(frame.f_code.co_filename, trace.tb_lineno, frame.f_globals)
    return line.lstrip().startswith("raise ")


def _innermost(trace: TracebackType) -> TracebackType:
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace
