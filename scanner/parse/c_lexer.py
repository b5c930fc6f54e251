# SPDX-License-Identifier: MIT
"""A lexer for pycparser that is many times faster: it analyses each distinct token once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pycparser.c_lexer import CLexer

_TOKEN = re.compile(
    r'[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|"[^"]*"|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|'
    r"==|!=|&&|\|\||[-+*/%&|^]=|\S"
)


class Token:
    """A token and its position: pycparser's Token and Coord in one class, without a column."""

    __slots__ = ("line", "type", "value")

    def __init__(self, kind: str, value: str, line: int) -> None:
        self.type = kind
        self.value = value
        self.line = line

    def __str__(self) -> str:
        return f":{self.line}"


class _NoToken(Exception):
    """Raised for text that is not a token of C; the message contains the text."""


class _Kinds(dict[str, str]):
    """The kinds of tokens by their text; raises _NoToken for text that is no token."""

    def __init__(self) -> None:
        self._lexer = CLexer(_refuse)

    def __missing__(self, value: str) -> str:
        self._lexer.input(value)
        token = self._lexer.token()
        if token is None or token.value != value:
            raise _NoToken(f"{value!r} is not a C token")
        self[value] = kind = str(token.type)
        return kind


def _refuse(message: str, _line: int, _column: int) -> None:
    raise _NoToken(message)


class IslandLexer:
    """The lexer that CParser needs, for text without directives, comments and attributes.

    `tokens` are the tokens of the text, followed by two None.
    """

    def __init__(self, error_func: Callable[[str, int, int], None], **_options: Any) -> None:
        self._error = error_func
        self._kinds = _Kinds()
        self.filename = ""
        self.tokens: list[Token | None] = []

    def input(self, text: str, filename: str = "") -> None:
        """Start to read `text`, whose first line counts as line 2."""
        self.filename = filename
        kinds = self._kinds
        found: list[Token | None] = []
        line = 1
        try:
            for content in text.split("\n"):
                line += 1
                found += [Token(kinds[value], value, line) for value in _TOKEN.findall(content)]
        except _NoToken as problem:
            self._error(str(problem), line, 0)
        found += (None, None)
        self.tokens = found

    def token(self) -> Token | None:
        """Return the next token for CParser's own methods; IslandParser does not use it."""
        raise NotImplementedError
