"""The fixed contents cover the model, so that tests which use them miss no field."""

from __future__ import annotations

from pte_reference import model
from pte_reference.schema import Table, reachable_tables, schema_of
from selftest.covering import COVERING, tables_in

LAYOUT = {model.Buffer, model.BackendDelegateInlineData, model.DataSegment}
LAYOUT |= {model.SubsegmentOffsets, model.NamedData}
"""Tables that only a file holds; a PTEFile keeps their content in lists of its own."""

FIXED = {
    # Program: one version exists, and the rest is layout.
    *((model.Program, field.name) for field in schema_of(model.Program).fields[2:]),
    (model.Program, "version"),
    # No runtime takes anything but zero here, and no release writes it.
    (model.Tensor, "storage_offset"),
    (model.Tensor, "layout"),
    (model.ExtraTensorInfo, "mutable_data_segments_idx"),
    # A PTEFile refers to its own list of delegate data.
    (model.BackendDelegateDataReference, "location"),
}
"""Fields that no valid content of today sets."""


def test_every_table_is_there() -> None:
    """Each table of the model, save those of the layout, is in one of the contents."""
    used = {type(table) for table in _all_tables()}
    assert used == set(reachable_tables(model.Program)) - LAYOUT


def test_every_field_is_set_somewhere() -> None:
    """Each field has a value other than its default in one of the contents."""
    set_fields = {
        (type(table), field.name)
        for table in _all_tables()
        for field in schema_of(type(table)).fields
        if getattr(table, field.name) not in (field.default, ())
    }
    every_field = {
        (table, field.name)
        for table in reachable_tables(model.Program)
        if table not in LAYOUT
        for field in schema_of(table).fields
    }
    assert every_field - set_fields == FIXED


def _all_tables() -> list[Table]:
    return [table for content in COVERING.values() for table in tables_in(content.program)]
