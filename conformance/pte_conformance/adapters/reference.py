"""The adapter ``reference``: the package ``pte_reference`` of this project.

It never crashes or hangs by design, so it needs no process of its own.
"""

from __future__ import annotations

from importlib import metadata
from typing import ClassVar

from pte_conformance.adapter import Adapter, AdapterInfo, Capability, Refused
from pte_reference import FormatError, PTEFile, Role, WriteError, WriterOptions, check, deserialize, serialize

_DISTRIBUTION = "pte-conformance"


def _version() -> str:
    try:
        return metadata.version(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "0+unknown"


class Reference(Adapter):
    """Reads, writes and checks ``.pte`` files with ``pte_reference``."""

    isolated: ClassVar[bool] = False
    install: ClassVar[str] = f"pip install {_DISTRIBUTION}"

    def __init__(self) -> None:
        self.info = AdapterInfo(
            name="reference",
            version=_version(),
            capabilities=frozenset({Capability.SERIALIZE, Capability.DESERIALIZE, Capability.CHECK}),
            roles=frozenset({Role.READER, Role.CHECKER, Role.WRITER}),
        )

    def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
        """The file that the reference writes.

        Raises:
            Refused: the content cannot be written.
        """
        try:
            return serialize(pte_file, options)
        except WriteError as error:
            raise Refused(str(error)) from error

    def deserialize(self, data: bytes) -> PTEFile:
        """The content that the reference reads.

        Raises:
            Refused: the file breaks a requirement that binds readers.
        """
        try:
            return deserialize(data)
        except FormatError as error:
            raise Refused(str(error)) from error

    def check(self, data: bytes) -> None:
        """Returns when the reference finds no MUST broken.

        Raises:
            Refused: it does.
        """
        breaches = [one for one in check(data) if one.is_breach]
        if breaches:
            raise Refused("; ".join(map(str, breaches)))


ADAPTER = Reference
