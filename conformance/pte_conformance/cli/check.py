"""``pte-conformance check``: what is wrong with files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from pte_conformance.cli.hexview import hex_view
from pte_conformance.cli.inputs import (
    CONFORMING,
    NOT_CONFORMING,
    ExitCode,
    Obstacle,
    Skipped,
    file_arguments,
    open_each,
    print_incidental,
)
from pte_conformance.cli.terminal import Screen, amount, file_name, print_error, printable
from pte_reference import FileMap, Finding, Role, check, file_map, path_text

_SHOWN_FINDINGS = 10


@dataclass(frozen=True, slots=True)
class Judged:
    """A file that was checked.

    Attributes:
        path: the file.
        data: its bytes.
        findings: what is wrong, MUST before SHOULD.
        file_map: whose each byte is; None where nothing is wrong.
        strict: whether breaches of SHOULD count.
    """

    path: Path
    data: memoryview
    findings: tuple[Finding, ...]
    file_map: FileMap | None
    strict: bool

    @property
    def exit_code(self) -> ExitCode:
        """What this file alone makes the command end with."""
        counts = any(self.strict or one.is_breach for one in self.findings)
        return ExitCode.BROKEN if counts else ExitCode.CONFORMING


@click.command("check", short_help="Say what is wrong with files.")
@file_arguments
@click.option(
    "--role",
    type=click.Choice(["reader", "loader", "checker"]),
    default="checker",
    show_default=True,
    help="Report what binds whoever decodes a file, loads it to run, or calls it valid.",
)
@click.option("--strict", is_flag=True, help="Count a broken SHOULD as a failure too.")
@click.pass_context
def command(
    context: click.Context, paths: tuple[Path, ...], role: str, strict: bool, as_json: bool, max_tables: int
) -> None:
    """Check .pte files; directories are searched for them.

    For each finding you see the requirement, where the file breaks it, and the bytes there.
    Exit code: 0 no MUST is broken, 1 one is, 2 usage, 3 a file could not be read.
    """
    judged = _judge_each(paths, Role(role), strict, max_tables)
    results: list[Judged | Skipped]
    if as_json:
        results = list(judged)
        click.echo(json.dumps(_document(results, role, strict), indent=1))
    else:
        screen = Screen.of_stdout()
        results = []
        for one in judged:
            _print_result(one, screen)
            # Kept for the summary; the bytes and the map are not needed any more.
            results.append(_outline(one))
        _print_summary(results, screen)
    context.exit(int(max(one.exit_code for one in results)))


def _judge_each(
    paths: Sequence[Path], role: Role, strict: bool, max_tables: int
) -> Iterator[Judged | Skipped]:
    for one in open_each(paths):
        if isinstance(one, Skipped):
            yield one
            continue
        findings = check(one.data, role=role, max_tables=max_tables)
        findings.sort(key=lambda found: not found.is_breach)
        mapped = file_map(one.data, max_tables=max_tables) if findings else None
        yield Judged(one.path, one.data, tuple(findings), mapped, strict)


def _outline(result: Judged | Skipped) -> Judged | Skipped:
    if isinstance(result, Skipped):
        return result
    return Judged(result.path, memoryview(b""), result.findings, None, result.strict)


def _print_result(result: Judged | Skipped, screen: Screen) -> None:
    if isinstance(result, Skipped):
        if not result.is_incidental:
            print_error(str(result))
        return
    levels = Counter(one.requirement.level.value for one in result.findings)
    verdict = " and ".join(f"{count} {level}" for level, count in levels.items())
    if "MUST" in levels:
        verdict = screen.paint(f"{verdict} broken", "red", bold=True)
    elif levels:
        verdict = screen.paint("no MUST broken", "green") + ", " + screen.paint(verdict + " broken", "yellow")
    else:
        verdict = screen.paint("no MUST broken", "green")
    title = f"{screen.bold(file_name(result.path))}: {verdict}"
    screen.print("\n".join([title, *_finding_lines(result, screen)]))


def _finding_lines(result: Judged, screen: Screen) -> Iterator[str]:
    explained = set()
    for finding in result.findings[:_SHOWN_FINDINGS]:
        requirement = finding.requirement
        yield ""
        colour = "red" if finding.is_breach else "yellow"
        head = screen.paint(f"{requirement.level.value} {requirement.id}", colour, bold=True)
        yield f"  {head}"
        yield screen.wrap(printable(finding.message), " " * 4)
        if requirement not in explained:
            explained.add(requirement)
            yield screen.wrap(requirement.statement, " " * 10, first="    rule: ")
        if finding.hint:
            yield screen.wrap(printable(finding.hint), " " * 10, first="    hint: ")
        yield from (f"    {line}" for line in _place_lines(finding, result, screen))
    if (rest := len(result.findings) - _SHOWN_FINDINGS) > 0:
        yield f"\n  and {rest:,} more (--json shows all)"
    if result.findings:
        yield ""


def _place_lines(finding: Finding, result: Judged, screen: Screen) -> Iterator[str]:
    places = [path_text(finding.path)] if finding.path else []
    if finding.offset is not None:
        places.append(f"byte {finding.offset:,}")
    if places:
        yield f"at {', '.join(places)}:"
    if finding.offset is not None and result.file_map is not None:
        view = hex_view(result.data, finding.offset, result.file_map, screen)
        yield from (f"  {line}" for line in view)


def _print_summary(results: Sequence[Judged | Skipped], screen: Screen) -> None:
    judged = [one for one in results if isinstance(one, Judged)]
    skipped = [one for one in results if isinstance(one, Skipped)]
    if len(results) == 1 and judged:
        return
    broken = sum(one.exit_code is ExitCode.BROKEN for one in judged)
    parts = [f"{amount(len(judged), 'file')} checked: {len(judged) - broken:,} conforming, {broken:,} not"]
    if unreadable := sum(one.obstacle is Obstacle.UNREADABLE for one in skipped):
        parts.append(f"{unreadable:,} could not be read")
    screen.print(screen.bold("; ".join(parts)))
    print_incidental(skipped, screen)


def _document(results: Iterable[Judged | Skipped], role: str, strict: bool) -> dict[str, Any]:
    files = [one.as_json() if isinstance(one, Skipped) else _judged_json(one) for one in results]
    verdicts = Counter(one["verdict"] for one in files)
    names = (CONFORMING, NOT_CONFORMING, *(one.value for one in Obstacle))
    summary = {name: verdicts[name] for name in names}
    return {"format": 1, "role": role, "strict": strict, "files": files, "summary": summary}


def _judged_json(result: Judged) -> dict[str, Any]:
    return {
        "path": str(result.path),
        "verdict": CONFORMING if result.exit_code is ExitCode.CONFORMING else NOT_CONFORMING,
        "size": len(result.data),
        "findings": [{**one.as_json(), "owner": _owner_json(one, result)} for one in result.findings],
    }


def _owner_json(finding: Finding, result: Judged) -> dict[str, Any] | None:
    """Whose the byte at the finding's offset is; null where the file has no such byte."""
    offset, mapped = finding.offset, result.file_map
    if offset is None or mapped is None or offset >= len(result.data):
        return None
    owner = mapped.at(offset)
    return {
        "start": owner.start,
        "end": owner.end,
        "region": owner.region.value,
        "path": path_text(owner.path),
        "note": owner.note,
    }
