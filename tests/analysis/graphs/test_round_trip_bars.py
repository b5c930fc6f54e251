# SPDX-License-Identifier: MIT
"""Bars of round trips, against the table."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.analysis.graphs.round_trip_bars import BOTH, PARTS, RoundTripBars
from skbviewer.analysis.stats import Chosen
from skbviewer.records import resource
from skbviewer.session import Session, import_files


@pytest.fixture(autouse=True)
def version() -> None:
    """Override the two versions: no log is written here, so one run is enough."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    capture = resource("samples/bulk") / "bulk.pcap"
    out = tmp_path_factory.mktemp("bars") / "bulk.skbv"
    return Session.open(import_files([capture, capture.with_suffix(".kbl")], out).path)


def bars(session: Session) -> RoundTripBars:
    made = session.graphs.round_trips(Chosen())
    assert made is not None
    return made


def test_bars_are_averages_of_the_table(session: Session) -> None:
    made, table = bars(session), session.stats.table("roundtrip")
    rows = [dict(zip(table.keys, row, strict=True)) for row in table.rows]
    times = {packet.number: packet.ts_ns for packet in session.packets.numbered(1, 1000)}
    for at in range(len(made.number)):
        begin = made.begin_ns + at * made.interval_ns
        mine = [r for r in rows if begin <= (times[r["packet"]] or 0) < begin + made.interval_ns]
        assert made.number[at] == len(mine)
        assert made.first[at] == min((r["packet"] for r in mine), default=0)
        if mine:
            rtts = sorted(r["rtt_ns"] for r in mine)
            assert made.median_ns[at] == rtts[(len(rtts) - 1) // 2]
        names = ("send_ns", "outside_ns", "receive_ns")
        whole = [sum(r[n] for n in names) for r in mine if None not in [r[n] for n in names]]
        assert made.complete[at] == len(whole)
        average = sum(whole) / len(whole) if whole else 0.0
        assert made.parts_ns[:, at].sum() == pytest.approx(average)


def test_the_peer_is_in_the_log(session: Session) -> None:
    assert not bars(session).parts_ns[PARTS.index(BOTH)].any()


def test_nothing_is_acknowledged(session: Session) -> None:
    assert session.graphs.round_trips(Chosen(np.array([1]))) is None
