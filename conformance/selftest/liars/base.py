"""What all liars have in common."""

from __future__ import annotations

from typing import ClassVar

from pte_conformance.adapters.reference import Reference

from pte_reference import Requirement


class Liar(Reference):
    """The reference; subclasses lie."""

    breaks: ClassVar[tuple[Requirement, ...]] = ()
    """What the lie breaks, and so what the suite must say."""
