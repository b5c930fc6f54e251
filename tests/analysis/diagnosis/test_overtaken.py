# SPDX-License-Identifier: MIT
"""Overtaken packets are those that a comparison of each packet with each other finds."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.analysis.diagnosis.retransmitted_segments import overtaken_rows
from skbviewer.store.whole_columns import Array


@pytest.mark.parametrize("seed", range(8))
def test_each_row_is_compared_with_earlier_rows_of_its_group(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 60))
    keys: list[Array] = [rng.integers(0, 2, count) for _ in range(2)]
    packet, begin = np.sort(rng.integers(0, 40, count)), rng.integers(-20, 20, count)
    should = [
        any(
            keys[0][i] == keys[0][k]
            and keys[1][i] == keys[1][k]
            and packet[k] < packet[i]
            and begin[k] > begin[i]
            for k in range(count)
        )
        for i in range(count)
    ]
    assert overtaken_rows(keys, packet, begin).tolist() == should
