"""Verdicts: each requirement by itself, each fault once, and who is to blame."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st
from pte_conformance.adapter import AdapterInfo, Capability, NotSupported
from pte_conformance.adapters.reference import Reference
from pte_conformance.catalogue import choose
from pte_conformance.events import Blame, CaseJudged, Status, from_json, to_json
from pte_conformance.judging import Examination, Examine, Judge, Setting, Subject, SuiteError
from pte_conformance.search import MAX_FAULTS, search
from pte_conformance.transport import InProcessSession

from pte_reference import PTEFile, Requirement, Role, WriterOptions
from pte_reference.requirements import container, fidelity, program, writer

HELD = (writer.DETERMINISTIC, writer.OUTPUT_VALID, container.PADDING_ZERO)


def subject(adapter: type[Reference] = Reference, **declared: Any) -> Subject:
    """An implementation in this process, whose adapter declares something else where told."""
    made = adapter()
    made.info = dataclasses.replace(made.info, **declared)
    return Subject(InProcessSession(made), "subject")


class Saved(dict[str, Any]):
    """Keeps inputs in memory."""

    def save(self, requirement: Requirement, name: str, example: Any) -> str:
        """Keeps one, and returns its name."""
        self[f"{requirement.id}/{name}"] = example
        return f"{requirement.id}/{name}"


def judged(
    judge: Callable[[Judge], object],
    held: tuple[Requirement, ...] = HELD,
    *,
    of: Subject | None = None,
    strict: bool = False,
    saved: Saved | None = None,
) -> dict[tuple[str, str], CaseJudged]:
    """The events of a test, by requirement and aspect."""
    setting = Setting(choose(()), examples=200, strict=strict)
    judging = Judge(of or subject(), held, "case", setting, (Saved() if saved is None else saved).save)
    judge(judging)
    events = {(one.requirement, one.aspect): one for one in judging.events}
    assert len(events) == len(judging.events)
    assert all(from_json(to_json(one)) == one for one in judging.events)
    return events


def statuses(events: dict[tuple[str, str], CaseJudged]) -> dict[str, Status]:
    """The status of each requirement."""
    return {requirement: one.status for (requirement, _), one in events.items()}


def looking(examine: Examine[Any], example: Any = b"example") -> Callable[[Judge], object]:
    """A test that looks at one fixed example."""
    return lambda judge: judge.example(example, examine)


def searching(strategy: st.SearchStrategy[Any], examine: Examine[Any]) -> Callable[[Judge], object]:
    """A test that generates examples."""
    return lambda judge: judge.generated(strategy, examine)


def test_one_example_is_judged_for_everything_it_touches() -> None:
    """A broken requirement does not hide what becomes of the others."""

    def examine(examination: Examination, _: Any) -> None:
        examination.hold(writer.DETERMINISTIC, "different", aspect="first")
        examination.hold(writer.DETERMINISTIC, "and in another way", aspect="second")
        examination.hold(writer.OUTPUT_VALID)

    events = judged(looking(examine))
    assert statuses(events) == {writer.DETERMINISTIC.id: Status.FAILED, writer.OUTPUT_VALID.id: Status.PASSED}
    assert {aspect for requirement, aspect in events if requirement == writer.DETERMINISTIC.id} == {
        "first",
        "second",
    }


def test_a_broken_should_is_advice_unless_the_run_is_strict() -> None:
    """The level of the requirement decides."""

    def examine(examination: Examination, _: Any) -> None:
        examination.hold(container.PADDING_ZERO, "a byte is 1")

    key = (container.PADDING_ZERO.id, "")
    assert judged(looking(examine))[key].status is Status.ADVISORY
    assert judged(looking(examine), strict=True)[key].status is Status.FAILED


def test_what_does_not_bind_is_skipped_with_a_reason() -> None:
    """An implementation is judged by the roles that its adapter declares."""

    def examine(examination: Examination, _: Any) -> None:
        examination.hold(fidelity.GOLDEN_FACTS, "wrong")

    only_writes = subject(roles=frozenset({Role.WRITER}))
    events = judged(looking(examine), (fidelity.GOLDEN_FACTS,), of=only_writes)
    assert statuses(events) == {fidelity.GOLDEN_FACTS.id: Status.SKIPPED}
    assert "does not declare the role reader" in events[fidelity.GOLDEN_FACTS.id, ""].message


def test_a_missing_capability_skips_everything() -> None:
    """Nothing is asked of an implementation that cannot answer."""
    only_reads = subject(capabilities=frozenset({Capability.DESERIALIZE}))
    events = judged(lambda judge: judge.needs(Capability.SERIALIZE), of=only_reads)
    assert set(statuses(events).values()) == {Status.SKIPPED}
    assert "does not declare serialize" in events[writer.DETERMINISTIC.id, ""].message


def test_what_an_earlier_step_kept_from_being_judged_is_not_reached() -> None:
    """And never passed."""

    class Fails(Reference):
        """Cannot write."""

        def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
            raise KeyError("somewhere deep")

    def examine(examination: Examination, content: Any) -> None:
        data = examination.accepted(writer.CONTENT_WRITTEN, bytes, "serialize", content, WriterOptions())
        if data is not None:
            examination.hold(writer.DETERMINISTIC)

    held = (writer.CONTENT_WRITTEN, writer.DETERMINISTIC)
    events = judged(looking(examine, PTEFile(_program())), held, of=subject(Fails))
    assert statuses(events) == {
        writer.CONTENT_WRITTEN.id: Status.FAILED,
        writer.DETERMINISTIC.id: Status.NOT_REACHED,
    }
    failure = events[writer.CONTENT_WRITTEN.id, "error KeyError"]
    assert (failure.outcome, failure.blame) == ("error", Blame.IMPLEMENTATION)
    assert "somewhere deep" in failure.message


def test_a_lack_that_the_implementation_speaks_of_skips() -> None:
    """Not supported is no refusal."""

    class Lacks(Reference):
        """Knows no knobs."""

        def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
            raise NotSupported("no knobs")

    def examine(examination: Examination, content: Any) -> None:
        examination.accepted(writer.CONTENT_WRITTEN, bytes, "serialize", content, WriterOptions())

    held = (writer.CONTENT_WRITTEN,)
    events = judged(looking(examine, PTEFile(_program())), held, of=subject(Lacks))
    assert events[writer.CONTENT_WRITTEN.id, ""].status is Status.SKIPPED
    assert events[writer.CONTENT_WRITTEN.id, ""].message == "no knobs"


def test_a_wrong_kind_of_value_is_the_fault_of_the_adapter() -> None:
    """An adapter that returns text for a file translates wrongly."""

    class Translates(Reference):
        """Returns text."""

        def serialize(self, pte_file: PTEFile, options: WriterOptions) -> bytes:
            return "file"  # type: ignore[return-value]

    def examine(examination: Examination, content: Any) -> None:
        examination.accepted(writer.CONTENT_WRITTEN, bytes, "serialize", content, WriterOptions())

    events = judged(looking(examine, PTEFile(_program())), (writer.CONTENT_WRITTEN,), of=subject(Translates))
    assert events[writer.CONTENT_WRITTEN.id, "adapter"].blame is Blame.ADAPTER


def test_a_test_that_breaks_what_it_does_not_hold_is_wrong() -> None:
    """The requirements that a test names are all that it may speak of."""

    def examine(examination: Examination, _: Any) -> None:
        examination.hold(program.RANK, "too many")

    with pytest.raises(SuiteError, match="program/tensor-rank"):
        judged(looking(examine))


def test_what_the_run_did_not_choose_is_not_judged() -> None:
    """No event speaks of a requirement that was not asked for."""

    def examine(examination: Examination, _: Any) -> None:
        examination.hold(writer.DETERMINISTIC, "different")
        examination.hold(writer.OUTPUT_VALID)

    setting = Setting(frozenset({writer.OUTPUT_VALID}))
    judge = Judge(subject(), HELD, "case", setting, Saved().save)
    judge.example(b"", examine)
    assert [(one.requirement, one.status) for one in judge.events] == [
        (writer.OUTPUT_VALID.id, Status.PASSED)
    ]


def three_faults(examination: Examination, number: int) -> None:
    """Three ways to be wrong: above 100, above 1000, and when odd and above 50."""
    examination.hold(writer.DETERMINISTIC, "large" if number > 100 else "", aspect="large")
    examination.hold(writer.DETERMINISTIC, "huge" if number > 1000 else "", aspect="huge")
    examination.hold(writer.OUTPUT_VALID, "odd" if number > 50 and number % 2 else "", aspect="odd")


def test_every_fault_gets_its_own_smallest_example() -> None:
    """One fault does not hide another, and each is shrunk for itself."""
    saved = Saved()
    judged(searching(st.integers(0, 10**6), three_faults), saved=saved)
    assert saved == {
        f"{writer.DETERMINISTIC.id}/case large": 101,
        f"{writer.DETERMINISTIC.id}/case huge": 1001,
        f"{writer.OUTPUT_VALID.id}/case odd": 51,
    }


def test_what_any_example_reached_was_reached() -> None:
    """A requirement that some examples speak of is judged by those."""

    def examine(examination: Examination, number: int) -> None:
        examination.hold(writer.DETERMINISTIC, "broken" if number > 10 else "")
        if number > 500_000:
            examination.hold(writer.OUTPUT_VALID)

    events = judged(searching(st.integers(0, 10**6), examine))
    assert statuses(events) == {writer.DETERMINISTIC.id: Status.FAILED, writer.OUTPUT_VALID.id: Status.PASSED}


def test_the_same_seed_gives_the_same_examples_and_another_seed_others() -> None:
    """A run can be repeated."""

    def examples(seed: str) -> list[int]:
        seen: list[int] = []

        def look(number: int) -> Examination:
            seen.append(number)
            return Examination(subject())

        search(st.integers(), look, seed, 30)
        return seen

    assert examples("0/case") == examples("0/case")
    assert examples("0/case") != examples("1/case")


def test_a_fault_that_comes_and_goes_is_reported() -> None:
    """An implementation that answers differently each time is at fault when it was wrong once."""
    answers = iter([""] * 5 + ["wrong"] + [""] * 10_000)

    def examine(examination: Examination, _: int) -> None:
        examination.hold(writer.DETERMINISTIC, next(answers))

    events = judged(searching(st.integers(), examine), (writer.DETERMINISTIC,))
    assert events[writer.DETERMINISTIC.id, ""].status is Status.FAILED


def test_a_search_ends_though_every_example_is_wrong_in_its_own_way() -> None:
    """More kinds of fault than anybody reads are not looked for."""

    def look(number: int) -> Examination:
        examination = Examination(subject())
        examination.hold(writer.DETERMINISTIC, "wrong", aspect=str(number))
        return examination

    found = search(st.integers(0, 10**9), look, "0", 20)
    assert sum(bool(one.breaches) for one in found) == MAX_FAULTS


def test_a_list_that_is_declared_not_to_be_kept_is_skipped() -> None:
    """With the adapter's reason."""
    lossy = subject(not_preserved={"named_data": "it has no place for it"})

    def examine(examination: Examination, content: PTEFile) -> None:
        examination.same((fidelity.NAMED_DATA, fidelity.CONSTANTS), content, PTEFile(content.program))

    content = PTEFile(_program(), named_data={"key": _blob()})
    events = judged(looking(examine, content), (fidelity.NAMED_DATA, fidelity.CONSTANTS), of=lossy)
    assert statuses(events) == {fidelity.NAMED_DATA.id: Status.SKIPPED, fidelity.CONSTANTS.id: Status.PASSED}
    assert events[fidelity.NAMED_DATA.id, ""].message == "it has no place for it"


def _program() -> Any:
    from pte_conformance.suite.contents import program as made

    return made()


def _blob() -> Any:
    from pte_reference import NamedBlob

    return NamedBlob(b"blob")


def test_the_reference_declares_what_it_is_judged_by() -> None:
    """It reads, checks and writes."""
    info: AdapterInfo = Reference().info
    assert info.roles == {Role.READER, Role.CHECKER, Role.WRITER}
