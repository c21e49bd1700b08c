"""Files of public projects, where they lie; they are not part of this repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pte_reference import Region, check, deserialize, file_map, serialize

FOLDER = Path(os.environ.get("PTE_REAL_FILES", Path(__file__).parents[3] / "shared" / "real"))
FILES = sorted(FOLDER.glob("*.pte"))

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FILES, reason=f"no real-world files at {FOLDER}; set PTE_REAL_FILES"),
]


def _is_corrupt(path: Path) -> bool:
    return path.name.endswith("corrupt.pte")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name[-60:])
def test_a_real_file_checks_clean_unless_it_is_corrupt(path: Path) -> None:
    """The one that its project calls corrupt is; all others break nothing, not even a SHOULD."""
    assert bool(check(path)) == _is_corrupt(path)


@pytest.mark.parametrize(
    "path", [path for path in FILES if not _is_corrupt(path)], ids=lambda path: path.name[-60:]
)
def test_a_real_file_is_a_fixed_point_and_wholly_mapped(path: Path) -> None:
    """Written and read again it is the same, and each of its bytes has a use."""
    content = deserialize(path)
    written = serialize(content)
    assert deserialize(written) == content
    assert serialize(deserialize(written)) == written
    assert all(one.region is not Region.UNREACHED for one in file_map(path).ranges)
