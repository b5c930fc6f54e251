# SPDX-License-Identifier: MIT
"""Measured values of a recording, with their uncertainty: the input of a comparison."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Float64s, Int64s

NS, COUNT, SHARE, EVENTS = "ns", "count", "share", "events"  # units

TOTALS, LAYERS, FUNCTIONS, PATHS, DROPS = "totals", "layers", "functions", "paths", "drops"
SECTIONS = (TOTALS, LAYERS, FUNCTIONS, PATHS, DROPS)


class Measure(NamedTuple):
    """What is measured for each thing of a section, such as the self time of each function.

    `of` says what a value refers to: one "call" or one "pass", for example.  If `judged` is true, a
    significant difference is reported as a change.  If `rate` is true, a recording that lacks the
    thing has the value 0 for it.
    """

    section: str
    name: str
    unit: str
    of: str
    judged: bool = True
    rate: bool = False


class Estimates(NamedTuple):
    """The values of one measure for all things of a recording, in arrays of equal length.

    `value` is a mean or a percentile (both in ns), a number, or a share; nan without data.  `error`
    is the standard error of the natural logarithm of `value`; nan if too few data show it.
    `freedom` is the number of degrees of freedom of `error`.  `number` says from how many data a
    value was computed.  `windows` says in how many windows of time the value is not 0.  If `lossy`
    is true, lost records may have changed the value.  `blocks` is the number of blocks of time; it
    is 0 if the recording is too short to be judged.
    """

    names: tuple[str, ...]
    value: Float64s
    error: Float64s
    freedom: Float64s
    number: Int64s
    windows: Int64s
    lossy: Bools
    blocks: int

    def selected(self, names: tuple[str, ...], missing: float) -> Estimates:
        """Return the estimates of `names`; the value of a name without an estimate is `missing`."""
        place = {name: at for at, name in enumerate(self.names)}
        at = np.array([place.get(name, -1) for name in names], np.int64)
        return Estimates(
            names,
            _taken(self.value, at, missing),
            _taken(self.error, at, np.nan),
            _taken(self.freedom, at, 0.0),
            np.where(at >= 0, np.r_[self.number, 0][at], 0),
            np.where(at >= 0, np.r_[self.windows, 0][at], 0),
            np.r_[self.lossy, False][at],
            self.blocks,
        )


def _taken(column: Float64s, at: Int64s, missing: float) -> Float64s:
    return np.asarray(np.r_[column, missing][at])
