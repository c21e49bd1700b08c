"""What the suite asks of an implementation, and the outcomes it can answer with.

An adapter is a small class around one implementation. It translates between
:class:`~pte_reference.PTEFile` and whatever the implementation uses, says what the
implementation promises, and lets the implementation's own errors through: only the two
exceptions below are spoken for.
"""

from __future__ import annotations

import enum
from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from pte_reference import PTEFile, Role, WriterOptions


class Capability(enum.Enum):
    """Something an implementation can be asked to do."""

    SERIALIZE = "serialize"
    DESERIALIZE = "deserialize"
    CHECK = "check"
    LOAD = "load"


class Refused(Exception):
    """Raised by an adapter when the implementation refuses a file or content on purpose."""


class NotSupported(Exception):
    """Raised by an adapter when the implementation says that it lacks a feature."""


class AdapterUnavailable(Exception):
    """The implementation cannot be imported or found here.

    Attributes:
        adapter: the adapter's name.
        install: the command that would install what is missing.
    """

    def __init__(self, adapter: str, reason: str, install: str) -> None:
        self.adapter = adapter
        self.install = install
        self.reason = reason
        super().__init__(f"adapter {adapter!r} is not available: {reason}; try: {install}")


@dataclass(frozen=True, slots=True)
class AdapterInfo:
    """What an adapter declares of its implementation.

    Attributes:
        name: the adapter's name in the registry.
        version: the implementation's version.
        capabilities: what it can be asked to do.
        roles: the roles it is judged by.
        dependencies: versions of libraries that change its output or verdict.
        not_preserved: model fields and data that the implementation does not promise to
            keep on a round trip, each with the reason.
        profile: further promises and limits, such as the verification level.
    """

    name: str
    version: str
    capabilities: frozenset[Capability]
    roles: frozenset[Role]
    dependencies: Mapping[str, str] = field(default_factory=dict)
    not_preserved: Mapping[str, str] = field(default_factory=dict)
    profile: Mapping[str, str] = field(default_factory=dict)


class Adapter(ABC):
    """Base of adapters. Subclasses override what their ``info`` declares.

    The constructor imports the implementation and raises :class:`AdapterUnavailable` when
    it is not there. ``isolated`` says that calls belong in a child process, with time and
    memory limits, because the implementation can crash, hang or exhaust memory.
    """

    isolated: ClassVar[bool] = True
    install: ClassVar[str] = ""

    info: AdapterInfo

    def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
        """The file that the implementation writes for this content and these knobs."""
        raise NotSupported("this adapter does not serialize")

    def deserialize(self, data: bytes) -> PTEFile:
        """The content that the implementation reads from a file."""
        raise NotSupported("this adapter does not deserialize")

    def check(self, data: bytes) -> None:
        """Returns when the implementation calls the file valid."""
        raise NotSupported("this adapter does not check")

    def load(self, data: bytes) -> Mapping[str, Any]:
        """Prepares the file to run; returns facts such as method names."""
        raise NotSupported("this adapter does not load")


@dataclass(frozen=True, slots=True)
class Accepted:
    """The call returned ``value``: a PTEFile, bytes, or a mapping of facts."""

    value: Any
    kind: ClassVar[str] = "accept"


@dataclass(frozen=True, slots=True)
class Rejected:
    """The implementation refused, on purpose."""

    reason: str
    kind: ClassVar[str] = "reject"


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The implementation lacks the feature, and said so."""

    reason: str
    kind: ClassVar[str] = "unsupported"


@dataclass(frozen=True, slots=True)
class Stumbled:
    """An incidental exception: a ``TypeError`` from the depths is not a refusal."""

    error: str
    reason: str
    trace: str = ""
    kind: ClassVar[str] = "error"


@dataclass(frozen=True, slots=True)
class Crashed:
    """The process died; ``reason`` names the signal or exit code."""

    reason: str
    kind: ClassVar[str] = "crash"


@dataclass(frozen=True, slots=True)
class Hung:
    """The call did not come back within the time limit."""

    seconds: float
    kind: ClassVar[str] = "hang"


@dataclass(frozen=True, slots=True)
class OutOfMemory:
    """The call ran into the memory limit."""

    reason: str
    kind: ClassVar[str] = "memory"


Outcome: TypeAlias = Accepted | Rejected | Unsupported | Stumbled | Crashed | Hung | OutOfMemory
