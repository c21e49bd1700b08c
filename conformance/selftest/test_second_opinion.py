"""The C++ FlatBuffers verifier agrees with the reference on what FlatBuffers allows.

It sees the bytes as one FlatBuffers buffer and knows nothing of header and segments, so the
reference is asked the same: does the encoding hold?
"""

from __future__ import annotations

from collections import Counter

import pytest

from pte_reference import FormatError, Layer, Level, check, model, serialize
from pte_reference.container import read_container
from pte_reference.encoding.decode import decode_root
from pte_reference.encoding.sites import Breach
from pte_reference.requirements import container, encoding
from selftest.broken_files import BROKEN
from selftest.covering import COVERING
from selftest.golden import mutants, small_golden

ark_oracle = pytest.importorskip("selftest.ark_oracle")
pytest.importorskip("ark_fbs", reason="needs ark-fbs, which has no wheel for this Python")

STRICTER = {
    encoding.ROOT_OFFSET.id: "ark-fbs lets the root table lie in the extended header",
    encoding.OFFSET_FORWARD.id: "the verifier takes an offset of 0 in a union or vector for null",
    encoding.VTABLE_SIZE.id: "the verifier never looks at the table size that a vtable records",
    encoding.FIELD_IN_PROGRAM.id: "the verifier lets a field lie in the table's vtable offset, and"
    " does not know where the program ends",
    encoding.VTABLE_IN_PROGRAM.id: "ark-fbs does not know where the program ends",
    encoding.TABLE_IN_PROGRAM.id: "ark-fbs does not know where the program ends",
    encoding.STRING_IN_PROGRAM.id: "ark-fbs does not know where the program ends",
    encoding.VECTOR_IN_PROGRAM.id: "ark-fbs does not know where the program ends",
    encoding.VECTOR_ALIGNED.id: "the verifier does not check the alignment of elements",
    encoding.DECODED_SIZE.id: "the verifier bounds tables, not bytes",
    container.HEADER_LENGTH.id: "the verifier knows no extended header",
    container.PROGRAM_SIZE.id: "the verifier knows no extended header",
}
"""Rules that the reference has and the verifier does not, each with the reason."""


def our_opinion(data: bytes) -> str | None:
    """The id of the requirement for which the reference refuses the encoding, or None."""
    view = memoryview(data)
    try:
        found = read_container(view)
        decode_root(model.Program, view, found.program_start, found.program_end)
    except FormatError as error:
        return error.findings[0].requirement.id
    except Breach as breach:
        return breach.requirement.id
    return None


def compare(cases: list[tuple[str, bytes]]) -> Counter[tuple[str, str | None]]:
    """How often each pair of verdicts occurs; fails where only the verifier refuses."""
    verdicts = ark_oracle.opinions([data for _, data in cases])
    counts: Counter[tuple[str, str | None]] = Counter()
    for (what, data), verdict in zip(cases, verdicts, strict=True):
        ours = our_opinion(data)
        counts[verdict, ours] += 1
        assert not (verdict == ark_oracle.REFUSES and ours is None), f"only ark-fbs refuses {what}"
        if verdict == ark_oracle.ACCEPTS and ours is not None:
            assert ours in STRICTER, f"only the reference refuses {what}, for {ours}"
    return counts


def test_both_accept_golden_files_and_what_the_reference_writes() -> None:
    """No valid file is refused by either."""
    cases = list(small_golden().items())
    cases += [(name, serialize(content)) for name, content in COVERING.items()]
    assert set(compare(cases)) == {(ark_oracle.ACCEPTS, None)}


def test_the_verifier_refuses_the_broken_encodings_or_has_a_reason() -> None:
    """Each file made to break the encoding layer, unless the verifier has no such rule."""
    cases = [
        (f"{requirement.id} {name}", make())
        for requirement, name, make in BROKEN
        if requirement.layer is Layer.ENCODING
        and requirement.level is Level.MUST
        and requirement is not encoding.TABLE_COUNT
    ]
    counts = compare(cases)
    assert sum(count for (verdict, _), count in counts.items() if verdict == ark_oracle.REFUSES) > 15
    assert all(check(data) for _, data in cases)


def test_what_the_verifier_refuses_the_reference_refuses() -> None:
    """On 1,000 mutants of golden programs."""
    compare(list(mutants(seed=4, count=1000, program_only=True)))


@pytest.mark.slow
def test_what_the_verifier_refuses_the_reference_refuses_20000_times(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """On 20,000 mutants; the counts are in the test report."""
    counts = compare(list(mutants(seed=5, count=20_000, program_only=True)))
    only_ours = {ours: n for (verdict, ours), n in counts.items() if verdict == ark_oracle.ACCEPTS and ours}
    with capsys.disabled():
        print(f"\nonly the reference refuses: {only_ours}; all: {dict(counts)}")
