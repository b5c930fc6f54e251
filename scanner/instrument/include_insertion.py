# SPDX-License-Identifier: MIT
"""Find a line of a file where another #include fits, so that no line has to be added."""

from __future__ import annotations

import re
from bisect import bisect_right

from scanner.source.comment_blanking import Directive, blank, directives, hide_literals

_BLANK = re.compile(r"^[ \t\r]*$", re.MULTILINE)
_BRACKETS = re.compile(r"[(){}\[\]]")
_OPEN = ("if", "ifdef", "ifndef")


def _conditions(found: list[Directive], place: int) -> tuple[int, ...]:
    """Return the branches that contain the offset `place`, outermost first."""
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
    """Return the offsets of empty lines before `end` that are not in a comment, last first."""
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


def without(hidden: str, found: list[Directive]) -> str:
    """Return the text with its preprocessor directives `found` blanked; all #if branches stay."""
    pieces = []
    position = 0
    for directive in found:
        pieces += [
            hidden[position : directive.start],
            blank(hidden[directive.start : directive.end]),
        ]
        position = directive.end
    return "".join([*pieces, hidden[position:]])


def _nested(text: str, end: int) -> list[tuple[int, int]]:
    """Return the ranges inside brackets: (byte after the opening bracket, closing bracket)."""
    spans = []
    depth = start = 0
    for match in _BRACKETS.finditer(text, 0, end):
        if match[0] in "({[":
            start = match.end() if depth == 0 else start
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                spans.append((start, match.start()))
    return [*spans, (start, end)] if depth else spans


def serves(hidden: str, includes: list[int], functions: list[int]) -> bool:
    """Return whether each function follows an #include that is compiled whenever that function is.

    An #include serves a later function if that function is never compiled without the #include.
    `hidden` is the text without comments and literals. `includes` and `functions` are the offsets
    at which the functions start.
    """
    found = directives(hidden)
    known = [(at, _conditions(found, at)) for at in includes]
    for start in functions:
        around = _conditions(found, start)
        if not any(at < start and around[: len(branches)] == branches for at, branches in known):
            return False
    return True


def place(text: str, hidden: str, functions: list[int]) -> int:
    """Return the offset of an empty line for an #include before all functions; -1 if none fits.

    The compiler reads an #include in this line whenever it compiles one of the functions. `hidden`
    is the text without comments and literals. `functions` are the offsets at which the functions
    start.
    """
    found = directives(hidden)
    plain = without(hidden, found)
    first = min(functions)
    nested = _nested(plain, first)
    wanted = [_conditions(found, start) for start in functions]
    for start in _blank_lines(text, first):
        index = bisect_right(nested, (start, len(text))) - 1
        inside = index >= 0 and start <= nested[index][1]
        before = plain[:start].rstrip()[-1:]
        if inside or before not in ("", ";", "}", ")") or text[:start].endswith("\\\n"):
            continue
        if before == ")" and plain[start:].lstrip()[:1] == "{":
            continue  # between the head of a function and its body
        around = _conditions(found, start)
        if all(other[: len(around)] == around for other in wanted):
            return start
    return -1
