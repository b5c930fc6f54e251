# SPDX-License-Identifier: MIT
"""Function definitions with byte-exact positions and parsed bodies, for editing the source.

Positions are offsets into the file's bytes.  A definition whose body differs between #if
branches comes once, with the statements of all branches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from scanner.parse import islands
from scanner.parse.function_islands import Island, parse_island, read_island
from scanner.parse.islands import Return
from scanner.source.normalise import Normaliser
from scanner.source.prepared_file import prepare, variants


class Definition(NamedTuple):
    """A function definition.

    start: first byte of its declaration (annotations before it excluded); name_at: its name;
    body: its ``{``; end: the byte after its ``}``.  returns: its return statements in order.
    annotations: of its head, those that speak against a probe.  parsed: pycparser's FuncDef,
    whose coordinates' lines are to be moved by ``line_shift``, or None.  parser: see
    functions.parse_island; reasons: why it is not "pycparser".  error: tree-sitter saw an
    error inside, so returns hidden there may be missing.  variants: the #if variants it is in.
    """

    name: str
    line: int
    start: int
    name_at: int
    body: int
    end: int
    head: str
    returns: tuple[Return, ...]
    annotations: tuple[str, ...]
    parsed: Any
    line_shift: int
    parser: str
    reasons: tuple[str, ...]
    error: bool
    variants: tuple[int, ...]


def definitions(data: bytes, normaliser: Normaliser) -> list[Definition]:
    """Return the definitions of a file in order of position."""
    prepared = prepare(data)
    found: dict[int, Definition] = {}
    for variant, text in variants(prepared):
        normal = normaliser.normalise(text)
        seen = islands.find(normal.text)
        for node in seen.functions:
            island = read_island(prepared, normal, seen, node, normaliser)
            if island is not None:
                one = _definition(island, variant)
                known = found.get(one.name_at)
                found[one.name_at] = _unite(known, one) if known else one
    return [found[key] for key in sorted(found)]


def _definition(island: Island, variant: int) -> Definition:
    parsed, parser, problems = parse_island(island)
    node, brace = island.node, island.brace
    name = islands.name_node(node)
    return Definition(
        parsed.decl.name if parsed is not None else island.name,
        island.line,
        node.start_byte,
        name.start_byte if name is not None else node.start_byte,
        brace.start_byte,
        node.end_byte,
        island.head,
        tuple(islands.returns(island.inside)),
        island.annotations,
        parsed,
        island.first - 2,
        parser,
        tuple(f"{kind}: {problem}" for kind, problem in problems),
        node.has_error or island.inside.has_error,
        (variant,),
    )


def _unite(one: Definition, other: Definition) -> Definition:
    returns = {r.start: r for r in (*other.returns, *one.returns)}
    better = other if one.error and not other.error else one
    return better._replace(
        returns=tuple(returns[start] for start in sorted(returns)),
        variants=(*one.variants, *other.variants),
    )


def compound_statements(parsed: Any) -> Iterator[Any]:
    """Yield every statement of a FuncDef's body, outer ones before those inside them."""
    stack = [parsed.body]
    while stack:
        node = stack.pop()
        yield node
        stack += [child for _, child in reversed(node.children())]
