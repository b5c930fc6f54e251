# SPDX-License-Identifier: MIT
"""Session time: one clock for all sources."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.matching import ClockFit, OneWay, Piece, Segment, Timebase, build_timebase

SECOND = 1_000_000_000
EPOCH = 1_700_000_000 * SECOND
TIMES = np.array([10, 20, 30]) * SECOND


def segment(offset_ns: int, drift_ppm: float = 0.0, begin_ns: int = 0, first: int = 0) -> Segment:
    return Segment(begin_ns, first, 10 * SECOND, offset_ns, drift_ppm, 500, 9, 100)


def test_the_first_kbls_wall_clock_is_session_time() -> None:
    base = Timebase(build_timebase({3: EPOCH, 5: EPOCH + 7}, [], {}, {}))
    assert base.to_session(3, TIMES).tolist() == (TIMES + EPOCH).tolist()
    assert (base.error(3), base.error(5)) == (0, -1)
    assert base.to_source(3, TIMES + EPOCH).tolist() == TIMES.tolist()


@pytest.mark.parametrize("drift_ppm", [0.0, 200.0, -35.0])
def test_a_capture_goes_through_its_fit(drift_ppm: float) -> None:
    offset = EPOCH - 3 * 3600 * SECOND
    seen = TIMES + offset + ((TIMES - 10 * SECOND) * drift_ppm).astype(np.int64) // 1_000_000
    fit = ClockFit((segment(offset, drift_ppm, int(seen[0])),))
    base = Timebase(build_timebase({2: EPOCH}, [1], {(1, 2): fit}, {}))
    assert np.abs(base.to_session(1, seen) - (TIMES + EPOCH)).max() <= 2
    assert np.abs(base.to_source(1, TIMES + EPOCH) - seen).max() <= 2
    assert base.error(1) == 500


def test_a_step_makes_two_pieces() -> None:
    seen = TIMES + EPOCH + np.array([0, 5, 5]) * SECOND
    fit = ClockFit((segment(EPOCH, 0, int(seen[0])), segment(EPOCH + 5 * SECOND, 0, int(seen[1]))))
    base = Timebase(build_timebase({2: EPOCH}, [1], {(1, 2): fit}, {}))
    assert base.to_session(1, seen).tolist() == (TIMES + EPOCH).tolist()
    assert base.to_source(1, TIMES + EPOCH).tolist() == seen.tolist()


def test_another_host_goes_through_a_capture_of_both() -> None:
    """Its own wall clock is an hour off."""
    fits = {(1, 2): ClockFit((segment(EPOCH),)), (1, 3): ClockFit((segment(EPOCH - 9),))}
    pieces = build_timebase({2: EPOCH, 3: EPOCH + 3600 * SECOND}, [1], fits, {})
    base = Timebase(pieces)
    assert base.to_session(3, TIMES).tolist() == (TIMES + EPOCH - 9).tolist()
    assert base.error(3) == 1000


def test_bounds_of_two_way_traffic_are_better_than_a_capture() -> None:
    fits = {(1, 2): ClockFit((segment(EPOCH),)), (1, 3): ClockFit((segment(EPOCH - 9),))}
    way = OneWay(10 * SECOND, 100, 300, 0.0, 5, 5)
    base = Timebase(build_timebase({2: EPOCH, 3: 0}, [1], fits, {(2, 3): way}))
    assert base.to_session(3, TIMES + 200).tolist() == (TIMES + EPOCH).tolist()
    assert base.error(3) == 100


def test_a_capture_of_the_other_host_reaches_session_time_through_it() -> None:
    way = OneWay(10 * SECOND, 100, 300, 0.0, 5, 5)
    fits = {(4, 3): ClockFit((segment(EPOCH),))}
    base = Timebase(build_timebase({2: EPOCH, 3: 0}, [4], fits, {(2, 3): way}))
    assert base.to_session(4, TIMES + EPOCH + 200).tolist() == (TIMES + EPOCH).tolist()
    assert base.error(4) == 600


def test_a_capture_alone_keeps_its_time() -> None:
    base = Timebase(build_timebase({}, [1, 2], {}, {}))
    assert base.to_session(1, TIMES + EPOCH).tolist() == (TIMES + EPOCH).tolist()
    assert (base.error(1), base.error(2)) == (0, -1)


def test_a_source_without_pieces_keeps_its_time() -> None:
    base = Timebase([Piece(1, 0, 5, 0.0, 0)])
    assert base.to_session(9, TIMES).tolist() == TIMES.tolist()
    assert base.error(9) == -1
