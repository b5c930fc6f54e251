# SPDX-License-Identifier: MIT
"""The short way to the tokens ends where pycparser's own does; both parsers agree on types."""

from __future__ import annotations

from typing import Any

import pytest
import tree_sitter_c
from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError
from tree_sitter import Language, Parser

from scanner.facts import Param, TypeRef
from scanner.parse import declarations, tree_sitter_fallback
from scanner.parse.c_parser import IslandParser

_BODIES = (
    "int f(int a) { return a; }",
    "int f(u8 u8) { u8 = 3; return (u8) + 1; }",
    "u8 f(void) { u8 x = (u8)3, *p = (u8 *)&x; { int u8 = 4; u8++; } return sizeof(u8) + *p; }",
    "int f(void) { typedef int mine; mine x = (mine)2; { int mine = 1; x = (mine) - 1; } }",
    "int f(a, b) int a; char *b; { return a + b[a]; }",
    "f(a) { return g(a, -a, !a, ~a, *a, &a, a++, --a, a->b.c[d]); }",
    "int f(void) { return ({ int x = 3; x; }) ? a : b, c; }",
    "int f(void) { struct s x = { .a = 1, .b = { 2, 3 }, [4] = c }; return (struct s){ d }.a; }",
    'int f(void) { g("~~~" "~"); a = b = c; a += b << 2 >> c; a ? b : c ? d : e; }',
    "int f(void) { for (int i = 0; i < n; i++) if (i) continue; else break; do x; while (y); }",
    "int f(void) { switch (x) { case 1: case 2: a(); break; default: b(); } l: goto l; }",
    "int (*f(int a, ...))(u8) { return (int (*)(u8))a; }",
    "static inline const struct s *f(struct s **p, int (*g)(u8 *, unsigned long)) { ; }",
    "struct s { u8 a, *b; int c:3, : 4; struct { int d; }; enum e { A = 1, B } e; u8 (*f)(u8); };",
    "typedef struct { u8 a[3]; } t, *p; t x; p y;",
    "int f(void) { return 1UL + 0x1F + 1.5e-3 + .5; }",
    "int f(void) { if (a) { return; }",
    "int f(void) { return a b; }",
    "int f(void) { u8 = 3; }",
    "int f(void) { x[]; }",
    "int f(u8 { }",
    "int f(void) {\n\n\n  a(;\n}",
    "int f(void) { return 08; }",
    "",
)


def _dump(node: Any) -> Any:
    if isinstance(node, c_ast.Node):
        slots = [s for s in type(node).__slots__ if s not in ("coord", "__weakref__")]
        line = getattr(node.coord, "line", None)
        return (type(node).__name__, line, *((s, _dump(getattr(node, s))) for s in slots))
    if isinstance(node, (list, tuple)):
        return [_dump(item) for item in node]
    return node


@pytest.mark.parametrize("text", _BODIES)
def test_the_tree_is_that_of_pycparser(text: str) -> None:
    try:
        expected = [_dump(n) for n in CParser().parse("typedef int u8;\n" + text).ext[1:]]
    except ParseError:
        with pytest.raises(ParseError):
            IslandParser().island(text, frozenset({"u8"}))
        return
    assert [_dump(n) for n in IslandParser().island(text, frozenset({"u8"}))] == expected


def test_an_error_names_its_line() -> None:
    with pytest.raises(ParseError, match=r"^:5: before: ;"):
        IslandParser().island("int f(void) {\n\n\n  a b;\n}".replace("a b", "a(b;c)"), frozenset())


def test_types_of_one_island_are_not_those_of_the_next() -> None:
    parser = IslandParser()
    assert len(parser.island("t x;", frozenset({"t"}))) == 1
    with pytest.raises(ParseError):
        parser.island("t x;", frozenset())


@pytest.mark.parametrize(
    ("declarator", "stars"), [("(*x)[3]", 1), ("*x[3]", 2), ("*(*x)[2][3]", 2), ("x[2]", 1)]
)
def test_both_parsers_count_the_same_stars(declarator: str, stars: int) -> None:
    text = f"void f(u8 {declarator}) {{ }}"
    (definition,) = IslandParser().island(text, frozenset({"u8"}))
    (read,), _ = declarations.parameters(definition.decl.type)
    node = Parser(Language(tree_sitter_c.language())).parse(text.encode()).root_node.children[0]
    (guessed,), _ = tree_sitter_fallback.parameters(node)
    assert read == guessed == Param("x", TypeRef("u8", stars))
