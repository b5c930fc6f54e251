# SPDX-License-Identifier: MIT
"""A file with its comments and literals hidden, its directives read, and its #if variants."""

from __future__ import annotations

import re
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import NamedTuple

from scanner.facts import Macro
from scanner.source.comment_blanking import (
    Directive,
    branch_groups,
    choices,
    choose_branches,
    directives,
    hide_literals,
)
from scanner.source.macro_table import read_define, worth_keeping


class Prepared(NamedTuple):
    """A file whose comments and literals are hidden, with its directives and macros.

    `newlines` are the offsets of newlines in `text`. `macros` has only macros that can affect
    parsing.
    """

    text: str
    directives: list[Directive]
    newlines: list[int]
    macros: tuple[Macro, ...]

    def line(self, offset: int) -> int:
        """Return the line number, from 1, of an offset in `text`."""
        return bisect_right(self.newlines, offset - 1) + 1


def prepare(data: bytes) -> Prepared:
    """Return a file's text with comments and literals hidden, and its directives and macros."""
    text = hide_literals(data.decode("latin-1"))
    if data.startswith(BOM_UTF8):
        text = f"{' ' * len(BOM_UTF8)}{text[len(BOM_UTF8) :]}"
    newlines = [m.start() for m in _NEWLINE.finditer(text)]
    found = directives(text)
    macros = []
    for directive in found:
        if directive.keyword == "define":
            line = bisect_right(newlines, directive.start - 1) + 1
            macro = read_define(directive, line)
            if macro and worth_keeping(macro):
                macros.append(macro)
    return Prepared(text, found, newlines, tuple(macros))


LONGEST_LINE = 250_000  # characters; a file with a longer line was not written by hand
_NEWLINE = re.compile(r"\n")
_DEFINE = re.compile(rb"\n[ \t]*+#[ \t]*+define\b(?:[^\\\n]++|\\[ \t\r]*+\n?)*+")
_LITERAL = re.compile(rb"[/\"'\x80-\xff]|\\[ \t\r]")


def defines(data: bytes) -> list[Macro]:
    """Return the macros of a file that can affect parsing; their line numbers are 0.

    Only the #define lines are read, which is fast.  If a line is longer than LONGEST_LINE, the file
    has no macros.
    """
    found: list[Macro] = []
    if len(data) > LONGEST_LINE and longest_line(data) > LONGEST_LINE:
        return found
    for match in _DEFINE.findall(b"\n" + data):
        text = match[1:].decode("latin-1")
        if _LITERAL.search(match):
            text = hide_literals(text)
        for directive in directives(text):
            macro = read_define(directive, 0)
            if macro and worth_keeping(macro):
                found.append(macro)
    return found


def variants(prepared: Prepared) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of the file's #if variants; together they show every branch."""
    text = prepared.text
    groups = branch_groups(prepared.directives, len(text))
    for variant, chosen in enumerate(choices(groups)):
        yield variant, choose_branches(text, prepared.directives, groups, chosen)


def longest_line(data: bytes) -> int:
    """Return the length of a file's longest line, in bytes."""
    return max(map(len, data.split(b"\n")))
