# SPDX-License-Identifier: MIT
"""One packet in two hosts' logs: no result mixes the two clocks."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from skbviewer.analysis.stats import conversations_by_kind
from skbviewer.export import path_lines
from skbviewer.records import PacketRow
from skbviewer.session import Session

from .two_logs import AHEAD, PACKETS, WAY, two_logs

LOGS = {"left": 3, "right": 4}  # sources


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    opened = two_logs(tmp_path_factory.mktemp("two"))
    yield opened
    opened.close()


@pytest.mark.parametrize("number", range(1, 2 * PACKETS + 1))
def test_who_sent_stands_first_and_each_leg_has_its_own_times(
    session: Session, number: int
) -> None:
    """Packets 1 to 20 are of left's capture, the others of right's."""
    path = session.paths.path(packet=number)
    sent, got = path.legs
    ends = ("left", "right") if number % 2 else ("right", "left")
    assert [(leg.kind, leg.log) for leg in path.legs] == list(zip(("tx", "rx"), ends, strict=True))
    assert [leg.source for leg in path.legs] == [LOGS[end] for end in ends]
    behind = path.behind(got)
    assert behind is not None and behind.ns is not None and path.behind(sent) is None
    assert 0 < behind.error_ns <= 2 * WAY  # both ways took as long, and the clocks may drift
    assert abs(behind.ns - WAY) <= behind.error_ns
    for leg in path.legs:
        assert leg.wire_ns is not None and leg.wire_error_ns is not None
        assert leg.begin_ns - WAY < leg.wire_ns < leg.end_ns + WAY


def test_a_life_of_the_other_log_stands_in_session_time(session: Session) -> None:
    legs = session.paths.path(packet=1).legs
    (alone,) = session.paths.path(series=legs[1].series).legs
    assert (alone.log, alone.session_ns) == ("right", legs[1].session_ns)
    assert alone.session_error_ns == legs[1].session_error_ns


def test_a_call_of_a_path_is_the_same_call_in_the_timeline(session: Session) -> None:
    for number in (1, 2):
        for leg, whole in enumerate(session.paths.path(packet=number).legs):
            place = session.paths.call_place(
                session.paths.call_number(number, whole.series, leg, 1)
            )
            assert place.path_call == whole.calls[1]
            assert place.path.legs[place.leg].log == whole.log


def test_the_thread_shown_for_a_packet_is_the_one_that_sent_it(session: Session) -> None:
    rows = session.packets.numbered(1, 2)
    assert [row.process for row in rows] == ["ping [7]", "pong [9]"]


def test_a_conversation_seen_by_two_captures_has_one_clock(session: Session) -> None:
    (one,) = conversations_by_kind(session.stats.scope())["UDP"]
    first, last = session.packets.numbered(1, 1)[0], session.packets.numbered(PACKETS, 1)[0]
    assert one.begin_ns == first.ts_ns
    assert isinstance(last, PacketRow) and last.ts_ns is not None and first.ts_ns is not None
    assert one.dur_ns == pytest.approx(last.ts_ns - first.ts_ns, abs=2 * WAY)
    assert one.dur_ns < AHEAD


def test_labels_distinguish_logs_of_hosts_that_share_a_name(tmp_path: Path) -> None:
    session = two_logs(tmp_path, ("lab", "lab"))
    names = [leg.log for leg in session.paths.path(packet=1).legs]
    assert len(set(names)) == 2
    assert all(name.endswith("story.kbl") for name in names)
    titles = [lane.title for lane in session.timeline.lanes("cpu").lanes if lane.what == "calls"]
    assert len(set(titles)) == len(titles) == 2
    session.close()


def test_candidates_in_another_log_come_last_and_tell_no_time_under_way(tmp_path: Path) -> None:
    """Packet 2 is exact in left's log, which got it; right's, which sent it, may be another's."""
    two_logs(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "a.skbv")) as db, db:
        of_right = "SELECT id FROM leg WHERE source = 4 ORDER BY begin_ns LIMIT 1 OFFSET 1"
        (sent,) = db.execute(of_right).fetchone()
        db.execute("UPDATE match SET verdict = 1 WHERE packet = 2 AND leg = ?", (sent,))
    session = Session.open(tmp_path / "a.skbv")
    path = session.paths.path(packet=2)
    assert [(leg.log, leg.match) for leg in path.legs] == [
        ("left", "exact"),
        ("right", "ambiguous"),
    ]
    heads = [line for line in path_lines(path) if line.startswith("leg ")]
    assert heads[0].startswith("leg 1: rx eth0 of left ")
    assert heads[1].startswith("leg 2: candidate tx eth0 of right ")
    assert session.paths.under_way(2) == []
    assert len(session.paths.under_way(4)) == 1
    timeline = session.timeline.lanes("packet", [2])
    calls = timeline.boxes.item[timeline.boxes.item > 0]
    assert len(calls) == len(path.legs[0].calls)
    session.close()


def test_each_capture_of_a_packet_has_a_lane_with_all_its_calls(session: Session) -> None:
    """Packet 2 of left's capture is the same as packet 2 of right's."""
    rows = [2, PACKETS + 2]
    line = session.timeline.lanes("packet", rows)
    assert [lane.key for lane in line.lanes] == rows
    calls = sum(len(leg.calls) for leg in session.paths.path(packet=2).legs)
    second = int(line.boxes.starts[line.lanes[1].first])
    assert [second, len(line.boxes.begin) - second] == [calls, calls]
