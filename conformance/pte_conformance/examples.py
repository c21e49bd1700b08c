"""Keeps the inputs that an implementation fails on, as files."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any, Protocol

from pte_reference import PTEFile, Requirement, WriterOptions
from pte_reference.json_form import to_json

DEFAULT_OUTPUT = ".pte-conformance"


class WrittenLike(Protocol):
    """Content and the knobs to write it with."""

    @property
    def content(self) -> PTEFile:
        """What is written."""

    @property
    def options(self) -> WriterOptions:
        """How."""


class ExampleStore:
    """Files ``OUTPUT/examples/ADAPTER/REQUIREMENT/CASE``.

    Args:
        output: the output directory, made when the first file is.
        adapter: the adapter's name.
    """

    def __init__(self, output: Path, adapter: str) -> None:
        self._output = output
        self._folder = output / "examples" / slug(adapter)

    def clear(self) -> None:
        """Removes what an earlier run kept."""
        for suffix in (".pte", ".json"):
            for path in self._folder.rglob(f"*{suffix}"):
                path.unlink()

    def save(self, requirement: Requirement, name: str, example: Any) -> str:
        """Writes an input and returns its path, relative to the output directory.

        A file becomes ``.pte``; content to be written becomes ``.json``, in the JSON form of a
        PTEFile beside the writer's options.
        """
        folder = self._folder / requirement.id
        folder.mkdir(parents=True, exist_ok=True)
        if isinstance(example, bytes):
            path = folder / f"{slug(name)}.pte"
            path.write_bytes(example)
        else:
            path = folder / f"{slug(name)}.json"
            path.write_text(json.dumps(_written_json(example), indent=1) + "\n", "utf-8")
        return path.relative_to(self._output).as_posix()


def _written_json(example: WrittenLike) -> dict[str, Any]:
    return {"options": dataclasses.asdict(example.options), "content": to_json(example.content)}


def slug(name: str) -> str:
    """A file name for any name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.")[:180] or "unnamed"
