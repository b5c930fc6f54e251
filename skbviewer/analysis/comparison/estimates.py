# SPDX-License-Identifier: MIT
"""Measures of a recording, with their uncertainty: the input of a comparison."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Float64s, Int64s

NS, COUNT, SHARE, EVENTS = "ns", "count", "share", "events"  # units

TOTALS, LAYERS, FUNCTIONS, PATHS, DROPS = "totals", "layers", "functions", "paths", "drops"
SECTIONS = (TOTALS, LAYERS, FUNCTIONS, PATHS, DROPS)


class Measure(NamedTuple):
    """A number that each thing of a section has, such as the self time of a function.

    `of` is the unit that a value refers to: "call", "pass".  If `judged`, a significant difference
    is reported as a change.  If `rate`, the value of a thing that a recording lacks is 0 there.
    """

    section: str
    name: str
    unit: str
    of: str
    judged: bool = True
    rate: bool = False


class Estimates(NamedTuple):
    """One measure of all things of a recording, one value each, in arrays of equal length.

    `value` is a mean, a percentile (both ns), a number or a share; nan without data.  `error` is
    the standard error of its natural logarithm, nan if the data do not show it.  `freedom` is the
    degrees of freedom of that error.  `number` counts the data, `windows` the stretches of the
    recording in which the value is not 0.  If `lossy`, lost records may have changed the value.
    `blocks` is the number of blocks of time, 0 if the recording is too short to be judged.
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
