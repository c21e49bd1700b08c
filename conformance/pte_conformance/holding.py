"""How a test says which requirements it holds an implementation to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import pytest

from pte_reference import Requirement

MARKER = "pte_holds"

_UNSPEAKABLE = re.compile(r"[^A-Za-z0-9./]+")


def holds(*requirements: Requirement) -> pytest.MarkDecorator:
    """Marks a test, or one of its parameters, with the requirements that it judges."""
    return pytest.mark.pte_holds.with_args(*requirements)


def held_by(item: pytest.Item) -> tuple[Requirement, ...]:
    """The requirements that a test holds, parameters before function."""
    return tuple(dict.fromkeys(_all(mark.args for mark in item.iter_markers(MARKER))))


def case_name(item: pytest.Item) -> str:
    """The name of a test's case: what it is called, without where it lies.

    ``test_round_trip.py::test_fixed_content[two plans]`` is ``round-trip/fixed-content/two-plans``.
    """
    path = item.path.stem.removeprefix("test_")
    name = getattr(item, "originalname", None) or item.name
    parts = [path, name.removeprefix("test_")]
    callspec = getattr(item, "callspec", None)
    if callspec is not None:
        parts.append(callspec.id)
    return "/".join(_UNSPEAKABLE.sub("-", part).strip("-") for part in parts)


def _all(arguments: Iterable[tuple[Requirement, ...]]) -> Iterator[Requirement]:
    for some in arguments:
        yield from some
