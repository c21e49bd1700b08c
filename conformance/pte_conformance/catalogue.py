"""The catalogue: a choice by id or pattern, and a hash for reports."""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
import json
from collections.abc import Iterable
from typing import Any

from pte_reference import REGISTRY, Requirement


class NoSuchRequirement(Exception):
    """An id or a pattern that no requirement fits."""


def choose(patterns: Iterable[str]) -> frozenset[Requirement]:
    """The requirements whose ids fit at least one pattern (``*``, ``?``); all for no pattern.

    Raises:
        NoSuchRequirement: one of the patterns fits none; the message names the closest ids.
    """
    patterns = list(patterns)
    if not patterns:
        return frozenset(REGISTRY)
    chosen: set[Requirement] = set()
    for pattern in patterns:
        fitting = [one for one in REGISTRY if any(_fits(name, pattern) for name in (one.id, *one.aliases))]
        if not fitting:
            close = difflib.get_close_matches(pattern, [one.id for one in REGISTRY], n=3)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            raise NoSuchRequirement(f"no requirement has the id or fits the pattern {pattern!r}{hint}")
        chosen.update(fitting)
    return frozenset(chosen)


def _fits(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name, pattern)


def as_json(requirement: Requirement) -> dict[str, Any]:
    """A requirement as plain JSON data."""
    return {
        "id": requirement.id,
        "level": requirement.level.value,
        "layer": requirement.layer.value,
        "subject": requirement.subject.value,
        "binds": sorted(role.value for role in requirement.binds),
        "statement": requirement.statement,
        "source": requirement.source,
        "consequence": requirement.consequence,
        "since": requirement.since,
        "until": requirement.until,
        "aliases": list(requirement.aliases),
    }


def catalogue_hash() -> str:
    """Tells two catalogues apart: the same hash, the same rules in the same words."""
    text = json.dumps(sorted((as_json(one) for one in REGISTRY), key=lambda one: one["id"]))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]
