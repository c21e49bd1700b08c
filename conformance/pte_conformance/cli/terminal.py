"""What the commands know about the place they print to: width, colour, progress, safe text."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import click

PLAIN_WIDTH = 100
"""Columns where nobody sees a terminal: the same output on every machine."""

_MANY_FILES = 20
_LONGEST_TEXT = 200


@dataclass(frozen=True, slots=True)
class Screen:
    """Where text goes.

    Attributes:
        width: its columns.
        colour: whether it shows colours.
    """

    width: int = PLAIN_WIDTH
    colour: bool = False

    @classmethod
    def of_stdout(cls) -> Screen:
        """The screen that standard output is."""
        if not sys.stdout.isatty():
            return cls()
        width = shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns
        return cls(max(width, 60), colour=not os.environ.get("NO_COLOR"))

    def paint(self, text: str, colour: str, *, bold: bool = False) -> str:
        """``text`` in a colour, where the screen shows any."""
        return click.style(text, fg=colour, bold=bold) if self.colour else text

    def bold(self, text: str) -> str:
        """``text`` in bold, where the screen shows styles."""
        return click.style(text, bold=True) if self.colour else text

    def wrap(self, text: str, indent: str, *, first: str | None = None) -> str:
        """``text`` broken into lines that fit, all behind ``indent``, the first behind ``first``."""
        return textwrap.fill(
            text,
            self.width,
            initial_indent=indent if first is None else first,
            subsequent_indent=indent,
            break_on_hyphens=False,
        )

    def print(self, text: str = "") -> None:
        """Prints lines to standard output."""
        _print(text, sys.stdout)


def print_error(text: str) -> None:
    """Prints a line to standard error."""
    _print(text, sys.stderr)


def _print(text: str, file: TextIO) -> None:
    # Not by click, which finds its way around the stream that keeps lines and progress bar apart.
    encoding = file.encoding or "utf-8"
    file.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    file.flush()


def printable(text: str) -> str:
    """``text`` from a file, cut where it is long and without what could steer a terminal."""
    if len(text) > _LONGEST_TEXT:
        text = text[: _LONGEST_TEXT - 1] + "\N{HORIZONTAL ELLIPSIS}"
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def file_name(path: Path) -> str:
    """The path as it can be printed."""
    return click.format_filename(path)


def amount(number: int, word: str, plural: str = "") -> str:
    """The number with its word: ``1 byte``, ``2,048 bytes``."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


@contextmanager
def progress(total: int) -> Iterator[Callable[[], None]]:
    """A progress bar on standard error where that is a terminal and there is much to do.

    Gives the function to call after each piece of work.
    """
    if total < _MANY_FILES or not sys.stderr.isatty():
        yield lambda: None
        return
    # Importing rich takes longer than checking a file.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress  # noqa: PLC0415

    with Progress(
        BarColumn(),
        MofNCompleteColumn(),
        console=Console(stderr=True),
        transient=True,
        # What goes to a file or a pipe must not be caught; what goes to the same terminal must.
        redirect_stdout=sys.stdout.isatty(),
    ) as bar:
        task = bar.add_task("files", total=total)
        yield lambda: bar.advance(task)
