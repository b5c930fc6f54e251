# SPDX-License-Identifier: MIT
"""Find the statements that leave a function body, in text without comments and literals."""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(r"[(){}\[\];]|\breturn\b")
_BRACES = re.compile(r"[{}]")


class Return(NamedTuple):
    """A return statement: the offsets of its start and of its semicolon (-1 if unknown).

    `empty` means that the statement returns no value.
    """

    start: int
    semicolon: int
    empty: bool


def _semicolon(text: str, start: int, end: int) -> int:
    """Return the offset of the semicolon that ends a statement; -1 if a bracket closes first."""
    depth = 0
    for match in _TOKEN.finditer(text, start, end):
        token = match[0]
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
            if depth < 0:
                return -1
        elif token == ";" and depth == 0:
            return match.start()
    return -1


def returns(text: str, start: int, end: int) -> list[Return]:
    """Return every return statement in `text` between two offsets.

    The end is -1 for a return statement in a macro's arguments, because the text does not show
    where the statement ends.
    """
    found = []
    around = [""]
    for match in _TOKEN.finditer(text, start, end):
        token = match[0]
        if token in "([{":
            around.append(token)
        elif token in ")]}":
            around = around[:-1] or [""]
        elif token == "return":
            stop = -1 if around[-1] == "(" else _semicolon(text, match.end(), end)
            found.append(Return(match.start(), stop, not text[match.end() : stop].strip()))
    return found


def closing_brace(text: str, brace: int) -> int:
    """Return the offset of the brace that closes the brace at `brace`; -1 if there is none."""
    depth = 0
    for match in _BRACES.finditer(text, brace):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return -1


def ends_in_return(text: str, brace: int, close: int, found: list[Return]) -> bool:
    """Return whether a body ends with a return statement that no jump can skip."""
    if not found or found[-1].semicolon < 0 or text[found[-1].semicolon + 1 : close].strip():
        return False
    # An if or else before it, or a macro that hides one, ends in ")" or a word.
    if text[brace : found[-1].start].rstrip()[-1] not in ";{}:":
        return False
    inside = text[brace + 1 : found[-1].start]
    return inside.count("{") == inside.count("}")
