# SPDX-License-Identifier: MIT
"""Nouns with a number, for sentences."""

from __future__ import annotations


def counted(count: int, one: str, several: str = "") -> str:
    """Return a noun with its number: "1 packet", "2 packets".

    Pass `several` if the plural is not `one` with an s.
    """
    return f"{count} {one if count == 1 else several or one + 's'}"
