"""``pte-conformance check`` tells what is wrong with files, and its exit code says whether something is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pte_conformance.cli.hexview import hex_view
from pte_conformance.cli.terminal import Screen, printable

from pte_reference import Level, Requirement, file_map, serialize
from pte_reference import model as m
from selftest.commands import BROKEN_PROGRAMS, call, call_json, start
from selftest.covering import smallest
from selftest.golden import GOLDEN
from selftest.rewriting import change_plan, poke

GOOD = serialize(smallest())
BROKEN_MUST = poke(GOOD, 4, b"ET99")
BROKEN_SHOULD = change_plan(
    GOOD, values=(m.EValue(m.Tensor(m.ScalarType.FLOAT, storage_offset=1)),), inputs=(), outputs=()
)
NEWER = GOLDEN["0.2.0/hb_version7.pte"]
BUNDLED = NEWER.with_name("ex_bundled.bpte")
EXPECTED = Path(__file__).with_name("expected")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory with a good and a broken file and, further down, one that is not supported."""
    (tmp_path / "good.pte").write_bytes(GOOD)
    (tmp_path / "bad.pte").write_bytes(BROKEN_MUST)
    below = tmp_path / "below"
    below.mkdir()
    (below / "tested.bpte").write_bytes(BUNDLED.read_bytes())
    (below / "notes.txt").write_text("not a model")
    return tmp_path


def save(path: Path, data: bytes) -> Path:
    """Writes a file and returns its path."""
    path.write_bytes(data)
    return path


def test_a_good_file_has_one_line(tmp_path: Path) -> None:
    """And the exit code is 0."""
    path = save(tmp_path / "good.pte", GOOD)
    result = call("check", path)
    assert result.exit_code == 0
    assert result.stdout == f"{path}: no MUST broken\n"


def test_output_for_a_broken_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """The requirement, its rule, a hint, the place, and the bytes there with what they are."""
    monkeypatch.chdir(NEWER.parent)
    result = call("check", NEWER.name)
    assert result.exit_code == 1
    assert result.stdout == (EXPECTED / "check_hb_version7.txt").read_text("utf-8")


@pytest.mark.parametrize(
    ("requirement", "make"),
    [(one, make) for one, _, make in BROKEN_PROGRAMS],
    ids=[what for _, what, _ in BROKEN_PROGRAMS],
)
def test_every_requirement_is_shown(
    requirement: Requirement, make: Callable[[], bytes], tmp_path: Path
) -> None:
    """Whatever is broken, text and JSON name it, and the exit code follows its level."""
    path = save(tmp_path / "broken.pte", make())
    result = call("check", path)
    document = call_json("check", path)
    expected = 1 if requirement.level is Level.MUST else 0
    assert f"  {requirement.level.value} {requirement.id}\n" in result.stdout
    assert requirement.id in [one["requirement"] for one in document["files"][0]["findings"]]
    assert result.exit_code == expected
    assert call("check", path, "--strict").exit_code == 1


def test_a_broken_should_is_advice(tmp_path: Path) -> None:
    """It is shown, and fails only under --strict."""
    path = save(tmp_path / "advice.pte", BROKEN_SHOULD)
    result = call("check", path)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (
        0,
        f"{path}: no MUST broken, 1 SHOULD broken",
    )
    document = call_json("check", path, "--strict")
    assert document["files"][0]["verdict"] == "not conforming"


@pytest.mark.parametrize(("role", "code"), [("reader", 0), ("loader", 1), ("checker", 1)])
def test_a_role_sees_what_binds_it(role: str, code: int) -> None:
    """A reader may decode a program of a newer version, a loader must not run it."""
    assert call("check", NEWER, "--role", role).exit_code == code


def test_directories_are_searched(folder: Path) -> None:
    """All .pte files below are checked; other kinds are named and counted, but no fault of anyone."""
    result = call("check", folder)
    assert result.exit_code == 1
    assert "2 files checked: 1 conforming, 1 not\n" in result.stdout
    assert f"{folder / 'below' / 'tested.bpte'}: bundled program (.bpte)\n" in result.stdout
    assert "notes.txt" not in result.stdout


def test_the_content_says_what_a_file_is(tmp_path: Path) -> None:
    """A bundled program is none of the files to check whatever its name, and a program is one."""
    wrong = save(tmp_path / "wrong.pte", BUNDLED.read_bytes())
    right = save(tmp_path / "right.bpte", GOOD)
    verdicts = {one["path"]: one["verdict"] for one in call_json("check", tmp_path)["files"]}
    assert verdicts == {str(right): "conforming", str(wrong): "unsupported"}


def test_an_unsupported_file_given_by_name_is_a_usage_error(tmp_path: Path) -> None:
    """Somebody asked for a verdict and gets none; the other files are checked all the same."""
    path = save(tmp_path / "good.pte", GOOD)
    result = call("check", BUNDLED, path)
    assert result.exit_code == 2
    assert "not supported yet: bundled program (.bpte)" in result.stderr
    assert f"{path}: no MUST broken" in result.stdout


def test_an_unreadable_file_does_not_stop_the_others(folder: Path) -> None:
    """A link that leads nowhere is the environment's fault: exit code 3, above the 1 of a broken file."""
    (folder / "a_link.pte").symlink_to(folder / "gone")
    result = call("check", folder)
    assert result.exit_code == 3
    assert "a_link.pte: cannot be read: No such file or directory" in result.stderr
    assert "2 files checked: 1 conforming, 1 not; 1 could not be read" in result.stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Opening one would hang until somebody writes to it."""
    os.mkfifo(tmp_path / "pipe.pte")
    result = call("check", tmp_path / "pipe.pte")
    assert result.exit_code == 3
    assert "it is not a regular file" in result.stderr


def test_nothing_to_check_is_a_usage_error(tmp_path: Path) -> None:
    """Neither a path that does not exist nor an empty directory passes."""
    assert call("check", tmp_path / "missing.pte").exit_code == 2
    assert call("check", tmp_path).exit_code == 2
    assert call("check").exit_code == 2


def test_a_file_given_twice_is_checked_once(tmp_path: Path) -> None:
    """As by a directory and a file in it."""
    path = save(tmp_path / "good.pte", GOOD)
    assert call_json("check", path, tmp_path)["summary"]["conforming"] == 1


def test_many_findings_are_capped_in_text_only(tmp_path: Path) -> None:
    """The text shows ten and says how many more there are; JSON has all."""
    path = save(tmp_path / "broken.pte", change_plan(GOOD, inputs=tuple(range(1000, 1030))))
    text = call("check", path).stdout
    assert text.count("MUST program/value-index-in-range") == 10
    assert "and 20 more (--json shows all)" in text
    assert len(call_json("check", path)["files"][0]["findings"]) == 30


def test_max_tables_is_obeyed(tmp_path: Path) -> None:
    """A program with more tables than allowed is refused, for that reason."""
    path = save(tmp_path / "good.pte", GOOD)
    document = call_json("check", path, "--max-tables", "1")
    assert [one["requirement"] for one in document["files"][0]["findings"]] == ["encoding/table-count"]


def test_json_tells_whose_the_byte_is() -> None:
    """The offset of a finding lies in a range of the file map."""
    (finding,) = call_json("check", NEWER)["files"][0]["findings"]
    assert finding["offset"] == 28
    assert finding["owner"] == {
        "start": 28,
        "end": 32,
        "region": "table field",
        "path": "version",
        "note": "",
    }


def test_every_golden_file_conforms_but_one() -> None:
    """``hb_version7`` says a version that no release has reached."""
    files = call_json("check", NEWER.parents[1])["files"]
    wrong = {Path(one["path"]).name for one in files if one["verdict"] == "not conforming"}
    assert wrong == {"hb_version7.pte"}


def test_bytes_behind_the_end_have_no_view() -> None:
    """The hex view ends with the file, and says so."""
    data = memoryview(bytes(range(10)))
    view = hex_view(data, 12, file_map(data), Screen())
    assert view[-1] == "(the file ends before byte 12)"
    assert hex_view(memoryview(b""), 0, file_map(b""), Screen()) == ["(the file is empty)"]


def test_a_screen_with_colours_shows_the_same_text() -> None:
    """Colours only add to the plain lines."""
    data = memoryview(NEWER.read_bytes())
    plain = hex_view(data, 28, file_map(data), Screen())
    coloured = "\n".join(hex_view(data, 28, file_map(data), Screen(colour=True)))
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[22m", "\x1b[31m"):
        coloured = coloured.replace(code, "")
    assert coloured.splitlines() == plain


def test_text_from_a_file_cannot_steer_the_terminal() -> None:
    """Control characters and those that turn the direction of writing are escaped, long text is cut."""
    assert printable("a\x1b[2Jb\u202ec\né") == "a\\x1b[2Jb\\u202ec\\né"
    assert len(printable("x" * 1000)) == 200


def test_the_process_ends_with_the_exit_code(folder: Path) -> None:
    """The commands' exit codes reach the shell, and so does plain text without colours."""
    result = start("check", folder)
    assert (result.returncode, result.stderr) == (1, "")
    assert "\x1b" not in result.stdout
    assert json.loads(start("check", folder / "good.pte", "--json").stdout)["summary"]["conforming"] == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_a_full_disk_is_no_verdict(folder: Path) -> None:
    """What cannot be printed is the environment's failure, told in one line."""
    script = "from pte_conformance.cli import main; main()"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", script, "check", str(folder / "good.pte")],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr.startswith("Error: [Errno 28]")
    assert "Traceback" not in done.stderr


def test_nothing_heavy_is_imported(folder: Path) -> None:
    """Checking a file needs neither the suite's tools nor rich: it answers at once."""
    script = (
        "import sys\n"
        "from pte_conformance.cli import main\n"
        "try:\n"
        "    main()\n"
        "except SystemExit:\n"
        "    print(*sorted({'flatbuffers', 'hypothesis', 'pytest', 'rich'} & set(sys.modules)))\n"
    )
    command = [sys.executable, "-c", script, "check", str(folder / "good.pte")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{folder / 'good.pte'}: no MUST broken", ""]
