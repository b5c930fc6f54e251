# SPDX-License-Identifier: MIT
"""A display filter as SQL over a dataset; it selects the same packets as in a session.

A condition on calls, legs or drops holds for a packet if one of the packet's rows fulfils the
condition (docs/display-filter.md). A condition that SQL cannot express exactly is refused.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

from ..analysis.display_filter import FilterError, parse
from ..analysis.display_filter import checked_filter as p
from ..analysis.display_filter.literals import Range
from ..analysis.fields.field_source_tables import CALL, DROP, LEG, ROW
from .duckdb_connection import literal
from .filter_fields import ADDRESS4, ADDRESS6, FIELDS, FLOAT, WORDS, SqlField

EQUAL = ("==", "===", "!=", "!==")
NEEDS = "only on a session, not on a dataset"
MATCH = "FROM matches m JOIN {table} ON {alias}.session = m.session AND {alias}.{key} = m.leg"
TABLES = {LEG: ("legs l", "l", "id"), CALL: ("calls c", "c", "leg"), DROP: ("drops d", "d", "leg")}


def condition(text: str) -> str:
    """Return SQL about a packet `p` that is true if the packet matches the filter `text`.

    Raises FilterError if the filter is wrong, or needs data that a dataset does not have.
    """
    plan = parse(text)
    return "true" if plan is None else _Packets(text).sql(plan)


class _Scope:
    """Makes SQL about one row: a row of packets or, inside call(), a row of calls."""

    def __init__(self, text: str) -> None:
        self._text = text

    def carry(self, field: SqlField, inner: str) -> str:
        """Return SQL that is true if a row of the field's table for this row fulfils `inner`."""
        raise NotImplementedError

    def sql(self, plan: p.Plan) -> str:
        """Return SQL that is true if the row fulfils the filter `plan`."""
        match plan:
            case p.Joined():
                left, right = self.sql(plan.left), self.sql(plan.right)
                word = "<>" if plan.operator == "xor" else plan.operator.upper()
                return f"({left} {word} {right})"
            case p.Negation():
                return f"(NOT {self.sql(plan.of)})"
            case p.OneCall():
                found = _Calls(self._text)
                inner = found.sql(plan.of)
                return self.carry(SqlField(CALL, "", (), found.joins()), inner)
            case p.Present():
                return self._present(plan.of)
            case p.Relation():
                return self._relation(plan)
            case p.Member():
                return self._member(plan)
        raise AssertionError(plan)

    def _field(self, of: p.Operand) -> SqlField:
        """Return the SQL of an operand.

        Raises FilterError if a dataset has no data for the operand.
        """
        field = FIELDS.get(of.field.name)
        if field is None:
            raise self._refused(of, f"{of.field.name} works {NEEDS}")
        if of.parts is not None or of.function:
            raise self._refused(of, f"a slice or function of {of.field.name} works {NEEDS}")
        if of.mask is not None:
            values = tuple(f"({value} & {of.mask})" for value in map(_grouped, field.values))
            return field._replace(values=values)
        return field

    def _refused(self, of: p.Operand, message: str) -> FilterError:
        at = max(self._text.lower().find(of.field.name), 0)
        return FilterError(self._text, at, len(of.field.name), message)

    def _present(self, of: p.Operand) -> str:
        field = self._field(of)
        test = "{} IS NOT NULL" if of.mask is None else "coalesce({}, 0) <> 0"
        return self.carry(field, _any([test.format(_grouped(value)) for value in field.values]))

    def _relation(self, plan: p.Relation) -> str:
        field = self._field(plan.of)
        if isinstance(plan.right, p.Operand):
            other = self._field(plan.right)
            if field.form in (ADDRESS4, ADDRESS6) and plan.operator not in EQUAL:
                raise self._refused(plan.of, f"the order of two addresses works {NEEDS}")
            word = "=" if plan.operator in EQUAL else plan.operator
            pairs = [
                (f"({a} IS NOT NULL AND {b} IS NOT NULL)", f"{a} {word} {b}")
                for a in map(_grouped, field.values)
                for b in map(_grouped, other.values)
            ]
            join = " ".join(dict.fromkeys(filter(None, (field.join, other.join))))
            return self._reduced(field._replace(join=join), plan.of.every, plan.operator, pairs)
        return self._reduced(
            field, plan.of.every, plan.operator,
            [(f"{_grouped(value)} IS NOT NULL", self._test(plan, field, value, plan.right))
             for value in field.values],
        )  # fmt: skip

    def _member(self, plan: p.Member) -> str:
        field = self._field(plan.of)
        pairs = []
        for value in field.values:
            tests = []
            for item in plan.values:
                if isinstance(item, tuple) and not isinstance(item, Range):
                    tests.append(f"{_grouped(value)} BETWEEN {_quoted(item[0], item[1])}")
                else:
                    tests.append(self._test(p.Relation("==", plan.of, item), field, value, item))
            pairs.append((f"{_grouped(value)} IS NOT NULL", _any(tests)))
        return self._reduced(field, plan.of.every, "==", pairs)

    def _test(self, plan: p.Relation, field: SqlField, value: str, right: p.Value) -> str:
        """Return SQL that compares one value; it gives NULL or false if the field is missing."""
        operator, value = plan.operator, _grouped(value)
        if field.form == WORDS and isinstance(right, str):
            if operator == "contains":
                return f"contains({value}, {literal(right)})"
            return f"{value} {'=' if operator in EQUAL else operator} {literal(right)}"
        if not isinstance(right, Range):
            raise self._refused(plan.of, f"'{operator}' of {plan.of.field.name} works {NEEDS}")
        if field.form in (ADDRESS4, ADDRESS6):
            return _address(field.form, operator, value, right)
        first, last = str(right.first), str(right.last)
        if field.form == FLOAT:  # sessions hold 32 bits
            value, first, last = (f"{part}::FLOAT" for part in (value, first, last))
        return _ranged(operator, value, first, last)

    def _reduced(
        self, field: SqlField, every: bool, operator: str, pairs: list[tuple[str, str]]
    ) -> str:
        """Return SQL for a comparison of a field that has several values, or several rows."""
        known = self.carry(field, _any([known for known, _ in pairs]))
        hit = self.carry(field, _any([_true(hit) for _, hit in pairs]))
        missed = self.carry(field, _any([f"({k} AND NOT {_true(hit)})" for k, hit in pairs]))
        if operator == "!=":
            return f"({known} AND NOT {hit})"
        if operator == "!==":
            return missed
        if operator == "===" or every:
            return f"({known} AND NOT {missed})"
        return hit


class _Packets(_Scope):
    def carry(self, field: SqlField, inner: str) -> str:
        """Return SQL that is true if a row of the field's table for this packet fulfils `inner`."""
        if field.table == ROW:
            return inner
        table, alias, key = TABLES[field.table]
        rows = MATCH.format(table=table, alias=alias, key=key)
        where = f"{field.join} WHERE {inner}"
        return f"((p.session, p.number) IN (SELECT (m.session, m.packet) {rows} {where}))"


class _Calls(_Scope):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._joins: dict[str, None] = {}

    def joins(self) -> str:
        """Return the joins that the SQL made so far needs."""
        return " ".join(self._joins)

    def carry(self, field: SqlField, inner: str) -> str:
        """Return SQL that is true if the row of the field's table for this call fulfils `inner`."""
        if field.table == CALL:
            if field.join:
                self._joins[field.join] = None
            return inner
        key = {LEG: ("leg", "l.id FROM legs l"), DROP: ("id", "d.call FROM drops d")}[field.table]
        alias = key[1][0]
        chosen = f"SELECT ({alias}.session, {key[1]} WHERE {inner}"
        return f"((c.session, c.{key[0]}) IN ({chosen.replace(' FROM', ') FROM', 1)}))"


def _grouped(value: str) -> str:
    return f"({value})"


def _any(tests: list[str]) -> str:
    return f"({' OR '.join(tests)})"


def _true(test: str) -> str:
    return f"coalesce({test}, false)"


def _quoted(first: str, last: str) -> str:
    return f"{literal(first)} AND {literal(last)}"


def _ranged(operator: str, value: str, first: str, last: str) -> str:
    if operator in ("<", ">="):
        return f"{value} {operator} {first}"
    if operator in (">", "<="):
        return f"{value} {operator} {last}"
    return f"{value} BETWEEN {first} AND {last}"


def _address(form: str, operator: str, value: str, right: Range) -> str:
    """Return SQL that compares an address.

    A single address is compared as text, which is quick; networks and ranges are compared as
    numbers.
    """
    first, last = int(right.first), int(right.last)
    if operator in EQUAL and first == last:
        return f"{value} = {literal(_text(form, first))}"
    if form == ADDRESS4:
        return _ranged(operator, f"ip4({value})", f"{first}::UBIGINT", f"{last}::UBIGINT")
    return _ranged(operator, f"ip6({value})", f"{first}::UHUGEINT", f"{last}::UHUGEINT")


def _text(form: str, number: int) -> str:
    """Return an address in the form of the tables: IPv6 in eight groups."""
    if form == ADDRESS4:
        return str(IPv4Address(number))
    groups = IPv6Address(number).exploded.split(":")
    return ":".join(f"{int(group, 16):x}" for group in groups)
