# SPDX-License-Identifier: MIT
"""Student's t against the tables of Abramowitz & Stegun (26.10) and an integral of its density."""

from __future__ import annotations

from math import gamma, pi, sqrt

import numpy as np
import pytest

from skbviewer.analysis.comparison.student_t import quantile, two_sided

TABLE = {  # P(|T| >= t): by degrees of freedom
    0.05: {1: 12.706, 2: 4.303, 5: 2.571, 10: 2.228, 30: 2.042, 120: 1.980},
    0.001: {1: 636.619, 2: 31.598, 5: 6.869, 10: 4.587, 30: 3.646, 120: 3.373},
}


@pytest.mark.parametrize("probability", TABLE)
def test_probabilities_of_the_table(probability: float) -> None:
    freedom, t = (
        np.array(list(part), float) for part in zip(*TABLE[probability].items(), strict=True)
    )
    assert two_sided(t, freedom) == pytest.approx([probability] * len(t), rel=2e-3)


def test_far_tail_equals_the_integral_of_the_density() -> None:
    freedom, t = 12.5, 9.0
    scale = gamma((freedom + 1) / 2) / (sqrt(freedom * pi) * gamma(freedom / 2))
    x = np.geomspace(t, 1e5, 400_001)
    y = scale * (1 + x**2 / freedom) ** (-(freedom + 1) / 2)
    tail = 2 * float(((y[1:] + y[:-1]) / 2 * np.diff(x)).sum())
    assert two_sided(np.array([t]), np.array([freedom]))[0] == pytest.approx(tail, rel=1e-6)


def test_limits() -> None:
    found = two_sided(np.array([0.0, np.inf, np.nan, 2.0]), np.array([5.0, 5.0, 5.0, 0.0]))
    assert found[:2].tolist() == [1.0, 0.0]
    assert np.isnan(found[2:]).all()


def test_quantile_is_the_inverse() -> None:
    freedom = np.array([1.0, 1.7, 5.0, 14.3, 30.0, 1e4])
    assert two_sided(quantile(freedom), freedom) == pytest.approx([0.05] * 6, rel=1e-3)
    assert np.isnan(quantile(np.array([0.0]))[0])
