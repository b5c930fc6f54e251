# SPDX-License-Identifier: MIT
"""Where a file can take one more #include without one more line."""

from __future__ import annotations

import re

from scanner.blanking import Directive, directives, hide_literals

_BLANK = re.compile(r"^[ \t\r]*$", re.MULTILINE)
_BRACKETS = re.compile(r"[(){}\[\]]")
_OPEN = ("if", "ifdef", "ifndef")


def _conditions(found: list[Directive], place: int) -> tuple[int, ...]:
    """Return the branches that a place lies in, outermost first."""
    stack: list[int] = []
    for directive in found:
        if directive.start >= place:
            break
        if directive.keyword in _OPEN:
            stack.append(directive.start)
        elif directive.keyword.startswith("el") and stack:
            stack[-1] = directive.start
        elif directive.keyword == "endif" and stack:
            stack.pop()
    return tuple(stack)


def _blank_lines(text: str, end: int) -> list[int]:
    """Return the empty lines before end that lie in no comment, last first."""
    starts = {m.start() for m in _BLANK.finditer(text) if m.end() < end}
    marked = _BLANK.sub("\x01", text[:end])
    lines = hide_literals(marked).split("\n")
    kept = []
    raw = text[:end].split("\n")
    position = 0
    for line, written in zip(lines, raw, strict=False):
        if line == "\x01" and position in starts:
            kept.append(position)
        position += len(written) + 1
    return kept[::-1]


def _file_scope(hidden: str, place: int) -> bool:
    """Say whether a declaration may begin here, as far as brackets tell."""
    depth = 0
    for match in _BRACKETS.finditer(hidden, 0, place):
        depth += 1 if match[0] in "({[" else -1
    before = hidden[:place].rstrip()
    return depth == 0 and (not before or before[-1] in ";})")


def place(text: str, hidden: str, functions: list[int]) -> int:
    """Return the start of an empty line that comes before all functions, wherever they are.

    hidden: the text without comments, literals.  functions: their first bytes.
    -1 if there is no such line.
    """
    found = directives(hidden)
    without = hidden
    for directive in reversed(found):
        width = directive.end - directive.start
        without = without[: directive.start] + " " * width + without[directive.end :]
    wanted = [_conditions(found, start) for start in functions]
    for start in _blank_lines(text, min(functions)):
        if text[:start].endswith("\\\n"):
            continue
        around = _conditions(found, start)
        if all(other[: len(around)] == around for other in wanted) and _file_scope(without, start):
            return start
    return -1
