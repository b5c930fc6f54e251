# SPDX-License-Identifier: MIT
"""Session time: one clock for all sources."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.matching import (
    EVERY,
    ClockFit,
    Host,
    Joint,
    OneWay,
    Piece,
    Segment,
    Timebase,
    build_timebase,
)

SECOND = 1_000_000_000
EPOCH = 1_700_000_000 * SECOND
TIMES = np.array([10, 20, 30]) * SECOND
ALL = {1: [EVERY]}  # one capture, of one interface


def segment(offset_ns: int, drift_ppm: float = 0.0, begin_ns: int = 0, first: int = 0) -> Segment:
    return Segment(begin_ns, first, 10 * SECOND, offset_ns, drift_ppm, 500, 9, 100)


def joined(*segments: Segment, capture: int = 1, kbl: int = 2) -> dict[Joint, ClockFit]:
    return {Joint(capture, EVERY, kbl): ClockFit(segments)}


def host(epoch_ns: int, begin_ns: int = 10 * SECOND, end_ns: int = 30 * SECOND) -> Host:
    return Host(epoch_ns, begin_ns, end_ns)


def ahead(low_ns: int, high_ns: int, least_ppm: float = 0.0, most_ppm: float = 0.0) -> OneWay:
    """Bounds from 10 to 30 s of clock a."""
    times = np.array([10, 30]) * SECOND
    ends = np.array([low_ns, low_ns]), np.array([high_ns, high_ns])
    return OneWay(times, *ends, least_ppm, most_ppm, 5, 5)


def test_the_first_kbls_wall_clock_is_session_time() -> None:
    base = Timebase(build_timebase({3: host(EPOCH), 5: host(EPOCH + 7)}, {}, {}, {}))
    assert base.to_session(3, TIMES).tolist() == (TIMES + EPOCH).tolist()
    assert (base.error(3), base.error(5)) == (0, -1)
    assert base.to_source(3, TIMES + EPOCH).tolist() == TIMES.tolist()


@pytest.mark.parametrize("drift_ppm", [0.0, 200.0, -35.0])
def test_a_capture_goes_through_its_fit(drift_ppm: float) -> None:
    offset = EPOCH - 3 * 3600 * SECOND
    seen = TIMES + offset + ((TIMES - 10 * SECOND) * drift_ppm).astype(np.int64) // 1_000_000
    fits = joined(segment(offset, drift_ppm, int(seen[0])))
    base = Timebase(build_timebase({2: host(EPOCH)}, ALL, fits, {}))
    assert np.abs(base.to_session(1, seen) - (TIMES + EPOCH)).max() <= 2
    assert np.abs(base.to_source(1, TIMES + EPOCH) - seen).max() <= 2
    assert base.error(1) == 500


def test_a_step_makes_two_pieces() -> None:
    seen = TIMES + EPOCH + np.array([0, 5, 5]) * SECOND
    later = segment(EPOCH + 5 * SECOND, 0, int(seen[1]), 1)
    fits = joined(segment(EPOCH, 0, int(seen[0])), later)
    base = Timebase(build_timebase({2: host(EPOCH)}, ALL, fits, {}))
    assert base.to_session(1, seen).tolist() == (TIMES + EPOCH).tolist()
    assert base.to_source(1, TIMES + EPOCH).tolist() == seen.tolist()


def test_another_host_goes_through_a_capture_of_both() -> None:
    """Its own wall clock is an hour off."""
    fits = joined(segment(EPOCH)) | joined(segment(EPOCH - 9), kbl=3)
    pieces = build_timebase({2: host(EPOCH), 3: host(EPOCH + 3600 * SECOND)}, ALL, fits, {})
    base = Timebase(pieces)
    assert base.to_session(3, TIMES).tolist() == (TIMES + EPOCH - 9).tolist()
    assert base.error(3) == 1000


def test_bounds_of_two_way_traffic_are_better_than_a_capture() -> None:
    fits = joined(segment(EPOCH)) | joined(segment(EPOCH - 9), kbl=3)
    way = ahead(100, 300)
    base = Timebase(build_timebase({2: host(EPOCH), 3: host(0)}, ALL, fits, {(2, 3): way}))
    assert base.to_session(3, TIMES + 200).tolist() == (TIMES + EPOCH).tolist()
    assert base.error(3) == 101


def test_a_capture_of_the_other_host_reaches_session_time_through_it() -> None:
    way, fits = ahead(100, 300), joined(segment(EPOCH), capture=4, kbl=3)
    base = Timebase(build_timebase({2: host(EPOCH), 3: host(0)}, {4: [EVERY]}, fits, {(2, 3): way}))
    assert base.to_session(4, TIMES + EPOCH + 200).tolist() == (TIMES + EPOCH).tolist()
    assert base.error(4) == 601


def test_a_capture_alone_keeps_its_time() -> None:
    base = Timebase(build_timebase({}, {1: [EVERY], 2: [EVERY]}, {}, {}))
    assert base.to_session(1, TIMES + EPOCH).tolist() == (TIMES + EPOCH).tolist()
    assert (base.error(1), base.error(2)) == (0, -1)


def test_a_source_without_pieces_keeps_its_time() -> None:
    base = Timebase([Piece(1, EVERY, 0, 0, 5, 0.0, 0)])
    assert base.to_session(9, TIMES).tolist() == TIMES.tolist()
    assert base.error(9) == -1


def test_the_error_of_a_host_holds_for_all_its_log() -> None:
    """A log that goes on for 100 s after the last packet: the bounds part by 40 ppm until then."""
    way = ahead(1000, 3000, -20.0, 20.0)
    hosts = {2: host(EPOCH), 3: host(0, 10 * SECOND, 130 * SECOND)}
    base = Timebase(build_timebase(hosts, {}, {}, {(2, 3): way}))
    assert base.error(3) == pytest.approx(1000 + 20_000 * 100 / 1000 * 1000, rel=1e-3)


@pytest.mark.parametrize("back_s", [5, 25, 60])
def test_packets_are_in_order_where_the_clock_was_set_back(back_s: int) -> None:
    """At 1030 s, after 30 s, also by more than that."""
    times = np.array([1000, 1010, 1029, 1030, 1050, 1080, 1100]) * SECOND
    seen = times - np.where(times < 1030 * SECOND, 0, back_s * SECOND)
    second = Segment(int(seen[3]), 4, 10 * SECOND, -back_s * SECOND, 0.0, 500, 9, 100)
    fits = joined(Segment(int(seen[0]), 1, 10 * SECOND, 0, 0.0, 500, 9, 100), second)
    base = Timebase(build_timebase({2: host(0)}, ALL, fits, {}))
    number = np.arange(1, 8)
    assert base.of_packets(1, seen, number).tolist() == times.tolist()
    assert base.to_source(1, times).tolist() == seen.tolist()
    later = np.array([1050, 1080, 1100]) * SECOND
    assert base.to_session(1, later - back_s * SECOND).tolist() == later.tolist()


def test_a_bare_time_is_the_later_one_if_that_goes_on_to_it() -> None:
    """The clock was set back by 60 s, and soon after by an hour's advance: 1001 s came once."""
    pieces = [
        Piece(1, EVERY, 1, 1000 * SECOND, 0, 0.0, 0),
        Piece(1, EVERY, 9, 970 * SECOND, 60 * SECOND, 0.0, 0),
        Piece(1, EVERY, 20, 4640 * SECOND, -3600 * SECOND, 0.0, 0),
    ]
    times = np.array([975, 1001, 4650]) * SECOND
    assert (Timebase(pieces).to_session(1, times) // SECOND).tolist() == [1035, 1001, 1050]


def test_interfaces_have_clocks_of_their_own() -> None:
    fits = {
        Joint(1, 0, 2): ClockFit((segment(EPOCH, first=1),)),
        Joint(1, 1, 2): ClockFit((segment(EPOCH + 7 * SECOND, first=2),)),
    }
    base = Timebase(build_timebase({2: host(EPOCH)}, {1: [1, 0, 5]}, fits, {}))
    seen, interface = TIMES + EPOCH + np.array([0, 7, 7]) * SECOND, np.array([0, 1, 5])
    made = base.of_packets(1, seen, np.array([1, 2, 3]), interface)
    assert made.tolist() == (TIMES + EPOCH).tolist()  # 5 has no fit: as the first
    assert [base.error(1, one) for one in (0, 1, 5)] == [500, 500, -1]
    assert (base.error(1), base.interfaces(1)) == (-1, (1, 0, 5))
    assert base.to_source(1, TIMES + EPOCH, 0).tolist() == (TIMES + EPOCH).tolist()


def test_two_hosts_captures_in_one_file_each_reach_session_time() -> None:
    fits = {
        Joint(1, 0, 2): ClockFit((segment(EPOCH, first=1),)),
        Joint(1, 1, 3): ClockFit((segment(EPOCH, first=2),)),
    }
    way = {(2, 3): ahead(100, 300)}
    base = Timebase(build_timebase({2: host(EPOCH), 3: host(0)}, {1: [0, 1]}, fits, way))
    assert [base.error(1, one) for one in (0, 1)] == [500, 601]


def test_a_capture_of_a_log_that_nothing_joins_goes_by_its_fit_to_it() -> None:
    hosts = {2: Host(10 * SECOND, 0, SECOND), 3: Host(50 * SECOND, 0, SECOND)}
    pieces = build_timebase(hosts, ALL, {Joint(1, EVERY, 3): ClockFit((segment(7 * SECOND),))}, {})
    (mine,) = [piece for piece in pieces if piece.source == 1]
    assert (mine.offset_ns, mine.error_ns) == ((50 - 7) * SECOND, -1)
