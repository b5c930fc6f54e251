# SPDX-License-Identifier: MIT
"""Make names from input files printable in terminals, tables and XML.

Any process on a recorded machine can choose any name for itself, or for a device.
"""

from __future__ import annotations


def name_of(raw: bytes) -> str:
    """Return a char array of C as text, up to the first NUL.

    Bytes that are not UTF-8 become U+FFFD.
    """
    return printable(raw.partition(b"\0")[0].decode("utf-8", "replace"))


def printable(name: str) -> str:
    r"""Escape unprintable characters in the style of the kernel's string_escape(): \n, \x1b.

    Unprintable are control characters, characters that change the direction of writing, and code
    points that are not assigned.  Backslashes are not escaped.
    """
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else _escaped(c) for c in name)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
