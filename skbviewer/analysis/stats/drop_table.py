# SPDX-License-Identifier: MIT
"""Packets that were dropped, by reason and place: `skbviewer stats drops`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...matching import EXACT
from ...readers import KblEvent
from ..words.function_layers import layer_of
from ..words.kernel_names import MASK64
from .scope import Scope

EXAMPLES = 5
MASK32 = 0xFFFFFFFF


class DropRow(NamedTuple):
    """Drops with one reason at one place.  `packets` are the first wire packets among them."""

    reason: str
    function: str  # the function that dropped them, with the offset in it; "" = unknown
    layer: str
    number: int
    wire: int  # number of these packets that are in a loaded capture
    packets: tuple[int, ...]


def drop_rows(scope: Scope) -> list[DropRow]:
    """Return the drops of chosen packets in the range by reason and place, most frequent first."""
    columns = scope.columns
    event = np.asarray(columns.array("event", "event"))
    leg = np.asarray(columns.array("event", "leg"), np.int64) - 1
    meant = np.flatnonzero((event == int(KblEvent.DROP)) & (leg >= 0))
    ts = np.asarray(columns.array("event", "ts"), np.int64)[meant]
    meant = meant[scope.happened(leg[meant], ts)]
    leg = leg[meant]
    data = scope.of_event("data", meant)
    source = np.asarray(columns.array("event", "source"), np.int64)[meant]
    packet = _packets(scope)[leg]
    found: dict[tuple[str, str], list[npt.NDArray[np.int64]]] = {}
    for number, value in np.unique(np.stack([source, data], axis=1), axis=0).tolist():
        names = scope.kernels[number].names
        key = (names.drop_reason(value & MASK32), names.symbol_at_offset((value & MASK64) >> 32))
        found.setdefault(key, []).append(packet[(source == number) & (data == value)])
    rows = [_row(*key, np.concatenate(parts)) for key, parts in found.items()]
    return sorted(rows, key=lambda row: (-row.number, row.reason, row.function))


def _packets(scope: Scope) -> npt.NDArray[np.int64]:
    """Return for each leg the first packet that matches it exactly; -1 = none."""
    columns = scope.columns
    exact = np.flatnonzero(np.asarray(columns.array("match", "verdict")) == EXACT)[::-1]
    packet = np.full(len(scope.legs), -1, np.int64)
    packet[np.asarray(columns.array("match", "leg"), np.int64)[exact] - 1] = np.asarray(
        columns.array("match", "packet"), np.int64
    )[exact]
    return packet


def _row(reason: str, place: str, packet: npt.NDArray[np.int64]) -> DropRow:
    seen = np.unique(packet[packet >= 0])
    layer = layer_of(place.split("+")[0]) if place else ""
    return DropRow(reason, place, layer, len(packet), len(seen), tuple(seen[:EXAMPLES].tolist()))
