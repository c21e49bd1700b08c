"""From what a call does to its outcome."""

from __future__ import annotations

import re
import traceback
from typing import Any

from pte_conformance.adapter import (
    Accepted,
    Adapter,
    NotSupported,
    Outcome,
    OutOfMemory,
    Refused,
    Rejected,
    Stumbled,
    Unsupported,
)

OPERATIONS = ("serialize", "deserialize", "check", "load")

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_LONGEST_REASON = 2000


def call_adapter(adapter: Adapter, operation: str, arguments: tuple[Any, ...]) -> Outcome:
    """Calls one of the :data:`OPERATIONS` and says how it ended.

    A process that dies has no outcome here; whoever watches it tells.
    """
    if operation not in OPERATIONS:
        raise ValueError(f"no operation {operation!r}")
    try:
        return Accepted(getattr(adapter, operation)(*arguments))
    except Refused as error:
        return Rejected(_reason(error))
    except NotSupported as error:
        return Unsupported(_reason(error))
    except MemoryError as error:
        return OutOfMemory(_reason(error) or "MemoryError")
    # The implementation's own exceptions end here, whatever they are; only what ends the process
    # (SystemExit, KeyboardInterrupt) goes on.
    except Exception as error:
        trace = "".join(traceback.format_exception(error))
        return Stumbled(_name(type(error)), _reason(error), trace)


def _name(kind: type[BaseException]) -> str:
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{module}{kind.__qualname__}"


def _reason(error: BaseException) -> str:
    """The message, the same in every run: object addresses are not part of it."""
    return _ADDRESS.sub("0x...", str(error))[:_LONGEST_REASON]
