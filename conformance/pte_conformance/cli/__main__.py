"""``python -m pte_conformance.cli``: the command, where it is not installed."""

from pte_conformance.cli import main

main(prog_name="pte-conformance")
