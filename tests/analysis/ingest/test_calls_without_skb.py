# SPDX-License-Identifier: MIT
"""Calls without an skb: nested in the path of the packet around them; all else stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skbviewer.matching import InnerCalls, build_legs, build_series
from skbviewer.records import PathCall
from skbviewer.records.kbl_layout import KBL_PROBE_INNER
from skbviewer.session import Session
from tests.matching.story import HOST, NO_ARGUMENT, SOFTIRQ, Story, udp4

from .test_event_rows import MINE, SOCK, imported

A, B = 0xFFFF888000001000, 0xFFFF888000002000
SENDER = {"pid": 7}
INTERRUPT = {"pid": 7, "context": SOFTIRQ}
LOCK, ROUTE = "_raw_spin_lock", "fib_table_lookup"


def inner_call(story: Story, name: str, begin: int, end: int, **place: Any) -> None:
    probe = story.kbl.probes[story.function(name)]
    probe |= {"arg": NO_ARGUMENT, "flags": KBL_PROBE_INNER}
    story.call(name, begin, end, 0, **place)


def sending(inner: bool) -> Story:
    """A packet is sent; an interrupt receives another one meanwhile."""
    story = Story()
    story.sock_call("tcp_sendmsg", 1000, 9000, SOCK, **SENDER)
    story.alloc(2000, A, **SENDER)
    story.call("ip_output", 3000, 6000, A, skbinfo=MINE, ipv4=udp4(1), **SENDER)
    story.call("dev_hard_start_xmit", 4000, 4600, A, skbinfo=MINE, ipv4=udp4(1), **SENDER)
    story.call("ip_rcv", 5000, 5500, B, skbinfo=HOST, ipv4=udp4(2), **INTERRUPT)
    if inner:
        inner_call(story, LOCK, 1500, 1600, **SENDER)  # of the socket's call
        inner_call(story, ROUTE, 3100, 4800, **SENDER)  # around a packet's call
        inner_call(story, LOCK, 3200, 3300, **SENDER)
        inner_call(story, LOCK, 5100, 5150, **INTERRUPT)
        inner_call(story, LOCK, 9500, 9600, **SENDER)  # of no packet
    else:
        for name in (LOCK, ROUTE):
            story.function(name)
    return story


def calls_of(session: Session, series: int) -> list[PathCall]:
    return [call for leg in session.paths.path(series=series).legs for call in leg.calls]


def series_with(session: Session, function: str) -> int:
    every = range(1, session.info()["series"] + 1)
    return next(n for n in every if function in [c.function for c in calls_of(session, n)])


def test_they_stand_in_the_path_of_the_packet_around_them(tmp_path: Path) -> None:
    session = imported(tmp_path, sending(inner=True))
    calls = calls_of(session, series_with(session, "ip_output"))
    assert [(c.function, c.depth, c.inner, c.self_ns) for c in calls] == [
        ("tcp_sendmsg", 0, False, 8000 - 100 - 10 - 3000),
        (LOCK, 1, True, 100),
        ("__alloc_skb", 1, False, 10),
        ("ip_output", 1, False, 3000 - 1700 - 500),
        (ROUTE, 2, True, 1700 - 100 - 600),
        (LOCK, 3, True, 100),
        ("dev_hard_start_xmit", 3, False, 600),
    ]
    assert [c.note for c in calls if c.inner] == ["no skb"] * 3
    received = calls_of(session, series_with(session, "ip_rcv"))
    assert [(c.function, c.inner, c.parent) for c in received] == [
        ("ip_rcv", False, -1),
        (LOCK, True, 0),
    ]


def test_everything_else_is_as_without_them(tmp_path: Path) -> None:
    made = list[tuple[bool, Any, Any]]()
    for inner in (True, False):
        (tmp_path / str(inner)).mkdir()
        session = imported(tmp_path / str(inner), sending(inner))
        for series in (series_with(session, name) for name in ("ip_output", "ip_rcv")):
            for leg in session.paths.path(series=series).legs:
                plain = [(c.function, c.entry_ns, c.note) for c in leg.calls if not c.inner]
                made.append((inner, leg._replace(calls=(), events=()), plain))
        made.append((inner, session.info()["series"], None))
        session.close()
    half = len(made) // 2
    assert [row[1:] for row in made[:half]] == [row[1:] for row in made[half:]]
    assert len(made) >= 6


def test_the_reason_of_a_drop_is_not_that_of_a_lock(tmp_path: Path) -> None:
    story = Story()
    story.call("ip_rcv", 1000, 5000, A, skbinfo=HOST, ipv4=udp4(1), **INTERRUPT)
    story.call("kfree_skb_reason", 2000, 3000, A, skbinfo=HOST, ipv4=udp4(1), **INTERRUPT)
    inner_call(story, LOCK, 2100, 2200, **INTERRUPT)
    story.event(2500, 7, A, 5, **INTERRUPT)
    calls = calls_of(session := imported(tmp_path, story), series_with(session, "ip_rcv"))
    assert [("drop" in c.note, c.function) for c in calls] == [
        (False, "ip_rcv"),
        (True, "kfree_skb_reason"),
        (False, LOCK),
    ]


def test_hidden_calls_belong_to_no_lifetime(tmp_path: Path) -> None:
    log = sending(inner=True).log(tmp_path)
    inner = InnerCalls(log)
    assert len(inner.rows) == 5
    before = log.records["kind"].copy()
    inner.hide()
    series = build_series(log)
    assert (series.of[inner.rows] < 0).all()
    assert (build_legs(log, series).of[inner.rows] < 0).all()
    with inner.shown():
        assert np.array_equal(log.records["kind"], before)
    assert not np.array_equal(log.records["kind"], before)
