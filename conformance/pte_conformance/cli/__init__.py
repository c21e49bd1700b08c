"""The command ``pte-conformance``: one module per command, loaded when it is needed.

Checking a tiny file must not wait for pytest and Hypothesis, so nothing is imported here that a
command alone needs.
"""

from __future__ import annotations

import importlib
import os
import sys

import click

_COMMANDS = ("run", "check", "inspect", "adapters", "requirements")


class _EnvironmentFails(click.ClickException):
    """The machine does not let the command go on; that says nothing about what was checked."""

    exit_code = 3


class _LazyGroup(click.Group):
    """A group whose commands are attributes ``command`` of modules of this package."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Whoever read the output has seen enough; click knows what to do.
            raise
        except OSError as error:
            # What is left in the buffers would fail again at the end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise _EnvironmentFails(str(error)) from error

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click calls it so)
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (likewise)
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"pte_conformance.cli.{cmd_name}")
        found: click.Command = module.command
        return found


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pte-conformance", message="%(prog)s %(version)s")
def main() -> None:
    """Conformance suite for implementations of ExecuTorch's .pte file format.

    Exit codes: 0 conforming, 1 not conforming, 2 wrong usage, 3 the environment or the suite failed.
    """
