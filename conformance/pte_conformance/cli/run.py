"""``pte-conformance run``: holds implementations to the suite."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pte_conformance.events import Listener
    from pte_conformance.running import Plan, Result

_ENVIRONMENT = 3


@click.command("run", short_help="Hold implementations to the suite.")
@click.argument("adapters", metavar="[ADAPTER]...", nargs=-1)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of generated examples.")
@click.option(
    "--examples",
    type=click.IntRange(min=1),
    default=60,
    show_default=True,
    help="Examples to generate for each case that generates.",
)
@click.option(
    "--requirement",
    "requirements",
    metavar="ID|GLOB",
    multiple=True,
    help="Judge only this requirement, or those that fit the pattern (repeatable).",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".pte-conformance"),
    show_default=True,
    help="Where failing inputs are kept; nothing is written elsewhere.",
)
@click.option("--strict", is_flag=True, help="Count a broken SHOULD as a failure too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
@click.pass_context
def command(
    context: click.Context,
    adapters: tuple[str, ...],
    seed: int,
    examples: int,
    requirements: tuple[str, ...],
    output: Path,
    strict: bool,
    as_json: bool,
) -> None:
    """Hold each ADAPTER to the suite: a name that `adapters` lists, or module:Class.

    Without one the reference is tested. Exit code: 0 conforming, 1 not, 2 usage, 3 the suite or the
    environment failed, for example because an implementation is not installed.
    """
    # Only now: pytest takes a quarter of a second to import, and other commands do without.
    from pte_conformance.running import Plan  # noqa: PLC0415

    if any(":" in name for name in adapters) and "" not in sys.path:
        # The class may be in a module that lies where the command is called, as with `python -m`.
        sys.path.insert(0, str(Path.cwd()))
    plan = Plan(seed, examples, requirements, output, strict)
    results: list[Result] = []
    failed = False
    for name in dict.fromkeys(adapters or ("reference",)):
        result = _run(name, plan, quiet=as_json)
        if result is None:
            failed = True
        else:
            results.append(result)
    if as_json:
        from pte_conformance.reports.json_report import text  # noqa: PLC0415

        click.echo(text(results))
    code = max((one.finished.exit_code for one in results), default=0)
    context.exit(_ENVIRONMENT if failed else code)


def _run(name: str, plan: Plan, *, quiet: bool) -> Result | None:
    """The result, None where the implementation is not there to be tested."""
    from pte_conformance.adapter import AdapterUnavailable  # noqa: PLC0415
    from pte_conformance.catalogue import NoSuchRequirement  # noqa: PLC0415
    from pte_conformance.registry import UnknownAdapter  # noqa: PLC0415
    from pte_conformance.reports.terminal import TerminalReport, progress_bar  # noqa: PLC0415
    from pte_conformance.running import NothingToJudge, run_conformance  # noqa: PLC0415
    from pte_conformance.transport import AdapterBroken, TransportFailure  # noqa: PLC0415

    listeners: list[Listener] = [] if quiet else [TerminalReport(plan.output)]
    try:
        with progress_bar(name) as progress:
            return run_conformance(name, plan, listeners=listeners, progress=progress)
    except (NoSuchRequirement, NothingToJudge, UnknownAdapter) as error:
        raise click.UsageError(str(error)) from None
    except AdapterUnavailable as error:
        click.echo(f"{name} is not available here: {error.reason}", err=True)
        click.echo(f"install it with: {error.install}", err=True)
    except AdapterBroken as error:
        click.echo(f"{error}\n{error.trace}", err=True)
    except TransportFailure as error:
        click.echo(f"{name}: {error}", err=True)
    return None
