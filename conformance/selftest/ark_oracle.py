"""Asks the C++ FlatBuffers verifier, through ark-fbs, for a second opinion.

It runs in processes of its own: it can die on what it is shown.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pte_reference.fbs import program_fbs

ACCEPTS = "accepts"
REFUSES = "refuses"
FAILS = "fails"
"""It verified the bytes and then could not print them, which is no verdict."""
DIED = "died"

_SCRIPT = """
import json, struct, sys
import ark_fbs

schema = ark_fbs.Schema.from_fbs_file(sys.argv[1])
with open(sys.argv[2], "rb") as cases, open(sys.argv[3], "a") as verdicts:
    cases.seek(int(sys.argv[4]))
    while size := cases.read(4):
        data = cases.read(struct.unpack("<I", size)[0])
        try:
            schema.binary_to_json(data)
            verdict = "accepts"
        except ark_fbs.VerifyError:
            verdict = "refuses"
        except ark_fbs.Error:
            verdict = "fails"
        verdicts.write(json.dumps(verdict) + "\\n")
        verdicts.flush()
"""


def opinions(cases: Sequence[bytes]) -> list[str]:
    """One verdict for each byte string, in order."""
    with tempfile.TemporaryDirectory() as folder:
        schema, stored, answers = (Path(folder, name) for name in ("p.fbs", "cases", "verdicts"))
        schema.write_text(program_fbs())
        places = []
        with stored.open("wb") as file:
            for data in cases:
                places.append(file.tell())
                file.write(len(data).to_bytes(4, "little") + data)
        verdicts: list[str] = []
        while len(verdicts) < len(cases):
            answers.write_text("")
            done = subprocess.run(
                [sys.executable, "-c", _SCRIPT, schema, stored, answers, str(places[len(verdicts)])],
                env={**os.environ, "PYTHONFAULTHANDLER": ""},
                capture_output=True,
                check=False,
            )
            verdicts += [json.loads(line) for line in answers.read_text().splitlines()]
            if done.returncode > 0:
                raise RuntimeError(done.stderr.decode())
            if done.returncode < 0:
                verdicts.append(DIED)
        return verdicts
