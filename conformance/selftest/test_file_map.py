"""The file map gives every byte one owner."""

from __future__ import annotations

import dataclasses

import pytest

from pte_reference import Region, file_map, model, path_text, serialize
from selftest.broken_files import SMALL, VALUES
from selftest.covering import COVERING, every_value, one_plan, smallest
from selftest.golden import GOLDEN
from selftest.rewriting import poke, spot, u32


@pytest.mark.parametrize("name", GOLDEN)
def test_no_byte_of_a_golden_file_is_without_a_use(name: str) -> None:
    """Every byte has exactly one range, none is unreached, nothing overlaps."""
    mapped = file_map(GOLDEN[name])
    assert mapped.complete
    assert mapped.overlaps == ()
    position = 0
    for one in mapped.ranges:
        assert one.start == position
        assert one.region is not Region.UNREACHED, str(one)
        position = one.end
    assert position == GOLDEN[name].stat().st_size


@pytest.mark.parametrize("name", COVERING)
def test_no_byte_that_the_reference_writes_is_without_a_use(name: str) -> None:
    """The same for files of our own."""
    mapped = file_map(serialize(COVERING[name]))
    assert [one for one in mapped.ranges if one.region is Region.UNREACHED] == []


def test_a_range_says_what_its_bytes_are() -> None:
    """The bytes of a name are where the map says the name is."""
    one = spot(VALUES, Region.STRING, "execution_plan[0].name")
    assert VALUES[one.start : one.end] == b"\x07\0\0\0forward\0"


def test_segments_say_who_uses_them() -> None:
    """Constants, mutable data and named data are told apart."""
    notes = [one.note for one in file_map(VALUES).ranges if one.region is Region.SEGMENT]
    assert notes == ["constants", "mutable data", "named data 'weights'", "named data 'bias'"]


def test_padding_is_zero_bytes_only() -> None:
    """A gap with something in it is unreached: nobody knows what it is."""
    gap = next(one for one in file_map(VALUES).ranges if one.region is Region.PADDING)
    assert file_map(poke(VALUES, gap.start, b"\x01")).at(gap.start).region is Region.UNREACHED


def test_bytes_behind_the_end_are_unreached() -> None:
    """Nothing leads there, and no alignment explains them."""
    mapped = file_map(VALUES + bytes(5))
    assert mapped.ranges[-1].region is Region.UNREACHED
    assert mapped.ranges[-1].end - mapped.ranges[-1].start == 5


def test_of_overlapping_objects_the_first_in_walk_order_owns_the_bytes() -> None:
    """The first operator's name leads into the second's, whose range is listed as overlap."""
    program = one_plan(operators=(model.Operator("one"), model.Operator("operator")))
    file = serialize(dataclasses.replace(smallest(), program=program))
    second = spot(file, Region.STRING, "execution_plan[0].operators[1].name")
    at = spot(file, Region.OFFSET, "execution_plan[0].operators[0].name").start
    # Inside the second name, made all zeros, is the length of an empty one.
    inside = poke(file, second.start + 4, bytes(8))
    mapped = file_map(poke(inside, at, u32(second.start + 4 - at)))
    assert path_text(mapped.at(second.start + 4).path) == "execution_plan[0].operators[0].name"
    assert path_text(mapped.at(second.start).path) == "execution_plan[0].operators[1].name"
    assert "execution_plan[0].operators[1].name" in [path_text(one.path) for one in mapped.overlaps]


def test_a_broken_file_is_mapped_as_far_as_the_walk_goes() -> None:
    """And the map says that it is not complete."""
    at = spot(SMALL, Region.OFFSET, "execution_plan[0].name").start
    mapped = file_map(poke(SMALL, at, u32(0)))
    assert not mapped.complete
    assert mapped.ranges[-1].end == len(SMALL)


def test_the_map_answers_for_any_byte() -> None:
    """Looking up a byte finds its range; there is none behind the end."""
    mapped = file_map(VALUES)
    for one in mapped.ranges:
        assert mapped.at(one.start) == mapped.at(one.end - 1) == one
    with pytest.raises(IndexError):
        mapped.at(len(VALUES))


def test_the_bytes_of_a_blob_are_one_range() -> None:
    """Segment data is not looked into."""
    content = every_value()
    file = serialize(content)
    blob = bytes(content.mutable_data[1])
    one = file_map(file).at(file.find(blob))
    assert file[one.start : one.end] == blob
