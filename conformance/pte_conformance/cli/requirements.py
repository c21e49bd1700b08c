"""``pte-conformance requirements``: the catalogue."""

from __future__ import annotations

import json

import click

from pte_conformance.catalogue import NoSuchRequirement, as_json, catalogue_hash, choose
from pte_conformance.cli.terminal import Screen, amount
from pte_reference import REGISTRY, Layer, Level, Requirement


@click.command("requirements", short_help="List what implementations are held to.")
@click.argument("patterns", metavar="[ID|GLOB]...", nargs=-1)
@click.option("--layer", type=click.Choice([one.value for one in Layer]), help="Only this layer.")
@click.option("--level", type=click.Choice([one.value for one in Level]), help="Only this level.")
@click.option("--json", "as_document", is_flag=True, help="Print one JSON document instead of text.")
def command(patterns: tuple[str, ...], layer: str | None, level: str | None, as_document: bool) -> None:
    """List the requirements: all, or those that fit an id or a pattern such as 'writer/*'."""
    try:
        chosen = choose(patterns)
    except NoSuchRequirement as error:
        raise click.UsageError(str(error)) from None
    shown = [
        one
        for one in REGISTRY
        if one in chosen and layer in {None, one.layer.value} and level in {None, one.level.value}
    ]
    if as_document:
        document = {"format": 1, "catalogue": catalogue_hash(), "requirements": [*map(as_json, shown)]}
        click.echo(json.dumps(document, indent=1))
        return
    screen = Screen.of_stdout()
    for one in shown:
        _print(one, screen)
    screen.print(f"{amount(len(shown), 'requirement')}, catalogue {catalogue_hash()}")


def _print(requirement: Requirement, screen: Screen) -> None:
    roles = ", ".join(sorted(role.value for role in requirement.binds))
    screen.print(f"{screen.bold(requirement.id)}  {requirement.level.value} for {roles}")
    screen.print(screen.wrap(requirement.statement, "    "))
