"""The knobs of the writer."""

from __future__ import annotations

from dataclasses import dataclass

from pte_reference.container import LONG_HEADER, SHORT_HEADER
from pte_reference.errors import AlignmentError, HeaderLengthError

MAX_ALIGNMENT = 1 << 30


def check_alignment(alignment: int, what: str) -> None:
    """Checks that an alignment makes sense.

    Raises:
        AlignmentError: it is not a power of two from 1 to 2**30.
    """
    whole = type(alignment) is int
    if not whole or not 0 < alignment <= MAX_ALIGNMENT or alignment & (alignment - 1):
        raise AlignmentError(f"{what} is {alignment!r}; an alignment is a power of two from 1 to 2**30")


@dataclass(frozen=True, slots=True)
class WriterOptions:
    """How to lay a file out. All alignments are in bytes and powers of two.

    Attributes:
        segment_alignment: of each segment, in the file. Releases since 0.4.0 use 128.
        constant_alignment: of each constant, in the file. All releases use 16.
        delegate_alignment: of delegate data inside the program, where the schema asks for
            at least 16; delegates in segments have the segment alignment.
        delegates_in_segments: whether delegate data goes to segments (since 0.3.0) or
            stays inside the program. Empty delegate data always stays inside.
        header_length: 32, or 24 as releases before 1.0.0 wrote it.
        absolute_alignment: whether the alignments asked for named blobs hold in the file
            even where they exceed the segment alignment, and not only from the segment
            base, as in all releases.

    Raises:
        AlignmentError: an alignment is not a power of two from 1 to 2**30.
        HeaderLengthError: the header length is neither 24 nor 32.
    """

    segment_alignment: int = 128
    constant_alignment: int = 16
    delegate_alignment: int = 16
    delegates_in_segments: bool = True
    header_length: int = LONG_HEADER
    absolute_alignment: bool = False

    def __post_init__(self) -> None:
        check_alignment(self.segment_alignment, "segment_alignment")
        check_alignment(self.constant_alignment, "constant_alignment")
        check_alignment(self.delegate_alignment, "delegate_alignment")
        if type(self.header_length) is not int or self.header_length not in (SHORT_HEADER, LONG_HEADER):
            raise HeaderLengthError(
                f"header_length is {self.header_length!r}; headers have {SHORT_HEADER} or {LONG_HEADER} bytes"
            )
