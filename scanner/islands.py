# SPDX-License-Identifier: MIT
"""Finds the islands of a normalised text with tree-sitter: functions, types, tables.

Every offset is a byte offset into the file on disk.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter_c
from tree_sitter import Language, Node, Parser, Query, QueryCursor

_LANGUAGE = Language(tree_sitter_c.language())
_ISLANDS = Query(
    _LANGUAGE,
    """
    (function_definition body: (compound_statement)) @function
    (struct_specifier name: (_) body: (field_declaration_list)) @record
    (union_specifier name: (_) body: (field_declaration_list)) @record
    (type_definition) @typedef
    (translation_unit (declaration) @variable)
    (type_identifier) @type
    (primitive_type) @type
    """,
)
_RETURNS = Query(_LANGUAGE, "(return_statement) @return")
_TAGS = ("struct", "union", "enum")
_BASIC_TEXT = "int char void float double _Bool "
BASIC = frozenset(_BASIC_TEXT.split())


class Found(NamedTuple):
    """The islands of one variant of a file; types: (offset, name) of each type name used."""

    source: bytes
    functions: list[Node]
    records: list[Node]
    typedefs: list[Node]
    variables: list[Node]
    types: list[tuple[int, str]]

    def type_names(self, start: int, end: int) -> frozenset[str]:
        """Return the type names that stand between two offsets."""
        low = bisect_left(self.types, (start, ""))
        high = bisect_left(self.types, (end, ""))
        return frozenset(name for _, name in self.types[low:high])


class Return(NamedTuple):
    """A return statement: the word return, its expression (equal if none), its semicolon's end."""

    start: int
    value: int
    value_end: int
    end: int


def parse(source: bytes) -> Node:
    """Return the root of the syntax tree."""
    return Parser(_LANGUAGE).parse(source).root_node


def find(text: str) -> Found:
    """Return the islands of a normalised text."""
    source = text.encode("latin-1")
    captures = QueryCursor(_ISLANDS).captures(parse(source))
    types = []
    for node in captures.get("type", []):
        start = node.start_byte
        name = text[start : node.end_byte]
        if name in BASIC or text[max(0, start - 7) : start] == "struct ":
            continue
        if not text[max(0, start - 16) : start].rstrip().endswith(_TAGS):
            types.append((start, name))
    types.sort()
    return Found(
        source,
        _outermost(captures.get("function", [])),
        _in_order(captures.get("record", [])),
        _in_order(captures.get("typedef", [])),
        _in_order(captures.get("variable", [])),
        types,
    )


def _in_order(nodes: list[Node]) -> list[Node]:
    """Captures come in an order of their own, not always the same."""
    return sorted(nodes, key=lambda n: n.start_byte)


def _outermost(nodes: list[Node]) -> list[Node]:
    """Leave out what error recovery takes for a function inside another one."""
    kept: list[Node] = []
    for node in sorted(nodes, key=lambda n: (n.start_byte, -n.end_byte)):
        if kept and node.end_byte <= kept[-1].end_byte:
            continue
        kept.append(node)
    return kept


def name_node(function: Node) -> Node | None:
    """Return the identifier that a definition declares; None if it declares no function."""
    node = function.child_by_field_name("declarator")
    parameters = False
    while node is not None:
        if node.type == "identifier":
            return node if parameters else None
        parameters = parameters or node.type == "function_declarator"
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next(
                (
                    c
                    for c in node.named_children
                    if "declarator" in c.type or c.type == "identifier"
                ),
                None,
            )
        node = inner
    return None


def returns(function: Node) -> Iterator[Return]:
    """Yield the return statements of a function in order of position."""
    nodes = QueryCursor(_RETURNS).captures(function).get("return", [])
    for node in sorted(nodes, key=lambda n: n.start_byte):
        values = node.named_children
        start = values[0].start_byte if values else node.end_byte - 1
        end = values[-1].end_byte if values else start
        yield Return(node.start_byte, start, end, node.end_byte)
