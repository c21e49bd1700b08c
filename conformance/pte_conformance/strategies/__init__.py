"""Hypothesis strategies for valid content of ``.pte`` files.

What they give is valid by construction: the reference writes it, and finds nothing wrong with
what it wrote. Each topic has a module; :func:`pte_files` puts them together.

Everything is drawn freely first and then fitted: an index is any small number, and fitting
takes it modulo the number of things that it can name. So no strategy depends on what another
drew, which makes drawing fast, and examples shrink well.
"""

from pte_conformance.strategies.files import Written, pte_files, written_files
from pte_conformance.strategies.options import writer_options

__all__ = ["Written", "pte_files", "writer_options", "written_files"]
