# SPDX-License-Identifier: MIT
"""docs/schema.md is what the declared views say."""

from __future__ import annotations

import pytest

from skbviewer.records.table_columns import TEXT
from skbviewer.store.views.declared_views import VIEWS
from skbviewer.store.views.expressions import EventData, Stored

from .schema_page import PAGE, page


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.store.schema_page"


def test_times_are_int64_nanoseconds() -> None:
    columns = [column for view in VIEWS.values() for column in view.columns]
    times = [c.meaning for c in columns if c.meaning.name.endswith("_ns")]
    assert len(times) > 30
    assert {(c.type, c.unit) for c in times} == {("int64", "ns")}


def test_every_column_has_a_meaning_and_a_name_of_its_own() -> None:
    for view in VIEWS.values():
        names = [column.meaning.name for column in view.columns]
        assert len(set(names)) == len(names)
        assert all(column.meaning.meaning for column in view.columns), view.name


def test_numbers_are_stored_and_texts_are_made() -> None:
    for view in VIEWS.values():
        for column in view.columns:
            assert isinstance(column.value, Stored | EventData) == (column.meaning.type != TEXT)


@pytest.mark.parametrize("name", ["schema.md", "datasets.md"])
def test_examples_leave_out_candidates(name: str) -> None:
    """A packet with an exact leg may have candidates, too, whose times are not its own."""
    lines = PAGE.with_name(name).read_text(encoding="utf-8").splitlines()
    examples = "\n".join(line for line in lines if line.startswith("    ")).split(";")
    joined = [one for one in examples if "JOIN matches" in one]
    assert joined and all("verdict = 'exact'" in one for one in joined)
