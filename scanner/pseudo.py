# SPDX-License-Identifier: MIT
"""Function-like macros as functions: their calls are credited to whoever uses them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from scanner.facts import Function, Macro, Param, TypeRef
from scanner.islands import name_node, parse
from scanner.loose import LooseBody

_CALL = re.compile(r"[A-Za-z_]\w*\s*\(")
_PASTE = re.compile(r"\w*\s*##\s*\w*")
LONGEST = 20_000  # characters of a macro body that are looked into


def _wanted(macro: Macro) -> bool:
    return (
        macro.params is not None
        and len(macro.body) < LONGEST
        and bool(_CALL.search(macro.body) or "struct" in macro.body)
    )


def pseudo_functions(macros: Iterable[Macro]) -> list[Function]:
    """Return each function-like macro that calls something as if it were a function."""
    wanted = [macro for macro in macros if _wanted(macro)]
    if not wanted:
        return []
    lines = []
    for macro in wanted:
        body = _PASTE.sub("pasted", macro.body).replace("#", " ").replace("...", "+")
        body = (
            body if body.count("{") == body.count("}") else body.replace("{", " ").replace("}", " ")
        )
        lines.append(
            f"int {macro.name}() {{ return {body}; }}"
            if _is_expression(body)
            else f"int {macro.name}() {{ {body}; }}"
        )
    root = parse("\n".join(lines).encode("latin-1", "replace"))
    found = []
    for node in root.named_children:
        name = name_node(node) if node.type == "function_definition" else None
        row = node.start_point.row
        if name is None or node.end_point.row != row:
            continue
        body_node = node.child_by_field_name("body")
        macro = wanted[row]
        facts = LooseBody(macro.line - row)
        if body_node is not None:
            facts.read(body_node)
        params = tuple(Param(p, TypeRef("")) for p in macro.params or ())
        found.append(
            Function(
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
                params,
                tuple(facts.variables),
                tuple(facts.calls),
                tuple(facts.assigns),
            )
        )
    return found


def _is_expression(body: str) -> bool:
    first = body[:1]
    return (
        (first.isidentifier() or first in "(*&!~-0")
        and ";" not in body
        and "{" not in body
        and not body.startswith(("do ", "do{", "if", "for", "while", "switch", "return", "struct"))
    )
