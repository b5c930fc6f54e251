# SPDX-License-Identifier: MIT
"""Fits of the captures' clocks to the clocks of KBLs: `skbviewer stats clock`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...matching import EXACT
from ..scope import Scope


class ClockRow(NamedTuple):
    """A segment of the clock fit between a capture (`source`) and a KBL (`kbl`).

    `interface` is None if all interfaces of the capture have the same clock.
    """

    source: int
    kbl: int
    offset_ns: int
    drift_ppm: float
    residual_ns: int
    pairs: int
    interface: int | None


def clock_rows(scope: Scope) -> list[ClockRow]:
    """Return the segments of clock fits that apply to at least one chosen packet."""
    source, interface = (
        np.asarray(scope.columns.array("packet", name))[scope.packets - 1]
        for name in ("source", "interface")
    )
    rows = []
    for fit in scope.fits:
        for one in dict.fromkeys(segment.get("interface") for segment in fit["segments"]):
            segments = [s for s in fit["segments"] if s.get("interface") == one]
            mine = (source == fit["source"]) & ((interface == one) | (one is None))
            first = [segment["first"] for segment in segments]
            held = np.searchsorted(first, scope.packets[mine], "right") - 1
            for at in np.unique(np.maximum(held, 0)).tolist():
                values = (segments[at].get(key) for key in ClockRow._fields[2:])
                rows.append(ClockRow(fit["source"], fit["kbl"], *values))
    return rows


def unsure_captures(scope: Scope) -> list[int]:
    """Return captures (source ids, rising) that have a clock fit but no exact match.

    Nothing confirms the clock fit of a capture without exact matches, so the fit may be wrong by
    more than its residual.
    """
    source = np.asarray(scope.columns.array("packet", "source"))
    exact = np.asarray(scope.columns.array("packet", "verdict")) == EXACT
    fitted = {int(fit["source"]) for fit in scope.fits}
    return sorted(fitted - set(np.unique(source[exact]).tolist()))
