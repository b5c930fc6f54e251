# SPDX-License-Identifier: MIT
"""Percentiles of many groups equal those of `stats`, and their errors cover the truth."""

from __future__ import annotations

import numpy as np

from skbviewer.analysis.comparison.group_statistics import Grouped, keys_of, means, percentiles
from skbviewer.analysis.comparison.time_blocks import GROUP_BITS, GROUPS, Blocks
from skbviewer.analysis.stats.duration_percentiles import spreads
from skbviewer.records.types import Int32s

BLOCKS, LONGEST = 128, 8


def grouped(group: np.ndarray, value: np.ndarray, groups: int) -> Grouped:
    block = np.arange(len(value)) * BLOCKS // len(value)
    flow = np.arange(len(value)) % GROUPS  # all of them alike
    rows: Int32s = (block + (flow << GROUP_BITS)).astype(np.int32)
    names = tuple(f"g{number}" for number in range(groups))
    blocks = Blocks(np.zeros(0, np.int32), BLOCKS, LONGEST)
    return Grouped(keys_of(group, value), rows, names, blocks, np.zeros(groups, np.bool_))


def test_values_equal_those_of_statistics() -> None:
    rng = np.random.default_rng(3)
    group = rng.integers(0, 7, 30_011)
    group[group == 4] = 5  # a group without values
    value = rng.lognormal(6, 1, len(group)).astype(np.int64)
    some = grouped(group, value, 7)
    p50, p95, p99 = percentiles(some, (50, 95, 99))
    mean = means(some)
    for at, spread in enumerate(spreads(group, value, 7)):
        if not spread.number:
            assert np.isnan([p50.value[at], p99.value[at], mean.value[at]]).all()
            continue
        ranks = (p50.value[at], p95.value[at], p99.value[at])
        assert ranks == (spread.p50_ns, spread.p95_ns, spread.p99_ns)
        assert round(mean.value[at]) == spread.mean_ns
        assert mean.number[at] == p50.number[at] == spread.number


def test_errors_of_percentiles_are_as_large_as_these_spread() -> None:
    rng = np.random.default_rng(4)
    groups, each = 300, 4000
    value = np.exp(rng.normal(9, 0.5, (each, groups))).astype(np.int64).reshape(-1)
    group = np.tile(np.arange(groups), each)
    for found in percentiles(grouped(group, value, groups), (50, 90, 99)):
        spread = np.log(found.value).std()
        assert 0.8 * spread < np.nanmedian(found.error) < 2.0 * spread


def test_rare_percentiles_have_no_error() -> None:
    value = np.arange(1, 901)
    (p99,) = percentiles(grouped(np.zeros(900, np.int64), value, 1), (99,))
    assert p99.value[0] == 891
    assert np.isnan(p99.error[0])  # nine values are beyond it


def test_equal_values() -> None:
    (p50,) = percentiles(grouped(np.zeros(640, np.int64), np.full(640, 77), 1), (50,))
    assert p50.value[0] == 77
