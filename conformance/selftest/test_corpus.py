"""The corpus is whole: what the manifest lists is there, unchanged, and nothing else is."""

import hashlib
import json
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import referencing
import referencing.jsonschema
from pte_corpus import root

CORPUS = root()
CHECKOUT = Path(__file__).parents[2]
FILES: list[dict[str, Any]] = json.loads((CORPUS / "manifest.json").read_text("utf-8"))["files"]

each_file = pytest.mark.parametrize("listed", FILES, ids=[entry["path"] for entry in FILES])


def read_json(name: str) -> Any:
    """Read a JSON file of the corpus."""
    return json.loads((CORPUS / name).read_text("utf-8"))


@cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    """Return a validator for one of the corpus's schemas, which may refer to the others."""
    schemas = [(path.name, read_json(path.name)) for path in CORPUS.glob("*.schema.json")]
    registry: referencing.jsonschema.SchemaRegistry = referencing.Registry().with_contents(schemas)
    schema = read_json(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema, registry=registry)


def files_below(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder by its relative path, but for what Python leaves behind."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_manifest_follows_its_schema() -> None:
    """The manifest has the form that its schema promises to other programs."""
    validator("manifest.schema.json").validate(read_json("manifest.json"))


@pytest.mark.parametrize("key", ["path", "sha256"])
def test_no_file_is_listed_twice(key: str) -> None:
    """A path is an id, and equal bytes are kept once."""
    assert [value for value, times in Counter(entry[key] for entry in FILES).items() if times > 1] == []


def test_listed_files_are_exactly_the_files_in_the_folder() -> None:
    """Every file of the corpus is in the manifest or belongs to a file that is."""
    own = {"__init__.py", "py.typed", "manifest.json", "manifest.schema.json", "golden.schema.json"}
    listed = {entry["path"] for entry in FILES}
    assert files_below(CORPUS).keys() == own | listed | {f"{path}.json" for path in listed}


@each_file
def test_bytes_are_those_of_the_manifest(listed: dict[str, Any]) -> None:
    """Size and hash of each file are as listed."""
    data = (CORPUS / listed["path"]).read_bytes()
    assert (len(data), hashlib.sha256(data).hexdigest()) == (listed["size"], listed["sha256"])


@each_file
def test_facts_follow_their_schema_and_agree_with_the_manifest(listed: dict[str, Any]) -> None:
    """The facts beside a file repeat its manifest entry and account for each of its releases."""
    facts = read_json(listed["path"] + ".json")
    validator("golden.schema.json").validate(facts)
    assert {key: facts[key] for key in listed} == listed
    assert {release for made in facts["made"] for release in made["releases"]} == set(facts["releases"])


@each_file
def test_name_and_folder_tell_kind_and_first_release(listed: dict[str, Any]) -> None:
    """A golden file lies in the folder of the first release that wrote it."""
    path = Path(listed["path"])
    assert (path.parent.name, path.suffix) == (listed["releases"][0], f".{listed['kind']}")


@each_file
def test_identifier_in_the_bytes_is_that_of_the_facts(listed: dict[str, Any]) -> None:
    """Each kind of file carries its identifier at offset 4."""
    identifier = (CORPUS / listed["path"]).read_bytes()[4:8].decode("ascii")
    assert identifier == read_json(listed["path"] + ".json")["file_identifier"]


def test_importing_nothing_changes_nothing(tmp_path: Path) -> None:
    """The corpus is just what its import script writes, so no file of it was edited by hand."""
    copy = tmp_path / "pte_corpus"
    shutil.copytree(CORPUS, copy, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, str(CHECKOUT / "corpus/import_golden.py"), "--corpus", str(copy)]
    subprocess.run(command, check=True, capture_output=True)
    assert files_below(copy) == files_below(CORPUS)


def test_git_ignores_no_file_of_the_corpus() -> None:
    """An ignored file would be missing from the sdist and the wheel without a word."""
    if not (CHECKOUT / ".git").exists():
        pytest.skip("not a git checkout")
    paths = "\n".join(f"corpus/pte_corpus/{path}" for path in files_below(CORPUS))
    # --no-index: files that git tracks already are judged by the rules too.
    command = ["git", "check-ignore", "--no-index", "--stdin"]
    ignored = subprocess.run(command, check=False, cwd=CHECKOUT, input=paths, capture_output=True, text=True)
    assert (ignored.stdout, ignored.returncode) == ("", 1)
