# SPDX-License-Identifier: MIT
"""At which devices a capture may have been taken, by the stamps of its packets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skbviewer.matching.clock.possible_capture_devices import agreeing_devices
from skbviewer.matching.legs.tap_moments import MOMENT_DTYPE, WAIT_NS
from skbviewer.records import ColumnTable

NETNS, ETH, MIRROR = 9, 2, 3
US, MS = 1000, 1_000_000
COUNT = 60
KERNEL = np.arange(COUNT, dtype=np.int64) * 20 * MS + 7_000_000_001
SERIES = np.arange(COUNT, dtype=np.int64)

Rows = npt.NDArray[np.void]
Int64s = npt.NDArray[np.int64]


def _received(ifindex: int, series: Int64s, arrived: Int64s, begin: Int64s, lasted: int) -> Rows:
    """Moments of received lifetimes, one each: the skb arrived, then the socket was called."""
    rows = np.zeros(len(series), MOMENT_DTYPE)
    rows["series"], rows["netns"], rows["ifindex"] = series, NETNS, ifindex
    rows["socket"] = rows["met"] = rows["arrived"] = True
    rows["after"], rows["begin"] = arrived, begin
    rows["end"] = rows["before"] = begin + lasted
    return rows


def _devices(captured: Int64s, *rows: Rows, missing: float = 0.0) -> set[int]:
    every = np.sort(np.concatenate(rows), order=["series", "ifindex"])
    table = ColumnTable(MOMENT_DTYPE, {name: every[name] for name in MOMENT_DTYPE.names or ()})
    found = agreeing_devices(captured, SERIES, SERIES, table, lossy=False, missing=missing)
    return {ifindex for _, ifindex in found.clocks}


def _beside_wide_calls(stopped: npt.NDArray[np.bool_]) -> set[int]:
    """The devices if a virtual CPU stood still between arrival and stamp, and then before the call.

    Calls at the other device last so long that all stamps agree with them.
    """
    arrived = KERNEL - np.where(stopped, 5 * MS, 30 * US)
    begin = KERNEL + np.where(stopped, MS, 40 * US + SERIES % 2 * 100 * US)
    here = _received(ETH, SERIES, arrived, begin, 10 * US)
    wide = _received(MIRROR, SERIES, KERNEL - 6 * MS, KERNEL - 5 * MS, 10 * MS)
    return _devices(KERNEL, here, wide)


def test_a_few_stamps_long_after_the_arrival_do_not_exclude_the_device() -> None:
    assert _beside_wide_calls(SERIES % 15 == 5) == {ETH, MIRROR}


def test_many_stamps_long_after_the_arrival_exclude_the_device() -> None:
    assert _beside_wide_calls(SERIES % 3 == 0) == {MIRROR}


def test_no_device_is_believed_where_the_one_of_most_packets_agrees_with_no_clock() -> None:
    begin = KERNEL + np.where(SERIES % 2, 3 * MS, 0)
    most = _received(ETH, SERIES, begin - 30 * US, begin, 60 * US)
    assert _devices(KERNEL, most) == set()
    some = SERIES[:40]
    fewer = _received(MIRROR, some, KERNEL[:40] - 30 * US, KERNEL[:40], 60 * US)
    assert _devices(KERNEL, most, fewer) == set()
    nearly_all = _received(MIRROR, SERIES[:55], KERNEL[:55] - 30 * US, KERNEL[:55], 60 * US)
    assert _devices(KERNEL, most, nearly_all) == {MIRROR}


def test_packets_whose_moments_losses_hide_did_pass_the_device() -> None:
    """Otherwise the device that a few of them passed later would seem to be the capture's."""
    most = _received(ETH, SERIES, KERNEL - WAIT_NS, KERNEL, 60 * US)
    some = SERIES[SERIES % 10 == 0]
    later = _received(MIRROR, some, KERNEL[some] - 30 * US, KERNEL[some], 60 * US)
    assert _devices(KERNEL, most, later) == set()
    assert _devices(KERNEL, later) == {MIRROR}


def test_no_device_is_believed_beside_one_that_no_stamp_can_contradict() -> None:
    """With a list of few functions, the log shows when packets left, but not when they arrived."""
    here = _received(ETH, SERIES, KERNEL - 30 * US, KERNEL, 60 * US)
    assert _devices(KERNEL, here) == {ETH}
    nearly_all = SERIES[:55]
    unbounded = _received(MIRROR, nearly_all, KERNEL[:55] - WAIT_NS, KERNEL[:55], 60 * US)
    assert _devices(KERNEL, here, unbounded) == set()
    few = unbounded[:20]
    assert _devices(KERNEL, here, few) == {ETH}


def test_a_device_that_few_packets_contradict_is_not_excluded_if_hits_are_missing() -> None:
    """The log may lack what these packets did at the capture's own device."""
    begin = KERNEL + np.where(SERIES % 15 == 5, 3 * MS, 0)
    own = _received(ETH, SERIES, begin - 30 * US, begin, 60 * US)
    other = _received(MIRROR, SERIES, KERNEL + 170 * US, KERNEL + 200 * US, 60 * US)
    assert _devices(KERNEL, own, other) == {MIRROR}
    assert _devices(KERNEL, own, other, missing=0.001) == {MIRROR}
    assert _devices(KERNEL, own, other, missing=0.01) == set()
