# SPDX-License-Identifier: MIT
"""No function is lost: each ends where its braces do, and what cannot be read is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from scanner.cached_tables import Run, tables
from scanner.progress import Progress
from scanner.tables.three_tables import Options, Result

AFTER = """
struct after { struct sk_buff *skb; };

static int two(struct after *a)
{
	return one(a->skb);
}

int three(struct after *a) { return two(a); }
"""
CAST = "if (p) { e = *(CAST(u16 *, (p - 2))); } else { e = *(CAST(u16 *, (p - 2))); }"
SEED = "struct sk_buff { int len; };\n"


def scanned(root: Path, text: str, newline: str = "\n") -> Result:
    (root / "a.c").write_text(SEED + text, newline=newline)
    return tables(Run(root, [], 1, None), Options(), Progress(quiet=True))


def ends(result: Result) -> dict[str, tuple[int, int]]:
    return {row["function"]: (row["line"], row["end_line"]) for row in result.functions}


@pytest.mark.parametrize(
    "statement",
    [
        CAST,
        '__ASM volatile ("" : "=Q" (*s));',
        "walk_all (list, it) { one(skb); } while_any (list) if (p) one(skb);",
        "FOR_ALL(list, it) one(skb); } else { one(skb);",
        "e = ((((((((;",
    ],
)
def test_a_body_that_is_no_c_costs_no_other(tmp_path: Path, statement: str) -> None:
    body = (
        f"int one(struct sk_buff *skb)\n{{\n\tif (skb) {{\n\t{statement}\n\t}}\n\treturn 1;\n}}\n"
    )
    result = scanned(tmp_path, "#define __ASM __asm\n" + body + AFTER)
    assert ends(result) == {"one": (3, 9), "two": (13, 16), "three": (18, 18)}
    assert {row["function"] for row in result.direct} == {"one", "two", "three"}
    assert "struct after" in {row["name"] for row in result.polymorphism}


def test_what_a_broken_body_calls_is_known(tmp_path: Path) -> None:
    body = f"int one(struct sk_buff *skb)\n{{\n\tint e = 0, p = 1;\n\t{CAST}\n\t@ two(skb);\n}}\n"
    result = scanned(tmp_path, body + "int two(void *any)\n{\n\treturn 0;\n}\n")
    assert [(row["function"], row["witness"]["line"]) for row in result.indirect] == [("two", 6)]


@pytest.mark.parametrize(
    ("text", "name", "line", "last"),
    [
        ("int one(int a = 3)\n{\n\treturn a;\n}\n", "one", 2, 5),
        ("struct one {\n\tone(int b) : a(b)\n\t{\n\t}\n};\n", "struct one", 2, 6),
        ("class one : two\n{\n\tint f() { return 1; }\n};\n", "class one", 2, 5),
    ],
)
def test_what_cannot_be_read_is_named(
    tmp_path: Path, text: str, name: str, line: int, last: int
) -> None:
    result = scanned(tmp_path, text + AFTER)
    assert result.warnings == [f"a.c: not read: {name} (line {line})"]
    assert ("function", name, line, f"not read, up to line {last}") in [
        (row["kind"], row["function"], row["line"], row["reason"]) for row in result.fallbacks
    ]
    assert {"two", "three"} <= ends(result).keys()


@pytest.mark.parametrize(
    "text",
    [
        "struct NAMED(x) one { int a; };\n",
        "enum NAMED(x, y) { A, B };\n",
        "struct one f = { .g = h(x) };\n",
        "int one[] = { A(1), B(2) };\n",
        'extern "C" {\nint one(int a) { return a; }\n}\n',
        "enum one { A = SIZE(2), B };\n",
        "#define X(a) { a }\nX(b);\n",
        "struct one { int (*f)(int); struct MADE(x) { int a; } b; int c:3; };\n",
        "typedef struct { int (*f)(int); } one;\n",
    ],
)
def test_what_is_no_function_is_not_named(tmp_path: Path, text: str) -> None:
    result = scanned(tmp_path, text + AFTER)
    assert not result.warnings
    assert {"two", "three"} <= ends(result).keys()


def test_branches_that_split_braces_cost_no_other(tmp_path: Path) -> None:
    text = (
        "#ifdef A\nint one(int a) {\n#else\nint one(void) {\n#endif\n"
        "#if B\n\tif (1) {\n#endif\n\treturn 1;\n#ifdef C\n\t}\n#endif\n}\n"
    )
    assert {"one", "two", "three"} <= ends(scanned(tmp_path, text + AFTER)).keys()


def test_a_head_by_a_macro_may_break_its_line(tmp_path: Path) -> None:
    result = scanned(tmp_path, "DEFPY(\n\tshow, show_cmd,\n\tTEXT)\n{\n\treturn 1;\n}\n" + AFTER)
    assert ends(result)["show"] == (2, 7)
    assert not result.warnings


def test_a_condition_in_an_annotation_is_no_statement(tmp_path: Path) -> None:
    text = "\t__success(return != 0) int\none(struct sk_buff *skb)\n{\n\treturn 1;\n}\n"
    assert ends(scanned(tmp_path, text + AFTER))["one"] == (3, 6)


def test_macros_before_parameters_are_passed_over(tmp_path: Path) -> None:
    text = (
        "static efx_t\none(__in_count(6*count) struct sk_buff const *skb, __in int count)\n{\n}\n"
    )
    result = scanned(tmp_path, text + AFTER)
    assert ends(result)["one"] == (3, 5)
    assert next(row["parameters"][0]["type"] for row in result.direct) == "struct sk_buff *"


def test_macros_before_the_type_are_passed_over(tmp_path: Path) -> None:
    text = "static inline __realloc_size(2, 3) void * one(struct sk_buff *skb, int a)\n{\n}\n"
    result = scanned(tmp_path, text + AFTER)
    assert ends(result)["one"] == (2, 4)
    assert "one" in {row["function"] for row in result.direct}
    assert not result.warnings


@pytest.mark.parametrize("body", ["return 1;", CAST])
@pytest.mark.parametrize(
    "before", ["int before(int);", "struct before { int a; };", "int before(void) { return 1; }"]
)
def test_old_style_parameters_may_be_functions(tmp_path: Path, body: str, before: str) -> None:
    text = f"{before}\nstatic int\none(skb, print, arg)\n\tconst struct sk_buff *skb;\n"
    text += f"\tvoid (*print)(void *, ...);\n\tvoid *arg;\n{{\n\t{body}\n}}\n"
    result = scanned(tmp_path, text + AFTER)
    found = {"one": (4, 10), "two": (14, 17), "three": (19, 19)}
    assert found.items() <= ends(result).items()
    assert "one" in {row["function"] for row in result.direct}
    assert not result.warnings


def test_what_only_users_of_the_kernel_see_is_read(tmp_path: Path) -> None:
    text = "#ifndef __KERNEL__\nint one(struct sk_buff *skb) { return 1; }\n#endif\n"
    assert "one" in ends(scanned(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        '#define OP(a) asm volatile ("one \\n\\\n two" \\\n : "=r" (a))\n',
        '#warning "don\'t { \\\n do (this"\n',
        "#define C(a) f('\\\n', {)\n",
        '#define TEXT "a" /* one */ \\ \n "b" (\n',
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_directive_goes_on_behind_a_backslash(tmp_path: Path, text: str, newline: str) -> None:
    result = scanned(tmp_path, text + AFTER, newline)
    assert not result.warnings
    assert ends(result).keys() == {"two", "three"}
