# SPDX-License-Identifier: MIT
"""Wrap a line of text that is too long for a picture."""

from __future__ import annotations

from PySide6.QtGui import QFontMetricsF


def wrapped(text: str, metrics: QFontMetricsF, width: float) -> list[str]:
    """Return `text` in lines up to `width`, broken at spaces and, if necessary, inside words."""
    lines, line = [], ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if metrics.horizontalAdvance(longer) <= width:
            line = longer
            continue
        lines += [line] if line else []
        line = word
        while len(line) > 1 and metrics.horizontalAdvance(line) > width:
            fits = _fitting(line, metrics, width)
            lines.append(line[:fits])
            line = line[fits:]
    return [*lines, line]


def _fitting(word: str, metrics: QFontMetricsF, width: float) -> int:
    """Return how many characters fit, at least one."""
    fits = 1
    while fits < len(word) and metrics.horizontalAdvance(word[: fits + 1]) <= width:
        fits += 1
    return fits
