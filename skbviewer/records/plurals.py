# SPDX-License-Identifier: MIT
"""Counted nouns for sentences."""

from __future__ import annotations


def counted(count: int, one: str, several: str = "") -> str:
    """Return "1 packet", "2 packets"; pass `several` if the plural does not just add an s."""
    return f"{count} {one if count == 1 else several or one + 's'}"
