"""The report as one JSON document; its JSON Schema is ``run.schema.json`` beside this module."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pte_conformance.events import Status, to_json
from pte_conformance.reports.summary import rows
from pte_conformance.running import Result

FORMAT = 1
SCHEMA = Path(__file__).with_name("run.schema.json")


def document(results: Iterable[Result]) -> dict[str, Any]:
    """The report of one or more runs. It does not depend on time or chance."""
    return {"format": FORMAT, "runs": [*map(_run, results)]}


def _run(result: Result) -> dict[str, Any]:
    return {
        "started": _untagged(to_json(result.started)),
        "requirements": [
            {
                "id": row.requirement.id,
                "level": row.requirement.level.value,
                "statement": row.requirement.statement,
                "status": row.status.value,
                "cases": {status.value: row.cases[status] for status in Status},
            }
            for row in rows(result.judged)
        ],
        "cases": [_untagged(to_json(one)) for one in result.judged],
        "finished": _untagged(to_json(result.finished)),
    }


def _untagged(event: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in event.items() if key != "event"}


def text(results: Iterable[Result]) -> str:
    """The document as text."""
    return json.dumps(document(results), indent=1)
