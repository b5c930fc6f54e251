# SPDX-License-Identifier: MIT
"""Find the rows that pass a display filter, as a flag for each row.

A condition about calls, legs or drops is evaluated for the rows of their table.  The result for
calls, legs or drops is then transferred to packets.  A packet passes a condition about calls if at
least one of its calls fulfils the condition.  Conditions about legs and drops work in the same way.
Different calls of a packet may fulfil different conditions, unless call() demands one call that
fulfils all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...records import Progress, Silent
from ...records.types import Bools
from ..fields.field_definition import Kind, Values
from ..fields.field_source_tables import ADDRESS, CALL, DROP, LEG, ROW, Data, View
from ..fields.packet_byte_fields import contains_bytes, scan
from . import checked_filter as p
from . import value_comparison as c
from .literals import Range
from .operands import is_scanned, values_of

JOINS = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def evaluate(plan: p.Plan, data: Data, view: View, progress: Progress | None = None) -> Bools:
    """Return for each row of `view`, packets or rows K<n>, whether it passes the filter.

    `plan` is the checked filter, and `data` are the columns of the session.  Raises Cancelled.
    Raises BadInput if the filter needs bytes of packets, but the capture file is gone.
    """
    return _Rows(data, view, progress or Silent()).mask(plan)


class _Scope:
    """Evaluates a filter for the rows of one view; carry() converts flags of other tables."""

    def __init__(self, data: Data, view: View, progress: Progress) -> None:
        self.data, self.view, self.progress = data, view, progress

    def view_of(self, table: str) -> View:
        """Return the view from which the fields of `table` are read."""
        raise NotImplementedError

    def carry(self, table: str, mask: Bools) -> Bools:
        """Return for each row of this scope whether `mask` marks one of its rows of `table`."""
        raise NotImplementedError

    def mask(self, plan: p.Plan) -> Bools:
        """Return for each row of this scope whether it passes `plan`."""
        match plan:
            case p.Joined():
                left, right = self.mask(plan.left), self.mask(plan.right)
                return np.asarray(JOINS[plan.operator](left, right))
            case p.Negation():
                return ~self.mask(plan.of)
            case p.OneCall():
                inner = _Calls(self.data, self._watched(CALL), self.progress)
                return self.carry(CALL, inner.mask(plan.of))
            case p.Present():
                return self._present(plan.of)
            case p.Relation():
                return self._relation(plan)
            case p.Member():
                return self._member(plan)
        raise AssertionError(plan)

    def _watched(self, table: str) -> View:
        view = self.view_of(table)
        view.cached("progress", lambda view: self.progress)
        return view

    def _values(self, of: p.Operand) -> list[Values]:
        return values_of(of, self._watched(of.field.table))

    def _present(self, of: p.Operand) -> Bools:
        if is_scanned(of):
            return self._scanned(of, lambda value: True)[1]
        hits = []
        for values in self._values(of):
            present = values.present()
            hits.append(present & (values.low != 0) if of.mask is not None else present)
        return self.carry(of.field.table, _any(hits))

    def _member(self, plan: p.Member) -> Bools:
        of = plan.of
        if of.kind is Kind.BYTES and not _numeric(of, plan.values):
            wanted: Any = plan.values
            return self._scanned(of, lambda value: value in wanted)[0]
        items = tuple(_number(of, value) for value in plan.values)
        test = c.member_test(_kind(of), items)
        return self._reduced(of, "==", [(v.present(), test(v)) for v in self._values(of)])

    def _relation(self, plan: p.Relation) -> Bools:
        of, right = plan.of, plan.right
        if isinstance(right, p.Operand):
            return self._between(plan.operator, of, right)
        if of.kind is Kind.PROTOCOL or (of.kind is Kind.BYTES and not _numeric(of, (right,), plan)):
            return self._bytes(plan.operator, of, right)
        test = c.test_of(_kind(of), plan.operator, _number(of, right))
        return self._reduced(of, plan.operator, [(v.present(), test(v)) for v in self._values(of)])

    def _between(self, operator: str, of: p.Operand, right: p.Operand) -> Bools:
        pairs = [
            (a.present() & b.present(), c.compare_columns(of.kind, operator, a, b))
            for a in self._values(of)
            for b in self._values(right)
        ]
        return self._reduced(of, operator, pairs)

    def _reduced(self, of: p.Operand, operator: str, pairs: list[tuple[Bools, Bools]]) -> Bools:
        """Return for each row of this scope whether it passes a comparison by `operator`.

        `pairs` are flags for the rows of the field's table: whether the value is known, and whether
        it fulfils the comparison.
        """

        def there(masks: list[Bools]) -> Bools:
            return self.carry(of.field.table, _any(masks))

        if operator == "!=":
            known = there([known for known, _ in pairs])
            return known & ~there([known & hit for known, hit in pairs])
        if operator == "!==":
            return there([known & ~hit for known, hit in pairs])
        if operator == "===" or of.every:
            known = there([known for known, _ in pairs])
            return known & ~there([known & ~hit for known, hit in pairs])
        return there([known & hit for known, hit in pairs])

    def _bytes(self, operator: str, of: p.Operand, value: Any) -> Bools:
        if operator == "contains" and of.parts is None:
            return contains_bytes(
                self._watched(of.field.table), of.field.layer, value, self.progress
            )
        hit, known = self._scanned(of, c.text_test(operator, value))
        return np.asarray(known & ~hit if operator in ("!=", "!==") else hit)

    def _scanned(self, of: p.Operand, test: Any) -> tuple[Bools, Bools]:
        view = self._watched(of.field.table)
        return scan(view, of.field.layer, of.parts, test, self.progress)


class _Rows(_Scope):
    """Evaluates a filter for packets, or for rows K<n>."""

    def view_of(self, table: str) -> View:
        """Return the packets of this scope, or all rows of another table."""
        return self.view if table == ROW else self.data.table(table)

    def carry(self, table: str, mask: Bools) -> Bools:
        """Return for each packet or row K<n> whether `mask` marks a row of `table` in its legs."""
        if table == ROW:
            return mask
        return self.data.rows_with(self.view, self.data.legs_with(table, mask))


class _Calls(_Scope):
    """Evaluates a filter for calls, with the fields of their legs and of drops in them."""

    def view_of(self, table: str) -> View:
        """Return the calls of this scope, or all rows of another table."""
        return self.view if table == CALL else self.data.table(table)

    def carry(self, table: str, mask: Bools) -> Bools:
        """Return for each call whether `mask` marks its leg, or a drop in the call."""
        if table == ADDRESS:
            return np.asarray(self.data.legs_with(table, mask)[self.view.column("leg") - 1])
        if table == LEG:
            return np.asarray(mask[self.view.column("leg") - 1])
        if table == DROP:
            found = np.zeros(self.view.size + 2, np.bool_)
            found[self.data.table(DROP).column("call")[mask]] = True  # -1 is the last index
            return found[1:-1]
        return mask


def _any(masks: list[Bools]) -> Bools:
    return masks[0] if len(masks) == 1 else np.asarray(np.logical_or.reduce(masks))


def _numeric(of: p.Operand, values: tuple[Any, ...], plan: p.Relation | None = None) -> bool:
    """Return whether a slice and `values` can be compared as numbers."""
    if is_scanned(of) or of.parts is None or (of.width or 99) > 7:
        return False
    if plan is not None and plan.operator in ("contains", "matches"):
        return False
    return all(isinstance(value, bytes) and len(value) == of.width for value in values)


def _number(of: p.Operand, value: Any) -> Any:
    """Return `value`; bytes that are compared with a slice become a big-endian number."""
    if of.kind is Kind.BYTES and isinstance(value, bytes):
        number = int.from_bytes(value, "big")
        return Range(number, number)
    return value


def _kind(of: p.Operand) -> Kind:
    return Kind.UNSIGNED if of.kind is Kind.BYTES else of.kind
