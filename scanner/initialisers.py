# SPDX-License-Identifier: MIT
"""File-scope variables, and which function stands in which field of a table of operations."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from scanner.facts import Init, Param, TypeRef
from scanner.loose import base_type, declared

DEPTH = 40  # deepest nesting of initialisers that is followed


def _text(node: Node) -> str:
    return (node.text or b"").decode("latin-1")


def variables(declaration: Node) -> tuple[list[Param], list[Init]]:
    """Return what one file-scope declaration declares, and the functions in its initialisers."""
    base = base_type(declaration.child_by_field_name("type"))
    params: list[Param] = []
    inits: list[Init] = []
    for child in declaration.children_by_field_name("declarator"):
        name, stars, function = declared(child)
        if name and not function:
            params.append(Param(name, TypeRef(base, stars)))
        value = child.child_by_field_name("value") if child.type == "init_declarator" else None
        if value is not None and value.type == "initializer_list" and base:
            inits += _functions(value, base, "", 0)
    return params, inits


def _functions(node: Node, base: str, path: str, depth: int) -> Iterator[Init]:
    for child in node.named_children:
        if child.type == "initializer_list" and depth < DEPTH:
            yield from _functions(child, base, path, depth + 1)
        if child.type != "initializer_pair":
            continue
        fields = [
            _text(c)
            for d in child.children_by_field_name("designator")
            for c in ([d] if d.type == "field_identifier" else d.named_children)
            if c.type == "field_identifier"
        ]
        value = child.child_by_field_name("value")
        here = ".".join([*([path] if path else []), *fields])
        if value is None:
            continue
        if value.type == "initializer_list" and depth < DEPTH:
            yield from _functions(value, base, here, depth + 1)
        elif fields and (name := _function_name(value)):
            yield Init(base, here, name)


def _function_name(node: Node) -> str:
    """f, &f, (T)f and PTR(f) name a function f."""
    while node.type in ("pointer_expression", "cast_expression", "parenthesized_expression"):
        if not node.named_children:
            return ""
        node = node.named_children[-1]
    if node.type == "call_expression":
        listed = node.child_by_field_name("arguments")
        names = [c for c in listed.named_children if c.type == "identifier"] if listed else []
        return _text(names[0]) if len(names) == 1 else ""
    return _text(node) if node.type == "identifier" and not _text(node).isupper() else ""
