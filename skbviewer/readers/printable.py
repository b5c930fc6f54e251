# SPDX-License-Identifier: MIT
"""Names as an input tells them, in characters that terminals, tables and XML can show.

Any process on a recorded machine can name itself, or a device, as it likes.
"""

from __future__ import annotations


def name_of(raw: bytes) -> str:
    """A char array of C as text, up to its first NUL; bytes that are no UTF-8 become U+FFFD."""
    return printable(raw.partition(b"\0")[0].decode("utf-8", "replace"))


def printable(name: str) -> str:
    r"""The name, with what cannot be printed as the kernel's string_escape() writes it: \n, \x1b.

    So are control characters, those that turn the direction of writing, and those of no meaning
    yet.  A backslash stays one.
    """
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else _escaped(c) for c in name)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
