# SPDX-License-Identifier: MIT
"""More packets with a known lifetime make the place of a capture and its clock surer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skbviewer.matching.clock.capture_point_distances import Place
from skbviewer.matching.clock.capture_point_fit import Located, relocate
from skbviewer.matching.clock.clock_fit import ClockFit, Segment
from skbviewer.matching.legs.capture_points import SOCKET
from skbviewer.matching.legs.tap_moments import MOMENT_DTYPE
from skbviewer.records import ColumnTable

NETNS, ETH, VETH, BRIDGE = 9, 2, 3, 4
US, MS = 1000, 1_000_000
COUNT = 60
KERNEL = np.arange(COUNT, dtype=np.int64) * 20 * MS + 7_000_000_001
SERIES = np.arange(COUNT, dtype=np.int64)


def _moments(*devices: tuple[int, npt.NDArray[np.int64]]) -> ColumnTable:
    """Moments of all lifetimes at each device, whose sockets are called at these times."""
    rows = np.zeros(COUNT * len(devices), MOMENT_DTYPE)
    for number, (ifindex, begin) in enumerate(devices):
        own = rows[number :: len(devices)]
        own["series"], own["netns"], own["ifindex"] = SERIES, NETNS, ifindex
        own["socket"] = own["met"] = True
        own["after"] = own["begin"] = begin
        own["before"] = own["end"] = begin + 20 * US
    return ColumnTable(MOMENT_DTYPE, {name: rows[name] for name in MOMENT_DTYPE.names or ()})


def _where(segments: tuple[Segment, ...], *devices: int) -> Located:
    place = Place(NETNS, devices[0], None, SOCKET)
    return Located(ClockFit(segments), place, tuple((NETNS, device) for device in devices))


def _segment(first: int, offset: int, pairs: int = 20, error: int = 500 * US) -> Segment:
    return Segment(int(KERNEL[first]), first, 0, offset, 0.0, error, pairs, 1000)


def _relocated(
    captured: npt.NDArray[np.int64], moments: ColumnTable, where: Located
) -> Located | None:
    return relocate(captured, SERIES, SERIES, moments, where, lossy=False)


def test_a_device_that_contradicts_the_stamps_is_excluded() -> None:
    later = KERNEL + np.where(SERIES % 7, 40 * US, 300 * US)
    moments = _moments((ETH, KERNEL), (VETH, later))
    found = _relocated(KERNEL + 10 * US, moments, _where((_segment(0, 0),), ETH, VETH))
    assert found is not None
    assert found.devices == ((NETNS, ETH),)
    assert found.place[:2] == (NETNS, ETH)


def test_a_device_that_was_excluded_before_does_not_come_back() -> None:
    moments = _moments((ETH, KERNEL), (BRIDGE, KERNEL))  # the stamps agree with both
    found = _relocated(KERNEL + 10 * US, moments, _where((_segment(0, 0),), ETH))
    assert found is None or found.devices == ((NETNS, ETH),)


def test_without_any_possible_device_the_capture_may_be_of_any() -> None:
    late = KERNEL + np.where(SERIES % 2, 900 * US, 100 * US)
    found = _relocated(KERNEL, _moments((ETH, late)), _where((_segment(0, 0),), ETH))
    assert found is not None
    assert found.devices == ()


def test_the_clock_keeps_its_segments() -> None:
    # Set by 3 ms before packet 30: together with 20 us of error no line passes all moments.
    step = np.where(SERIES >= 30, 3 * MS, 0)
    segments = (_segment(0, 0), _segment(29, 0, pairs=0, error=3 * MS), _segment(31, 3 * MS))
    found = _relocated(KERNEL + 10 * US + step, _moments((ETH, KERNEL)), _where(segments, ETH))
    assert found is not None and found.clock is not None
    assert [(s.first, s.pairs > 0) for s in found.clock.segments] == [
        (0, True), (29, False), (31, True),
    ]  # fmt: skip
    assert found.devices == ((NETNS, ETH),)
    assert max(s.residual_ns for s in found.clock.segments if s.pairs) < 100 * US
