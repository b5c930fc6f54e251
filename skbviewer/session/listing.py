# SPDX-License-Identifier: MIT
"""Pages of the packet list: any rows, in any order, with what only the kernel knows of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ..analysis import Names
from ..records import PacketRow, SeriesRow
from ..store import queries, row_queries
from .annotations import RowIds
from .payloads import Payloads
from .rows import packet_row, series_row

NamesOf = Callable[[int], Names]  # of a source
Fitted = Callable[[int, RowIds], RowIds]  # times of a source to those of the first capture


class _Tells(NamedTuple):
    process: str
    drop: str


def rows(
    db: Any, ids: RowIds, names: NamesOf, fitted: Fitted, files: Payloads
) -> list[PacketRow | SeriesRow]:
    """The rows `ids` in their order.  Raises KeyError for one that does not exist."""
    files.look_again()
    sources = queries.sources(db)
    has_kbl = any(row.kind == "kbl" for row in sources)
    starts = {row.id: row.first for row in sources}
    numbers, lives = ids[ids > 0].tolist(), (-ids[ids < 0]).tolist()
    found: dict[int, PacketRow | SeriesRow] = {}
    if numbers:
        told = _tells(row_queries.tells_of_packets(db, numbers), names) if has_kbl else {}
        for number, row in row_queries.packets(db, numbers).items():
            process, drop = told.get(number, _NOTHING)
            made = packet_row(row, starts[row.source], has_kbl, process, drop)
            found[number] = files.told(row, made)
    if lives:
        series = row_queries.kernel_only(db, lives)
        told = _tells(row_queries.tells_of_series(db, [r.id for r in series.values()]), names)
        times = _fitted_times(series.values(), fitted)
        for number, row in series.items():
            process, drop = told.get(row.id, _NOTHING)
            life = series_row(row)._replace(process=process, drop=drop)
            found[-number] = life._replace(time_ns=times[row.id])
    return [found[number] for number in ids.tolist()]


def _fitted_times(series: Iterable[Any], fitted: Fitted) -> dict[int, int]:
    """When packet lives began, by the clock fit, by series id."""
    by_source: dict[int, list[Any]] = {}
    for row in series:
        by_source.setdefault(row.source, []).append(row)
    found: dict[int, int] = {}
    for source, rows_of in by_source.items():
        times = fitted(source, np.array([row.begin_ns for row in rows_of], np.int64))
        found |= {row.id: int(ns) for row, ns in zip(rows_of, times, strict=True)}
    return found


_NOTHING = _Tells("", "")


def _tells(legs: Iterable[Any], names: NamesOf) -> dict[int, _Tells]:
    """By row: the thread that sent or received it, and the reason of its first drop."""
    found: dict[int, _Tells] = {}
    for leg in legs:
        process, drop = found.get(leg.row, _NOTHING)
        if not process and leg.pid > 0:
            process = f"{names(leg.source).tasks.get(leg.pid, '')} [{leg.pid}]".strip()
        if not drop and leg.drop_reason >= 0:
            drop = names(leg.source).drop_reason(leg.drop_reason)
        found[leg.row] = _Tells(process, drop)
    return found


def numbered(first: int, count: int, last: int) -> RowIds:
    """The numbers first .. first + count - 1, as far as there are from 1 to `last`."""
    return np.arange(max(first, 1), min(first + count - 1, last) + 1, dtype=np.int64)
