# SPDX-License-Identifier: MIT
"""Series of an I/O graph: the same numbers as tshark's io,stat with several filters."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest

from skbviewer.analysis.graphs.io_graph_series import UNKNOWN
from skbviewer.analysis.stats import Chosen
from skbviewer.records import resource
from skbviewer.session import Session, import_files

FILTERS = ("", "tcp", "udp", "frame.len > 200", "tcp.flags.syn == 1", "ip.src == 10.7.0.1")
LINE = re.compile(r"\| *([\d.]+) <> *([\d.]+|Dur) *\|(.*)\|$")


@pytest.fixture(autouse=True)
def version() -> None:
    """Override the two versions: no log is written here, so one run is enough."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    capture = resource("samples/bulk") / "bulk.pcap"
    out = tmp_path_factory.mktemp("io") / "bulk.skbv"
    return Session.open(import_files([capture, capture.with_suffix(".kbl")], out).path)


def tshark(seconds: str) -> list[list[int]]:
    """Frames and bytes of each filter by interval."""
    capture = resource("samples/bulk") / "bulk.pcap"
    table = ",".join(["io,stat", seconds, *FILTERS])
    words = ["tshark", "-r", str(capture), "-q", "-z", table]
    out = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    found = [LINE.match(line) for line in out.splitlines()]
    return [list(map(int, re.findall(r"\d+", one[3]))) for one in found if one]


@pytest.mark.parametrize("seconds", ["0.002", "0.01"])
def test_as_tshark_counts(session: Session, seconds: str) -> None:
    chosen = Chosen(interval_ns=round(float(seconds) * 1e9))
    series = session.graphs.io(chosen, FILTERS)
    ours = [
        [n for one in series for n in (int(one.packets[at]), int(one.bits[at]) // 8)]
        for at in range(len(series[0].packets))
    ]
    assert ours == tshark(seconds)
    assert all(one.begin_ns == series[0].begin_ns for one in series)


def test_percentiles_and_first_packets(session: Session) -> None:
    (every,) = session.graphs.io(Chosen(interval_ns=5_000_000))
    packets = session.packets.numbered(1, session.packets.count())
    begin = packets[0].ts_ns or 0
    for at in range(len(every.packets)):
        mine = [p for p in packets if ((p.ts_ns or 0) - begin) // 5_000_000 == at]
        known = sorted(p.kernel_ns for p in mine if p.kernel_ns is not None)
        assert every.packets[at] == len(mine)
        assert every.first[at] == (mine[0].number if mine else 0)
        rank = known[-(-len(known) * 90 // 100) - 1] if known else UNKNOWN
        assert every.p90_ns[at] == rank
        assert every.max_ns[at] == (known[-1] if known else UNKNOWN)


def test_chosen_packets_and_filters_are_combined(session: Session) -> None:
    tcp, both = session.graphs.io(Chosen(np.array([1, 2, 3, 4, 5, 6])), ("tcp", ""))
    ids = session.packets.select("tcp && frame.number < 7")
    assert ids is not None
    assert int(tcp.packets.sum()) == len(ids) and int(both.packets.sum()) == 6


def test_nothing_chosen_and_too_short_intervals(session: Session) -> None:
    assert session.graphs.io(Chosen(np.zeros(0, np.int64))) == []
    with pytest.raises(KeyError, match="choose a longer interval"):
        session.graphs.io(Chosen(interval_ns=100))


def test_blocks_add_up(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = Chosen(interval_ns=5_000_000)
    whole = session.graphs.io(chosen, FILTERS)
    monkeypatch.setattr("skbviewer.analysis.graphs.io_graph_series.BLOCK", 7)
    for one, other in zip(whole, session.graphs.io(chosen, FILTERS), strict=True):
        for name in one._fields:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_a_time_that_no_key_can_hold_is_refused(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skbviewer.analysis.graphs.io_graph_series.KEY_BITS", 20)
    with pytest.raises(KeyError, match=r"choose a longer interval, because a packet took \d+ ns"):
        session.graphs.io(Chosen(interval_ns=5_000_000))
