"""Telling equal blobs from different ones without reading more than is needed."""

from __future__ import annotations

from pte_reference.schema import Blob

_PREFIX = 64
_CHUNK = 1 << 20


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

    Whole blobs are compared only when their length and first bytes agree, so the work
    stays small unless the data really repeats.
    """

    def __init__(self, compare_at_most: int | None = None) -> None:
        """Starts empty.

        Args:
            compare_at_most: bytes to compare in all; blobs that would need more count as
                different. None for no limit.
        """
        self.blobs: list[Blob] = []
        self._budget = compare_at_most
        self._alike: dict[tuple[int, bytes], list[int]] = {}
        self._seen: dict[int, int] = {}

    def place(self, blob: Blob) -> int:
        """The index of ``blob`` in :attr:`blobs`, where it is added if it is new."""
        known = self._seen.get(id(blob))
        if known is not None:
            return known
        candidates = self._alike.setdefault((len(blob), bytes(blob[:_PREFIX])), [])
        for index in candidates:
            if self._same(index, blob):
                return index
        index = len(self.blobs)
        self.blobs.append(blob)
        candidates.append(index)
        # Only blobs that this list keeps alive are remembered by identity.
        self._seen[id(blob)] = index
        return index

    def _same(self, index: int, blob: Blob) -> bool:
        if self._budget is not None:
            if self._budget < len(blob):
                return False
            self._budget -= len(blob)
        return same_bytes(self.blobs[index], blob)
