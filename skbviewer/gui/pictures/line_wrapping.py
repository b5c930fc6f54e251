# SPDX-License-Identifier: MIT
"""Wrap a line of text that is too long for a picture."""

from __future__ import annotations

from collections.abc import Callable

Width = Callable[[str], float]  # of a text, in the unit of the line's


def wrapped_lines(text: str, width_of: Width, width: float) -> list[str]:
    """Return `text` in lines that are at most `width` wide; `width_of` measures a text.

    Lines are broken at spaces and, if necessary, inside words.
    """
    lines, line = [], ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if width_of(longer) <= width:
            line = longer
            continue
        lines += [line] if line else []
        line = word
        while len(line) > 1 and width_of(line) > width:
            fits = _fitting(line, width_of, width)
            lines.append(line[:fits])
            line = line[fits:]
    return [*lines, line]


def _fitting(word: str, width_of: Width, width: float) -> int:
    """Return how many characters of a text fit into a line; at least 1."""
    fits = 1
    while fits < len(word) and width_of(word[: fits + 1]) <= width:
        fits += 1
    return fits
