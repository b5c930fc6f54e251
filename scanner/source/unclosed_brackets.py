# SPDX-License-Identifier: MIT
"""Find brackets that are still open at the end of a file, as in a truncated file."""

from __future__ import annotations

import re
from typing import NamedTuple

from scanner.source.comment_blanking import open_comment
from scanner.source.prepared_file import Prepared

_PAIRS = (("{", "}"), ("(", ")"))


class Uneven(NamedTuple):
    """A bracket without counterpart, and its offset."""

    bracket: str
    offset: int


def uneven(text: str) -> Uneven | None:
    """Return the first bracket without a counterpart in the text of one #if variant.

    Returns None if the text has as many opening as closing brackets of each kind.
    """
    for opens, closes in _PAIRS:
        if text.count(opens) != text.count(closes):
            return _first(text, opens, closes)
    return None


def _first(text: str, opens: str, closes: str) -> Uneven:
    """Return the first surplus closing bracket, else the outermost bracket not closed."""
    depth = 0
    outermost = Uneven(opens, 0)
    for match in re.finditer(f"[{opens}{closes}]", text):
        if match[0] == opens:
            outermost = outermost if depth else Uneven(opens, match.start())
            depth += 1
        elif depth:
            depth -= 1
        else:
            return Uneven(closes, match.start())
    return outermost


def warnings(data: bytes, prepared: Prepared, found: list[Uneven | None]) -> list[str]:
    """Return warnings about brackets, comments and #ifs without an end.

    `found` is the result of uneven() for each #if variant.  If the brackets of at least one variant
    balance, there is no warning about brackets.
    """
    if (comment := open_comment(data)) >= 0:
        return [f"cut off: the comment of line {prepared.line(comment)} has no end"]
    opened = []
    for directive in prepared.directives:
        if directive.keyword in ("if", "ifdef", "ifndef"):
            opened.append(directive)
        elif directive.keyword == "endif" and opened:
            opened.pop()
    if opened:
        return [f"cut off: the #if of line {prepared.line(opened[0].start)} has no #endif"]
    if None in found or found[0] is None:
        return []
    bracket, offset = found[0]
    place = f"{bracket} of line {prepared.line(offset)}"
    if bracket in "{(":
        return [f"cut off: the {place} is never closed"]
    return [f"brackets do not balance: the {place} closes nothing"]
