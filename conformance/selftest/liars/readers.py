"""Readers that get the content wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from pte_conformance.adapter import Refused

from pte_reference import PTEFile, read
from pte_reference import model as m
from pte_reference.requirements import fidelity
from selftest.liars.base import Liar


def _each_value(content: PTEFile, change: Callable[[m.KernelTypes | None], m.KernelTypes | None]) -> PTEFile:
    """The content with ``change`` done to every value."""
    plans = tuple(
        dataclasses.replace(plan, values=tuple(m.EValue(change(one.val)) for one in plan.values or ()))
        for plan in content.program.execution_plan or ()
    )
    program = dataclasses.replace(content.program, execution_plan=plans)
    return dataclasses.replace(content, program=program)


class DropsConstants(Liar):
    """Gives back no constants, as upstream's reader before release 0.4.0."""

    breaks = (fidelity.CONSTANTS, fidelity.GOLDEN_FACTS)

    def deserialize(self, data: bytes) -> PTEFile:
        """Everything but the constants."""
        return dataclasses.replace(super().deserialize(data), constants=())


class DropsEmptyConstants(Liar):
    """Takes a list of empty constants for no list."""

    breaks = (fidelity.CONSTANTS,)

    def deserialize(self, data: bytes) -> PTEFile:
        """Constants only where there are any bytes."""
        content = super().deserialize(data)
        return content if any(map(len, content.constants)) else dataclasses.replace(content, constants=())


class CutsConstants(Liar):
    """Reads constants one byte short."""

    breaks = (fidelity.CONSTANTS, fidelity.GOLDEN_FACTS)

    def deserialize(self, data: bytes) -> PTEFile:
        """The constants without their last bytes."""
        content = super().deserialize(data)
        return dataclasses.replace(content, constants=tuple(blob[:-1] for blob in content.constants))


class DropsMutableData(Liar):
    """Gives back no initial states, as upstream's reader before release 1.1.0."""

    breaks = (fidelity.MUTABLE_DATA, fidelity.GOLDEN_FACTS)

    def deserialize(self, data: bytes) -> PTEFile:
        """Everything but the states; what refers to them is left as it is."""
        return dataclasses.replace(super().deserialize(data), mutable_data=())


class DropsNamedData(Liar):
    """Gives back no named data, as upstream's reader before release 1.1.0."""

    breaks = (fidelity.NAMED_DATA, fidelity.GOLDEN_FACTS)

    def deserialize(self, data: bytes) -> PTEFile:
        """Everything but the named data."""
        return dataclasses.replace(super().deserialize(data), named_data={})


class DropsEmptyNamedData(Liar):
    """Leaves out keys without bytes."""

    breaks = (fidelity.NAMED_DATA, fidelity.GOLDEN_FACTS)

    def deserialize(self, data: bytes) -> PTEFile:
        """The named data that holds something."""
        content = super().deserialize(data)
        kept = {key: blob for key, blob in content.named_data.items() if len(blob.data)}
        return dataclasses.replace(content, named_data=kept)


class MixesDelegates(Liar):
    """Gives each delegate the data of another."""

    breaks = (fidelity.DELEGATE_DATA,)

    def deserialize(self, data: bytes) -> PTEFile:
        """The blobs in the wrong order."""
        content = super().deserialize(data)
        return dataclasses.replace(content, delegate_data=content.delegate_data[::-1])


class LosesTheSignOfZero(Liar):
    """Takes -0.0 for the default and gives 0.0 back."""

    breaks = (fidelity.PROGRAM_FIELDS,)

    def deserialize(self, data: bytes) -> PTEFile:
        """Doubles without the sign of zero."""
        return _each_value(
            super().deserialize(data),
            lambda one: m.Double(one.double_val or 0.0) if isinstance(one, m.Double) else one,
        )


class CutsTextsAtNul(Liar):
    """Handles texts as C strings."""

    breaks = (fidelity.PROGRAM_FIELDS,)

    def deserialize(self, data: bytes) -> PTEFile:
        """Texts up to the first NUL."""
        return _each_value(
            super().deserialize(data),
            lambda one: (
                m.String((one.string_val or "").partition("\0")[0]) if isinstance(one, m.String) else one
            ),
        )


class ForgetsTheHighWord(Liar):
    """Reads 32 bits of a planned offset that has 64."""

    breaks = (fidelity.PROGRAM_FIELDS,)

    def deserialize(self, data: bytes) -> PTEFile:
        """Tensors in the first 4 GiB."""

        def low(one: m.KernelTypes | None) -> m.KernelTypes | None:
            if not isinstance(one, m.Tensor) or one.allocation_info is None:
                return one
            place = dataclasses.replace(one.allocation_info, memory_offset_high=0)
            return dataclasses.replace(one, allocation_info=place)

        return _each_value(super().deserialize(data), low)


class MisreadsVersions(Liar):
    """Says version 0 whatever the file says."""

    breaks = (fidelity.GOLDEN_FACTS,)

    def deserialize(self, data: bytes) -> PTEFile:
        """The program with version 0."""
        content = super().deserialize(data)
        return dataclasses.replace(content, program=dataclasses.replace(content.program, version=0))


class RefusesWhatFollows(Liar):
    """Refuses files with bytes behind the last segment."""

    breaks = (fidelity.VALID_FILE_READ,)

    def deserialize(self, data: bytes) -> PTEFile:
        """The content of files that end where they should."""
        layout = read(data).layout if _readable(data) else None
        if layout is not None and layout.segments and layout.container.segment_base:
            last = layout.segments[-1]
            if layout.container.segment_base + last.offset + last.size < len(data):
                raise Refused("bytes behind the last segment")
        return super().deserialize(data)


class RefusesOtherHeaders(Liar):
    """Knows headers of 24 and 32 bytes, and no other."""

    breaks = (fidelity.VALID_FILE_READ,)

    def deserialize(self, data: bytes) -> PTEFile:
        """The content of files with such a header, or none."""
        if data[8:12] == b"eh00" and int.from_bytes(data[12:16], "little") not in (24, 32):
            raise Refused("unknown header length")
        return super().deserialize(data)


def _readable(data: bytes) -> bool:
    try:
        Liar().deserialize(data)
    except Refused:
        return False
    return True


READERS: tuple[type[Liar], ...] = (
    DropsConstants,
    DropsEmptyConstants,
    CutsConstants,
    DropsMutableData,
    DropsNamedData,
    DropsEmptyNamedData,
    MixesDelegates,
    LosesTheSignOfZero,
    CutsTextsAtNul,
    ForgetsTheHighWord,
    MisreadsVersions,
    RefusesWhatFollows,
    RefusesOtherHeaders,
)
