"""The files of all releases are read as the releases themselves read them."""

from pathlib import Path

import pytest

from pte_conformance.adapter import Capability
from pte_conformance.holding import holds
from pte_conformance.judging import Judge
from pte_conformance.suite.golden_facts import golden_files, reads_golden
from pte_reference.requirements import fidelity

FILES = golden_files()


@holds(fidelity.VALID_FILE_READ, fidelity.GOLDEN_FACTS)
@pytest.mark.parametrize("path", FILES.values(), ids=FILES.keys())
def test_release(judge: Judge, path: Path) -> None:
    """A file of a release gives the facts that the release found in it."""
    if judge.needs(Capability.DESERIALIZE):
        judge.example(path, reads_golden)
