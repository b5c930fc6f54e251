# SPDX-License-Identifier: MIT
"""The nodes of a parsed display filter, before its fields and values are checked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """A part of a filter; `at` and `length` are its place in the text, in characters."""

    at: int
    length: int


@dataclass(frozen=True)
class Word(Node):
    """A word: the name of a field, or a value without quotes."""

    text: str


@dataclass(frozen=True)
class Text(Node):
    """A quoted string; if it has hexadecimal escapes (`escaped`), it stands for bytes."""

    text: str
    escaped: bool


@dataclass(frozen=True)
class Slice(Node):
    """A slice of `of`; its parts are (begin, end), where a negative number counts from the end.

    If the end of a part is None, the part goes up to the last byte.
    """

    of: Node
    parts: tuple[tuple[int, int | None], ...]


@dataclass(frozen=True)
class Masked(Node):
    """A bit mask applied to a field: of & mask."""

    of: Node
    mask: Node


@dataclass(frozen=True)
class Function(Node):
    """A function applied to a field: name(of)."""

    name: str
    of: Node


@dataclass(frozen=True)
class Every(Node):
    """The word "all" or "any" before a field: whether all its values must fulfil the comparison.

    `wanted` is True for "all", and False for "any".
    """

    of: Node
    wanted: bool


@dataclass(frozen=True)
class Compare(Node):
    """A comparison: left <operator> right; `operator` is one of the values of RELATIONS."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Within(Node):
    """A test for membership: of in {items}; an item is a value, or a range (low, high)."""

    of: Node
    items: tuple[tuple[Node, Node | None], ...]


@dataclass(frozen=True)
class Test(Node):
    """A field alone, which must be present; with a mask, one of the mask's bits must be set."""

    of: Node


@dataclass(frozen=True)
class Not(Node):
    """The negation of `of`."""

    of: Node


@dataclass(frozen=True)
class Join(Node):
    """Two conditions joined by `operator`: and, or, xor."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Bound(Node):
    """The condition call(of): a single call must fulfil all of `of`."""

    of: Node
