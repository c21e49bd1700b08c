"""Benchmarks of the reference beside upstream's Python serializer, in one run.

What is compared:

- reading and writing a program of 20,000 tensor values and 10,000 kernel calls (about 2 MB),
  in turns, so that whatever slows the machine down slows both down;
- opening a file with 1 GiB of constants: time and additional memory;
- ``pte-conformance check`` on a tiny file, from start to finish, with imports.

Without executorch its column is empty, and the reason is printed. No figure fails the run.

    python conformance/bench/run.py [--rounds N] [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import mmap
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, BinaryIO, cast

from pte_reference import PTEFile, WriterOptions, check, deserialize, model, serialize, write
from pte_reference.schema import Blob

TENSORS = 20_000
CALLS = 10_000
GIBIBYTE = 1 << 30
HERE = Path(__file__).parent

Spread = dict[str, float]
"""Median, lowest and highest of some measurements."""

Row = dict[str, Any]
"""One line of the result: what, unit, each implementation's figures, ratio, notes."""


def large_program() -> PTEFile:
    """The program that is read and written: no two values are one object, or easy to share."""
    values = tuple(
        model.EValue(
            model.Tensor(
                scalar_type=model.ScalarType.FLOAT,
                sizes=(1, 2 + number % 7, 4, 2, 1),
                dim_order=(0, 1, 2, 3, 4),
                allocation_info=model.AllocationDetails(1, number * 256),
            )
        )
        for number in range(TENSORS)
    )
    operators = tuple(model.Operator(f"bench::operator_{number}", "out") for number in range(40))
    calls = tuple(
        model.Instruction(
            model.KernelCall(number % 40, tuple(range(2 * number, max(2 * number - 17, -1), -1)))
        )
        for number in range(CALLS)
    )
    plan = model.ExecutionPlan(
        name="forward",
        container_meta_type=model.ContainerMetadata("T(*)", "*"),
        values=values,
        inputs=(0,),
        outputs=(TENSORS - 1,),
        chains=(model.Chain(instructions=calls),),
        operators=operators,
        non_const_buffer_sizes=(0, TENSORS * 256),
    )
    return PTEFile(model.Program(execution_plan=(plan,)))


def write_large_file(path: Path) -> None:
    """A file whose one constant has 1 GiB of zeros that take no space on disk."""
    tensor = model.Tensor(
        scalar_type=model.ScalarType.FLOAT, sizes=(GIBIBYTE // 4,), dim_order=(0,), data_buffer_idx=1
    )
    plan = model.ExecutionPlan(name="forward", values=(model.EValue(tensor),), chains=(model.Chain(),))
    with mmap.mmap(-1, GIBIBYTE) as zeros, memoryview(zeros) as constant, path.open("wb") as file:
        content = PTEFile(model.Program(execution_plan=(plan,)), constants=(b"", constant))
        write(content, cast("BinaryIO", _HoleForZeros(file)))
        file.truncate(file.tell())


class _HoleForZeros:
    """A file that leaves a hole where a long run of zeros is written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, chunk: Blob) -> int:
        if len(chunk) == GIBIBYTE:
            self._file.seek(len(chunk), os.SEEK_CUR)
            return len(chunk)
        return self._file.write(chunk)


class Upstream:
    """Upstream's serializer.

    Raises:
        ImportError: it is not installed.
    """

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pte_conformance.adapter import AdapterUnavailable  # noqa: PLC0415  (heavy, may be absent)
            from pte_conformance.adapters.executorch_python import ExecutorchPython  # noqa: PLC0415

            try:
                self._adapter = ExecutorchPython()
            except AdapterUnavailable as reason:
                raise ImportError(str(reason)) from reason
            from executorch.exir._serialize import _program  # noqa: PLC0415
        self.read = _program.deserialize_pte_binary
        self._serialize = _program.serialize_pte_binary
        self.version = metadata.version("executorch")

    def convert(self, content: PTEFile) -> Any:
        """Upstream's own form of some content, which it is then measured on."""
        return self._adapter.to_upstream(content)

    def write(self, content: Any) -> bytes:
        """The whole way to bytes, as a program is saved by default."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bytes(self._serialize(content, extract_delegate_segments=True))


def in_turns(calls: Sequence[Callable[[], object]], rounds: int) -> list[list[float]]:
    """The seconds that each call takes, for each round one after the other."""
    times: list[list[float]] = [[] for _ in calls]
    for call in calls:
        call()  # the first one pays for caches that later ones find filled
    for _ in range(rounds):
        for call, taken in zip(calls, times, strict=True):
            gc.collect()
            start = time.perf_counter()
            result = call()
            taken.append(time.perf_counter() - start)
            del result
    return times


def spread(numbers: Sequence[float]) -> Spread:
    """Median, lowest and highest."""
    return {"median": statistics.median(numbers), "lowest": min(numbers), "highest": max(numbers)}


def compared(what: str, times: list[list[float]]) -> Row:
    """A row of times; the ratio is that of the medians, its range that of the rounds."""
    row: Row = {"what": what, "unit": "s", "reference": spread(times[0])}
    if len(times) > 1:
        row["upstream"] = spread(times[1])
        ratios = [theirs / ours for ours, theirs in zip(*times, strict=True)]
        row["ratio"] = {**spread(ratios), "median": row["upstream"]["median"] / row["reference"]["median"]}
    return row


def measure_program(upstream: Upstream | None, rounds: int) -> list[Row]:
    """Reading and writing the large program, in turns with upstream."""
    content = large_program()
    data = serialize(content)
    findings = check(data)
    if findings:
        raise SystemExit(f"the benchmark's own program is not clean: {findings[0]}")
    readers: list[Callable[[], object]] = [lambda: deserialize(data)]
    writers: list[Callable[[], object]] = [lambda: serialize(content, WriterOptions())]
    if upstream is not None:
        theirs = upstream.convert(content)
        if upstream.read(upstream.write(theirs)).program.execution_plan != theirs.program.execution_plan:
            raise SystemExit("upstream does not read what it wrote; there is nothing to compare")
        readers.append(lambda: upstream.read(data))
        writers.append(lambda: upstream.write(theirs))
    # What is imported by now stays; without it, a collection costs both sides alike.
    gc.freeze()
    size = f"program of {len(data) / 1e6:.1f} MB"
    return [
        compared(f"read a {size}", in_turns(readers, rounds)),
        compared(f"write a {size}", in_turns(writers, rounds)),
        compared(f"check a {size}", in_turns([lambda: check(data)], rounds)),
    ]


def measure_large_file(names: Sequence[str], rounds: int) -> list[Row]:
    """Opening a file of 1 GiB, each implementation in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.pte"
        write_large_file(path)
        # Upstream copies the gibibyte several times over: three rounds tell enough.
        results = {
            name: _open_large(name, path, rounds if name == "reference" else min(rounds, 3)) for name in names
        }
    what = "open a file with 1 GiB of constants"
    rows: list[Row] = [
        {"what": what, "unit": "s"},
        {"what": f"{what}: resident memory", "unit": "MiB"},
        {"what": f"{what}: Python's allocations", "unit": "MiB"},
    ]
    for name, result in results.items():
        figures = [result["seconds"], *(spread([result[key] / 2**20]) for key in ("resident", "allocated"))]
        for row, figure in zip(rows, figures, strict=True):
            row[name] = figure
    if "upstream" in results:
        rows[0]["ratio"] = spread([rows[0]["upstream"]["median"] / rows[0]["reference"]["median"]])
    return rows


def _open_large(name: str, path: Path, rounds: int) -> dict[str, Any]:
    command = [sys.executable, str(HERE / "open_large.py"), name, str(path), str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return cast("dict[str, Any]", json.loads(done.stdout))


def measure_command(rounds: int) -> list[Row]:
    """``pte-conformance check`` on a tiny file, and an interpreter that does nothing."""
    plan = model.ExecutionPlan(name="forward", chains=(model.Chain(),))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.pte"
        path.write_bytes(serialize(PTEFile(model.Program(execution_plan=(plan,)))))
        # What the installed command does, so that a checkout without it can be measured too.
        start = "import sys; from pte_conformance.cli import main; sys.exit(main())"
        command = [sys.executable, "-c", start, "check", str(path)]
        row: Row = {"what": "pte-conformance check, start to finish", "unit": "s"}
        first = subprocess.run(command, capture_output=True, text=True, check=False)
        if first.returncode != 0:
            row["note"] = f"exit code {first.returncode}: {(first.stderr or first.stdout).strip()[-200:]}"
            return [row]
        calls = [
            lambda: subprocess.run(command, capture_output=True, check=True),
            lambda: subprocess.run([sys.executable, "-c", ""], capture_output=True, check=True),
        ]
        ours, idle = in_turns(calls, rounds)
    return [
        {**row, "reference": spread(ours)},
        {"what": "of which an empty interpreter", "unit": "s", "reference": spread(idle)},
    ]


def environment(upstream: Upstream | None) -> dict[str, str]:
    """What the figures depend on."""
    return {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
        "flatbuffers": metadata.version("flatbuffers"),
        "executorch": upstream.version if upstream else "absent",
    }


def table(rows: Sequence[Row]) -> str:
    """The rows for people: medians, and in brackets lowest and highest."""
    lines = [("", "reference", "upstream", "upstream / reference")]
    for row in rows:
        cells = [_cell(row.get(name), row["unit"]) for name in ("reference", "upstream")]
        lines.append((row["what"], *cells, _cell(row.get("ratio"), "")))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _cell(figures: Spread | None, unit: str) -> str:
    if figures is None:
        return "-"
    scale, unit = (1000, "ms") if unit == "s" and figures["median"] < 1 else (1, unit)
    median, lowest, highest = (figures[name] * scale for name in ("median", "lowest", "highest"))
    if lowest == highest:
        return f"{median:.3g} {unit}".rstrip()
    return f"{median:.3g} {unit}".rstrip() + f" ({lowest:.3g}-{highest:.3g})"


def main() -> int:
    """Runs all benchmarks and prints them."""
    parser = argparse.ArgumentParser(description="The reference beside upstream's Python serializer.")
    parser.add_argument("--rounds", type=int, default=7, help="measurements of each figure (7)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    notes = []
    try:
        upstream = Upstream()
    except ImportError as reason:
        upstream = None
        notes.append(f"upstream is not measured: {reason}")
    names = ["reference", "upstream"] if upstream else ["reference"]
    rows = measure_program(upstream, options.rounds)
    rows += measure_large_file(names, options.rounds)
    rows += measure_command(options.rounds)
    notes += [f"{row['what']}: {row['note']}" for row in rows if "note" in row]
    if options.json:
        print(json.dumps({"environment": environment(upstream), "results": rows, "notes": notes}, indent=2))
        return 0
    print(table(rows), *notes, sep="\n")
    print(", ".join(f"{name} {value}" for name, value in environment(upstream).items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
