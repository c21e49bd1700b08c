"""Readers and checkers that overlook one breach each: a liar for every refusal of the suite."""

from __future__ import annotations

from pte_conformance.adapter import Refused
from pte_conformance.suite.damage import DAMAGED

from pte_reference import FormatError, PTEFile, Requirement, check, deserialize, model
from selftest.liars.base import Liar


class _Overlooks(Liar):
    """Accepts files that break nothing but one requirement."""

    def deserialize(self, data: bytes) -> PTEFile:
        """The content, or an empty one where only the overlooked rule is broken."""
        try:
            return deserialize(data)
        except FormatError as error:
            if {one.requirement for one in error.findings} <= {*self.breaks}:
                return PTEFile(model.Program())
            raise Refused(str(error)) from error

    def check(self, data: bytes) -> None:
        """Refuses what breaks any other MUST."""
        found = [one for one in check(data) if one.is_breach and one.requirement not in self.breaks]
        if found:
            raise Refused("; ".join(map(str, found)))


def _overlooks(requirement: Requirement) -> type[Liar]:
    name = "Overlooks" + "".join(word.capitalize() for word in requirement.id.replace("/", "-").split("-"))
    return type(name, (_Overlooks,), {"breaks": (requirement,), "__doc__": f"Overlooks {requirement.id}."})


OVERLOOKING: tuple[type[Liar], ...] = tuple(
    _overlooks(one) for one in dict.fromkeys(damaged.requirement for damaged in DAMAGED)
)
