# SPDX-License-Identifier: MIT
"""Compare the values of a column with a value; the result is a flag for each row."""

from __future__ import annotations

import operator as py
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ...records.types import Bools
from ..fields.field_definition import Kind, Values
from ..fields.field_source_tables import Array
from . import checked_filter as p
from .literals import Range

Test = Callable[[Values], Bools]
ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "==": py.eq, "===": py.eq, "!=": py.eq, "!==": py.eq,
    "<": py.lt, "<=": py.le, ">": py.gt, ">=": py.ge,
}  # fmt: skip
UNSIGNED_MAX = 1 << 64


def test_of(kind: Kind, operator: str, value: p.Value) -> Test:
    """Return a function that compares a column of `kind` with `value`, by `operator`.

    For != and !==, the function tests for equality, and the caller negates the result.
    """
    if isinstance(value, Range):
        if kind is Kind.IPV6:
            return lambda values: _wide(values, operator, value)
        return lambda values: _ranged(_plain(kind, values), operator, value)
    return lambda values: _texts(values, text_test(operator, value))


def text_test(operator: str, value: p.Value) -> Callable[[Any], bool]:
    """Return a function that compares a text, or the bytes of a packet, with `value`.

    `operator` is "contains" or one of ORDER.  If `value` is a compiled pattern, the function
    searches for this pattern instead.
    """
    if isinstance(value, re.Pattern):
        pattern: re.Pattern[Any] = value
        return lambda text: pattern.search(text) is not None
    if operator == "contains":
        return lambda text: value in text
    order = ORDER[operator]
    return lambda text: bool(order(text, value))


def member_test(kind: Kind, items: tuple[Any, ...]) -> Test:
    """Return a function that tests which values of a column of `kind` are in `items`."""
    if kind is not Kind.STRING:
        tests = [test_of(kind, "==", item) for item in items]
        return lambda values: np.logical_or.reduce([test(values) for test in tests])
    return lambda values: _texts(values, lambda text: any(_in(text, item) for item in items))


def _in(text: str, item: Any) -> bool:
    if isinstance(item, tuple):
        return bool(item[0] <= text <= item[1])
    return bool(text == item)


def _texts(values: Values, test: Callable[[str], bool]) -> Bools:
    """Return for each row whether its text fulfils `test`; False for rows without a text (-1).

    Each distinct text is tested only once.
    """
    texts = values.texts or ()
    found: Bools = np.array([test(text) for text in texts] + [False])[values.low]
    return found


def _plain(kind: Kind, values: Values) -> Array:
    if kind is Kind.KERNEL:
        return values.low.astype(np.int64, copy=False).view(np.uint64)
    return values.low


def _ranged(low: Array, operator: str, value: Range) -> Bools:
    first, last = value
    if operator in ("<", ">="):
        return _against(low, operator, first)
    if operator in (">", "<="):
        return _against(low, operator, last)
    if first == last:
        return _against(low, "==", first)
    return _against(low, ">=", first) & _against(low, "<=", last)


def _against(low: Array, operator: str, number: int | float) -> Bools:
    """Return the result of `low` `operator` `number` for each row.

    `number` may be outside the range of the column's type.
    """
    if low.dtype.kind in "iu":
        limits = np.iinfo(low.dtype)
        if not limits.min <= number <= limits.max:
            return np.full(len(low), bool(ORDER[operator](0, number)))
    found: Bools = ORDER[operator](low, low.dtype.type(number) if low.dtype.kind != "b" else number)
    return found


def halves(number: int) -> tuple[np.uint64, np.uint64]:
    """Return the upper and the lower 64 bits of a 128-bit number, such as an IPv6 address."""
    return np.uint64(number >> 64), np.uint64(number % UNSIGNED_MAX)


def address_halves(values: Values) -> tuple[Array, Array]:
    """Return the upper and the lower 64 bits of a column of IPv6 addresses."""
    assert values.high is not None
    high, low = (part.astype(np.int64, copy=False) for part in (values.high, values.low))
    return high.view(np.uint64), low.view(np.uint64)


def _wide(values: Values, operator: str, value: Range) -> Bools:
    high, low = address_halves(values)
    first, last = halves(int(value.first)), halves(int(value.last))
    if operator in ("<", ">="):
        below = (high < first[0]) | ((high == first[0]) & (low < first[1]))
        return np.asarray(below if operator == "<" else ~below)
    if operator in (">", "<="):
        above = (high > last[0]) | ((high == last[0]) & (low > last[1]))
        return np.asarray(above if operator == ">" else ~above)
    if first[0] == last[0]:
        inside = (low >= first[1]) & (low <= last[1])
        return np.asarray((high == first[0]) & inside)
    return np.asarray((high >= first[0]) & (high <= last[0]))


def compare_columns(kind: Kind, operator: str, left: Values, right: Values) -> Bools:
    """Return for each row the result of `left` `operator` `right`; both are columns of `kind`."""
    order = ORDER[operator]
    if kind is Kind.IPV6:
        (a, b), (c, d) = address_halves(left), address_halves(right)
        if order is py.eq:
            return np.asarray((a == c) & (b == d))
        strict = py.lt if operator[0] == "<" else py.gt
        return np.asarray(strict(a, c) | ((a == c) & order(b, d)))
    if kind is Kind.STRING:
        both = sorted({*(left.texts or ()), *(right.texts or ())})
        rank = {text: n for n, text in enumerate(both)}
        a = np.array([rank[text] for text in left.texts or ()] + [-1])[left.low]
        b = np.array([rank[text] for text in right.texts or ()] + [-1])[right.low]
        return np.asarray(order(a, b))
    return np.asarray(order(_plain(kind, left), _plain(kind, right)))
