"""``pte-conformance inspect``: what is in files."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import click

from pte_conformance.cli.inputs import (
    CONFORMING,
    NOT_CONFORMING,
    ExitCode,
    Skipped,
    file_arguments,
    open_each,
    print_incidental,
)
from pte_conformance.cli.inspect_text import inspected_lines
from pte_conformance.cli.inspected import Inspected, inspected
from pte_conformance.cli.method_facts import MethodFacts
from pte_conformance.cli.terminal import Screen, print_error


@click.command("inspect", short_help="Show what is in files.")
@file_arguments
@click.pass_context
def command(context: click.Context, paths: tuple[Path, ...], as_json: bool, max_tables: int) -> None:
    """Show what is in .pte files; directories are searched for them.

    Methods with their inputs, outputs, operators, delegates and planned memory, the data beside
    the program, and what takes the space. A broken file is shown as far as it can be read.
    Exit code: 0 no MUST is broken, 1 one is, 2 usage, 3 a file could not be read.
    """
    screen = Screen.of_stdout()
    files: list[dict[str, Any]] = []
    skipped: list[Skipped] = []
    worst = ExitCode.CONFORMING
    for one in open_each(paths):
        if isinstance(one, Skipped):
            skipped.append(one)
            worst = max(worst, one.exit_code)
            if as_json:
                files.append(one.as_json())
            elif not one.is_incidental:
                print_error(str(one))
            continue
        facts = inspected(one.data, max_tables)
        worst = max(worst, ExitCode.BROKEN if facts.findings else ExitCode.CONFORMING)
        if as_json:
            files.append({"path": str(one.path), **_facts_json(facts)})
        else:
            screen.print("\n".join(inspected_lines(one.path, facts, screen)))
    if as_json:
        click.echo(json.dumps({"format": 1, "files": files}, indent=1))
    else:
        print_incidental(skipped, screen)
    context.exit(int(worst))


def _facts_json(facts: Inspected) -> dict[str, Any]:
    findings = [one.as_json() for one in facts.findings]
    document = dataclasses.asdict(dataclasses.replace(facts, findings=()))
    if facts.program is not None:
        document["program"]["methods"] = [_method_json(one) for one in facts.program.methods]
    verdict = NOT_CONFORMING if findings else CONFORMING
    return {"verdict": verdict, **document, "findings": findings}


def _method_json(method: MethodFacts) -> dict[str, Any]:
    if method.same_as is not None:
        # Its facts are told there, and only there: a small file can name one method very often.
        return {"name": method.name, "same_as": method.same_as}
    document = dataclasses.asdict(method)
    del document["same_as"]
    return document
