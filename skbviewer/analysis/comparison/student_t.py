# SPDX-License-Identifier: MIT
"""Student's t distribution, for arrays of values and of degrees of freedom.

The probability is a regularised incomplete beta function.  The function is computed from its
continued fraction (Abramowitz & Stegun 1964, 26.5.8) by modified Lentz iterations (Thompson &
Barnett 1986).
"""

from __future__ import annotations

from functools import cache
from math import lgamma

import numpy as np

from ...records.types import Float64s

STEPS = 300
TINY = 1e-300
HALVINGS = 40


def two_sided(t: Float64s, freedom: Float64s) -> Float64s:
    """Return the probability that |T| >= |t|; nan if `t` or `freedom` is nan, or `freedom` <= 0."""
    t, freedom = np.broadcast_arrays(np.asarray(t, np.float64), np.asarray(freedom, np.float64))
    found = np.full(t.shape, np.nan)
    known = np.isfinite(freedom) & (freedom > 0) & ~np.isnan(t)
    square = np.minimum(t[known] ** 2, 1e300)
    found[known] = _beta(freedom[known] / 2, freedom[known] / (freedom[known] + square))
    return found


def quantile(freedom: Float64s) -> Float64s:
    """Return t with P(|T| >= t) = 5 % for each of `freedom`, accurate to 0.01 %; nan if below 1."""
    inverse = 1 / np.maximum(np.nan_to_num(np.asarray(freedom, np.float64)), 1.0)
    return np.asarray(np.where(freedom >= 1, np.interp(inverse, *_table()), np.nan))


@cache
def _table() -> tuple[Float64s, Float64s]:
    """Return the inverses of degrees of freedom, rising, and the value of t for each of them."""
    inverse = np.concatenate([[1e-6, 0.001], np.linspace(0.0025, 1, 400)])
    return inverse, _searched(0.05, 1 / inverse)


def _searched(probability: float, freedom: Float64s) -> Float64s:
    low, high = np.zeros(freedom.shape), np.full(freedom.shape, 1e3)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        beyond = two_sided(middle, freedom) > probability
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return high


def _beta(a: Float64s, x: Float64s) -> Float64s:
    """Return the regularised incomplete beta function I_x(a, 1/2)."""
    b = np.full(a.shape, 0.5)
    turn = x > (a + 1) / (a + b + 2)  # the fraction converges quickly on the other side
    one, two, at = np.where(turn, b, a), np.where(turn, a, b), np.where(turn, 1 - x, x)
    logs = np.array([lgamma(p + 0.5) - lgamma(p) - lgamma(0.5) for p in a.tolist()])
    with np.errstate(divide="ignore"):
        front = np.exp(logs + one * np.log(at) + two * np.log1p(-at)) / one
    whole = front * _fraction(one, two, at)
    return np.asarray(np.clip(np.where(turn, 1 - whole, whole), 0.0, 1.0))


def _fraction(a: Float64s, b: Float64s, x: Float64s) -> Float64s:
    c = np.ones(a.shape)
    d = 1 / _apart(1 - (a + b) * x / (a + 1))
    value = d.copy()
    for m in range(1, STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = np.ones(a.shape)
        for step in (even, odd):
            d = 1 / _apart(1 + step * d)
            c = _apart(1 + step / c)
            change = d * c
            value *= change
        if np.all(np.abs(change - 1) < 1e-14):
            break
    return value


def _apart(value: Float64s) -> Float64s:
    """Return the values, with TINY instead of values near 0, so that dividing by them is safe."""
    return np.asarray(np.where(np.abs(value) < TINY, TINY, value))
