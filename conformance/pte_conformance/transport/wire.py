"""The form in which calls and outcomes travel: one JSON document a line, blobs in base64."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from pte_conformance.adapter import (
    Accepted,
    AdapterInfo,
    Capability,
    Crashed,
    Hung,
    Outcome,
    OutOfMemory,
    Rejected,
    Stumbled,
    Unsupported,
)
from pte_reference import PTEFile, Role, WriterOptions
from pte_reference.json_form import from_json, to_json

PROTOCOL = 1
"""Version of the protocol, which the hello message tells."""

Json: TypeAlias = Any

_OUTCOMES: dict[str, type[Any]] = {
    one.kind: one for one in (Accepted, Rejected, Unsupported, Stumbled, Crashed, Hung, OutOfMemory)
}


@dataclasses.dataclass(frozen=True, slots=True)
class Foreign:
    """What an adapter returned that is none of the values it may return.

    Attributes:
        description: its type, and why it cannot be passed on.
    """

    description: str


def encode_line(document: Json) -> bytes:
    """One line of the protocol."""
    return json.dumps(document, separators=(",", ":")).encode("ascii") + b"\n"


def info_to_json(info: AdapterInfo) -> Json:
    """What an adapter declares, as JSON data in a fixed order."""
    return {
        "name": info.name,
        "version": info.version,
        "capabilities": sorted(one.value for one in info.capabilities),
        "roles": sorted(one.value for one in info.roles),
        "dependencies": dict(sorted(info.dependencies.items())),
        "not_preserved": dict(sorted(info.not_preserved.items())),
        "profile": dict(sorted(info.profile.items())),
    }


def info_from_json(document: Json) -> AdapterInfo:
    """What :func:`info_to_json` wrote."""
    return AdapterInfo(
        name=document["name"],
        version=document["version"],
        capabilities=frozenset(map(Capability, document["capabilities"])),
        roles=frozenset(map(Role, document["roles"])),
        dependencies=document["dependencies"],
        not_preserved=document["not_preserved"],
        profile=document["profile"],
    )


def value_to_json(value: object) -> Json:
    """An argument or result, tagged with what it is."""
    match value:
        case None:
            return {"none": None}
        case bytes() | bytearray() | memoryview():
            return {"bytes": base64.b64encode(value).decode("ascii")}
        case WriterOptions():
            return {"options": dataclasses.asdict(value)}
        case PTEFile():
            return {"pte_file": to_json(value)}
        case Mapping():
            return {"facts": dict(value)}
        case Foreign():
            return {"foreign": value.description}
        case _:
            return {"foreign": f"a value of type {type(value).__name__}"}


def value_from_json(document: Json) -> Any:
    """What :func:`value_to_json` wrote."""
    ((tag, content),) = document.items()
    match tag:
        case "bytes":
            return base64.b64decode(content)
        case "options":
            return WriterOptions(**content)
        case "pte_file":
            return from_json(content)
        case "foreign":
            return Foreign(content)
        case _:
            return content


def outcome_to_line(outcome: Outcome) -> bytes:
    """The line that carries an outcome, also where its value cannot travel."""
    if not isinstance(outcome, Accepted):
        return encode_line({"outcome": outcome.kind, **dataclasses.asdict(outcome)})
    try:
        return encode_line({"outcome": outcome.kind, "value": value_to_json(outcome.value)})
    # An adapter can put anything into a PTEFile; what JSON makes of it is its own affair.
    except Exception as error:
        kind = type(outcome.value).__name__
        foreign = Foreign(f"a {kind} that cannot be passed on: {type(error).__name__}: {error}")
        return encode_line({"outcome": outcome.kind, "value": value_to_json(foreign)})


def outcome_from_line(line: bytes) -> Outcome:
    """What :func:`outcome_to_line` wrote."""
    document = json.loads(line)
    kind = document.pop("outcome")
    if kind == Accepted.kind:
        return Accepted(value_from_json(document["value"]))
    outcome: Outcome = _OUTCOMES[kind](**document)
    return outcome
