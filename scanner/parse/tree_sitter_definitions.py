# SPDX-License-Identifier: MIT
"""Find the functions, types and tables in a normalised text with tree-sitter.

A function is accepted only if tree-sitter and the braces agree on where the function ends.
Functions that are not accepted are hidden from a second parse of the text, and parsed one by one.
Every offset is a byte offset into the file on disk.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import tree_sitter_c
from tree_sitter import Language, Node, Parser, Point, Query, QueryCursor, Range

from scanner.source import brace_blocks
from scanner.source.brace_blocks import Block

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
_TAGS = ("struct", "union", "enum")
_BASIC_TEXT = "int char void float double _Bool "
BASIC = frozenset(_BASIC_TEXT.split())
Captures = dict[str, list[Node]]


class Unread(NamedTuple):
    """Text that looks like a function and cannot be read, with its name ("" if it has none).

    All fields are offsets: the text begins at `start`, its opening brace is at `brace`, and the
    text ends before `end`.
    """

    name: str
    start: int
    brace: int
    end: int


class Found(NamedTuple):
    """The definitions that tree-sitter found in one #if variant of a file.

    `types` has (offset, name) for each use of a type's name, sorted. `insides` has parsed bodies of
    functions whose nodes have an empty body, by the offset of the opening brace.
    """

    source: bytes
    functions: list[Node]
    records: list[Node]
    typedefs: list[Node]
    variables: list[Node]
    types: list[tuple[int, str]]
    insides: dict[int, Node]
    unread: list[Unread]

    def type_names(self, start: int, end: int) -> frozenset[str]:
        """Return the names of types that are used between two offsets."""
        low = bisect_left(self.types, (start, ""))
        high = bisect_left(self.types, (end, ""))
        return frozenset(name for _, name in self.types[low:high])

    def inside(self, body: Node) -> Node:
        """Return the node that contains the statements of the function body `body`."""
        return self.insides.get(body.start_byte, body)


def parse(source: bytes) -> Node:
    """Return the root of tree-sitter's syntax tree for a C source."""
    return Parser(_LANGUAGE).parse(source).root_node


def find_islands(text: str) -> Found:
    """Return the functions, types and variables that tree-sitter finds in a normalised text."""
    source = text.encode("latin-1")
    parsed = _captures(parse(source))
    spans = brace_blocks.blocks(text)
    functions = _whole(parsed, spans)
    lost = _lost(text, spans, functions, parsed)
    insides: dict[int, Node] = {}
    inner: list[Captures] = []
    if lost:
        parsed = _captures(parse(brace_blocks.without_bodies(text, lost).encode("latin-1")))
        heads = _whole(parsed, spans)
        functions = {brace: heads.get(brace, node) for brace, node in functions.items()}
        for block, root in zip(lost, _alone(source, lost), strict=True):
            inner.append(own := _captures(root))
            if whole := _whole(own, [block]):
                functions |= whole
                continue
            insides[block.open] = root
            if block.open in heads:
                functions[block.open] = heads[block.open]
        lost = [block for block in lost if block.open not in functions]
        functions |= _plainer(text, lost)
        lost = [block for block in lost if block.open not in functions]
    lost += [block for block in spans if brace_blocks.is_class(text, block)]
    return Found(
        source,
        _in_order(functions.values()),
        _in_order(_united("record", parsed, inner)),
        _in_order(_united("typedef", parsed, inner)),
        _in_order(parsed.get("variable", [])),
        sorted(_types(text, _united("type", parsed, inner))),
        insides,
        [Unread(brace_blocks.name(text, block), *block[:3]) for block in lost],
    )


def _captures(root: Node) -> Captures:
    return QueryCursor(_ISLANDS).captures(root)


def _united(kind: str, parsed: Captures, inner: list[Captures]) -> list[Node]:
    """Return the nodes of a kind in the text and in functions that were parsed separately."""
    return [node for captures in (parsed, *inner) for node in captures.get(kind, [])]


def _types(text: str, nodes: Iterable[Node]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        start = node.start_byte
        name = text[start : node.end_byte]
        if name in BASIC or text[max(0, start - 7) : start] == "struct ":
            continue
        if not text[max(0, start - 16) : start].rstrip().endswith(_TAGS):
            yield start, name


def _whole(parsed: Captures, spans: list[Block]) -> dict[int, Node]:
    """Return functions whose bodies are blocks at file scope, by offset of the opening brace.

    Functions inside a function are left out, because tree-sitter's error recovery may invent such
    functions.
    """
    ends = {block.open: block for block in spans}
    nexts = {one.open: other.head for one, other in pairwise(spans)}
    found = {}
    for node in parsed.get("function", []):
        body = node.child_by_field_name("body")
        block = ends.get(body.start_byte) if body is not None else None
        if block is None or name_node(node) is None or _swallows(node, block):
            continue
        apart = not block.certain and node.end_byte <= nexts.get(block.open, node.end_byte)
        if node.end_byte == block.end or apart:
            found[block.open] = node
    return found


def _swallows(node: Node, block: Block) -> bool:
    """Return whether the node of a function begins before the function's head."""
    if node.start_byte >= block.head:
        return False
    kind = node.child_by_field_name("type")
    if kind is None or kind.has_error or kind.end_byte > block.head:
        return True
    between = (node.text or b"")[kind.end_byte - node.start_byte : block.head - node.start_byte]
    return bool(between.strip())


def _lost(
    text: str, spans: list[Block], functions: dict[int, Node], parsed: Captures
) -> list[Block]:
    """Return the blocks that look like functions but are not among the found `functions`."""
    rest = [block for block in spans if block.open not in functions]
    bodies = [node.child_by_field_name("body") for node in parsed.get("record", [])]
    records = {body.start_byte for body in bodies if body is not None}
    return [b for b in rest if b.open not in records and brace_blocks.is_function(text, b)]


def _alone(source: bytes, lost: list[Block]) -> Iterator[Node]:
    """Yield the root of each function in `lost`, parsed as if nothing else were in the file."""
    row = position = 0
    for block in lost:
        row += source.count(b"\n", position, block.head)
        position = block.head
        start = Point(row, block.head - source.rfind(b"\n", 0, block.head) - 1)
        last = row + source.count(b"\n", block.head, block.end)
        end = Point(last, block.end - source.rfind(b"\n", 0, block.end) - 1)
        only = Range(start, end, block.head, block.end)
        yield Parser(_LANGUAGE, included_ranges=[only]).parse(source).root_node


def _plainer(text: str, lost: list[Block]) -> dict[int, Node]:
    """Return the functions whose heads have macro calls before types; their bodies are empty."""
    plain = brace_blocks.plain_heads(text, lost).encode("latin-1")
    found: dict[int, Node] = {}
    for block, root in zip(lost, _alone(plain, lost), strict=True):
        for brace, node in _whole(_captures(root), [block]).items():
            named = name_node(node)
            if named and text[named.start_byte : named.end_byte] == brace_blocks.name(text, block):
                found[brace] = node
    return found


def _in_order(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes sorted by position, because tree-sitter's order is not always the same."""
    return sorted(nodes, key=lambda n: n.start_byte)


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
