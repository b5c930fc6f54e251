# SPDX-License-Identifier: MIT
"""Treat function-like macros as functions: users of a macro make the calls in its body."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tree_sitter import Node

from scanner.facts import Function, Macro, Param, TypeRef
from scanner.parse.gnu_dialect import type_arguments
from scanner.parse.tree_sitter_definitions import name_node, parse
from scanner.parse.tree_sitter_fallback import LooseBody

_CALL = re.compile(r"[A-Za-z_]\w*\s*\(")
_PASTE = re.compile(r"\w*\s*##\s*\w*")
_ATTRIBUTE = re.compile(r"\b__(?:section|aligned)\s*\([^()]*\)")
_BLOCK_VALUE = re.compile(r"\(\s*\{(.*)\}\s*\)")
LONGEST = 20_000  # characters of the longest macro body that is read


def _wanted(macro: Macro) -> bool:
    return (
        macro.params is not None
        and len(macro.body) < LONGEST
        and bool(_CALL.search(macro.body) or "struct" in macro.body)
    )


def pseudo_functions(macros: Iterable[Macro]) -> list[Function]:
    """Return a Function for each function-like macro whose body calls something."""
    wanted = [macro for macro in macros if _wanted(macro)]
    found = _read(wanted)
    # A macro that is not C would spoil its neighbours, so each one is read separately.
    for row, macro in enumerate(wanted):
        if row not in found and (alone := _read([macro])):
            found[row] = alone[0]
    return [found[row] for row in sorted(found)]


def _read(macros: list[Macro]) -> dict[int, Function]:
    """Return functions by the index of their macro; a parse error may hide some macros."""
    lines = [f"int {macro.name}() {{ {_statements(_plain(macro.body))}; }}" for macro in macros]
    found = {}
    for node in parse("\n".join(lines).encode("latin-1", "replace")).named_children:
        name = name_node(node) if node.type == "function_definition" else None
        row = node.start_point.row
        body = node.child_by_field_name("body")
        if name is not None and body is not None and node.end_point.row == row:
            found[row] = _function(macros[row], body, row)
    return found


def _function(macro: Macro, body: Node, row: int) -> Function:
    facts = LooseBody(macro.line - row)
    facts.read(body)
    return Function(
        macro.name,
        macro.line,
        macro.line,
        0,
        0,
        0,
        False,
        False,
        0,
        "#define",
        "tree-sitter",
        TypeRef(""),
        tuple(Param(p, TypeRef("")) for p in macro.params or ()),
        tuple(facts.variables),
        tuple(facts.calls),
        tuple(facts.assigns),
    )


def _plain(body: str) -> str:
    body = _ATTRIBUTE.sub(" ", body) if "__" in body else body
    body = _PASTE.sub("pasted", body).replace("#", " ").replace("...", "+")
    if body.count("{") != body.count("}"):
        body = body.replace("{", " ").replace("}", " ")
    return type_arguments(body) if "struct" in body or "union" in body else body


def _statements(body: str) -> str:
    """Return the statements of a macro; a macro with a value returns it in the last one."""
    if _is_expression(body):
        return f"return {body}"
    inner = _BLOCK_VALUE.fullmatch(body)
    if inner is None:
        return body
    before, semicolon, last = inner[1].rstrip("; ").rpartition(";")
    return f"{before}{semicolon} return {last}" if _is_expression(last.strip()) else body


def _is_expression(body: str) -> bool:
    first = body[:1]
    return (
        (first.isidentifier() or first in "(*&!~-0")
        and ";" not in body
        and "{" not in body
        and not body.startswith(("do ", "do{", "if", "for", "while", "switch", "return", "struct"))
    )
