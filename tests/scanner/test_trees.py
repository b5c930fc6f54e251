# SPDX-License-Identifier: MIT
"""Small trees, each with the tables that it must give beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from scanner import output
from scanner.analysis import Options, Result
from scanner.polymorphism import HUBS, Limits
from scanner.progress import Progress
from scanner.results import Run, tables

TREES = Path(__file__).parent / "trees"
TEXT = {
    "polymorphism": output.polymorphism,
    "direct": output.direct,
    "indirect": output.indirect,
}


def scanned(name: str, options: Options | None = None) -> Result:
    run = Run(TREES / name, [], 1, None)
    return tables(run, options or Options(), Progress(quiet=True))


def names(rows: list[dict[str, object]]) -> set[object]:
    return {row["function"] for row in rows}


@pytest.mark.parametrize(
    "tree", ["today", "old", "kr", "years", "levels", "members", "later", "odd"]
)
def test_tables_are_as_written(tree: str) -> None:
    result = scanned(tree)
    for table, text in TEXT.items():
        expected = (TREES / tree / "expected" / f"{table}.txt").read_text().splitlines()[1:]
        found = [text(row).rstrip() for row in getattr(result, table)]
        assert found == [line.rstrip() for line in expected], table
    assert not result.warnings
    # Nobody but a preprocessor can read a body that is made of such macros.
    unread = [row["function"] for row in result.fallbacks]
    assert unread == (["cases"] if tree == "odd" else [])


def test_level_limit_cuts_forms_and_functions() -> None:
    forms = scanned("levels", Options(limits=Limits(max_level=1))).polymorphism
    assert [row["name"] for row in forms] == ["struct sk_buff", "struct one"]
    assert names(scanned("levels", Options(limits=Limits(2))).direct) == {
        "takes_one",
        "takes_two",
        "takes_private",
    }


def test_without_stops_the_hub_is_followed() -> None:
    assert "inode" in HUBS
    result = scanned("levels", Options(limits=Limits(stops=())))
    assert {"takes_inode", "takes_task"} <= names(result.direct)
    assert not {"takes_inode", "takes_task"} & names(scanned("levels").direct)


def test_pointers_to_functions_count_on_request() -> None:
    pointers = Limits(function_pointers=True)
    result = scanned("levels", Options(limits=pointers))
    assert "takes_calls" in names(result.direct)
    assert "takes_calls" not in names(scanned("levels").direct)


def test_a_tag_of_two_structs_is_two_types() -> None:
    found = names(scanned("levels").direct)
    assert "takes_private" in found
    assert "takes_other_private" not in found


def test_any_struct_can_be_asked_for() -> None:
    result = scanned("old", Options(seed="struct sock"))
    assert {row["name"] for row in result.polymorphism} == {
        "struct sock",
        "struct socket",
        "struct sk_buff",
        "struct sk_buff_head",
    }
    assert {"sctp_receive", "sock_send"} <= names(result.direct)


def test_rule_by_type_follows_no_data() -> None:
    found = names(scanned("today", Options(data_flow=False)).indirect)
    assert "make_and_drop" in found
    assert "hexdump" not in found


def test_a_struct_that_is_not_there_is_told() -> None:
    result = scanned("levels", Options(seed="struct nowhere"))
    assert result.warnings == ["struct nowhere is not defined in the folders scanned"]
    assert not result.direct
