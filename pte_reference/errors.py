"""The errors that leave this package: one class per broken contract, all under PteError.

(:class:`~pte_reference.findings.FormatError` and its like, which carry findings, are beside
those.)
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence


class PteError(Exception):
    """Base of every error raised on purpose by this package."""


class WriteError(PteError, ValueError):
    """Base of what ``serialize`` raises for content or options it cannot write."""


class AlignmentError(WriteError):
    """An alignment is not a power of two between 1 and 2**30."""


class HeaderLengthError(WriteError):
    """A header length is asked for that no release writes."""


class LayoutInProgramError(WriteError):
    """The program of a PTEFile holds data or layout, which belong beside it."""


class FieldValueError(WriteError):
    """A field holds a value that its FlatBuffers type cannot store."""


class SizeLimitError(WriteError):
    """The program does not fit: FlatBuffers offsets end at 2**31 - 1 bytes."""


class JsonFormError(PteError, ValueError):
    """A JSON document is not the JSON form of a PTEFile."""


class DuplicateRequirementError(PteError):
    """Two requirements claim one id."""


class UnknownRequirementError(PteError, KeyError):
    """No requirement has that id.

    Attributes:
        requirement_id: the id asked for.
        close: ids that look like it.
    """

    def __init__(self, requirement_id: str, known: Sequence[str]) -> None:
        self.requirement_id = requirement_id
        self.close = tuple(difflib.get_close_matches(requirement_id, known, n=3))
        super().__init__(requirement_id)

    def __str__(self) -> str:
        hint = f"; did you mean {' or '.join(self.close)}?" if self.close else ""
        return f"no requirement has the id {self.requirement_id!r}{hint}"
