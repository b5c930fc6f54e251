# SPDX-License-Identifier: MIT
"""Decide which packets of different sessions are the same; DuckDB finds the candidates."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import numpy.typing as npt

from ..matching import AcrossHosts, Counts, Recordings, Sightings, across_hosts
from ..records import Progress
from ..records.types import Int64s
from . import sighting_sql as sql
from .duckdb_connection import connection
from .query_thread import BOUNDS, run

Table = dict[str, npt.NDArray[Any]]


class Across(NamedTuple):
    """Pairs of packets that are in different sessions.

    For each row of `found`, `session` is a row of `sessions`, and `number` is the packet's number
    (0: a lifetime without a packet). `shared` has a row (clock, clock, number of shared pairs of
    addresses) for each pair of recordings; `recordings` has the session and host of each clock.
    """

    found: Sightings
    number: Int64s
    recordings: list[tuple[str, str]]
    pairs: AcrossHosts
    shared: list[tuple[int, int, int]]


def across_sessions(
    folder: Path, progress: Progress, around: tuple[int, int] | None = None
) -> Across:
    """Match the packets of all sessions of a dataset.

    With `around` (ns since 1970), only packets that were captured, and lifetimes that began,
    between the two times are matched. A packet's time is on its sniffer's clock. Raises BadInput
    and Cancelled.
    """
    within, alive = "true", "true"
    if around is not None:
        within = f"p.ts_ns BETWEEN {around[0]} AND {around[1]}"
        alive = f"coalesce(t.begin_ns + l.offset_ns BETWEEN {around[0]} AND {around[1]}, true)"
    with connection(folder, quick=True) as db:
        for statement in (
            sql.CLOCKS,
            f"CREATE TABLE placed AS {sql.PLACED}",
            f"CREATE TABLE fitted AS {sql.FITTED}",
            sql.SEEN.format(within=within, alive=alive),
        ):
            run(db, folder, statement, BOUNDS, progress)
        recordings, listed = _recordings(db)
        table: Table = db.execute(sql.READ).fetchnumpy()
        shared = db.execute(sql.RECORDING_PAIRS).fetchall()
    found = Sightings._make(_ints(table, name) for name in Sightings._fields)
    pairs = across_hosts(found, recordings)
    return Across(found, _ints(table, "number"), listed, pairs, shared)


def _recordings(db: duckdb.DuckDBPyConnection) -> tuple[Recordings, list[tuple[str, str]]]:
    table = db.execute("SELECT * FROM clock_of ORDER BY clock").fetchall()
    counts = []
    for key in ("flow", "hosts"):
        rows = db.execute(sql.COUNTS.format(key=key)).fetchnumpy()
        counts.append(Counts._make(_ints(rows, name) for name in ("clock", "key", "packets")))
    steady, complete = (np.array([row[at] for row in table], np.bool_) for at in (4, 5))
    return Recordings(steady, complete, *counts), [(row[1], row[2]) for row in table]


def _ints(table: Table, name: str) -> Int64s:
    return np.asarray(np.ma.filled(table[name], 0), np.int64)
