"""Runs commands as a user does: inside this process, in one of their own, and with their schemas."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import click
import jsonschema
import pte_conformance
import referencing
import referencing.jsonschema
from click.testing import CliRunner, Result

from selftest.broken_files import BROKEN

# The commands tell a bundled program from a broken program, as the library does not.
BROKEN_PROGRAMS = [one for one in BROKEN if one[1] != "bundled program"]

CLI = Path(pte_conformance.__file__).parent / "cli"


def call(command: str, *arguments: str | Path) -> Result:
    """Runs a command inside this process; an exception that leaves it fails the test."""
    module = importlib.import_module(f"pte_conformance.cli.{command}")
    assert isinstance(module.command, click.Command)
    return CliRunner().invoke(module.command, [*map(str, arguments)], catch_exceptions=False)


def start(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from pte_conformance.cli import main; main()", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **environment},
    )


def call_json(command: str, *arguments: str | Path) -> Any:
    """The document that a command prints with ``--json``, which has to follow the shipped schema."""
    document = json.loads(call(command, *arguments, "--json").stdout)
    _validator(command).validate(document)
    return document


@cache
def _validator(command: str) -> jsonschema.Draft202012Validator:
    schemas = {path.name: json.loads(path.read_text("utf-8")) for path in CLI.glob("*.schema.json")}
    registry: referencing.jsonschema.SchemaRegistry = referencing.Registry().with_contents(schemas.items())
    schema = schemas[f"{command}.schema.json"]
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema, registry=registry)
