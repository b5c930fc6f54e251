# SPDX-License-Identifier: MIT
"""A session that names a wrong device, direction or time of a capture is wrong."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.truth.judge import ERROR_NS, RIGHT, UNSEEN, WRONG, Origin, Witnessed, astray, opinion
from tests.truth.judge_join import Join, socket_hits
from tests.truth.judge_session import Log, Match, Moment, Source, read_matches
from tests.truth.judge_witness import Hit, Row, Witness

KBL, SERIES, SKB = 2, 3, 0xFFFF888000001000
NOBODY = Witness({}, {}, False, {}, [])
TRUE = Moment(KBL, 41, 6, True, 1_000_000, 1_050_000)


def hit(ns: int = 1_020_000, skb: int = SKB, netns: int = 41, outgoing: bool = True) -> Hit:
    row = Row("rcv", ns, True, 0, SKB, {"if": 6, "netns": netns}, b"")
    return Hit(row, skb, ns, outgoing)


def judged(moment: Moment | None, seen: Hit, verdict: str = "exact") -> str:
    """The truth of a packet whose lifetime is right, by its moment."""
    none = np.zeros((3, 0), np.int64)
    log = Log(KBL, none, none[:2], none[:2])
    log.known[id(seen)] = ({SERIES}, "")
    origin = Origin(Witnessed([], [seen], Join([0], [""]), 0), 0)
    moments = () if moment is None else (moment,)
    return opinion(Match(0, verdict, (SERIES,), (), moments), origin, NOBODY, log).truth


def test_a_socket_takes_nothing_in_another_namespace() -> None:
    mine, other, unknown = hit(), hit(netns=42), hit(netns=0)
    assert socket_hits([mine, other, unknown], 41) == [mine, unknown]
    assert socket_hits([mine, other]) == [mine, other]


def test_a_moment_that_the_witness_saw_is_right() -> None:
    assert judged(TRUE, hit()) == RIGHT
    assert judged(TRUE, hit(1_000_000 - ERROR_NS)) == RIGHT
    assert judged(TRUE, hit(1_050_000 + ERROR_NS)) == RIGHT


@pytest.mark.parametrize(
    "wrong",
    [
        TRUE._replace(ifindex=7),
        TRUE._replace(netns=42),
        TRUE._replace(sends=False),
        TRUE._replace(before_ns=1_020_000 - ERROR_NS - 1),
        TRUE._replace(after_ns=1_020_000 + ERROR_NS + 1),
    ],
)
def test_another_device_direction_or_time_is_wrong(wrong: Moment) -> None:
    assert judged(wrong, hit()) == WRONG
    assert judged(wrong, hit(skb=0)) == WRONG  # of whose clone it was, too
    assert judged(wrong, hit(), "ambiguous") == ""
    assert judged(wrong._replace(source=9), hit()) == RIGHT  # another host's log


def test_what_one_of_them_does_not_know_contradicts_nothing() -> None:
    assert astray(TRUE._replace(netns=42), hit(netns=0)) == ""
    assert astray(TRUE._replace(ifindex=-1, netns=-1), hit()) == ""
    assert judged(None, hit()) == RIGHT
    assert judged(TRUE, hit(skb=0)) == UNSEEN


@pytest.mark.parametrize("stored", [True, False])
def test_a_session_without_moments_can_be_judged(tmp_path: Path, stored: bool) -> None:
    """Earlier versions of the program made such sessions."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE packet (id, verdict)")
        db.execute("CREATE TABLE match (packet, leg, verdict)")
        db.execute("CREATE TABLE leg (id, source, series, begin_ns, end_ns, netns, ifindex)")
        db.execute("INSERT INTO packet VALUES (11, 0), (12, 2)")
        db.execute("INSERT INTO leg VALUES (5, 2, 3, 900000, 1100000, 41, 6)")
        db.execute("INSERT INTO match VALUES (11, 5, 0)")
        if stored:
            columns = "packet, leg, netns, ifindex, sends, socket, after_ns, before_ns"
            db.execute(f"CREATE TABLE moment ({columns})")
            db.execute("INSERT INTO moment VALUES (11, 5, 41, 6, 1, 1, 1000000, 1050000)")
        first, second = read_matches(db, Source(1, tmp_path, "pcap", 11, 2))
    assert first == Match(0, "exact", (3,), ((3, 900_000, 1_100_000, 41, 6),), first.moments)
    assert first.moments == ((TRUE,) if stored else ())
    assert second.moments == ()
