# SPDX-License-Identifier: MIT
"""The legs that an export of calls contains, and the packets that each of them has."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...analysis.fields.field_data import LEG, SERIES, Data
from ...records import BadInput
from ...records.types import Bools, Int64s
from ..formats import Exportable, Request

LATER = 1 << 40  # added to a lifetime's number where it has no packet


class ChosenLegs(NamedTuple):
    """The legs to write; arrays have a value for each leg of the session, from leg 1 on."""

    chosen: Bools
    source: Int64s
    title: Int64s  # an index of `titles`
    titles: tuple[str, ...]  # the packets of a leg: "3", "3, 7", "K2", ""
    flow: Int64s  # the same for legs of one packet


def chosen_legs(recording: Exportable, request: Request) -> ChosenLegs:
    """Return the legs of the rows that `request` names; without filter, range and rows all legs.

    A row K<n> is in a range if its skb lifetime begins in it. Raises KeyError if there is no such
    row, and FilterError.
    """
    data = recording.export.field_data()
    packet, leg = (data.columns.array("match", n).astype(np.int64) for n in ("packet", "leg"))
    series = data.columns.array(LEG, "series").astype(np.int64)
    kernel_only = data.columns.array(SERIES, "kernel_only").astype(np.int64)[series - 1]
    rows = _rows(recording, request)
    chosen = np.ones(len(series), np.bool_)
    if rows is not None:
        chosen = np.isin(kernel_only, -rows[rows < 0]) & (kernel_only > 0)
        chosen[leg[np.isin(packet, rows[rows > 0])] - 1] = True
    title, titles = _titles(packet, leg, kernel_only)
    first = np.full(len(series), LATER, np.int64) + series
    np.minimum.at(first, leg - 1, packet)
    source = data.columns.array(LEG, "source").astype(np.int64)
    return ChosenLegs(chosen, source, title, titles, first)


def _rows(recording: Exportable, request: Request) -> Int64s | None:
    """Return the rows that the request names, None if it names none."""
    packets, others = recording.packets.count(), recording.packets.all_kernel_only_count()
    for row in request.rows:
        if not (1 <= row <= packets or 1 <= -row <= others):
            raise KeyError(f"no packet {row if row > 0 else f'K{-row}'}")
    found = recording.packets.select(request.filter)
    if found is None and not request.rows and request.times is None:
        return None
    rows = np.r_[1 : packets + 1, -others:0] if found is None else found
    if request.rows:
        rows = rows[np.isin(rows, request.rows)]
    return rows if request.times is None else _between(recording, rows, request.times)


def _between(recording: Exportable, rows: Int64s, times: tuple[int, int]) -> Int64s:
    data = recording.export.field_data()
    packets = recording.export.captured_between(rows[rows > 0], times)
    lives = data.kernel_only_rows()[-rows[rows < 0] - 1]
    source = data.columns.take(SERIES, "source", lives)
    begin = data.columns.take(SERIES, "begin_ns", lives).astype(np.int64)
    at = session_times(recording, source, begin)
    others = rows[rows < 0][(at >= times[0]) & (at <= times[1])]
    return np.concatenate([packets, others])


def session_times(recording: Exportable, source: Int64s, ts: Int64s) -> Int64s:
    """Return times of kernel logs as session time, ns (int64).

    `source` is the log of each time in `ts`.
    """
    made: Int64s = ts.astype(np.int64)
    for one in np.unique(source).tolist():
        mine = source == one
        made[mine] = recording.export.to_session(one, made[mine])
    return made


def _titles(packet: Int64s, leg: Int64s, kernel_only: Int64s) -> tuple[Int64s, tuple[str, ...]]:
    """Return the packets of each leg as a text."""
    of = dict[int, list[int]]()
    for one, number in sorted(zip(leg.tolist(), packet.tolist(), strict=True)):
        of.setdefault(one, []).append(number)
    numbers, title = {"": 0}, np.zeros(len(kernel_only), np.int64)
    for row in np.flatnonzero(kernel_only > 0).tolist():
        title[row] = numbers.setdefault(f"K{kernel_only[row]}", len(numbers))
    for one, packets in of.items():
        title[one - 1] = numbers.setdefault(", ".join(map(str, packets)), len(numbers))
    return title, tuple(numbers)


def field_data_of(recording: Exportable) -> Data:
    """Return the tables of a session.  Raises BadInput if it has no kernel log."""
    data = recording.export.field_data()
    if not data.logs():
        raise BadInput(
            recording.words()[0], None, "has no kernel log, so there are no calls to write"
        )
    return data
