"""``pte-conformance adapters``: the implementations that can be named, and whether they are here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from pte_conformance.adapter import AdapterInfo, AdapterUnavailable
from pte_conformance.cli.terminal import Screen
from pte_conformance.registry import Listed, UnknownAdapter, known_adapters
from pte_conformance.transport import AdapterBroken, TransportFailure, open_session
from pte_conformance.transport.wire import info_to_json


@click.command("adapters", short_help="List the implementations that can be tested.")
@click.option("--json", "as_document", is_flag=True, help="Print one JSON document instead of text.")
def command(as_document: bool) -> None:
    """List the adapters, whether their implementation is installed here, and what it can do.

    A class of your own needs no listing: name it as module:Class.
    """
    entries = _entries()
    if as_document:
        click.echo(json.dumps({"format": 1, "adapters": [*entries]}, indent=1))
        return
    screen = Screen.of_stdout()
    for entry in entries:
        _print(entry, screen)


def _entries() -> Iterator[dict[str, Any]]:
    for listed in known_adapters():
        entry: dict[str, Any] = {"name": listed.name, "origin": listed.origin}
        yield entry | _availability(listed)


def _availability(listed: Listed) -> dict[str, Any]:
    try:
        with open_session(listed.name) as session:
            return {"available": True, **_declared(session.info)}
    except AdapterUnavailable as error:
        return {"available": False, "reason": error.reason, "install": error.install}
    except (AdapterBroken, TransportFailure, UnknownAdapter) as error:
        return {"available": False, "reason": str(error), "install": ""}


def _declared(info: AdapterInfo) -> dict[str, Any]:
    document: dict[str, Any] = info_to_json(info)
    del document["name"]
    return document


def _print(entry: dict[str, Any], screen: Screen) -> None:
    if not entry["available"]:
        screen.print(f"{screen.bold(entry['name'])}  {screen.paint('not available', 'yellow')}")
        screen.print(screen.wrap(entry["reason"], "    "))
        if entry["install"]:
            screen.print(f"    install: {entry['install']}")
        return
    screen.print(f"{screen.bold(entry['name'])} {entry['version']}  ({entry['origin']})")
    screen.print(f"    can:   {', '.join(entry['capabilities'])}")
    screen.print(f"    roles: {', '.join(entry['roles'])}")
    for what, reason in entry["not_preserved"].items():
        screen.print(screen.wrap(f"{what}: {reason}", "           ", first="    keeps not "))
