# SPDX-License-Identifier: MIT
"""Split the text of a display filter into tokens with their positions."""

from __future__ import annotations

import re
from typing import NamedTuple

from .filter_errors import FilterError

WORD, TEXT, SLICE, SIGN, END = "word", "text", "slice", "sign", "end"

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<raw>r"[^"]*")
    |(?P<text>"(?:\\.|[^"\\])*")
    |(?P<char>'(?:\\.|[^'\\])*')
    |(?P<slice>\[[^\]]*\])
    |(?P<sign>===|!==|==|!=|<=|>=|&&|\|\||\^\^|\.\.|[<>!~&(){},])
    |(?P<word>(?:[\w:/%+$-]|\.(?!\.))+)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_NAMED = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_OPEN = {
    '"': "the string is not closed",
    "'": "the string is not closed",
    "[": "the slice is not closed: ']' is missing",
    "=": "'=' is not an operator; did you mean '=='?",
    "|": "'|' is not an operator; did you mean '||'?",
    "^": "'^' is not an operator; did you mean '^^'?",
}


class Token(NamedTuple):
    """`text` is the token as typed; `value` is what a string means (escapes become characters)."""

    kind: str
    text: str
    at: int
    value: str = ""
    escaped: bool = False  # a string with \x.. or octal escapes, so it means bytes


def tokens(text: str) -> list[Token]:
    """Return the tokens of `text`; the last one has the kind END.  Raises FilterError."""
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            length = len(text) - at if text[at] in "\"'[" else 1
            message = _OPEN.get(text[at], f"{text[at]!r} has no meaning here")
            raise FilterError(text, at, length, message)
        if match.lastgroup != "space":
            found.append(_token(match))
        at = match.end()
    return [*found, Token(END, "", len(text))]


def _token(match: re.Match[str]) -> Token:
    kind, text, at = match.lastgroup or "", match.group(), match.start()
    if kind == "raw":
        return Token(TEXT, text, at, text[2:-1])
    if kind in ("text", "char"):
        value = _ESCAPE.sub(_unescape, text[1:-1])
        return Token(TEXT, text, at, value, re.search(r"\\(x|[0-7])", text) is not None)
    return Token(kind, text, at)


def _unescape(match: re.Match[str]) -> str:
    code = match.group(1)
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    return _NAMED.get(code, code)
