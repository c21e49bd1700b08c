"""The golden files of the corpus, for tests."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pte_corpus

GOLDEN: dict[str, Path] = {
    f"{path.parent.name}/{path.name}": path for path in sorted((pte_corpus.root() / "golden").glob("*/*.pte"))
}
"""Each distinct ``.pte`` file by release and name."""

SMALL_SIZE = 4096


def small_golden() -> dict[str, bytes]:
    """The bytes of the golden files of up to 4 KB."""
    contents = {name: path.read_bytes() for name, path in GOLDEN.items()}
    return {name: data for name, data in contents.items() if len(data) <= SMALL_SIZE}


def mutants(seed: int, count: int, *, program_only: bool = False) -> Iterator[tuple[str, bytes]]:
    """Golden files with one to four neighbouring bytes changed, each with what was done.

    Half of the new bytes are ones that numbers go wrong at: 0, 1, 127, 128, 255.
    """
    chooser = random.Random(seed)
    files = sorted(small_golden().items())
    for _ in range(count):
        name, data = chooser.choice(files)
        end = int.from_bytes(data[16:24], "little") if data[8:12] == b"eh00" else len(data)
        size = chooser.randint(1, 4)
        at = chooser.randrange((end if program_only else len(data)) - size + 1)
        patch = bytes(
            chooser.choice((0, 1, 127, 128, 255, *(chooser.randrange(256) for _ in range(5))))
            for _ in range(size)
        )
        yield f"{name} with {patch.hex()} at {at}", data[:at] + patch + data[at + size :]
