# SPDX-License-Identifier: MIT
"""The legs that an export of calls contains, and the packets of each leg."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...analysis.fields.field_source_tables import LEG, SERIES, Data
from ...records import BadInput
from ...records.types import Bools, Int64s
from ..chosen_rows import chosen_rows
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
    """Return the legs of the rows that `request` chooses, or all legs if it restricts nothing.

    Raises the exceptions of chosen_rows().
    """
    data = recording.export.field_data()
    packet, leg = (data.columns.array("match", n).astype(np.int64) for n in ("packet", "leg"))
    series = data.columns.array(LEG, "series").astype(np.int64)
    kernel_only = data.columns.array(SERIES, "kernel_only").astype(np.int64)[series - 1]
    rows = chosen_rows(recording, request)
    chosen = np.ones(len(series), np.bool_)
    if rows is not None:
        chosen = np.isin(kernel_only, -rows[rows < 0]) & (kernel_only > 0)
        chosen[leg[np.isin(packet, rows[rows > 0])] - 1] = True
    title, titles = _titles(packet, leg, kernel_only)
    first = np.full(len(series), LATER, np.int64) + series
    np.minimum.at(first, leg - 1, packet)
    source = data.columns.array(LEG, "source").astype(np.int64)
    return ChosenLegs(chosen, source, title, titles, first)


def _titles(packet: Int64s, leg: Int64s, kernel_only: Int64s) -> tuple[Int64s, tuple[str, ...]]:
    """Return texts that name packets, and for each leg the number of the text for its packets."""
    title, titles = np.zeros(len(kernel_only), np.int64), [""]

    def name(legs: Int64s, numbers: Int64s, prefix: str) -> None:
        distinct, place = np.unique(numbers, return_inverse=True)
        title[legs] = len(titles) + place
        titles.extend(f"{prefix}{number}" for number in distinct.tolist())

    others = np.flatnonzero(kernel_only > 0)
    name(others, kernel_only[others], "K")
    order = np.lexsort((packet, leg))
    packet, leg = packet[order], leg[order]
    legs, first, count = np.unique(leg, return_index=True, return_counts=True)
    alone = count == 1
    name(legs[alone] - 1, packet[first[alone]], "")
    several = dict[str, int]()
    for one, begin, members in np.stack([legs, first, count], 1)[~alone].tolist():
        text = ", ".join(map(str, packet[begin : begin + members].tolist()))
        title[one - 1] = len(titles) + several.setdefault(text, len(several))
    return title, (*titles, *several)


def field_data_of(recording: Exportable) -> Data:
    """Return the stored tables of a session, as columns.

    Raises BadInput if the session has no kernel log.
    """
    data = recording.export.field_data()
    if not data.logs():
        raise BadInput(recording.words()[0], None, "has no kernel log, so it has no calls to write")
    return data
