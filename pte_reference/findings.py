"""A finding: one place where a file breaks one requirement; and the errors that carry them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pte_reference.errors import PteError, WriteError
from pte_reference.requirements.registry import Level, Requirement

_SHOWN = 60

Path: TypeAlias = tuple[str | int, ...]
"""A place in a program: field names and vector indices, from the root table down."""


def path_text(path: Path) -> str:
    """The written form of a path, such as ``execution_plan[0].values[3].sizes``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def quoted(text: str) -> str:
    """A text from a file as messages show it: escaped, and cut when it is long."""
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}... ({len(text)} characters)"


@dataclass(frozen=True, slots=True)
class Finding:
    """One breach.

    Attributes:
        requirement: the rule that is broken.
        message: what is wrong, with the numbers.
        path: where in the program; empty for the container.
        offset: byte offset in the file, None for content that is in no file.
        hint: what to do about it.
    """

    requirement: Requirement
    message: str
    path: Path = ()
    offset: int | None = None
    hint: str = ""

    @property
    def is_breach(self) -> bool:
        """Whether a MUST is broken; otherwise the finding is advice."""
        return self.requirement.level is Level.MUST

    def __str__(self) -> str:
        where = []
        if self.path:
            where.append(path_text(self.path))
        if self.offset is not None:
            where.append(f"byte {self.offset}")
        place = f" at {', '.join(where)}" if where else ""
        hint = f" [{self.hint}]" if self.hint else ""
        return f"{self.requirement.id}{place}: {self.message}{hint}"

    def as_json(self) -> dict[str, Any]:
        """The finding as plain JSON data."""
        return {
            "requirement": self.requirement.id,
            "level": self.requirement.level.value,
            "layer": self.requirement.layer.value,
            "path": path_text(self.path),
            "offset": self.offset,
            "message": self.message,
            "hint": self.hint,
        }


class FormatError(PteError):
    """A file breaks requirements that bind the caller's role.

    Attributes:
        findings: what is wrong, the first cause first; never empty.
    """

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__(_summary(self.findings))


class ContentError(WriteError):
    """The program or its data break a rule that binds writers.

    Attributes:
        findings: what is wrong, with paths but without offsets.
    """

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__(_summary(self.findings))


def _summary(findings: tuple[Finding, ...]) -> str:
    first, *others = findings
    return f"{first} (and {len(others)} more)" if others else f"{first}"
