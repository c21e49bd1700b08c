"""Requirements of what must survive reading and writing.

They are rules of behaviour: no file shows that they are broken, only an implementation's
answer does. Suite tests hold readers and writers to them, alone and in a round trip.
"""

from __future__ import annotations

from pte_reference.requirements.registry import Level, Role, Subject, declare

_BOTH = (Role.READER, Role.WRITER)
_PTE_FILE = "ExecuTorch 1.1.0: PTEFile"

VALID_FILE_READ = declare(
    "fidelity/valid-file-read",
    Level.MUST,
    Role.READER,
    "A reader accepts every valid file, those with unknown header fields or bytes behind the last"
    " segment included.",
    source="FORMAT sections 1, 4 and 7",
    consequence="a file that one implementation wrote cannot be used with another",
    subject=Subject.BEHAVIOUR,
)

GOLDEN_FACTS = declare(
    "fidelity/golden-facts",
    Level.MUST,
    Role.READER,
    "A reader finds in a file of a release what that release's own reader found in it.",
    source="golden files of releases 0.2.0 to 1.5.1, with the facts that each release stated",
    consequence="models that are in use are misread",
    subject=Subject.BEHAVIOUR,
)

PROGRAM_FIELDS = declare(
    "fidelity/program-fields-preserved",
    Level.MUST,
    _BOTH,
    "Every field of the program's content comes back as it was: numbers exact, floats bit by bit,"
    " texts whole, values and instructions of the same kind and in the same order.",
    source="ExecuTorch program.fbs",
    consequence="the method does something else, or cannot be loaded",
    subject=Subject.BEHAVIOUR,
)

CONSTANTS = declare(
    "fidelity/constants-preserved",
    Level.MUST,
    _BOTH,
    "Every constant comes back under its index with the bytes that its tensors ask for, empty"
    " ones included; where no tensor tells the length, padding may follow.",
    source="ExecuTorch 0.4.0 (constants restored), FORMAT section 3",
    consequence="a tensor gets another's data or none",
    subject=Subject.BEHAVIOUR,
)

MUTABLE_DATA = declare(
    "fidelity/mutable-data-preserved",
    Level.MUST,
    _BOTH,
    "Every initial state comes back under its index with its bytes, empty ones included.",
    source=_PTE_FILE,
    consequence="state starts from other numbers than it was exported with",
    subject=Subject.BEHAVIOUR,
    since="0.4.0",
)

NAMED_DATA = declare(
    "fidelity/named-data-preserved",
    Level.MUST,
    _BOTH,
    "Every key of named data comes back with its bytes, empty blobs included.",
    source=_PTE_FILE,
    consequence="a backend does not find its weights",
    subject=Subject.BEHAVIOUR,
    since="0.6.0",
)

DELEGATE_DATA = declare(
    "fidelity/delegate-data-preserved",
    Level.MUST,
    _BOTH,
    "Every delegate comes back with the bytes of its own data, empty ones included, shared or not.",
    source="ExecuTorch program.fbs: BackendDelegate.processed",
    consequence="a backend runs another delegate's program, or none",
    subject=Subject.BEHAVIOUR,
)
