"""The language-neutral JSON form of a PTEFile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import pte_reference
from pte_reference import JsonFormError, deserialize
from pte_reference.json_form import from_json, to_json
from pte_reference.json_schema import FILE_NAME, json_schema
from selftest.covering import COVERING, every_value, smallest
from selftest.golden import GOLDEN


@pytest.mark.parametrize("name", COVERING)
def test_the_json_form_keeps_everything(name: str) -> None:
    """Through text and back, NaN payloads and signed zeros included."""
    text = json.dumps(to_json(COVERING[name]), allow_nan=False)
    assert from_json(json.loads(text)) == COVERING[name]


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_files_have_a_json_form(name: str) -> None:
    """Files of every release."""
    content = deserialize(GOLDEN[name])
    assert from_json(json.loads(json.dumps(to_json(content)))) == content


def test_names_stand_for_enums_and_unions() -> None:
    """A person can read it."""
    document = to_json(every_value())
    value = document["program"]["execution_plan"][0]["values"][0]["val"]
    assert value["type"] == "Tensor"
    assert value["value"]["scalar_type"] == "FLOAT"


def _edited(*path: Any, value: Any) -> Any:
    document = json.loads(json.dumps(to_json(smallest())))
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return document


PLAN = ("program", "execution_plan", 0)
MISTAKES = {
    "no object": ([], "the document is"),
    "unknown part": (_edited("extra", value=1), "extra"),
    "unknown field": (_edited(*PLAN, "colour", value=1), r"execution_plan\[0\].colour"),
    "text for a number": (_edited("program", "version", value="0"), "program.version is '0'"),
    "number for a text": (_edited(*PLAN, "name", value=5), r"execution_plan\[0\].name is 5"),
    "no array": (_edited(*PLAN, "inputs", value={}), "inputs"),
    "unknown kind of value": (
        _edited(*PLAN, "values", value=[{"val": {"type": "Complex", "value": {}}}]),
        r"values\[0\].val.type",
    ),
    "number too large": (_edited("program", "version", value=2**32), "program.version is 4294967296"),
    "float too large": (
        _edited(*PLAN, "values", value=[{"val": {"type": "Double", "value": {"double_val": 10**400}}}]),
        "double_val",
    ),
    "unknown key of a union": (
        _edited(*PLAN, "values", value=[{"val": {"type": "Null", "value": {}, "more": 1}}]),
        r"val.more",
    ),
    "kind that is no text": (_edited(*PLAN, "values", value=[{"val": {"type": []}}]), r"val.type"),
    "alignment that is no number": (
        _edited("named_data", value=[{"key": "a", "data": "", "alignment": "x"}]),
        "alignment is 'x'",
    ),
    "misspelt key": (_edited("named_data", value=[{"key": "a", "data": "", "algn": 1}]), "algn"),
    "not ASCII": (_edited("constants", value=["\u00e9"]), r"constants\[0\] is not base64"),
    "not base64": (_edited("constants", value=["?"]), r"constants\[0\] is not base64"),
    "key twice": (
        _edited("named_data", value=[{"key": "a", "data": ""}, {"key": "a", "data": ""}]),
        "twice",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_document_that_is_no_json_form_is_refused(name: str) -> None:
    """The error names the place."""
    document, text = MISTAKES[name]
    with pytest.raises(JsonFormError, match=text):
        from_json(document)


def test_a_missing_part_is_named() -> None:
    """Nothing is guessed."""
    document = to_json(smallest())
    del document["named_data"]
    with pytest.raises(JsonFormError, match="named_data is missing"):
        from_json(document)


def test_the_shipped_schema_is_the_derived_one() -> None:
    """After a change of the model, ``python conformance/print_json_schema.py`` brings it up to date."""
    shipped = Path(pte_reference.__file__).parent / FILE_NAME
    assert json.loads(shipped.read_text(encoding="utf-8")) == json_schema()


@pytest.mark.parametrize("name", COVERING)
def test_the_json_form_conforms_to_its_schema(name: str) -> None:
    """For contents that together use every table and field."""
    document = json.loads(json.dumps(to_json(COVERING[name])))
    jsonschema.validate(document, json_schema(), cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    "name",
    [name for name in MISTAKES if name not in ("not base64", "not ASCII", "key twice", "float too large")],
)
def test_the_schema_refuses_what_is_no_json_form(name: str) -> None:
    """Except for what a JSON Schema cannot say."""
    document, _ = MISTAKES[name]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, json_schema(), cls=jsonschema.Draft202012Validator)
