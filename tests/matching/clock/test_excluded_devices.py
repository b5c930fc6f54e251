# SPDX-License-Identifier: MIT
"""When stamps exclude a device, although the log lacks records at unknown times."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.matching.clock.excluded_devices import BLOCK, is_excluded

US, MS = 1000, 1_000_000
COUNT = 4 * BLOCK
CAPTURED = np.arange(COUNT, dtype=np.int64) * 20 * MS + 1_795_836_226_173_855_642
PACKET = np.arange(COUNT)


def _excluded(share: float, missing: float, count: int = COUNT) -> bool:
    """Whether a device is excluded that this share of the first packets contradicts."""
    at = CAPTURED[:count] - 1_795_836_000_000_000_000
    at = at + np.where(PACKET[:count] * share % 1 < share, 3 * MS + PACKET[:count] * 50 * US, 0)
    return is_excluded(CAPTURED[:count], at, at + 10 * US, missing)


def test_a_device_that_all_packets_agree_with_is_not_excluded() -> None:
    assert not _excluded(0, 0.001)


def test_many_packets_exclude_a_device_and_few_do_not() -> None:
    assert _excluded(0.5, 0.01)
    assert not _excluded(0.1, 0.01)


@pytest.mark.parametrize("missing", [0.04, 0.1])
def test_the_more_hits_are_missing_the_more_packets_may_contradict(missing: float) -> None:
    assert _excluded(0.3, 0.02)
    assert not _excluded(0.3, missing)


def test_three_packets_exclude_no_device() -> None:
    assert not _excluded(0.5, 0.001, count=6)
    assert _excluded(0.5, 0.001, count=12)


def test_a_clock_that_drifts_contradicts_no_device() -> None:
    at = CAPTURED - 1_795_836_000_000_000_000 + PACKET * 5 * US // BLOCK
    assert not is_excluded(CAPTURED, at, at + 10 * US, 0.001)


def test_a_clock_that_was_set_between_blocks_contradicts_no_device() -> None:
    at = CAPTURED - 1_795_836_000_000_000_000 + (PACKET // BLOCK) * 1000 * MS
    assert not is_excluded(CAPTURED, at, at + 10 * US, 0.001)


def test_times_that_touch_agree() -> None:
    at = CAPTURED + PACKET % 2 * 10 * US
    assert not is_excluded(CAPTURED, at, at + 10 * US, 0.001)
    assert is_excluded(CAPTURED, at, at + 10 * US - 1, 0.001)
