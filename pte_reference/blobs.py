"""Telling equal blobs from different ones without reading more than is needed."""

from __future__ import annotations

import hashlib

from pte_reference.errors import FieldValueError
from pte_reference.schema import Blob

_PREFIX = 64
_CHUNK = 1 << 20


def as_blob(value: object, what: str) -> Blob:
    """``value`` as bytes or as a flat view of its bytes, without a copy.

    Raises:
        FieldValueError: it is no buffer of contiguous bytes.
    """
    if isinstance(value, bytes):
        return value
    try:
        return memoryview(value).cast("B").toreadonly()  # type: ignore[arg-type]
    except TypeError:
        raise FieldValueError(f"{what} is a {type(value).__name__}, not a buffer of bytes") from None


def same_bytes(left: Blob, right: Blob) -> bool:
    """Whether two blobs hold the same bytes; compares in chunks, copies at most 2 MiB."""
    if left is right:
        return True
    if len(left) != len(right):
        return False
    # memoryview comparison is element by element; comparing chunks as bytes is memcmp.
    return all(
        bytes(left[at : at + _CHUNK]) == bytes(right[at : at + _CHUNK]) for at in range(0, len(left), _CHUNK)
    )


class DistinctBlobs:
    """A list of distinct blobs that grows as blobs are placed in it.

    Whole blobs are looked at only when their length and first bytes agree, and each once, so
    the work stays small unless the data really repeats.
    """

    def __init__(self, compare_at_most: int | None = None) -> None:
        """Starts empty.

        Args:
            compare_at_most: bytes to look at in all; blobs that would need more count as
                different. None for no limit.
        """
        self.blobs: list[Blob] = []
        self._budget = compare_at_most
        # By length and first bytes; where several agree in those, by a digest of all bytes.
        self._alike: dict[tuple[int, bytes], dict[bytes | None, int]] = {}
        self._seen: dict[int, int] = {}

    def place(self, blob: Blob) -> int:
        """The index of ``blob`` in :attr:`blobs`, where it is added if it is new."""
        known = self._seen.get(id(blob))
        if known is not None:
            return known
        alike = self._alike.setdefault((len(blob), bytes(blob[:_PREFIX])), {})
        if None in alike:
            first = alike.pop(None)
            alike[self._digest(self.blobs[first], first)] = first
        digest = self._digest(blob, len(self.blobs)) if alike else None
        index = alike.setdefault(digest, len(self.blobs))
        if index == len(self.blobs):
            self.blobs.append(blob)
            # Only blobs that this list keeps alive are remembered by identity.
            self._seen[id(blob)] = index
        return index

    def _digest(self, blob: Blob, index: int) -> bytes:
        """A digest of the bytes; past the budget, one that no other blob has."""
        if self._budget is not None:
            self._budget -= len(blob)
            if self._budget < 0:
                return b"%d" % index
        return hashlib.sha256(blob).digest()
