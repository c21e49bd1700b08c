"""Loads files in ExecuTorch's C++ runtime and runs them; a process of its own.

The runtime can die on a file, so tests start this script and read what it prints: one line
of JSON for each file, in the order of the arguments. A file without a line killed it.
Methods are loaded and run only after ``--run``.

    python runtime_probe.py [--run] FILE...
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any


def main(arguments: list[str]) -> None:
    """Prints what the runtime makes of each file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from executorch.runtime import Runtime
    run = arguments[0] == "--run"
    for path in arguments[run:]:
        print(json.dumps(_outcome(Runtime.get(), Path(path).read_bytes(), run=run)), flush=True)


def _outcome(runtime: Any, data: bytes, *, run: bool) -> dict[str, Any]:
    """Method names, with the outputs of a run, or the error at which a step ended."""
    from executorch.runtime import Verification

    try:
        program = runtime.load_program(data, verification=Verification.InternalConsistency)
    except RuntimeError as error:
        return {"error": str(error)}
    # The runtime works on these bytes without owning them; ``data`` is still here when the
    # last method has run.
    names = sorted(program.method_names)
    return {"methods": {name: _run(program, name) if run else {} for name in names}}


def _run(program: Any, name: str) -> dict[str, Any]:
    import torch

    try:
        method = program.load_method(name)
        metadata = method.metadata
        inputs = []
        for index in range(metadata.num_inputs()):
            wanted = metadata.input_tensor_meta(index)
            dtype = _dtype(torch, wanted.dtype())
            count = torch.Size(wanted.sizes()).numel()
            # Different elements, so that data in the wrong place changes the result.
            inputs.append(torch.arange(1, count + 1).to(dtype).reshape(tuple(wanted.sizes())))
        outputs = method.execute(inputs)
    except RuntimeError as error:
        return {"error": str(error)}
    return {"outputs": [_plain(output) for output in outputs]}


def _dtype(torch: Any, scalar_type: int) -> Any:
    numbers = {0: torch.uint8, 1: torch.int8, 2: torch.int16, 3: torch.int32, 4: torch.int64}
    numbers |= {5: torch.float16, 6: torch.float32, 7: torch.float64, 15: torch.bfloat16}
    return numbers[scalar_type]


def _plain(output: Any) -> Any:
    return output.tolist() if hasattr(output, "tolist") else repr(output)


if __name__ == "__main__":
    main(sys.argv[1:])
