# SPDX-License-Identifier: MIT
"""Small trees, each with the tables that it must give beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from scanner import table_output
from scanner.cached_tables import Run, tables
from scanner.progress import Progress
from scanner.tables.struct_forms import HUBS, Limits
from scanner.tables.three_tables import Options, Result

TREES = Path(__file__).parent / "trees"
TEXT = {
    "polymorphism": table_output.polymorphism,
    "direct": table_output.direct,
    "indirect": table_output.indirect,
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


def test_a_struct_that_is_not_there_is_reported() -> None:
    result = scanned("levels", Options(seed="struct nowhere"))
    assert result.warnings == ["struct nowhere is not defined in the folders scanned"]
    assert not result.direct


def test_a_tag_of_two_headers_is_two_types(tmp_path: Path) -> None:
    """Each file uses the definition in the header that it includes, directly or indirectly."""
    files = {
        "a/node.h": "#include <skb.h>\nstruct node { struct sk_buff *skb; };\n",
        "a/all.h": '#include "node.h"\n',
        "d/stub.h": "struct pair { };\n",
        "d/pair.h": '#include "stub.h"\nstruct pair { struct node *n; struct sk_buff *s; };\n',
        "d/a.c": '#include "stub.h"\n#include "pair.h"\nint both(struct pair *p) { return 1; }\n',
        "b/node.h": "struct node { int number; };\n",
        "c/node.h": "struct node { int number; };\n",
        "inc/skb.h": "struct sk_buff { int len; };\n",
        "a/a.c": "int by_folder(struct node *n) { return 1; }\n",
        "x/a.c": '#include "../a/all.h"\nint by_steps(struct node *n) { return 1; }\n',
        "x/b.c": '#include "../b/node.h"\nint other(struct node *n) { return 1; }\n',
        "x/c.c": "struct node { struct sk_buff *s; };\nint own(struct node *n) { return 1; }\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    result = tables(Run(tmp_path, ["."], 1, None), Options(), Progress(quiet=True))
    assert names(result.direct) == {"by_folder", "by_steps", "own", "both"}
    forms = [(r["name"], r["file"]) for r in result.polymorphism if r["level"]]
    assert forms == [
        ("struct node", "a/node.h"),
        ("struct node", "x/c.c"),
        ("struct pair", "d/pair.h"),
    ]


def test_typedefs_of_structs_of_callbacks_are_customized_types(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text(
        "struct sk_buff { int len; };\n"
        "typedef struct { int (*write)(int, struct sk_buff *); } isdn_if;\n"
        "typedef struct { struct sk_buff *(*get)(void); } call_t;\n"
        "typedef struct { int (*number)(int); } other_t;\n"
    )
    result = tables(Run(tmp_path, [], 1, None), Options(), Progress(quiet=True))
    assert result.counts["customized_types"] == 2
