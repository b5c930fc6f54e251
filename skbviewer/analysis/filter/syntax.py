# SPDX-License-Identifier: MIT
"""What a display filter is made of before its words have types."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """A piece of a filter and its place in the text, in characters."""

    at: int
    length: int


@dataclass(frozen=True)
class Word(Node):
    """A field, or a value without quotes."""

    text: str


@dataclass(frozen=True)
class Text(Node):
    """A quoted string; with \\x escapes it means bytes."""

    text: str
    escaped: bool


@dataclass(frozen=True)
class Slice(Node):
    """of[begin:count, ...]: parts are (begin, end), a negative one from the end, None = to it."""

    of: Node
    parts: tuple[tuple[int, int | None], ...]


@dataclass(frozen=True)
class Masked(Node):
    """of & mask."""

    of: Node
    mask: Node


@dataclass(frozen=True)
class Function(Node):
    """name(of)."""

    name: str
    of: Node


@dataclass(frozen=True)
class Every(Node):
    """all of: each value must fulfil the comparison (`wanted` False: any of)."""

    of: Node
    wanted: bool


@dataclass(frozen=True)
class Compare(Node):
    """left operator right; `operator` is one of parser.RELATIONS' values."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Within(Node):
    """of in {items}: single values or (low, high)."""

    of: Node
    items: tuple[tuple[Node, Node | None], ...]


@dataclass(frozen=True)
class Test(Node):
    """A field alone: it is there; with a mask: some bit of it is set."""

    of: Node


@dataclass(frozen=True)
class Not(Node):
    of: Node


@dataclass(frozen=True)
class Join(Node):
    """left and/or/xor right."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Bound(Node):
    """call(of): all of `of` is about one and the same call."""

    of: Node
