# SPDX-License-Identifier: MIT
"""docs/display-filter.md: all fields are listed as they are, and all examples are valid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skbviewer.analysis.display_filter import parse
from skbviewer.analysis.fields.all_fields import FIELDS
from skbviewer.analysis.fields.field_source_tables import CALL, DROP, LEG
from skbviewer.analysis.fields.packet_byte_fields import BYTE_FIELDS

PAGE = Path(__file__).parents[3] / "docs" / "display-filter.md"
OF = {CALL: "call", LEG: "leg", DROP: "drop"}


def field_table() -> str:
    """The list of fields as the page has it; print(field_table()) makes it anew."""
    rows = ["| field | type | of | meaning |", "| --- | --- | --- | --- |"]
    for field in FIELDS.values():
        of = "bytes" if field in BYTE_FIELDS else OF.get(field.table, "")
        words = f": {', '.join(field.words)}" if field.words else ""
        meaning = field.description + words
        rows.append(f"| `{field.name}` | {field.kind.value} | {of} | {meaning} |")
    return "\n".join(rows) + "\n"


def test_the_list_of_fields_is_complete() -> None:
    assert PAGE.read_text(encoding="utf-8").partition("## Fields\n\n")[2] == field_table()


@pytest.mark.parametrize(
    "text",
    [
        line.strip()
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("    ") and "skbviewer" not in line
    ],
)
def test_indented_examples_are_valid(text: str) -> None:
    assert parse(text) is not None


def test_the_examples_of_the_grammar_are_valid() -> None:
    grammar = PAGE.read_text(encoding="utf-8").partition("## Grammar")[2].partition("| a value")[0]
    first = [line.split(" | ")[0] for line in grammar.splitlines() if line.startswith("| `")]
    words = [word for cell in first for word in re.findall("`([^`]+)`", cell)]
    whole = [word for word in words if re.match(r"(all )?[\w.]+(\[| [<>=!&]|$)", word)]
    whole = [word for word in whole if word not in ("contains", "matches", "call( )")]
    assert len(whole) >= 9
    for word in whole:
        assert parse(word) is not None, word


def test_descriptions_tell_something() -> None:
    assert all(field.description and "|" not in field.description for field in FIELDS.values())
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)*", name) for name in FIELDS)
