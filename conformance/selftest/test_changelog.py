"""The changelog tells which requirements came and went."""

from __future__ import annotations

from pathlib import Path

from pte_reference import REGISTRY

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"


def test_every_requirement_is_in_the_changelog() -> None:
    """Whoever adds one says so."""
    text = CHANGELOG.read_text("utf-8")
    for requirement in REGISTRY:
        layer, slug = requirement.id.split("/")
        section = text.partition(f"`{layer}/`")[2].partition("\n- `")[0]
        assert f"`{slug}`" in section, requirement.id
