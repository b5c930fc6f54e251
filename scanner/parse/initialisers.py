# SPDX-License-Identifier: MIT
"""Read file-scope variables (tables, arrays), and the functions that their initialisers name."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from scanner.facts import Init, Param, TypeRef
from scanner.parse.tree_sitter_fallback import base_type, declarator_parts

DEPTH = 40  # deepest nesting of initialisers that is followed


def _text(node: Node) -> str:
    return (node.text or b"").decode("latin-1")


def variables(declaration: Node) -> tuple[list[Param], list[Init]]:
    """Return the variables of a file-scope declaration, and the functions in their initialisers."""
    base = base_type(declaration.child_by_field_name("type"))
    params: list[Param] = []
    inits: list[Init] = []
    for child in declaration.children_by_field_name("declarator"):
        name, stars, function = declarator_parts(child)
        if name and not function:
            params.append(Param(name, TypeRef(base, stars)))
        value = child.child_by_field_name("value") if child.type == "init_declarator" else None
        if value is None or not base:
            continue
        if value.type == "initializer_list":
            for path, named in _functions(value, "", _dimensions(child), 0):
                inits.append(Init(base, path, named) if path else Init("", name, named))
        elif named := _function_name(value):
            inits.append(Init("", name, named))
    return params, inits


def _dimensions(declarator: Node) -> int:
    """Return the number of array dimensions of a variable."""
    count = 0
    node: Node | None = declarator
    while node is not None:
        count += node.type == "array_declarator"
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next((c for c in node.named_children if "declarator" in c.type), None)
        node = inner
    return count


def _functions(node: Node, path: str, dimensions: int, depth: int) -> Iterator[tuple[str, str]]:
    """Yield (path of a member, function); for an element of the variable itself, the path is "".

    A member without a designator is written as "#" and its position. `dimensions` is the number of
    the array's dimensions at this level.
    """
    listed = [child for child in node.named_children if child.type != "comment"]
    for place, child in enumerate(listed):
        value: Node | None = child
        here = path
        if child.type == "initializer_pair":
            value = child.child_by_field_name("value")
            here = ".".join([*([path] if path else []), *_fields(child)])
        elif not dimensions:
            here = f"{path}.#{place}" if path else f"#{place}"
        if value is None:
            continue
        if value.type == "initializer_list":
            if depth < DEPTH:
                inner = dimensions - 1 if dimensions and here == path else 0
                yield from _functions(value, here, inner, depth + 1)
        elif name := _function_name(value):
            yield here, name


def _fields(pair: Node) -> list[str]:
    """Return the members to which the designators of an initialiser refer."""
    return [
        _text(c)
        for d in pair.children_by_field_name("designator")
        for c in ([d] if d.type == "field_identifier" else d.named_children)
        if c.type == "field_identifier"
    ]


def _function_name(node: Node) -> str:
    """Return the function that an expression names: f for f, &f, (T)f and PTR(f)."""
    while node.type in ("pointer_expression", "cast_expression", "parenthesized_expression"):
        if not node.named_children:
            return ""
        node = node.named_children[-1]
    if node.type == "call_expression":
        listed = node.child_by_field_name("arguments")
        names = [c for c in listed.named_children if c.type == "identifier"] if listed else []
        return _text(names[0]) if len(names) == 1 else ""
    return _text(node) if node.type == "identifier" and not _text(node).isupper() else ""
