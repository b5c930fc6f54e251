# SPDX-License-Identifier: MIT
"""Errors in display filters, with their positions."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class FilterError(ValueError):
    """A display filter that is wrong.

    `length` is 0 if something is missing at the end of the text.  The error is in `text`, at
    `position`, and is `length` characters long.
    """

    def __init__(self, text: str, position: int, length: int, message: str) -> None:
        super().__init__(message)
        self.text = text
        self.position = position
        self.length = length
        self.message = message

    def marked(self) -> str:
        """Return three lines: the filter, ^ under the error, and the message."""
        shown = "".join(letter if letter.isprintable() else " " for letter in self.text)
        return f"{shown}\n{' ' * self.position}{'^' * max(self.length, 1)}\n{self.message}"


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return "; did you mean ip.src?" if a name is similar to `word`, otherwise ""."""
    near = get_close_matches(word.lower(), list(names), n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""
