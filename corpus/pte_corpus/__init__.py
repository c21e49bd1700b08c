"""The corpus as a folder of files; corpus/README.md describes what is in it."""

from importlib.resources import files
from pathlib import Path

__all__ = ["root"]


def root() -> Path:
    """Return the folder that holds ``manifest.json`` and the files it lists."""
    folder = files(__name__)
    if not isinstance(folder, Path):
        # Readers map these files into memory, which a file inside an archive does not allow.
        raise TypeError("pte_corpus must be installed as plain files, not imported from an archive")
    return folder
