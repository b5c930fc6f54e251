# SPDX-License-Identifier: MIT
"""Wireshark's display filter grammar: parse text into nodes of `syntax`.

Precedence: or < xor < and < not < comparison. wireshark-filter(4) and epan/dfilter/grammar.lemon
define this precedence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import filter_syntax_tree as s
from .filter_errors import FilterError
from .tokens import END, SIGN, SLICE, TEXT, WORD, Token, tokens

RELATIONS = {
    "==": "==", "eq": "==", "any_eq": "==", "!=": "!=", "ne": "!=", "all_ne": "!=",
    "===": "===", "all_eq": "===", "!==": "!==", "any_ne": "!==",
    ">": ">", "gt": ">", "<": "<", "lt": "<", ">=": ">=", "ge": ">=", "<=": "<=", "le": "<=",
    "contains": "contains", "matches": "matches", "~": "matches",
}  # fmt: skip
JOINS = (("||", "or"), ("^^", "xor"), ("&&", "and"))
NEGATIONS = ("!", "not")
FUNCTIONS = ("len", "lower", "upper")
MAX_DEPTH = 100
_PART = re.compile(r"\s*(-?\d+)?\s*(?:(:|-)\s*(-?\d+)?)?\s*")


def parse_syntax(text: str) -> s.Node | None:
    """Return the parsed filter, not yet checked; None if it is blank.  Raises FilterError."""
    reader = _Reader(text)
    if reader.next.kind == END:
        return None
    node = reader.joined(0)
    if reader.next.kind != END:
        found = reader.next
        raise reader.error(found, f"and, or, xor or the end is expected here, not {found.text}")
    return node


def _join(operator: str, nodes: Sequence[s.Node]) -> s.Node:
    """Join nodes into a tree of the least possible height, because functions walk it recursively.

    All operators are associative, so the shape of the tree does not matter.
    """
    if len(nodes) == 1:
        return nodes[0]
    half = (len(nodes) + 1) // 2
    left, right = _join(operator, nodes[:half]), _join(operator, nodes[half:])
    return s.Join(left.at, right.at + right.length - left.at, operator, left, right)


class _Reader:
    """Parses the tokens of one filter."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = tokens(text)
        self._index = 0
        self._depth = 0

    @property
    def next(self) -> Token:
        """Return the next token, but do not consume it."""
        return self._tokens[self._index]

    def next_token(self) -> Token:
        """Return the next token, and consume it."""
        token = self.next
        self._index += token.kind != END
        return token

    def error(self, token: Token, message: str) -> FilterError:
        """Return an error with `message` at the place of `token`."""
        return FilterError(self.text, token.at, len(token.text), message)

    def _is(self, *words: str) -> bool:
        return self.next.kind in (SIGN, WORD) and self.next.text.lower() in words

    def _expect(self, sign: str, opened: Token) -> Token:
        if not self._is(sign):
            where = "the end" if self.next.kind == END else self.next.text
            message = f"{sign} is missing before {where}, for the {opened.text} at {opened.at + 1}"
            raise self.error(self.next, message)
        return self.next_token()

    def _from(self, at: int) -> tuple[int, int]:
        last = self._tokens[self._index - 1]
        return at, last.at + len(last.text) - at

    def joined(self, level: int) -> s.Node:
        """Parse an expression of operators that bind at least as strongly as JOINS[level]."""
        if level == len(JOINS):
            return self._negated()
        nodes = [self.joined(level + 1)]
        while self._is(*JOINS[level]):
            self.next_token()
            nodes.append(self.joined(level + 1))
        return _join(JOINS[level][1], nodes)

    def _negated(self) -> s.Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.error(self.next, "nested too deeply")
        start = self.next
        if self._is(*NEGATIONS):
            self.next_token()
            inner = self._negated()
            node: s.Node = s.Not(*self._from(start.at), inner)
        elif self._is("("):
            node = self._group()
        elif self._is("call") and self._tokens[self._index + 1].text == "(":
            self.next_token()
            inner = self._group()
            node = s.Bound(*self._from(start.at), inner)
        else:
            node = self._relation()
        self._depth -= 1
        return node

    def _group(self) -> s.Node:
        opened = self.next_token()
        inner = self.joined(0)
        self._expect(")", opened)
        return inner

    def _relation(self) -> s.Node:
        left = self._operand()
        if self._is("in") or self._is_not_in():
            return self._within(left)
        if not self._is(*RELATIONS):
            return s.Test(left.at, left.length, left)
        found: list[s.Node] = []
        while self._is(*RELATIONS):
            operator = RELATIONS[self.next_token().text.lower()]
            right = self._operand()
            found.append(s.Compare(*self._from(left.at), operator, left, right))
            left = right
        return _join("and", found)

    def _is_not_in(self) -> bool:
        return self._is(*NEGATIONS) and self._tokens[self._index + 1].text.lower() == "in"

    def _within(self, of: s.Node) -> s.Node:
        negated = self.next_token().text.lower() != "in"
        if negated:
            self.next_token()
        if not self._is("{"):
            raise self.error(self.next, "a set such as {80, 443} is expected after 'in'")
        opened = self.next_token()
        items: list[tuple[s.Node, s.Node | None]] = []
        while not items or self._is(","):
            if items:
                self.next_token()
            low = self._value("a value")
            high = None
            if self._is(".."):
                self.next_token()
                high = self._value("the end of the range")
            items.append((low, high))
        self._expect("}", opened)
        node = s.Within(*self._from(of.at), of, tuple(items))
        return s.Not(node.at, node.length, node) if negated else node

    def _operand(self) -> s.Node:
        start = self.next
        if self._is("any", "all") and self._tokens[self._index + 1].kind == WORD:
            wanted = self.next_token().text.lower() == "all"
            inner = self._operand()
            return s.Every(*self._from(start.at), inner, wanted)
        node = self._value("a field or a value")
        while self.next.kind == SLICE:
            parts = self._parts(self.next_token())
            node = s.Slice(*self._from(start.at), node, parts)
        if self._is("&"):
            self.next_token()
            mask = self._value("a bit mask")
            node = s.Masked(*self._from(start.at), node, mask)
        return node

    def _value(self, wanted: str) -> s.Node:
        token = self.next_token()
        if token.kind == TEXT:
            return s.Text(token.at, len(token.text), token.value, token.escaped)
        if token.kind != WORD or token.text.lower() in RELATIONS:
            where = "the filter ends" if token.kind == END else f"not {token.text}"
            raise self.error(token, f"{wanted} is expected here, {where}")
        if self._is("("):
            return self._function(token)
        return s.Word(token.at, len(token.text), token.text)

    def _function(self, name: Token) -> s.Node:
        if name.text.lower() not in FUNCTIONS:
            known = ", ".join(("call", *FUNCTIONS))
            raise self.error(name, f"{name.text} is not a function; the functions are {known}")
        opened = self.next_token()
        of = self._operand()
        self._expect(")", opened)
        return s.Function(*self._from(name.at), name.text.lower(), of)

    def _parts(self, token: Token) -> tuple[tuple[int, int | None], ...]:
        """Return the parts of a slice as (begin, end).

        In a filter, a part is written i, i:n, i-j, :n or i:, and commas separate the parts.
        """
        return tuple(self._part(token, part) for part in token.text[1:-1].split(","))

    def _part(self, token: Token, part: str) -> tuple[int, int | None]:
        match = _PART.fullmatch(part)
        if match is None or not (match[1] or match[2]):
            raise self.error(token, "a slice has the form [i], [i:count], [i-j], [:count] or [i:]")
        begin, sign, last = int(match[1] or 0), match[2], match[3]
        if sign and last is None:
            return begin, None
        count = 1 if not sign else int(last) if sign == ":" else int(last) - begin + 1
        if count < 1:
            raise self.error(token, "this slice is empty")
        end = begin + count
        return begin, None if begin < 0 and end >= 0 else end
