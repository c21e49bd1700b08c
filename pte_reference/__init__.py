"""The reference for ExecuTorch model files: a strict, readable serializer and deserializer.

``deserialize`` and ``serialize`` turn ``.pte`` files into :class:`PTEFile` and back,
``check`` tells what is wrong with a file, ``file_map`` what every byte is for.
"""

from pte_reference.errors import (
    AlignmentError,
    FieldValueError,
    HeaderLengthError,
    JsonFormError,
    LayoutInProgramError,
    PteError,
    SizeLimitError,
    WriteError,
)
from pte_reference.filemap import FileMap, MappedRange, Region, file_map
from pte_reference.findings import ContentError, Finding, FormatError, path_text
from pte_reference.options import WriterOptions
from pte_reference.pte_file import NamedBlob, PTEFile
from pte_reference.reading import FileLayout, Reading, check, deserialize, read
from pte_reference.requirements.registry import (
    REGISTRY,
    Layer,
    Level,
    Requirement,
    Role,
    Subject,
)
from pte_reference.writing import serialize, write

__all__ = [
    "REGISTRY",
    "AlignmentError",
    "ContentError",
    "FieldValueError",
    "FileLayout",
    "FileMap",
    "Finding",
    "FormatError",
    "HeaderLengthError",
    "JsonFormError",
    "Layer",
    "LayoutInProgramError",
    "Level",
    "MappedRange",
    "NamedBlob",
    "PTEFile",
    "PteError",
    "Reading",
    "Region",
    "Requirement",
    "Role",
    "SizeLimitError",
    "Subject",
    "WriteError",
    "WriterOptions",
    "check",
    "deserialize",
    "file_map",
    "path_text",
    "read",
    "serialize",
    "write",
]
