# SPDX-License-Identifier: MIT
"""Differences between the estimates of two recordings, and which differences are changes.

A difference is a ratio.  The logarithm of a ratio is the difference of two logarithms, so their
variances add up, with degrees of freedom by Welch (1947).  A thing (a function, a layer ...) may
occur in only one recording.  The question is then: if both recordings had the same windows of time,
how probable would it be that all windows with this thing are in one recording?  A comparison has
hundreds of differences, so some are large by chance.  Holm's correction ("A simple sequentially
rejective multiple test procedure", Scand. J. Statist. 6, 1979) limits the probability that *any*
difference is reported by chance to LEVEL, even if the differences depend on each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Float64s
from .estimates import Estimates, Measure
from .student_t import quantile, two_sided
from .time_blocks import WINDOWS

LEVEL = 0.01  # the probability that a comparison of equal recordings reports anything
SMALLEST_CHANGE = 0.01  # changes below 1 % are not reported
INTERVAL = 0.95  # as student_t.quantile()

TOO_FEW_DATA = "too few data"
CONTAINS = "not judged: this time includes the calls that the function makes"
NOT_IN_A, NOT_IN_B = "not probed in A", "not probed in B"


class Difference(NamedTuple):
    """One measure of one thing (a function, a layer ...) in two recordings.

    `a` and `b` are the values in the measure's unit; `number_a` and `number_b` say from how many
    data these values were computed.  `change` is b / a - 1; `low` and `high` are the ends of its
    95 % confidence interval.  `p` is the probability of a difference at least as large between
    equal recordings.  `adjusted` is `p` after Holm's correction; it is None if the difference is
    not judged, and `why` is the reason.  If `lossy` is true, lost records may have changed `a` or
    `b`.  None stands for an unknown value.
    """

    measure: Measure
    name: str
    a: float | None
    b: float | None
    number_a: int
    number_b: int
    change: float | None
    low: float | None
    high: float | None
    p: float | None
    adjusted: float | None
    changed: bool
    why: str
    lossy: bool

    @property
    def has_data(self) -> bool:
        """Return whether A or B has data for this row and `a` or `b` is not 0."""
        return bool(self.number_a or self.number_b) and not self.a == self.b == 0

    @property
    def only_in(self) -> str:
        """Return "A" or "B" if only this recording has data for the row, otherwise ""."""
        if bool(self.number_a) == bool(self.number_b):
            return ""
        return "A" if self.number_a else "B"


class _Compared(NamedTuple):
    """Columns of Difference for one measure."""

    a: Estimates
    b: Estimates
    change: Float64s
    low: Float64s
    high: Float64s
    p: Float64s


def differences(
    a: Mapping[Measure, Estimates],
    b: Mapping[Measure, Estimates],
    probed: tuple[frozenset[str], frozenset[str]] | None = None,
    least: float = SMALLEST_CHANGE,
) -> list[Difference]:
    """Return the differences between the estimates of recordings `a` and `b`, measure by measure.

    A measure that only one recording has is left out.  `probed` are the functions with a probe in
    each recording.  A function that only one recording probed is not judged.  `least` is the
    smallest relative change that counts as a change.
    """
    measures = [measure for measure in a if measure in b]
    found = [_compared(measure, a[measure], b[measure], probed) for measure in measures]
    p = np.concatenate([one.p for one in found]) if found else np.zeros(0)
    adjusted = holm(p)
    rows, first = list[Difference](), 0
    for measure, one in zip(measures, found, strict=True):
        part = adjusted[first : first + len(one.p)]
        rows += _rows(measure, one, part, probed, least)
        first += len(one.p)
    return rows


def holm(p: Float64s) -> Float64s:
    """Return the probabilities `p`, adjusted by Holm's step-down method.

    A nan stays nan, and does not count as a test.
    """
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    factor = np.arange(len(order), 0, -1)
    found = np.full(len(p), np.nan)
    found[order] = np.minimum(np.maximum.accumulate(p[order] * factor), 1.0)
    return found


def _compared(
    measure: Measure, a: Estimates, b: Estimates, probed: tuple[frozenset[str], ...] | None
) -> _Compared:
    names = tuple(dict.fromkeys((*a.names, *b.names)))
    missing = 0.0 if measure.rate else np.nan
    a, b = a.selected(names, missing), b.selected(names, missing)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log = np.log(b.value / a.value)
        square = a.error**2 + b.error**2
        freedom = square**2 / (a.error**4 / a.freedom + b.error**4 / b.freedom)
        error = np.sqrt(square)
        p = two_sided(log / error, freedom)
        half = quantile(freedom) * error
        p[(error == 0) & (log == 0)] = 1.0  # times that are all equal
        change, low, high = (np.expm1(each) for each in (log, log - half, log + half))
    if measure.rate:
        p = np.where(np.isnan(p), _presence(a, b), p)
    unfair = np.zeros(len(names), np.bool_) if probed is None else _unprobed(measure, names, probed)
    p[unfair | np.full(len(names), not measure.judged)] = np.nan
    return _Compared(a, b, change, low, high, p)


def _presence(a: Estimates, b: Estimates) -> Float64s:
    """Return the probability that, by chance, all windows with a thing are in one recording.

    Each recording has WINDOWS windows, and each window is assumed to have the thing with the same
    probability.  The result is nan for a thing that both recordings have.
    """
    table = np.array([2 * comb(WINDOWS, k) / comb(2 * WINDOWS, k) for k in range(WINDOWS + 1)])
    held = np.maximum(a.windows, b.windows)
    absent = (a.value == 0) | (b.value == 0)
    lone = (held > 0) & absent & (min(a.blocks, b.blocks) > 0)
    return np.where(lone, np.minimum(table[np.minimum(held, WINDOWS)], 1.0), np.nan)


def _unprobed(
    measure: Measure, names: tuple[str, ...], probed: tuple[frozenset[str], ...]
) -> Bools:
    if measure.section != "functions":
        return np.zeros(len(names), np.bool_)
    return np.array([not all(name in side for side in probed) for name in names], np.bool_)


def _rows(
    measure: Measure,
    found: _Compared,
    adjusted: Float64s,
    probed: tuple[frozenset[str], frozenset[str]] | None,
    least: float,
) -> list[Difference]:
    a, b = found.a, found.b
    lossy = (a.lossy | b.lossy).tolist()
    columns = (a.value, b.value, found.change, found.low, found.high, found.p, adjusted)
    rows = []
    for at, (name, *values) in enumerate(
        zip(a.names, *(_plain(column) for column in columns), strict=True)
    ):
        one, two, change, low, high, p, right = values
        numbers = int(a.number[at]), int(b.number[at])
        large = change is None or abs(change) >= least
        changed = right is not None and right <= LEVEL and large
        why = "" if p is not None or one == two == 0 else _why(measure, name, probed)
        rows.append(
            Difference(
                measure,
                name,
                one,
                two,
                *numbers,
                change,
                low,
                high,
                p,
                right,
                changed,
                why,
                lossy[at],
            )
        )
    return rows


def _plain(column: Float64s) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in column.tolist()]


def _why(measure: Measure, name: str, probed: tuple[frozenset[str], frozenset[str]] | None) -> str:
    if not measure.judged:
        return CONTAINS
    if measure.section == "functions" and probed is not None:
        for side, text in zip(probed, (NOT_IN_A, NOT_IN_B), strict=True):
            if name not in side:
                return text
    return TOO_FEW_DATA
