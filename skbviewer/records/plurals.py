# SPDX-License-Identifier: MIT
"""Make phrases of a number with a noun or a verb."""

from __future__ import annotations


def counted(count: int, one: str, several: str = "") -> str:
    """Return a noun with its number: "1 packet", "2 packets".

    Pass `several` if the plural is not `one` with an s.
    """
    return f"{count} {one if count == 1 else several or one + 's'}"


def verb(count: int, one: str, several: str) -> str:
    """Return the form of a verb that fits `count` things: `one` for 1, else `several`."""
    return one if count == 1 else several
