"""Files and directories given on the command line: which files they mean, and opening them.

What a file is, its content says: bytes 4 to 7 of a ``.pte``, ``.bpte`` or ``.ptd`` file name its kind.
"""

from __future__ import annotations

import enum
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from pte_conformance.cli.terminal import Screen, amount, file_name, progress
from pte_reference.encoding.sites import MAX_TABLES
from pte_reference.reading import open_source

Command = TypeVar("Command", bound=Callable[..., Any])


class Kind(enum.Enum):
    """A kind of ExecuTorch file."""

    PROGRAM = "program (.pte)"
    BUNDLED = "bundled program (.bpte)"
    TENSORS = "external tensor data (.ptd)"


# Only what comes before the two digits of the version: a newer version is still of that kind.
_IDENTIFIERS = {b"BP": Kind.BUNDLED, b"FT": Kind.TENSORS}
_MOST_NAMES = 10
_ENDINGS = {".pte": Kind.PROGRAM, ".bpte": Kind.BUNDLED, ".ptd": Kind.TENSORS}


class ExitCode(enum.IntEnum):
    """How a command on files ends; where several apply, the highest, as the verdict is incomplete then."""

    CONFORMING = 0
    BROKEN = 1
    USAGE = 2
    ENVIRONMENT = 3


CONFORMING = "conforming"
NOT_CONFORMING = "not conforming"
"""Verdicts on a file in JSON, beside the words for obstacles."""


class Obstacle(enum.Enum):
    """Why a file was not looked at, by the word for it in JSON."""

    UNSUPPORTED = "unsupported"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that can be looked at; ``data`` maps it into memory."""

    path: Path
    data: memoryview


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not looked at.

    Attributes:
        path: the file.
        obstacle: why not.
        reason: why not, in words.
        by_name: whether it was given by name; otherwise it was found in a directory.
    """

    path: Path
    obstacle: Obstacle
    reason: str
    by_name: bool

    @property
    def exit_code(self) -> ExitCode:
        """What this file alone makes the command end with."""
        if self.obstacle is Obstacle.UNREADABLE:
            return ExitCode.ENVIRONMENT
        return ExitCode.USAGE if self.by_name else ExitCode.CONFORMING

    @property
    def is_incidental(self) -> bool:
        """Whether a search came upon it: nobody asked for it, so one line for all such files is enough."""
        return self.obstacle is Obstacle.UNSUPPORTED and not self.by_name

    def __str__(self) -> str:
        what = "cannot be read" if self.obstacle is Obstacle.UNREADABLE else "not supported yet"
        return f"{file_name(self.path)}: {what}: {self.reason}"

    def as_json(self) -> dict[str, str]:
        """The entry of the file in the JSON form."""
        return {"path": str(self.path), "verdict": self.obstacle.value, "reason": self.reason}


def print_incidental(skipped: Sequence[Skipped], screen: Screen) -> None:
    """Names the files that a search came upon and that are not supported."""
    incidental = [one for one in skipped if one.is_incidental]
    if incidental:
        screen.print(f"{amount(len(incidental), 'file')} of a kind that is not supported yet:")
    for one in incidental[:_MOST_NAMES]:
        screen.print(f"  {file_name(one.path)}: {one.reason}")
    if (rest := len(incidental) - _MOST_NAMES) > 0:
        screen.print(f"  and {rest:,} more (--json names all)")


def file_arguments(command: Command) -> Command:
    """Adds what commands on files have in common: the files, ``--max-tables`` and ``--json``."""
    for decorate in (
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text."),
        click.option(
            "--max-tables",
            type=click.IntRange(min=1),
            default=MAX_TABLES,
            show_default=True,
            help="Refuse programs with more tables; shared ones count for each place that leads to them.",
        ),
        click.argument(
            "paths",
            metavar="FILE...",
            nargs=-1,
            required=True,
            # A file that may not be read is a fault of the environment, which is not for click to tell.
            type=click.Path(exists=True, readable=False, path_type=Path),
        ),
    ):
        command = decorate(command)
    return command


def open_each(paths: Sequence[Path]) -> Iterator[OpenFile | Skipped]:
    """Opens the files that the paths mean one after the other, with progress on a terminal.

    Raises:
        click.UsageError: the paths mean no file at all.
    """
    # By its path, so that a file is looked at once; the first way in which it was given counts.
    found = list({one.path: one for one in reversed(list(_find(paths)))}.values())[::-1]
    if not found:
        raise click.UsageError("no .pte file in " + ", ".join(click.format_filename(one) for one in paths))
    with progress(len(found)) as advance:
        for one in found:
            yield one if isinstance(one, Skipped) else _open(one.path, one.by_name)
            advance()


@dataclass(frozen=True, slots=True)
class _Candidate:
    path: Path
    by_name: bool


def _find(paths: Sequence[Path]) -> Iterator[_Candidate | Skipped]:
    for path in paths:
        if not path.is_dir():
            yield _Candidate(path, by_name=True)
            continue
        failures: list[OSError] = []
        for folder, folders, names in os.walk(path, onerror=failures.append):
            folders.sort()
            for file in sorted(Path(folder, name) for name in names):
                if file.suffix.lower() in _ENDINGS:
                    yield _Candidate(file, by_name=False)
        for failure in failures:
            yield Skipped(Path(failure.filename), Obstacle.UNREADABLE, _reason(failure), by_name=False)


def _open(path: Path, by_name: bool) -> OpenFile | Skipped:
    try:
        # Opening a pipe would wait for whoever writes to it.
        if not stat.S_ISREG(path.stat().st_mode):
            return Skipped(path, Obstacle.UNREADABLE, "it is not a regular file", by_name)
        data = open_source(path)
    except OSError as error:
        return Skipped(path, Obstacle.UNREADABLE, _reason(error), by_name)
    kind = _kind(path, data)
    if kind is not Kind.PROGRAM:
        return Skipped(path, Obstacle.UNSUPPORTED, kind.value, by_name)
    return OpenFile(path, data)


def _kind(path: Path, data: memoryview) -> Kind:
    """The kind that a file's content names, and where it names none, its ending."""
    identifier = bytes(data[4:8])
    if identifier[2:].isdigit():
        if identifier[:2] == b"ET":
            return Kind.PROGRAM
        if identifier[:2] in _IDENTIFIERS:
            return _IDENTIFIERS[identifier[:2]]
    return _ENDINGS.get(path.suffix.lower(), Kind.PROGRAM)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
