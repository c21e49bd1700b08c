"""What a requirement is, and the registry of all of them.

A requirement is one statement about the format that a file, a reader or a writer can break.
Checks, suite tests, faults and reports name the object; nothing repeats its text or types
its id.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field

from pte_reference.errors import DuplicateRequirementError, UnknownRequirementError


class Level(enum.Enum):
    """How binding a requirement is: breaking a MUST fails, breaking a SHOULD is advisory."""

    MUST = "MUST"
    SHOULD = "SHOULD"


class Layer(enum.Enum):
    """The part of the format a requirement is about, in the order a reader meets them."""

    CONTAINER = "container"
    ENCODING = "encoding"
    PROGRAM = "program"
    DATA = "data"
    FIDELITY = "fidelity"
    WRITER = "writer"
    EVOLUTION = "evolution"
    BUNDLED = "bundled"
    EXTERNAL = "external"


class Role(enum.Enum):
    """Who can be bound. The reading roles nest: checker > loader > reader."""

    READER = "reader"
    LOADER = "loader"
    CHECKER = "checker"
    WRITER = "writer"

    @property
    def includes(self) -> frozenset[Role]:
        """This role and the ones it contains: what binds them binds it."""
        nested = {
            Role.READER: (Role.READER,),
            Role.LOADER: (Role.READER, Role.LOADER),
            Role.CHECKER: (Role.READER, Role.LOADER, Role.CHECKER),
            Role.WRITER: (Role.WRITER,),
        }
        return frozenset(nested[self])


class Subject(enum.Enum):
    """What a requirement speaks of: something visible in a file, or a way to behave."""

    FILE = "file"
    BEHAVIOUR = "behaviour"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One rule.

    Attributes:
        id: readable and stable, ``layer/slug``; part of the public interface.
        level: MUST or SHOULD.
        binds: the smallest roles that the rule binds; see :meth:`binds_role`.
        statement: the rule in one sentence.
        source: the document or release it comes from.
        consequence: what a breach leads to.
        subject: whether a file can be seen to break it, or only behaviour.
        since: first release it holds for.
        until: last release it holds for, None while it holds.
    """

    id: str
    level: Level
    binds: frozenset[Role]
    statement: str
    source: str
    consequence: str
    subject: Subject = Subject.FILE
    since: str = "0.2.0"
    until: str | None = None
    aliases: tuple[str, ...] = field(default=())

    @property
    def layer(self) -> Layer:
        """The layer, which is the first part of the id."""
        return Layer(self.id.partition("/")[0])

    def binds_role(self, role: Role) -> bool:
        """Whether an implementation in ``role`` is bound, nested roles included."""
        return not self.binds.isdisjoint(role.includes)

    def __str__(self) -> str:
        return self.id


class Registry:
    """All requirements by id, in the order in which they were declared."""

    def __init__(self) -> None:
        self._by_id: dict[str, Requirement] = {}

    def __iter__(self) -> Iterator[Requirement]:
        return iter(dict.fromkeys(self._by_id.values()))

    def __len__(self) -> int:
        return len(set(self._by_id.values()))

    def add(self, requirement: Requirement) -> Requirement:
        """Registers a requirement under its id and aliases, and returns it.

        Raises:
            DuplicateRequirementError: the id or an alias is taken; ids are never reused.
        """
        for name in (requirement.id, *requirement.aliases):
            if name in self._by_id:
                raise DuplicateRequirementError(f"requirement id {name!r} is declared twice")
            self._by_id[name] = requirement
        return requirement

    def get(self, requirement_id: str) -> Requirement:
        """The requirement with that id or former id.

        Raises:
            UnknownRequirementError: there is none; the message names the closest ids.
        """
        try:
            return self._by_id[requirement_id]
        except KeyError:
            raise UnknownRequirementError(requirement_id, tuple(self._by_id)) from None


REGISTRY = Registry()


def declare(
    requirement_id: str,
    level: Level,
    binds: Role | tuple[Role, ...],
    statement: str,
    *,
    source: str,
    consequence: str,
    subject: Subject = Subject.FILE,
    since: str = "0.2.0",
) -> Requirement:
    """Declares a requirement in the catalogue and returns the object to name it by."""
    roles = binds if isinstance(binds, tuple) else (binds,)
    return REGISTRY.add(
        Requirement(
            requirement_id,
            level,
            frozenset(roles),
            statement,
            source,
            consequence,
            subject,
            since,
        )
    )
