# SPDX-License-Identifier: MIT
"""Read the documented bulk tables as numpy arrays, in blocks, with the same values as the views."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ...records.table_columns import ALL, DTYPES, Share, Vector
from ...records.types import Bools, Int32s, Int64s
from .address_texts import address_texts
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
    table_of,
)
from .distinct_values import pairs, picked
from .view_rows import Tables, ViewRows
from .view_sql import TRACER

BLOCK = 1 << 18  # rows
MASK32, MASK64 = 0xFFFFFFFF, (1 << 64) - 1


def blocks(
    tables: Tables,
    view: View,
    names: Sequence[str],
    chosen: Mapping[str, Bools] | None,
    share: Share = ALL,
) -> Iterator[tuple[int, dict[str, Vector]]]:
    """Yield up to BLOCK rows of the view at a time: the columns `names`.

    Each block is a pair: how many rows of the base table have been read, and the columns.

    `chosen` limits the rows to those of chosen packets, legs or lifetimes: for each of these kinds,
    it has an array with True at index id - 1.  `share` limits the rows to some of the blocks.  At
    least one block is yielded for a whole table; it may be empty.
    """
    total = tables.columns.length(view.base)
    wanted = [c for c in view.columns if c.meaning.name in names]
    every = range(0, max(total, 1), BLOCK)
    of = share.of
    for first in every[len(every) * share.number // of : len(every) * (share.number + 1) // of]:
        count = min(BLOCK, total - first)
        rows = ViewRows(tables, view, first, count)
        if view.where is not None:
            rows.restrict(rows.stored(view.where[0]) == view.where[1])
        if chosen is not None and view.chosen_by is not None:
            rows.restrict(_chosen(rows.stored(view.chosen_by[1]), chosen[view.chosen_by[0]]))
        made = {c.meaning.name: vector(tables, rows, c.value, c.meaning.type) for c in wanted}
        yield first + count, made


def _chosen(ids: Int64s, chosen: Bools) -> Bools:
    if not len(chosen):
        return np.zeros(len(ids), np.bool_)
    return np.asarray(chosen[np.maximum(ids, 1) - 1] & (ids > 0))


def vector(tables: Tables, rows: ViewRows, value: Value, type_: str) -> Vector:
    """Return the values of an expression in the block `rows`, with the documented type `type_`."""
    match value:
        case Stored(column, unknown, only_if_0):
            return _number(rows, column, unknown, only_if_0, type_)
        case Text(column):
            return _joined_text(tables, rows, column)
        case Word(column, words, otherwise):
            return _word(rows, column, words, otherwise)
        case Hex(column):
            codes, values = rows.distinct(column)
            return Vector(codes, None, [f"0x{n & MASK64:x}" for n in values.tolist()])
        case Address(table, side):
            return address_texts(
                *(
                    rows.stored(f"{table}.{name}")
                    for name in ("ip_version", f"{side}_hi", f"{side}_lo")
                )
            )
        case EventData(column, source):
            return Vector(_event_data(tables, rows.stored(column), rows.stored(source)), None)
        case DropReason(column, source) | DropPlace(column, source):
            codes, sources, numbers = pairs(rows.stored(source), rows.stored(column))
            name = _reason if isinstance(value, DropReason) else _place
            both = zip(sources.tolist(), numbers.tolist(), strict=True)
            return _of_texts(codes, [name(tables, *pair) for pair in both])


def _number(rows: ViewRows, column: str, unknown: int | None, only_if_0: str, type_: str) -> Vector:
    values = rows.stored(column)
    missing = rows.missing(column)
    if unknown is not None:
        missing = _either(missing, values == unknown)
    if only_if_0:
        missing = _either(missing, rows.stored(only_if_0) != 0)
    return Vector(values.astype(DTYPES[type_], copy=False), missing)


def _either(one: Bools | None, other: Bools) -> Bools | None:
    if not other.any():
        return one
    return other if one is None else one | other


def _word(rows: ViewRows, column: str, words: Mapping[int, str], otherwise: str | None) -> Vector:
    codes, numbers = rows.distinct(column)
    made = _of_texts(codes, [words.get(number, otherwise) for number in numbers.tolist()])
    return _texts(made.values, made.words or [], rows.missing(column))


def _joined_text(tables: Tables, rows: ViewRows, column: str) -> Vector:
    """Return for each of `rows` the text in the column `column` of a joined table."""
    codes, words = tables.texts(column)
    return Vector(rows.picked(table_of(column), np.append(codes, np.int32(-1))), None, words)


def _texts(codes: Int32s, words: list[str], missing: Bools | None) -> Vector:
    return Vector(codes if missing is None else np.where(missing, np.int32(-1), codes), None, words)


def _of_texts(codes: Int32s, texts: Sequence[str | None]) -> Vector:
    """Return for each code its text, or None; equal texts are one word of the vector."""
    words = sorted({text for text in texts if text is not None})
    place = {word: code for code, word in enumerate(words)}
    new = np.array([-1 if t is None else place[t] for t in texts] or [-1], np.int32)
    return Vector(picked(new, codes), None, words)


def _event_data(tables: Tables, data: Int64s, source: Int64s) -> Int64s:
    made = data.astype(np.int64)
    for one in np.unique(source).tolist():
        if TRACER in tables.names("meta", "key", "value", one):
            made[source == one] &= MASK32
    return made


def _reason(tables: Tables, source: int, number: int) -> str | None:
    if number == -1:
        return None
    meta = tables.names("meta", "key", "value", source)
    name = meta.get(f"drop_reason.{number & MASK32}")
    return name if name is not None else f"reason {number & MASK32}"


def _place(tables: Tables, source: int, number: int) -> str | None:
    offset = number >> 32 & MASK32
    if not offset:
        return None
    stext = tables.names("meta", "key", "value", source).get("stext", "0")
    symbols = tables.names("symbol", "address", "name", source)
    return symbols.get(int(stext) - (1 << 64) + offset)
