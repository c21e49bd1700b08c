"""The report for people: verdicts by requirement, then each failure with its smallest input."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from pte_conformance.events import CaseJudged, Event, RunFinished, RunStarted, Status
from pte_conformance.reports.summary import Failure, Row, failures, repeat_command, rows
from pte_reference import Level, Requirement

PLAIN_WIDTH = 100
"""Columns where nobody sees a terminal: the same output on every machine."""

_COLOURS = {
    Status.PASSED: "green",
    Status.FAILED: "bold red",
    Status.ADVISORY: "yellow",
    Status.SKIPPED: "dim",
    Status.NOT_REACHED: "magenta",
}


class TerminalReport:
    """A listener that prints when a run has ended.

    Args:
        output: the output directory, to show where inputs are.
        console: where to print.
    """

    def __init__(self, output: Path, console: Console | None = None) -> None:
        self._output = output
        self._console = console or terminal_console()
        self._started: RunStarted | None = None
        self._judged: list[CaseJudged] = []

    def __call__(self, event: Event) -> None:
        """Hears an event."""
        match event:
            case RunStarted():
                self._started = event
                self._judged = []
            case CaseJudged():
                self._judged.append(event)
            case RunFinished():
                if self._started is not None:
                    self._judged.sort(key=lambda one: one.order)
                    self._print(self._started, event)

    def _print(self, started: RunStarted, finished: RunFinished) -> None:
        self._print_head(started)
        self._print_rows(rows(self._judged))
        for requirement, alike in failures(self._judged).items():
            self._print_failures(started, requirement, alike)
        self._print_not_reached()
        self._print_score(finished)

    def _line(self, text: str = "", style: str = "", indent: int = 0) -> None:
        # As Text, so that brackets in names and paths are not taken for markup.
        self._console.print(Padding(Text(text, style), (0, 0, 0, indent), expand=False))

    def _whole_line(self, text: Text) -> None:
        """Prints what is to be copied: never broken into two lines."""
        self._console.print(text, soft_wrap=True)

    def _print_head(self, started: RunStarted) -> None:
        adapter = started.adapter
        self._line(f"{started.name} {adapter['version']}", "bold")
        self._line(
            f"roles: {', '.join(adapter['roles'])}; can {', '.join(adapter['capabilities'])}", indent=2
        )
        if adapter["dependencies"]:
            versions = ", ".join(f"{name} {version}" for name, version in adapter["dependencies"].items())
            self._line(f"with {versions}", indent=2)
        self._line(
            f"suite {started.suite_version}, catalogue {started.catalogue}, seed {started.seed},"
            f" {started.examples} examples a case, Python {started.python}",
            indent=2,
        )
        self._line()

    def _print_rows(self, found: list[Row]) -> None:
        width = max((len(row.requirement.id) for row in found), default=0)
        for row in found:
            requirement = row.requirement
            counts = ", ".join(f"{row.cases[one]} {_word(one)}" for one in Status if row.cases[one])
            line = Text.assemble(
                (f"{_word(row.status):<11}", _COLOURS[row.status]),
                f"  {requirement.id:<{width}}  ",
                (f"{requirement.level.value:<6}", "" if requirement.level is Level.MUST else "dim"),
                (f"  {counts}", "dim"),
            )
            self._whole_line(line)
        self._line()

    def _print_failures(self, started: RunStarted, requirement: Requirement, alike: list[Failure]) -> None:
        status = alike[0].shown.status
        self._line(f"{_word(status)}: {requirement.level.value} {requirement.id}", _COLOURS[status])
        self._line(requirement.statement, indent=2)
        self._line(f"leads to: {requirement.consequence}", "dim", indent=2)
        for one in alike:
            self._print_failure(one)
        self._whole_line(Text(f"  repeat: {repeat_command(started, requirement)}"))
        self._line()

    def _print_failure(self, failure: Failure) -> None:
        shown = failure.shown
        others = f" (and {failure.alike - 1} more like it)" if failure.alike > 1 else ""
        self._line(f"{shown.case}{others}", "bold", indent=2)
        self._line(shown.message, indent=4)
        for note in shown.differences[1:]:
            self._line(f"{note.path}: {note.expected} expected, got {note.actual}", indent=4)
        blame = shown.blame.value if shown.blame else "nobody"
        self._line(f"outcome {shown.outcome}, fault of the {blame}", "dim", indent=4)
        if shown.example:
            self._whole_line(Text(f"    input: {self._output / shown.example}", "dim"))

    def _print_not_reached(self) -> None:
        missed = [one for one in self._judged if one.status is Status.NOT_REACHED]
        if missed:
            reasons = sorted({one.message for one in missed})
            self._line(f"not reached: {len(missed)} verdicts, since an earlier step failed", "magenta")
            for reason in reasons[:5]:
                self._line(reason, "dim", indent=2)
            self._line()

    def _print_score(self, finished: RunFinished) -> None:
        for problem in finished.problems:
            self._line(f"the suite or the environment failed: {problem}", "bold red")
        counts = ", ".join(
            f"{count} {_word(Status(name))}" for name, count in finished.cases.items() if count
        )
        self._line(f"verdicts: {counts or 'none'}")
        self._line(
            f"MUST: {finished.passed_must} of {finished.judged_must} judged passed;"
            f" {finished.declared_must} bind this adapter, {finished.all_must} are in the catalogue"
        )
        words = {0: ("conforming", "bold green"), 1: ("not conforming", "bold red")}
        self._line(*words.get(finished.exit_code, ("no verdict", "bold red")))


def _word(status: Status) -> str:
    return status.value.replace("-", " ")


def terminal_console() -> Console:
    """Standard output: colour and its width only on a terminal, and as NO_COLOR asks."""
    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, width=PLAIN_WIDTH, no_color=True, force_terminal=False)


@contextlib.contextmanager
def progress_bar(name: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error where that is a terminal; gives what tells it how far the run is."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    # A descriptor of its own: pytest captures what is written to the usual one.
    with os.fdopen(os.dup(2), "w") as stream:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        console = Console(file=stream)
        with Progress(
            *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
        ) as bar:
            task = bar.add_task(name, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
