# SPDX-License-Identifier: MIT
"""pycparser's parser with faster access to tokens, because this access takes most of the time.

The grammar is pycparser's. This module replaces private methods of CParser: those that go to the
next token, and those that descend fifteen levels of precedence to an operand that is a single name.
Therefore pyproject.toml requires an exact version of pycparser.
"""

from __future__ import annotations

from typing import Any

from pycparser import c_ast
from pycparser.c_parser import CParser

from scanner.parse.c_lexer import IslandLexer, Token

# After a name: the operand continues.
_SUFFIXES = frozenset(("LBRACKET", "LPAREN", "PERIOD", "ARROW", "PLUSPLUS", "MINUSMINUS"))
# After a name: the expression is complete.
_ENDS = frozenset(("COMMA", "RPAREN", "SEMI", "RBRACKET", "RBRACE"))


class IslandParser(CParser):  # type: ignore[misc]
    """A parser for one definition without directives and attributes; type names are known."""

    def __init__(self) -> None:
        super().__init__(lexer=IslandLexer)
        self._given: frozenset[str] = frozenset()
        self._typed: set[str] = set()
        self._list: list[Token | None] = [None, None]
        self._at = 0

    def island(self, text: str, types: frozenset[str]) -> list[Any]:
        """Return the external declarations of a text whose first line counts as line 2.

        `types` are the names that mean types.  Raises the exceptions of pycparser.
        """
        self._given = types
        found: list[Any] = self.parse(text).ext
        return found

    def _parse_translation_unit_or_empty(self) -> Any:
        """Return pycparser's tree of the text; names of types are those given to island()."""
        self._scope_stack = [dict.fromkeys(self._given, True)]
        self._typed = set(self._given)
        self._list = self.clex.tokens
        self._at = 0
        return super()._parse_translation_unit_or_empty()

    def _add_typedef_name(self, name: str, coord: Any) -> None:
        super()._add_typedef_name(name, coord)
        self._typed.add(name)

    def _peek(self, k: int = 1) -> Token | None:
        token = self._list[self._at + k - 1]
        if token is not None and token.value in self._typed:
            token.type = "TYPEID" if self._is_type_in_scope(token.value) else "ID"
        return token

    def _peek_type(self, k: int = 1) -> str | None:
        token = self._list[self._at + k - 1]
        if token is None:
            return None
        if token.value in self._typed:
            token.type = "TYPEID" if self._is_type_in_scope(token.value) else "ID"
        return token.type

    def _advance(self) -> Token:
        token = self._list[self._at]
        if token is None:
            self._parse_error("At end of input", self.clex.filename)
            raise AssertionError  # not reached
        if token.value in self._typed:
            token.type = "TYPEID" if self._is_type_in_scope(token.value) else "ID"
        self._at += 1
        return token

    def _accept(self, token_type: str) -> Token | None:
        token = self._list[self._at]
        if token is None:
            return None
        if token.value in self._typed:
            token.type = "TYPEID" if self._is_type_in_scope(token.value) else "ID"
        if token.type != token_type:
            return None
        self._at += 1
        return token

    def _mark(self) -> int:
        return self._at

    def _reset(self, mark: int) -> None:
        self._at = mark

    def _tok_coord(self, tok: Token) -> Token:
        return tok

    def _parse_attribute_specifier_sequence(self) -> list[Any]:
        """Return no attributes: the lexer makes no such tokens."""
        return []

    def _parse_cast_expression(self) -> Any:
        """Return a cast expression's node; a single name is returned without a descent to it."""
        token = self._peek()
        if token is None or token.type != "ID":
            return super()._parse_cast_expression()
        after = self._list[self._at + 1]
        if after is not None and after.type in _SUFFIXES:
            return self._parse_postfix_expression()
        self._at += 1
        return c_ast.ID(token.value, token)

    def _parse_assignment_expression(self) -> Any:
        """Return an assignment's node; a single name is returned without a descent to it."""
        after = self._list[self._at + 1]
        if after is not None and after.type in _ENDS:
            token = self._peek()
            if token is not None and token.type == "ID":
                self._at += 1
                return c_ast.ID(token.value, token)
        return super()._parse_assignment_expression()
