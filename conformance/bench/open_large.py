"""Opens a file with much data, and prints what that took, as JSON; a process of its own.

Peak memory belongs to a process, so each implementation gets a fresh one.

    python open_large.py reference|upstream FILE ROUNDS
"""

from __future__ import annotations

import gc
import json
import re
import resource
import statistics
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

OWN_STATUS = Path("/proc/self/status")


def main(implementation: str, path: str, rounds: int) -> None:
    """Measures memory first, since the peak of a process never falls."""
    read = _reference() if implementation == "reference" else _upstream()
    before = _memory("VmRSS")
    kept = read(path)
    resident = _memory("VmHWM") - before
    del kept
    tracemalloc.start()
    kept = read(path)
    _, allocated = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    result = {"seconds": _times(read, path, rounds), "resident": resident, "allocated": allocated}
    print(json.dumps(result))


def _times(read: Callable[[str], Any], path: str, rounds: int) -> dict[str, float]:
    times = []
    for _ in range(rounds):
        gc.collect()
        start = time.perf_counter()
        kept = read(path)
        times.append(time.perf_counter() - start)
        del kept
    return {"median": statistics.median(times), "lowest": min(times), "highest": max(times)}


def _reference() -> Callable[[str], Any]:
    from pte_reference import deserialize  # noqa: PLC0415  (only what is measured is loaded)

    return lambda path: deserialize(Path(path))


def _upstream() -> Callable[[str], Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from executorch.exir._serialize._program import (  # noqa: PLC0415
            deserialize_pte_binary,
        )

    return lambda path: deserialize_pte_binary(Path(path).read_bytes())


def _memory(field: str) -> int:
    """Resident bytes now (VmRSS) or at most so far (VmHWM).

    Where there is no /proc, ``getrusage`` tells the peak only; before the measured call
    peak and present are much alike.
    """
    if OWN_STATUS.exists():
        found = re.search(rf"{field}:\s+(\d+) kB", OWN_STATUS.read_text(encoding="ascii"))
        if found:
            return int(found[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
