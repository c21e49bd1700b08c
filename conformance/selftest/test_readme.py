"""What the README shows is what happens."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from selftest.commands import start
from selftest.golden import GOLDEN

README = Path(__file__).parents[2] / "README.md"
MODEL = GOLDEN["1.2.0/ex_linrelu.pte"]
"""What the examples call ``model.pte``."""

FENCED = re.compile(r"^```(\w+)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> Iterator[tuple[str, str | None]]:
    """The blocks in a language, each with the output shown below it."""
    for found in FENCED.finditer(README.read_text("utf-8")):
        if found[1] == language:
            yield found[2], found[3]


def run_python() -> Iterator[tuple[str, str]]:
    """Runs all Python blocks one after the other, as a reader would; gives shown and real output."""
    names: dict[str, object] = {"__name__": "readme"}
    for code, shown in blocks("python"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(README), "exec"), names)  # noqa: S102 (it is our own README)
        yield shown or "", printed.getvalue()


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory that a reader of the README works in."""
    monkeypatch.chdir(tmp_path)
    Path("model.pte").write_bytes(MODEL.read_bytes())


def test_python_examples_print_what_the_readme_shows() -> None:
    """All Python blocks run in order in one namespace."""
    for shown, printed in run_python():
        assert printed == shown


def test_command_examples_print_what_the_readme_shows() -> None:
    """Three dots stand for anything within a line, as versions. A whole run is left out: it takes long."""
    list(run_python())
    for code, _ in blocks("python"):
        if "class Forgetful" in code:
            Path("forgetful.py").write_text(code)
    tried = set()
    for block, _ in blocks("console"):
        line, _, shown = block.partition("\n")
        command, *arguments = shlex.split(line.removeprefix("$ pte-conformance "))
        if arguments:
            printed = start(command, *arguments).stdout.rstrip()
            assert re.fullmatch(".*".join(map(re.escape, shown.rstrip().split("..."))), printed), printed
            tried.add(command)
    assert tried == {"check", "inspect", "requirements", "run"}


def test_set_up_is_two_commands() -> None:
    """The first screen has them; CI runs the first two blocks of shell commands as they stand."""
    run, test = [block for block, _ in blocks("sh")][:2]
    assert re.fullmatch(r"python3 -m venv .* && .*pip install \. && .*pte-conformance run\n", run)
    assert re.fullmatch(r"python3 -m venv .* && .*pip install -e '\.\[dev\]' && .*pytest\n", test)
    assert README.read_text("utf-8").count("\n", 0, README.read_text("utf-8").index(test)) < 24
