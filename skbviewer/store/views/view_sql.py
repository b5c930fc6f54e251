# SPDX-License-Identifier: MIT
"""Make SQL of the documented tables: the views of a session file, and SELECTs of some columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from .column_expressions import (
    Address,
    DropPlace,
    DropReason,
    EventData,
    Hex,
    Stored,
    Text,
    Value,
    View,
    Word,
    inputs,
    table_of,
)
from .declared_views import VIEWS

TRACER = "tracer"  # a key of `meta` that logs of other tracers have
TWO_64 = (18446744073, 709551616)  # 2**64: billions, and the rest


def sql_name(column: str) -> str:
    """Return a column such as "event.data" as a quoted SQL name."""
    return ".".join(f'"{part}"' for part in column.split("."))


def statements() -> Iterable[str]:
    """Yield the SQL statements that create the views of a session file."""
    for view in VIEWS.values():
        yield f'CREATE VIEW "{view.name}" AS {select(view)}'


def select(view: View, wanted: Collection[str] | None = None) -> str:
    """Return a SELECT of all columns of a view; columns that are not `wanted` are NULL.

    The NULLs save joins that only unwanted columns need.
    """
    chosen = {c.meaning.name: wanted is None or c.meaning.name in wanted for c in view.columns}
    columns = [
        f'{expression(c.value) if chosen[c.meaning.name] else "NULL"} AS "{c.meaning.name}"'
        for c in view.columns
    ]
    used = [c.value for c in view.columns if chosen[c.meaning.name]]
    where = f" WHERE {sql_name(view.where[0])} = {view.where[1]}" if view.where else ""
    return f'SELECT {", ".join(columns)} FROM "{view.base}"{_joins(view, used)}{where}'  # noqa: S608


def _joins(view: View, used: Iterable[Value]) -> str:
    """Return the joins that the values `used` need.

    All joins are LEFT JOINs, so each row of the base stays one row.
    """
    needed = {table_of(column) for value in used for column in inputs(value)}
    texts: list[str] = []
    for join in reversed(view.joins):  # a join may need those before it
        if join.table in needed:
            needed |= {table_of(column) for _, column in join.keys}
            on = (
                f"{sql_name(f'{join.table}.{key}')} = {sql_name(value)}" for key, value in join.keys
            )
            texts.insert(0, f' LEFT JOIN "{join.table}" ON {" AND ".join(on)}')
    return "".join(texts)


def expression(value: Value) -> str:
    """Return the SQL expression that computes `value`."""
    match value:
        case Stored(column, unknown, only_if_0):
            made = sql_name(column) if unknown is None else f"nullif({sql_name(column)}, {unknown})"
            return f"CASE {sql_name(only_if_0)} WHEN 0 THEN {made} END" if only_if_0 else made
        case Text(column):
            return sql_name(column)
        case Word(column, words, otherwise):
            cases = " ".join(f"WHEN {n} THEN '{word}'" for n, word in words.items())
            other = f" ELSE '{otherwise}'" if otherwise is not None else ""
            return f"CASE {sql_name(column)} {cases}{other} END"
        case Hex(column):
            return f"printf('0x%x', {sql_name(column)})"
        case Address(table, side):
            return _address(table, side)
        case EventData(column, source):
            return _event_data(sql_name(column), sql_name(source))
        case DropReason(column, source):
            return _reason(sql_name(column), sql_name(source))
        case DropPlace(column, source):
            return _place(sql_name(column), sql_name(source))


def _address(table: str, side: str) -> str:
    """Return SQL that formats an address; SQLite cannot shorten the eight groups of IPv6."""
    hi, lo = sql_name(f"{table}.{side}_hi"), sql_name(f"{table}.{side}_lo")
    four = ", ".join(f"{lo} >> {shift} & 255" for shift in (24, 16, 8, 0))
    six = ", ".join(f"{part} >> {shift} & 65535" for part in (hi, lo) for shift in (48, 32, 16, 0))
    groups = ":".join(["%x"] * 8)
    return (
        f"CASE {sql_name(f'{table}.ip_version')} WHEN 4 THEN printf('%d.%d.%d.%d', {four}) "
        f"WHEN 6 THEN printf('{groups}', {six}) END"
    )


def _meta(source: str, key: str) -> str:
    return f'FROM "meta" WHERE "meta"."source" = {source} AND "meta"."key" = {key}'


def _event_data(column: str, source: str) -> str:
    is_tracer = f"EXISTS (SELECT 1 {_meta(source, chr(39) + TRACER + chr(39))})"
    return f"CASE WHEN {is_tracer} THEN {column} & 4294967295 ELSE {column} END"


def _reason(column: str, source: str) -> str:
    number = f"({column} & 4294967295)"
    name = f'(SELECT "value" {_meta(source, f"{chr(39)}drop_reason.{chr(39)} || {number}")})'
    other = f"'reason ' || {number}"
    return f"CASE WHEN {column} <> -1 THEN coalesce({name}, {other}) END"


def _place(column: str, source: str) -> str:
    """Return SQL for the symbol at the address _stext + offset.

    _stext is stored as a decimal text of 20 digits, so 2**64 is subtracted.
    """
    high = f'CAST(substr("value", 1, length("value") - 9) AS INTEGER) - {TWO_64[0]}'
    low = f'CAST(substr("value", -9) AS INTEGER) - {TWO_64[1]}'
    stext = f"(SELECT ({high}) * 1000000000 + {low} {_meta(source, chr(39) + 'stext' + chr(39))})"
    offset = f"({column} >> 32 & 4294967295)"
    symbol = f'"symbol"."source" = {source} AND "symbol"."address" = {stext} + {offset}'
    name = f'(SELECT "symbol"."name" FROM "symbol" WHERE {symbol})'  # noqa: S608
    return f"CASE WHEN {offset} <> 0 THEN {name} END"
