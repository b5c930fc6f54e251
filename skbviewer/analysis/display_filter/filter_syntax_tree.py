# SPDX-License-Identifier: MIT
"""The nodes of a parsed display filter, before its fields and values are checked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """A part of a filter and its position in the text, in characters."""

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
    """of[begin:count, ...]: parts are (begin, end); negative = from the end, None = to the end."""

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
    """all of: each value must fulfil the comparison; with `wanted` False, any of: one must."""

    of: Node
    wanted: bool


@dataclass(frozen=True)
class Compare(Node):
    """left <operator> right; `operator` is one of the values of filter_parser.RELATIONS."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Within(Node):
    """of in {items}: single values, or ranges (low, high)."""

    of: Node
    items: tuple[tuple[Node, Node | None], ...]


@dataclass(frozen=True)
class Test(Node):
    """A field alone, which must be present; with a mask, one of these bits must be set."""

    of: Node


@dataclass(frozen=True)
class Not(Node):
    """not `of`."""

    of: Node


@dataclass(frozen=True)
class Join(Node):
    """left and/or/xor right."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Bound(Node):
    """call(of): a single call fulfils all of `of`."""

    of: Node
