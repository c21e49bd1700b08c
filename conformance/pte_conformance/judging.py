"""From what an implementation answers to verdicts, requirement by requirement.

An :class:`Examination` asks an implementation about one example and notes every requirement
that it reached and every breach it saw; it never stops at the first. A :class:`Judge` turns
examinations into events: one per requirement that the test holds, and one for each further
aspect in which a requirement is broken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

from pte_conformance.adapter import (
    Accepted,
    AdapterInfo,
    Capability,
    Crashed,
    Hung,
    Outcome,
    OutOfMemory,
    Rejected,
    Stumbled,
    Unsupported,
)
from pte_conformance.comparison import Difference, compare
from pte_conformance.events import Blame, CaseJudged, Note, Status
from pte_conformance.transport import Session, TransportFailure
from pte_conformance.transport.session import Operation
from pte_reference import Level, PTEFile, Requirement, Role
from pte_reference.requirements import fidelity

T = TypeVar("T")

_SHOWN_DIFFERENCES = 3


class SuiteError(Exception):
    """A test of this suite is wrong: it broke a requirement that it does not say it holds."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The implementation that is held to the suite.

    Attributes:
        session: how to call it.
        name: the name by which it was asked for.
    """

    session: Session
    name: str

    @property
    def info(self) -> AdapterInfo:
        """What its adapter declares."""
        return self.session.info

    @property
    def not_preserved(self) -> frozenset[str]:
        """What it does not promise to keep."""
        return frozenset(self.info.not_preserved)

    def lacks(self, requirement: Requirement) -> str | None:
        """Why the requirement does not bind this implementation; None if it does."""
        if not any(requirement.binds_role(role) for role in self.info.roles):
            wanted = " or ".join(sorted(role.value for role in requirement.binds))
            return f"the adapter does not declare the role {wanted}"
        return None

    def can(self, *capabilities: Capability) -> bool:
        """Whether the adapter declares all of these capabilities."""
        return self.info.capabilities.issuperset(capabilities)


@dataclass(frozen=True, slots=True)
class Breach:
    """One way in which one example breaks one requirement.

    Attributes:
        requirement: what is broken.
        aspect: which of the ways to break it; breaches alike in both are the same fault.
        message: what happened.
        outcome: kind of the outcome that showed it.
        blame: whose fault it is.
        differences: what differs, the first few.
    """

    requirement: Requirement
    aspect: str
    message: str
    outcome: str = Accepted.kind
    blame: Blame = Blame.IMPLEMENTATION
    differences: tuple[Note, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """What makes it the same fault as another."""
        return (self.requirement.id, self.aspect)


@dataclass(slots=True)
class Examination:
    """What is asked about one example, and what came out.

    Attributes:
        subject: the implementation.
        breaches: all breaches, by requirement and aspect; the first of each.
        reached: requirements that were judged.
        unsupported: what the implementation said it lacks.
        unanswered: why later steps could not be judged.
        input: what the implementation was given, to be saved if it breaks something.
    """

    subject: Subject
    breaches: dict[tuple[str, str], Breach] = field(default_factory=dict)
    reached: set[Requirement] = field(default_factory=set)
    unsupported: str = ""
    unanswered: str = ""
    input: Any = None

    def hold(self, requirement: Requirement, broken: str = "", *, aspect: str = "", **facts: Any) -> None:
        """Notes that a requirement was judged, and how it is broken if it is."""
        self.reached.add(requirement)
        if broken:
            breach = Breach(requirement, aspect, broken, **facts)
            self.breaches.setdefault(breach.key, breach)

    def accepted(
        self, requirement: Requirement, kind: type[T], operation: Operation, *given: Any
    ) -> T | None:
        """The value of a call that the requirement says must succeed, None if it did not."""
        outcome = self.subject.session.call(operation, *given)
        if isinstance(outcome, Unsupported):
            self.unsupported = outcome.reason
        elif not isinstance(outcome, Accepted):
            self.unanswered = f"{operation} did not succeed"
            words = outcome_words(outcome)
            self.hold(requirement, f"{operation}: {words}", aspect=_aspect(outcome), outcome=outcome.kind)
        elif not isinstance(outcome.value, kind):
            self.unanswered = f"{operation} returned nothing to judge"
            returned = getattr(outcome.value, "description", f"a {type(outcome.value).__name__}")
            message = f"{operation} must return {kind.__name__}; the adapter returned {returned}"
            self.hold(requirement, message, aspect="adapter", blame=Blame.ADAPTER)
        else:
            self.hold(requirement)
            return outcome.value
        return None

    def refused(self, requirement: Requirement, operation: Operation, *given: Any) -> None:
        """Holds the implementation to refuse what breaks ``requirement``."""
        outcome = self.subject.session.call(operation, *given, value=False)
        if isinstance(outcome, Unsupported):
            self.unsupported = outcome.reason
        elif isinstance(outcome, Rejected):
            self.hold(requirement)
        else:
            words = "accepted" if isinstance(outcome, Accepted) else outcome_words(outcome)
            message = (
                f"{operation} must refuse this; it was {words}"
                if words == "accepted"
                else (f"{operation} must refuse this on purpose; {words}")
            )
            self.hold(requirement, message, aspect=_aspect(outcome), outcome=outcome.kind)

    def same(self, rules: Iterable[Requirement], expected: PTEFile, actual: PTEFile, **how: Any) -> None:
        """Holds ``actual`` to be the expected content, by each of the rules of fidelity."""
        self.reached.update(rules)
        exempt = self.subject.not_preserved
        found: dict[tuple[str, str], list[Difference]] = {}
        for one in compare(expected, actual, not_preserved=exempt, **how):
            found.setdefault((one.requirement.id, one.aspect), []).append(one)
        for alike in found.values():
            first = alike[0]
            self.hold(
                first.requirement,
                f"{first.note.path}: {first.expected} expected, got {first.actual}",
                aspect=first.aspect,
                differences=tuple(one.note for one in alike[:_SHOWN_DIFFERENCES]),
            )


def outcome_words(outcome: Outcome) -> str:
    """How a call ended, in words that are the same in every run."""
    match outcome:
        case Accepted():
            return "accepted"
        case Rejected(reason):
            return f"refused: {reason}"
        case Unsupported(reason):
            return f"not supported: {reason}"
        case Stumbled(error, reason):
            return f"an incidental exception, {error}: {reason}"
        case Crashed(reason):
            return f"the process died: {reason}"
        case Hung(seconds):
            return f"no answer within {seconds:g} s"
        case OutOfMemory(reason):
            return f"out of memory: {reason}"


def _aspect(outcome: Outcome) -> str:
    """What makes two failed calls the same fault."""
    match outcome:
        case Stumbled(error):
            return f"error {error}"
        case Crashed(reason):
            return f"crash {reason}"
        case _:
            return outcome.kind


Examine: TypeAlias = Callable[[Examination, T], None]
"""A step of a test: asks about one example, and notes what came out."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a run asks for.

    Attributes:
        seed: of everything that is generated.
        examples: how many examples are generated for a case.
        strict: whether a broken SHOULD counts as a failure.
        chosen: the requirements to judge.
    """

    chosen: frozenset[Requirement]
    seed: int = 0
    examples: int = 60
    strict: bool = False


class Judge:
    """Judges the examples of one test.

    Args:
        subject: the implementation.
        held: the requirements that the test holds it to.
        case: the case's name.
        setting: what the run asks for.
        save: saves an input by requirement and name, and returns the path to show.
    """

    def __init__(
        self,
        subject: Subject,
        held: Collection[Requirement],
        case: str,
        setting: Setting,
        save: Callable[[Requirement, str, Any], str],
    ) -> None:
        self.subject = subject
        self.case = case
        self.setting = setting
        self.events: list[CaseJudged] = []
        self._save = save
        self._held = [one for one in dict.fromkeys(held) if one in setting.chosen]
        self._bound = [one for one in self._held if subject.lacks(one) is None]

    def needs(self, *capabilities: Capability) -> bool:
        """Whether the implementation can be asked; if not, everything held is skipped."""
        if self._bound and self.subject.can(*capabilities):
            return True
        missing = set(capabilities) - self.subject.info.capabilities
        names = " and ".join(sorted(one.value for one in missing))
        return self._skip_all(f"the adapter does not declare {names}")

    def shares_input(self) -> bool:
        """Whether the implementation gets the very objects; if not, everything held is skipped."""
        if self.subject.session.by_reference:
            return True
        return self._skip_all("in a process of its own the implementation gets a copy of its input")

    def must_refuse(self) -> bool:
        """Whether some call must not let a breach of what is held through; if not, it is skipped."""
        if any(any(operations_bound(one, self.subject.info)) for one in self._bound):
            return True
        return self._skip_all("nobody whom the requirement binds here reads files")

    def example(self, example: T, examine: Examine[T]) -> None:
        """Judges one fixed example for all requirements that it touches."""
        self._conclude([self._examine(example, examine)])

    def generated(self, strategy: Any, examine: Examine[Any]) -> None:
        """Judges generated examples, and gives the smallest one for each way to break a rule."""
        # Hypothesis takes a third of a second to import, which not every pytest run should pay.
        from pte_conformance.search import search

        def look(example: Any) -> Examination:
            return self._examine(example, examine)

        self._conclude(search(strategy, look, f"{self.setting.seed}/{self.case}", self.setting.examples))

    def _examine(self, example: T, examine: Examine[T]) -> Examination:
        examination = Examination(self.subject, input=example)
        examine(examination, example)
        loose = {one.requirement for one in examination.breaches.values()} - {*self._held}
        if unheld := loose & self.setting.chosen:
            raise SuiteError(f"{self.case} breaks {', '.join(map(str, unheld))}, which it does not hold")
        bound = {requirement.id for requirement in self._bound}
        examination.breaches = {key: one for key, one in examination.breaches.items() if key[0] in bound}
        return examination

    def _conclude(self, examinations: Iterable[Examination]) -> None:
        """Events for all requirements that are held."""
        broken: dict[tuple[str, str], tuple[Breach, Any]] = {}
        reached: set[Requirement] = set()
        unsupported = unanswered = ""
        for one in examinations:
            reached |= one.reached
            unsupported = unsupported or one.unsupported
            unanswered = unanswered or one.unanswered
            for key, breach in one.breaches.items():
                broken.setdefault(key, (breach, one.input))
        for breach, example in broken.values():
            self.events.append(self._failure(breach, example))
        for requirement in self._held:
            if any(key[0] == requirement.id for key in broken):
                continue
            reason = self.subject.lacks(requirement) or self._exemption(requirement)
            if reason:
                self._skip(requirement, reason)
            elif requirement in reached:
                self.events.append(CaseJudged(requirement.id, self.case, Status.PASSED))
            elif unsupported and not unanswered:
                self._skip(requirement, unsupported, outcome=Unsupported.kind)
            elif unanswered:
                event = CaseJudged(requirement.id, self.case, Status.NOT_REACHED, message=unanswered)
                self.events.append(event)
            # Otherwise nothing in the example is what the requirement speaks of.

    def give_up(self, error: Exception) -> None:
        """The test itself failed: nothing it holds was judged, and the implementation is not to blame."""
        blame = Blame.ENVIRONMENT if isinstance(error, TransportFailure) else Blame.SUITE
        message = f"the test failed: {type(error).__name__}: {error}"
        judged = {one.requirement for one in self.events}
        self.events.extend(
            CaseJudged(one.id, self.case, Status.NOT_REACHED, blame=blame, message=message)
            for one in self._held
            if one.id not in judged
        )

    def _exemption(self, requirement: Requirement) -> str:
        """Why the adapter says that a whole list of data is not kept; empty if it does not."""
        lists = {
            fidelity.CONSTANTS: "constants",
            fidelity.MUTABLE_DATA: "mutable_data",
            fidelity.NAMED_DATA: "named_data",
            fidelity.DELEGATE_DATA: "delegate_data",
        }
        return self.subject.info.not_preserved.get(lists.get(requirement, ""), "")

    def _failure(self, breach: Breach, example: Any) -> CaseJudged:
        must = breach.requirement.level is Level.MUST
        # Most files are accepted that must not be, and then there is nothing to tell apart.
        aspect = "" if breach.aspect == Accepted.kind else f" {breach.aspect}"
        return CaseJudged(
            breach.requirement.id,
            self.case,
            Status.FAILED if must or self.setting.strict else Status.ADVISORY,
            aspect=breach.aspect,
            outcome=breach.outcome,
            blame=breach.blame,
            message=breach.message,
            differences=breach.differences,
            example=self._save(breach.requirement, f"{self.case}{aspect}", example),
        )

    def _skip_all(self, reason: str) -> bool:
        for requirement in self._held:
            self._skip(requirement, self.subject.lacks(requirement) or reason)
        return False

    def _skip(self, requirement: Requirement, reason: str, outcome: str = Accepted.kind) -> None:
        event = CaseJudged(requirement.id, self.case, Status.SKIPPED, message=reason)
        self.events.append(replace(event, outcome=outcome))


def operations_bound(requirement: Requirement, info: AdapterInfo) -> Iterator[Operation]:
    """The calls that a file which breaks ``requirement`` must not get through."""
    questions: tuple[tuple[Role, Capability, Operation], ...] = (
        (Role.READER, Capability.DESERIALIZE, "deserialize"),
        (Role.LOADER, Capability.LOAD, "load"),
        (Role.CHECKER, Capability.CHECK, "check"),
    )
    for role, capability, operation in questions:
        declared = any(role in one.includes for one in info.roles) and capability in info.capabilities
        if declared and requirement.binds_role(role):
            yield operation
