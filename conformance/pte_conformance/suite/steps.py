"""What the tests ask an implementation, in verbs."""

from __future__ import annotations

import copy

from pte_conformance.judging import Examination
from pte_conformance.strategies.files import Written
from pte_reference import PTEFile, Reading, check, read, serialize
from pte_reference.json_form import to_json
from pte_reference.requirements import container, fidelity, writer

CONTENT_RULES = (
    fidelity.PROGRAM_FIELDS,
    fidelity.CONSTANTS,
    fidelity.MUTABLE_DATA,
    fidelity.NAMED_DATA,
    fidelity.DELEGATE_DATA,
)
"""What it means that content is the same."""

LAYOUT_RULES = {
    container.PADDING_ZERO: writer.PADDING_ZERO,
    container.NOTHING_BEHIND: writer.NOTHING_BEHIND,
    container.SEGMENTS_SORTED: writer.SEGMENTS_SORTED,
}
"""What a file should keep to, and a writer must."""


def reads(examination: Examination, written: Written) -> None:
    """A file of the reference is read, and what it holds is what the reference was given."""
    data = serialize(written.content, written.options)
    examination.input = data
    actual = examination.accepted(fidelity.VALID_FILE_READ, PTEFile, "deserialize", data)
    if actual is not None:
        _holds_content(examination, written, actual)


def writes(examination: Examination, written: Written) -> None:
    """What is written is a sound file that holds what the writer was given."""
    found = soundly_written(examination, written)
    if found is not None:
        _holds_content(examination, written, found.pte_file)


def round_trip(examination: Examination, written: Written) -> None:
    """What an implementation reads of its own file is what it wrote, also the second time."""
    content = written.content
    for _ in range(2):
        data = write(examination, Written(content, written.options))
        if data is None:
            return
        actual = examination.accepted(fidelity.VALID_FILE_READ, PTEFile, "deserialize", data)
        if actual is None:
            return
        _holds_content(examination, written, actual)
        if examination.breaches:
            return
        # Blobs that are views of the file cannot be copied.
        content = actual.owned()


def writes_the_same_again(examination: Examination, written: Written) -> None:
    """Writing the same content twice gives the same bytes."""
    first = write(examination, written)
    second = write(examination, written)
    if first is None or second is None:
        return
    examination.hold(writer.DETERMINISTIC, "" if first == second else _first_change(first, second))


def leaves_its_input_alone(examination: Examination, written: Written) -> None:
    """The content is after writing what it was before."""
    given = copy.deepcopy(written.content)
    before = to_json(given)
    outcome = examination.accepted(writer.CONTENT_WRITTEN, bytes, "serialize", given, written.options)
    if outcome is not None:
        changed = [part for part, now in to_json(given).items() if now != before[part]]
        broken = f"writing changed {' and '.join(changed)} of its input" if changed else ""
        examination.hold(writer.INPUT_UNTOUCHED, broken)


def write(examination: Examination, written: Written) -> bytes | None:
    """The file that the implementation writes, None if it does not."""
    # A copy: an implementation that changes its input must not change what other tests expect.
    given = copy.deepcopy(written.content)
    return examination.accepted(writer.CONTENT_WRITTEN, bytes, "serialize", given, written.options)


def soundly_written(examination: Examination, written: Written) -> Reading | None:
    """Content and layout of what the implementation writes, None if that breaks a MUST."""
    data = write(examination, written)
    if data is None:
        return None
    findings = check(data)
    breaches = [one for one in findings if one.is_breach]
    examination.hold(writer.OUTPUT_VALID)
    for one in breaches:
        examination.hold(writer.OUTPUT_VALID, str(one), aspect=one.requirement.id)
    if breaches:
        examination.unanswered = "the file that was written is not valid"
        return None
    for rule in LAYOUT_RULES.values():
        examination.hold(rule)
    for one in findings:
        if one.requirement in LAYOUT_RULES:
            examination.hold(LAYOUT_RULES[one.requirement], one.message)
    return read(data)


def _holds_content(examination: Examination, written: Written, actual: PTEFile) -> None:
    examination.same(CONTENT_RULES, written.content, actual)


def _first_change(first: bytes, second: bytes) -> str:
    pairs = enumerate(zip(first, second, strict=False))
    at = next((at for at, (one, other) in pairs if one != other), min(len(first), len(second)))
    return f"files of {len(first)} and {len(second)} bytes that differ from byte {at} on"
