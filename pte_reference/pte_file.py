"""The content of a ``.pte`` file, free of layout."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from pte_reference.blobs import DistinctBlobs, as_blob
from pte_reference.errors import FieldValueError
from pte_reference.model import (
    BackendDelegate,
    BackendDelegateDataReference,
    BackendDelegateInlineData,
    Buffer,
    CompileSpec,
    Program,
)
from pte_reference.schema import Blob

PLACEHOLDER: tuple[Blob, ...] = (b"",)
"""A data list with nothing but its reserved entry 0."""


@dataclass(frozen=True, slots=True)
class NamedBlob:
    """A blob of named data.

    Attributes:
        data: the bytes.
        alignment: a power of two in bytes that the writer is asked for, None for no wish.
            The format does not store it: a reader infers it from the offset, so it takes
            no part in equality.
    """

    data: Blob
    alignment: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Accepts any buffer of bytes."""
        object.__setattr__(self, "data", as_blob(self.data, "the data of a NamedBlob"))


@dataclass(frozen=True, slots=True)
class PTEFile:
    """The content of a ``.pte`` file: the program and the data that it refers to.

    Attributes:
        program: the program without layout: ``segments``, ``constant_buffer``,
            ``backend_delegate_data`` empty, ``constant_segment``, ``mutable_data_segments``
            and ``named_data`` None. Delegates refer to ``delegate_data`` by
            ``processed.index`` with location INLINE.
        constants: indexed by the ``data_buffer_idx`` of tensors without allocation_info.
            Entry 0 is the reserved placeholder and always there.
        mutable_data: initial states, indexed by the ``data_buffer_idx`` of tensors with
            allocation_info. Entry 0 is the reserved placeholder and always there.
        named_data: blobs by key.
        delegate_data: the delegates' blobs.
        further_mutable_data: the lists of mutable segments 1, 2, ... for tensors whose
            ``mutable_data_segments_idx`` names one; no release writes them so far.
    """

    program: Program
    constants: tuple[Blob, ...] = PLACEHOLDER
    mutable_data: tuple[Blob, ...] = PLACEHOLDER
    named_data: Mapping[str, NamedBlob] = field(default_factory=dict)
    delegate_data: tuple[Blob, ...] = ()
    further_mutable_data: tuple[tuple[Blob, ...], ...] = ()

    def __post_init__(self) -> None:
        """Accepts any sequences, mapping and buffers, and completes empty lists by their entry 0.

        Raises:
            FieldValueError: a blob is no buffer of bytes, or named data no NamedBlob.
        """
        store = object.__setattr__
        store(self, "constants", _blobs("constants", self.constants) or PLACEHOLDER)
        store(self, "mutable_data", _blobs("mutable_data", self.mutable_data) or PLACEHOLDER)
        entries: Iterable[tuple[object, object]] = self.named_data.items()
        for key, blob in entries:
            if not isinstance(key, str) or not isinstance(blob, NamedBlob):
                raise FieldValueError(f"named_data[{key!r}] must be a NamedBlob under a str")
        store(self, "named_data", dict(self.named_data))
        store(self, "delegate_data", _blobs("delegate_data", self.delegate_data))
        further = tuple(
            _blobs("further_mutable_data", blobs) or PLACEHOLDER for blobs in self.further_mutable_data
        )
        store(self, "further_mutable_data", further)

    def canonical(self) -> PTEFile:
        """The same content with ``delegate_data`` as a reader gives it.

        Equal blobs are one entry, in the order in which plans and delegates first use
        them; blobs that no delegate uses come last. ``deserialize(serialize(x))`` equals
        ``x.canonical()``, except that the format stores no length of constants: one that no
        tensor tells about comes back with the padding behind it, and zeros at the end of one
        that is longer than its tensors ask for may be taken for padding.
        """
        distinct = DistinctBlobs()
        program = map_delegate_references(
            self.program,
            lambda reference: dataclasses.replace(
                reference, index=distinct.place(self.delegate_data[reference.index])
            ),
        )
        for blob in self.delegate_data:
            distinct.place(blob)
        return dataclasses.replace(self, program=program, delegate_data=tuple(distinct.blobs))

    def owned(self) -> PTEFile:
        """The same content with copies of all blobs, free of the file that they are views of.

        What ``deserialize`` gives keeps its source alive and cannot be pickled or deep-copied;
        this can.
        """

        def settled(delegate: BackendDelegate) -> BackendDelegate:
            specs = delegate.compile_specs
            return dataclasses.replace(
                delegate, compile_specs=specs and tuple(_owned_setting(one) for one in specs)
            )

        return PTEFile(
            _map_delegates(self.program, settled),
            constants=_owned(self.constants),
            mutable_data=_owned(self.mutable_data),
            named_data={
                key: dataclasses.replace(blob, data=bytes(blob.data)) for key, blob in self.named_data.items()
            },
            delegate_data=_owned(self.delegate_data),
            further_mutable_data=tuple(map(_owned, self.further_mutable_data)),
        )

    def as_program(self) -> Program:
        """One ``Program`` with constants and delegates inside.

        This is what ``deserialize_pte_binary`` of ExecuTorch returned before release 1.1.0
        (mutable and named data have no place in it, as then).
        """
        return dataclasses.replace(
            self.program,
            constant_buffer=tuple(Buffer(blob) for blob in self.constants),
            backend_delegate_data=tuple(BackendDelegateInlineData(blob) for blob in self.delegate_data),
        )


def _blobs(name: str, blobs: Iterable[Blob]) -> tuple[Blob, ...]:
    return tuple(as_blob(blob, f"{name}[{number}]") for number, blob in enumerate(blobs))


def map_delegate_references(
    program: Program,
    change: Callable[[BackendDelegateDataReference], BackendDelegateDataReference],
) -> Program:
    """``program`` with every delegate's ``processed`` passed through ``change``."""

    def moved(delegate: BackendDelegate) -> BackendDelegate:
        if delegate.processed is None:
            return delegate
        return dataclasses.replace(delegate, processed=change(delegate.processed))

    return _map_delegates(program, moved)


def _map_delegates(program: Program, change: Callable[[BackendDelegate], BackendDelegate]) -> Program:
    """``program`` with every delegate changed.

    Plans without delegates stay the same objects, so that nothing that is shared unfolds.
    """
    plans = program.execution_plan
    if plans is None or not any(plan.delegates for plan in plans):
        return program
    return dataclasses.replace(
        program,
        execution_plan=tuple(
            dataclasses.replace(plan, delegates=tuple(map(change, plan.delegates)))
            if plan.delegates
            else plan
            for plan in plans
        ),
    )


def _owned(blobs: tuple[Blob, ...]) -> tuple[Blob, ...]:
    return tuple(map(bytes, blobs))


def _owned_setting(spec: CompileSpec) -> CompileSpec:
    return spec if spec.value is None else dataclasses.replace(spec, value=bytes(spec.value))
