"""A few bytes of a file as hexadecimal numbers, with one of them pointed at."""

from __future__ import annotations

from pte_conformance.cli.terminal import Screen
from pte_reference import FileMap, MappedRange, Region, path_text

_ROW = 16


def hex_view(data: memoryview, offset: int, file_map: FileMap, screen: Screen) -> list[str]:
    """The row of 16 bytes with the byte at ``offset``, the row before, and whose the byte is.

    Under the byte stands ``^^``, under the other bytes of its owner in that row ``~~``.
    """
    if not data:
        return ["(the file is empty)"]
    if offset >= len(data):
        last = (len(data) - 1) // _ROW * _ROW
        return [_row(data, last), f"(the file ends before byte {offset:,})"]
    owner = file_map.at(offset)
    row = offset // _ROW * _ROW
    lines = [_row(data, row - _ROW)] if row else []
    lines.append(_row(data, row, offset, screen))
    lines.append(" " * 10 + screen.paint(_marks(row, offset, owner), "red"))
    lines.append(" " * (10 + _column(offset - row)) + owner_text(owner, complete=file_map.complete))
    return lines


def owner_text(owner: MappedRange, *, complete: bool) -> str:
    """What bytes are for, in words.

    Args:
        owner: the range that owns them.
        complete: whether the map they come from goes to the end of the file.
    """
    if owner.region is Region.UNREACHED:
        what = "no known offset leads here" if complete else "not reached, as the file is broken before"
    else:
        place = path_text(owner.path)
        what = " ".join(
            part for part in (owner.region.value, place, owner.note and f"({owner.note})") if part
        )
    if owner.end - owner.start == 1:
        return f"{what}, byte {owner.start:,}"
    return f"{what}, bytes {owner.start:,} to {owner.end - 1:,}"


def _column(number: int) -> int:
    """Where the byte with this number stands in a row."""
    return 3 * number + (number >= _ROW // 2)


def _row(data: memoryview, start: int, marked: int | None = None, screen: Screen | None = None) -> str:
    values = bytes(data[start : start + _ROW])
    pairs = [f"{value:02x}" for value in values]
    characters = [chr(value) if 32 <= value < 127 else "." for value in values]
    width = _column(_ROW)
    fill = " " * (width - _column(len(values)))
    if marked is not None and screen is not None:
        pairs[marked - start] = screen.paint(pairs[marked - start], "red", bold=True)
        characters[marked - start] = screen.paint(characters[marked - start], "red", bold=True)
    half = _ROW // 2
    numbers = " ".join(pairs[:half]) + ("  " + " ".join(pairs[half:]) if len(pairs) > half else "")
    # A row of eight bytes or fewer has no gap in the middle.
    gap = fill if len(values) > half else " " * (width - 3 * len(values))
    return f"{start:08x}  {numbers}{gap} |{''.join(characters)}|"


def _marks(row: int, offset: int, owner: MappedRange) -> str:
    line = ""
    for position in range(max(row, owner.start), min(row + _ROW, owner.end)):
        line = line.ljust(_column(position - row), "~" if line else " ")
        line += "^^" if position == offset else "~~"
    return line
