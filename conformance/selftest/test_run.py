"""``run``, ``adapters`` and ``requirements`` as a user meets them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pte_conformance.adapter import NotSupported
from pte_conformance.adapters.reference import Reference
from pte_conformance.events import Status
from pte_conformance.reports.json_report import SCHEMA, document
from pte_conformance.running import NothingToJudge, Plan, run_conformance

from pte_reference import REGISTRY, PTEFile, check
from selftest.liars.readers import CutsTextsAtNul
from selftest.liars.refusers import OVERLOOKING

IDENTIFIER_LIAR = next(one for one in OVERLOOKING if one.__name__ == "OverlooksContainerIdentifier")


class NeverSupports(Reference):
    """Says of everything that it lacks it."""

    def deserialize(self, data: bytes) -> PTEFile:
        """Reads nothing."""
        raise NotSupported("not today")


class Dies(Reference):
    """Ends its process when it is asked to read."""

    isolated = True

    def deserialize(self, data: bytes) -> PTEFile:
        """Never returns."""
        os._exit(0)


def command(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs ``pte-conformance`` in a process of its own."""
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return subprocess.run(
        [sys.executable, "-m", "pte_conformance.cli", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def validate(name: str, report: object) -> None:
    """Holds a document to the schema that is shipped for the command."""
    text = (resources.files("pte_conformance") / "cli" / f"{name}.schema.json").read_text("utf-8")
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(report, schema)


def few(output: Path, *requirements: str) -> Plan:
    """A plan for a quick run."""
    return Plan(examples=5, output=output, requirements=requirements)


def test_without_an_argument_the_reference_is_tested_and_conforms(tmp_path: Path) -> None:
    """The first command that a stranger types succeeds, and leaves nothing behind."""
    done = command("run", "--examples", "5", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("reference ")
    assert done.stdout.endswith("conforming\n")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_shows_what_is_needed_to_act_on_it(tmp_path: Path) -> None:
    """Requirement, sentence, outcome, blame, a saved input, and the command that repeats it."""
    liar = "selftest.liars.readers:CutsTextsAtNul"
    done = command("run", liar, "--requirement", "fidelity/*", "--examples", "5", cwd=tmp_path)
    assert done.returncode == 1
    assert "failed: MUST fidelity/program-fields-preserved" in done.stdout
    assert "Every field of the program's content comes back" in done.stdout
    assert r"'a\x00b' expected, got 'a'" in done.stdout
    assert "fault of the implementation" in done.stdout
    lines = [line.strip() for line in done.stdout.splitlines()]
    (saved,) = {line.removeprefix("input: ") for line in lines if line.startswith("input: ")}
    assert (tmp_path / saved).is_file()
    (repeat,) = (
        line.removeprefix("repeat: pte-conformance ") for line in lines if line.startswith("repeat: ")
    )
    again = command(*repeat.split(), "--examples", "5", cwd=tmp_path)
    assert again.returncode == 1
    assert saved in again.stdout
    assert [one.name for one in tmp_path.iterdir()] == [".pte-conformance"]


def test_a_saved_file_is_the_one_that_was_wrongly_accepted(tmp_path: Path) -> None:
    """The input of a refusal can be checked again."""
    result = run_conformance(IDENTIFIER_LIAR, few(tmp_path, "container/identifier"))
    failed = [one for one in result.judged if one.status is Status.FAILED]
    assert {one.outcome for one in failed} == {"accept"}
    for one in failed:
        findings = check((tmp_path / str(one.example)).read_bytes())
        assert {finding.requirement.id for finding in findings} == {"container/identifier"}


def test_inputs_of_an_earlier_run_are_removed(tmp_path: Path) -> None:
    """What is there was found by the last run."""
    run_conformance(IDENTIFIER_LIAR, few(tmp_path, "container/identifier"))
    assert list(tmp_path.rglob("*.pte")) != []
    run_conformance(IDENTIFIER_LIAR, few(tmp_path, "container/header-length"))
    assert list(tmp_path.rglob("*.pte")) == []


def test_the_report_follows_its_schema_and_is_the_same_each_time(tmp_path: Path) -> None:
    """Same seed, same report, whatever the hash seed of Python."""
    liar = "selftest.liars.readers:CutsConstants"
    reports = []
    for seed in ("1", "2"):
        held = ("--requirement", "fidelity/constants-preserved", "--examples", "5")
        arguments = ("run", liar, "reference", *held, "--json")
        done = command(*arguments, cwd=tmp_path, PYTHONHASHSEED=seed)
        assert done.returncode == 1
        reports.append(done.stdout)
    assert reports[0] == reports[1]
    report = json.loads(reports[0])
    schema = json.loads(SCHEMA.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(report, schema)
    assert [run["finished"]["exit_code"] for run in report["runs"]] == [1, 0]


def test_another_seed_is_another_run(tmp_path: Path) -> None:
    """The seed is in the report, and decides what is generated."""
    seeds = {}
    for seed in (0, 1):
        result = run_conformance(CutsTextsAtNul, Plan(seed=seed, examples=5, output=tmp_path))
        seeds[seed] = document([result])
    assert seeds[0] != seeds[1]


def test_verdicts_name_cases_and_never_tests(tmp_path: Path) -> None:
    """A report is read by people and machines that do not know pytest."""
    result = run_conformance("reference", few(tmp_path))
    assert result.judged
    assert not [
        one.case for one in result.judged if "::" in one.case or ".py" in one.case or "test" in one.case
    ]
    assert len({(one.requirement, one.case, one.aspect) for one in result.judged}) == len(result.judged)


def test_the_users_pytest_does_not_interfere(tmp_path: Path) -> None:
    """Neither configuration nor plugins nor conftest of the folder where the command is called."""
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --nonsense\n", "utf-8")
    (tmp_path / "conftest.py").write_text("raise SystemExit('not for you')\n", "utf-8")
    done = command(
        "run",
        *("--requirement", "container/identifier"),
        cwd=tmp_path,
        PYTEST_ADDOPTS="--more-nonsense",
        PYTEST_PLUGINS="no_such_plugin",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert {one.name for one in tmp_path.iterdir()} == {"pytest.ini", "conftest.py"}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["refrence"], 2, "did you mean reference"),
        (["--requirement", "fidelity/constant-preserved"], 2, "did you mean fidelity/constants-preserved"),
        (["--requirement", "encoding/table-count"], 2, "no test holds encoding/table-count yet"),
        (["--examples", "0"], 2, "0 is not in the range"),
        (["selftest.test_transport:Absent"], 3, "install it with: pip install nothing"),
        (["selftest.test_transport:Broken"], 3, "a mistake in the adapter"),
    ],
)
def test_mistakes_and_absences_have_their_own_exit_codes(
    arguments: list[str], code: int, message: str, tmp_path: Path
) -> None:
    """2 for what the user can type differently, 3 for what is not there."""
    done = command("run", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in " ".join(done.stderr.split())


def test_nothing_to_judge_is_no_conformance(tmp_path: Path) -> None:
    """A requirement that no test holds is an error, not a success."""
    with pytest.raises(NothingToJudge):
        run_conformance("reference", few(tmp_path, "encoding/table-count"))


@pytest.mark.parametrize("adapter", [NeverSupports, Dies], ids=lambda one: one.__name__)
def test_what_could_not_be_judged_is_no_conformance(adapter: type[Reference], tmp_path: Path) -> None:
    """Neither an implementation that lacks everything nor one that dies is said to conform."""
    result = run_conformance(adapter, few(tmp_path, "fidelity/golden-facts"))
    assert result.finished.exit_code == 3
    assert "nothing was judged" in result.finished.problems[0]


def test_no_colour_where_there_is_no_terminal(tmp_path: Path) -> None:
    """Reports can be kept in files."""
    done = command("run", "--requirement", "container/*", cwd=tmp_path, FORCE_COLOR="1")
    assert "\x1b" not in done.stdout


PYTEST = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]


def suite_by_pytest(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs the suite the way other people's test runs do."""
    path = os.pathsep.join(entry for entry in sys.path if entry)
    plugin = [] if _is_installed() else ["-p", "pte_conformance.plugin"]
    return subprocess.run(
        [*PYTEST, *plugin, "--pyargs", "pte_conformance.suite", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def _is_installed() -> bool:
    from importlib import metadata

    return any(one.value == "pte_conformance.plugin" for one in metadata.entry_points(group="pytest11"))


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["one process", "xdist"])
def test_the_suite_runs_inside_other_peoples_pytest(workers: list[str], tmp_path: Path) -> None:
    """With the plugin and its options, also over several processes."""
    named = ("--pte-requirement", "fidelity/golden-facts")
    done = suite_by_pytest(*named, *workers, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    liar = "--pte-adapter=selftest.liars.readers:MisreadsVersions"
    done = suite_by_pytest(liar, *named, *workers, cwd=tmp_path)
    assert done.returncode == 1, done.stdout
    assert "fidelity/golden-facts: version: 7 in the file, 0 read" in done.stdout


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["one process", "xdist"])
def test_an_absent_implementation_fails_other_peoples_pytest(workers: list[str], tmp_path: Path) -> None:
    """It is never skipped in silence."""
    done = suite_by_pytest("--pte-adapter=selftest.test_transport:Absent", *workers, cwd=tmp_path)
    assert done.returncode not in (0, 5), done.stdout
    assert "pip install nothing" in done.stdout + done.stderr


def test_the_plugin_does_nothing_in_other_runs(tmp_path: Path) -> None:
    """A fixture of the same name stays its owner's, and the output is as without the plugin."""
    (tmp_path / "test_theirs.py").write_text(
        "import pytest\n"
        "@pytest.fixture\n"
        "def judge():\n"
        "    return 'theirs'\n"
        "def test_it(judge):\n"
        "    assert judge == 'theirs'\n",
        "utf-8",
    )
    outputs = []
    # An installed plugin is there unless it is kept out, another one unless it is asked for.
    with_and_without = [[], ["-p", "no:pte_conformance"]]
    if not _is_installed():
        with_and_without = [["-p", "pte_conformance.plugin"], []]
    for plugin in with_and_without:
        arguments = ["--strict-markers", "-q", *plugin, "test_theirs.py"]
        done = subprocess.run(
            [*PYTEST, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        outputs.append(done.stdout.partition(" in ")[0])
    assert outputs[0] == outputs[1]


def test_adapters_are_listed_with_what_they_can_do(tmp_path: Path) -> None:
    """Also those that are not installed, with the command that installs them."""
    report = json.loads(command("adapters", "--json", cwd=tmp_path).stdout)
    validate("adapters", report)
    listed: list[dict[str, Any]] = report["adapters"]
    by_name = {one["name"]: one for one in listed}
    assert by_name["reference"]["capabilities"] == ["check", "deserialize", "serialize"]
    assert {"flatbuffers-python", "executorch-python"} <= set(by_name)
    for one in listed:
        assert one["available"] or one["install"]
    text = command("adapters", cwd=tmp_path).stdout
    assert "roles: checker, reader, writer" in text


def test_requirements_are_listed(tmp_path: Path) -> None:
    """All, or those of a layer, a level, or a pattern."""
    report = json.loads(command("requirements", "--json", cwd=tmp_path).stdout)
    validate("requirements", report)
    assert {one["id"] for one in report["requirements"]} == {one.id for one in REGISTRY}
    some = command("requirements", "--layer", "writer", "--level", "MUST", "*alignment*", cwd=tmp_path).stdout
    assert "writer/shared-blob-alignment  MUST for writer" in some
    assert "container/" not in some
    assert command("requirements", "nonsense", cwd=tmp_path).returncode == 2


def test_the_suite_is_shipped_with_what_it_needs() -> None:
    """The configuration for pytest and the schema of the report are inside the package."""
    package = resources.files("pte_conformance")
    assert (package / "suite" / "run.ini").is_file()
    assert (package / "reports" / "run.schema.json").is_file()
