# SPDX-License-Identifier: MIT
"""Check a display filter: look up its fields, and read its values by the fields' types."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ..fields.all_fields import FIELDS, Field
from ..fields.field_definition import Kind
from ..fields.field_source_tables import CALL, ROW
from . import checked_filter as p
from . import filter_syntax_tree as s
from .filter_errors import FilterError, did_you_mean
from .filter_parser import parse_syntax
from .literals import EXAMPLES, Range, read_bytes, read_range

ORDERED = ("<", "<=", ">", ">=")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_BYTEWISE = (Kind.BYTES, Kind.PROTOCOL)
_ADDRESSES = {Kind.ETHER: 6, Kind.IPV4: 4, Kind.IPV6: 16}  # kinds of addresses: number of bytes
_SLICED = (*_BYTEWISE, Kind.STRING, *_ADDRESSES)
_MOST = 7  # most bytes of an address slice
_NOT_BOUND = "{} is not a field of calls: it cannot be used inside 'call()'"


def parse(text: str) -> p.Plan | None:
    """Return the checked form of a display filter; None if it is blank, so that all rows pass.

    Raises FilterError.
    """
    node = parse_syntax(text)
    return None if node is None else _Checker(text, FIELDS).plan(node, bound=False)


def fields_of_calls(text: str) -> tuple[str, ...]:
    """Return the names of the fields of calls that a filter uses.

    Raises FilterError.
    """
    plan = parse(text)
    fields = [of.field for of in p.operands(plan)] if plan is not None else []
    return tuple(dict.fromkeys(field.name for field in fields if field.table == CALL))


def lists_packets(text: str) -> bool:
    """Return whether a filter passes only packets whose numbers are in the filter.

    If a filter lists packets by number, no row K<n> passes it, whatever records were lost.  Raises
    FilterError.
    """
    plan = parse(text)
    return plan is not None and _lists_packets(plan)


def _lists_packets(plan: p.Plan) -> bool:
    match plan:
        case p.Joined():
            return _lists_packets(plan.left) and _lists_packets(plan.right)
        case p.Relation() | p.Member() | p.Present():
            return all(of.field.name == "frame.number" for of in p.operands(plan))
        case _:  # a negation matches rows without a number
            return False


class _Checker:
    """Checks one display filter, node by node."""

    def __init__(self, text: str, fields: dict[str, Field]) -> None:
        self._text = text
        self._fields = fields
        self._bound = False

    def _error(self, node: s.Node, message: str) -> FilterError:
        return FilterError(self._text, node.at, node.length, message)

    def plan(self, node: s.Node, bound: bool) -> p.Plan:
        """Return the checked form of `node`.  `bound` says that the node is inside call()."""
        match node:
            case s.Join():
                left, right = self.plan(node.left, bound), self.plan(node.right, bound)
                return p.Joined(node.operator, left, right)
            case s.Not():
                return p.Negation(self.plan(node.of, bound))
            case s.Bound():
                if bound:
                    raise self._error(node, "'call()' cannot be used inside 'call()'")
                return p.OneCall(self.plan(node.of, True))
        self._bound = bound
        match node:
            case s.Test():
                return p.Present(self._tested(node.of))
            case s.Compare():
                return self._compare(node)
            case s.Within():
                of = self._operand(node.of)
                return p.Member(of, tuple(self._item(of, *item) for item in node.items))
        raise AssertionError(node)

    def _tested(self, node: s.Node) -> p.Operand:
        operand = self._operand(node)
        if operand.function:
            raise self._error(node, "a comparison such as '> 10' is missing")
        return operand

    def _compare(self, node: s.Compare) -> p.Plan:
        if not self._is_field(node.left) and self._is_field(node.right):
            operator = _MIRRORED.get(node.operator, node.operator)
            if operator in ("contains", "matches"):
                raise self._error(node.left, f"the field must come first, before {operator}")
            of = self._operand(node.right)
            return p.Relation(operator, of, self._checked(node, operator, of, node.left))
        of = self._operand(node.left)
        return p.Relation(node.operator, of, self._checked(node, node.operator, of, node.right))

    def _checked(
        self, node: s.Compare, operator: str, of: p.Operand, right: s.Node
    ) -> p.Value | p.Operand:
        if of.kind is Kind.LABEL:
            raise self._error(
                node, f"{of.field.name} has no value; test only whether it is present"
            )
        if operator in ("matches", "contains") and of.parts and of.field.kind in _ADDRESSES:
            raise self._error(
                node, f"{operator} works on text and bytes, not on part of an address"
            )
        if operator == "matches":
            return self._pattern(of, node, right)
        if operator == "contains" and of.kind not in (*_BYTEWISE, Kind.STRING):
            message = (
                f"{of.field.name} is {of.kind.phrase}: 'contains' works only on text and bytes"
            )
            raise self._error(node, message)
        if operator != "contains" and of.kind is Kind.PROTOCOL:
            message = f"{of.field.name} is a protocol: compare a slice of it, such as [0:2]"
            raise self._error(node, message)
        if operator in ORDERED and of.kind is Kind.BOOLEAN:
            raise self._error(node, f"{of.field.name} is true or false: it has no order")
        other = self._other(node, of, right)
        return self._value(of, right) if other is None else other

    def _other(self, node: s.Compare, of: p.Operand, right: s.Node) -> p.Operand | None:
        """Return the right side of a comparison if it is a field, otherwise None."""
        if not self._is_field(right):
            return None
        word = self._fields[right.text.lower()] if isinstance(right, s.Word) else None
        if of.kind is Kind.STRING and word is not None and word.kind is not Kind.STRING:
            return None  # kbl.layer == ip: a word
        other = self._operand(right)
        if node.operator == "contains":
            return None
        if other.kind is not of.kind or of.kind in _BYTEWISE:
            names = f"{of.field.name} is {of.kind.phrase}, {other.field.name} {other.kind.phrase}"
            raise self._error(node, f"{names}: they cannot be compared")
        if other.field.table != of.field.table:
            names = f"{of.field.name} and {other.field.name}"
            raise self._error(node, f"{names} describe different things and cannot be compared")
        return other

    def _is_field(self, node: s.Node) -> bool:
        match node:
            case s.Slice() | s.Masked() | s.Every() | s.Function():
                return self._is_field(node.of)
        return isinstance(node, s.Word) and node.text.lower() in self._fields

    def _operand(self, node: s.Node) -> p.Operand:
        match node:
            case s.Every():
                return self._changed(self._operand(node.of), every=node.wanted)
            case s.Function():
                return self._function(node)
            case s.Masked():
                return self._masked(node)
            case s.Slice():
                return self._sliced(node)
            case s.Word():
                return self._field(node)
        raise self._error(node, "a field such as ip.src is expected here")

    @staticmethod
    def _changed(of: p.Operand, **changes: Any) -> p.Operand:
        return replace(of, **changes)

    def _field(self, node: s.Word) -> p.Operand:
        field = self._fields.get(node.text.lower())
        if field is None:
            hint = did_you_mean(node.text, self._fields)
            raise self._error(node, f"unknown field {node.text}{hint}")
        if self._bound and field.table == ROW:
            raise self._error(node, _NOT_BOUND.format(field.name))
        return p.Operand(field, field.kind)

    def _function(self, node: s.Function) -> p.Operand:
        of = self._operand(node.of)
        allowed = (Kind.STRING, *_BYTEWISE) if node.name == "len" else (Kind.STRING,)
        if of.kind not in allowed or of.function:
            raise self._error(node, f"{node.name}() is not for {of.kind.phrase}")
        kind = Kind.UNSIGNED if node.name == "len" else Kind.STRING
        return self._changed(of, function=node.name, kind=kind)

    def _masked(self, node: s.Masked) -> p.Operand:
        of = self._operand(node.of)
        if of.kind is Kind.BYTES and of.parts and (of.width or 99) < 8:
            value = read_bytes_or_number(self._literal_text(node.mask), of.width or 0)
        elif of.kind is Kind.UNSIGNED:
            value = self._range(of, node.mask)
        else:
            raise self._error(node, f"& is for numbers, {of.field.name} is {of.kind.phrase}")
        if value is None:
            raise self._error(
                node.mask, f"the slice has {of.width} bytes, so the mask does not fit"
            )
        return self._changed(of, mask=int(value.first), kind=Kind.UNSIGNED)

    def _literal_text(self, node: s.Node) -> str:
        if isinstance(node, s.Word | s.Text):
            return node.text
        raise self._error(node, "a value is expected here")

    def _sliced(self, node: s.Slice) -> p.Operand:
        of = self._operand(node.of)
        if of.kind not in _SLICED or of.parts is not None:
            raise self._error(node, f"{of.field.name} is {of.kind.phrase}: it has no slices")
        kind = of.kind if of.kind is Kind.STRING else Kind.BYTES
        sliced = self._changed(of, parts=node.parts, kind=kind)
        if of.kind in _ADDRESSES:
            size = _ADDRESSES[of.kind]
            parts = tuple(slice(*part).indices(size)[:2] for part in node.parts)
            sliced = self._changed(of, parts=parts, kind=kind)
            if not 0 < (sliced.width or 0) <= _MOST or any(end <= begin for begin, end in parts):
                message = f"a slice of {of.field.name} is 1 to {_MOST} of its {size} bytes"
                raise self._error(node, message)
        return sliced

    def _item(self, of: p.Operand, low: s.Node, high: s.Node | None) -> p.Value | tuple[str, str]:
        if of.kind in (Kind.PROTOCOL, Kind.LABEL):
            raise self._error(low, f"{of.field.name} has no value that could be in a set")
        first = self._value(of, low)
        if high is None:
            return first
        last = self._value(of, high)
        if isinstance(first, str) and isinstance(last, str):
            return first, last
        if not (isinstance(first, Range) and isinstance(last, Range)):
            raise self._error(high, f"{of.field.name} has no ranges")
        if last.last < first.first:
            raise self._error(high, "the range ends before it begins")
        return Range(first.first, last.last)

    def _value(self, of: p.Operand, node: s.Node) -> p.Value:
        if not isinstance(node, s.Word | s.Text):
            raise self._error(node, f"a value is expected here, such as {EXAMPLES[of.kind]}")
        if of.kind is Kind.STRING:
            return self._known_word(of, node)
        if of.kind in _BYTEWISE:
            return self._bytes(of, node)
        return self._range(of, node)

    def _known_word(self, of: p.Operand, node: s.Word | s.Text) -> str:
        plain = of.parts is None and not of.function
        if of.field.words and plain and node.text not in of.field.words:
            known = ", ".join(of.field.words)
            hint = did_you_mean(node.text, of.field.words) or f": it is one of {known}"
            raise self._error(node, f"{of.field.name} is never {node.text}{hint}")
        return node.text

    def _range(self, of: p.Operand, node: s.Node) -> Range:
        text = self._literal_text(node)
        bits = of.field.bits if not (of.function or of.parts) else 64
        try:
            if isinstance(node, s.Text) and of.kind in (Kind.UNSIGNED, Kind.FLOAT, Kind.BOOLEAN):
                raise ValueError
            return read_range(of.kind, text, bits)
        except ValueError as error:
            if not of.field.bits or not str(error).startswith(f"{text} is not from"):
                message = f"{text} is not {of.kind.phrase}, such as {EXAMPLES[of.kind]}"
                if of.kind is Kind.BOOLEAN:
                    message = f"{text} is neither true nor false"
                if self._is_field(node):
                    message = f"{text} is a field, {of.field.name} is {of.kind.phrase}"
                raise self._error(node, message) from error
            raise self._error(node, f"{error}, the range of {of.field.name}") from error

    def _bytes(self, of: p.Operand, node: s.Word | s.Text) -> bytes:
        try:
            value = _text_bytes(node) if isinstance(node, s.Text) else read_bytes(node.text)
        except ValueError as error:
            if of.kind is Kind.PROTOCOL or of.field.layer:
                value = node.text.encode()  # tcp contains GET
            else:
                raise self._error(node, str(error)) from error
        longer = of.width and len(value) > of.width
        if longer or (of.field.kind not in _BYTEWISE and len(value) != of.width):
            message = f"the slice has {of.width} bytes, this has {len(value)}"
            raise self._error(node, message)
        if not value:
            raise self._error(node, "the bytes to look for are empty")
        return value

    def _pattern(self, of: p.Operand, node: s.Compare, right: s.Node) -> p.Value:
        if of.kind not in (*_BYTEWISE, Kind.STRING):
            message = f"{of.field.name} is {of.kind.phrase}: 'matches' works only on text and bytes"
            raise self._error(node, message)
        text = self._literal_text(right)
        if isinstance(right, s.Text):  # the pattern reads its escapes itself
            text = self._text[right.at : right.at + right.length].removeprefix("r")[1:-1]
        try:
            if of.kind is Kind.STRING:
                return re.compile(text, re.IGNORECASE)
            return re.compile(text.encode(), re.IGNORECASE)
        except re.error as error:
            where = 0 if error.pos is None else error.pos + (isinstance(right, s.Text))
            at = s.Node(right.at + min(where, right.length), max(right.length - where, 1))
            raise self._error(at, f"the pattern is not valid: {error.msg}") from error


def _text_bytes(node: s.Text) -> bytes:
    return node.text.encode("latin-1" if node.escaped else "utf-8")


def read_bytes_or_number(text: str, width: int) -> Range | None:
    """Return the mask that `text` means: bytes or a number; None if it exceeds `width` bytes."""
    try:
        value = int.from_bytes(read_bytes(text), "big")
    except ValueError:
        try:
            value = int(text, 0)
        except ValueError:
            return None
    return Range(value, value) if value < 1 << 8 * width else None
