# SPDX-License-Identifier: MIT
"""The median equals numpy's."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.matching.arrays.medians import median

EPOCH_NS = 1_700_000_000_000_000_000


@pytest.mark.parametrize("count", [1, 2, 3, 4, 9, 100, 101])
def test_it_is_that_of_numpy(count: int) -> None:
    rng = np.random.default_rng(count)
    for values in (rng.normal(0, 1e6, count), EPOCH_NS + rng.integers(0, 10**9, count)):
        assert median(values) == float(np.median(values))
