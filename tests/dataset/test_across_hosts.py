# SPDX-License-Identifier: MIT
"""Packets of ten hosts are matched, and judged by the truth of the generator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skbviewer.dataset import session_manifests
from skbviewer.dataset.find_packet import find
from skbviewer.dataset.host_pairs import host_pairs
from skbviewer.dataset.packet_path import members_of
from skbviewer.dataset.same_packets_across_sessions import across_sessions
from skbviewer.records import Silent
from tests.dataset.host_judging import judged
from tests.dataset.host_tables import make_dataset
from tests.dataset.host_traffic import C0, HOSTS, TAPS

SECOND = 10**9
FLOWS, EACH, SECONDS = 240, 20, 60
HOUR = 3600 * SECOND  # taps are set by half an hour


@pytest.fixture(scope="module")
def ten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("ten")
    make_dataset(out, FLOWS, EACH, SECONDS, seed=7)
    return out


def rows_of(answer: Any) -> list[dict[str, Any]]:
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def test_no_pair_is_wrong_and_intervals_hold_the_truth(ten: Path) -> None:
    found = judged(ten)
    assert found.exact > 15_000
    assert (found.wrong, found.outside) == (0, 0)
    assert found.found >= 0.95 * found.unique
    assert found.bounded >= 0.95 * found.exact
    assert found.width_ns < 2_000_000


def test_the_times_of_paths_hold_the_truth(ten: Path) -> None:
    """Nothing but the clocks shows whether a tap or the router beside it saw a packet first."""
    truth = dict(np.load(ten / "truth.npz"))
    real = {
        (HOSTS[host], number): at
        for host, number, at in zip(truth["host"], truth["number"], truth["real"], strict=True)
    }
    found = across_sessions(ten / "dataset", Silent())
    host_of = dict(found.recordings)
    (tap,) = (session for session, host in host_of.items() if host == HOSTS[TAPS[0]])
    judged = 0
    for number in range(1, max(n for host, n in real if host == HOSTS[TAPS[0]]), 9):
        hops = [each for each in members_of(found, tap, number) if each[4] is not None]
        times = [real[host_of[session], n] for session, n, *_ in hops]
        for at in range(1, len(hops)):
            least, most = hops[at][5:]
            if hops[at][0] == hops[at - 1][0]:  # by the clock of this host
                continue
            assert least is None or least <= times[at] - times[at - 1], hops
            assert most is None or times[at] - times[at - 1] <= most, hops
            judged += 1
    assert judged > 500


def test_each_pair_of_hosts_bounds_its_clocks(ten: Path) -> None:
    truth = dict(np.load(ten / "truth.npz"))
    rows = rows_of(host_pairs(ten / "dataset", Silent()))
    assert len({(row["host_a"], row["host_b"]) for row in rows}) == len(rows) > 20
    assert sum(row["exact"] for row in rows) > 15_000
    bounded = 0
    for row in rows:
        hosts = HOSTS.index(row["host_a"]), HOSTS.index(row["host_b"])
        if row["least_ns"] is None or row["most_ns"] is None or set(hosts) & set(TAPS):
            continue
        (real, clock), (there, other) = (
            (truth["real"][truth["host"] == host], truth["clock"][truth["host"] == host])
            for host in hosts
        )
        moment = np.interp(row["at_ns"] - clock[0], clock - clock[0], real)
        apart = np.interp(moment, there, other - other[0]) + other[0] - row["at_ns"]
        assert row["least_ns"] - 5000 <= apart <= row["most_ns"] + 5000
        bounded += 1
    assert bounded == 8  # pairs of hosts with logs and packets in common


def test_a_path_leads_through_translators(ten: Path) -> None:
    truth = dict(np.load(ten / "truth.npz"))
    session = {each.host: each.session for each in session_manifests.read_all(ten / "dataset")}
    hosts = {packet: np.unique(truth["host"][truth["packet"] == packet]) for packet in range(400)}
    packet = next(each for each, seen in hosts.items() if C0 in seen and len(seen) == 5)
    mine = truth["packet"] == packet
    start = int(truth["number"][mine & (truth["host"] == C0)][0])
    found = find(ten / "dataset", f"{session['c0'][:12]}:{start}", HOUR, Silent())
    path = [row for row in rows_of(found) if row["hop"] is not None]
    assert {row["verdict"] for row in path} == {"exact"}
    real = []
    for row in path:
        at = (truth["host"] == HOSTS.index(row["host"])) & (truth["number"] == row["number"])
        assert truth["packet"][at] == packet
        real.append(int(truth["real"][at][0]))
    assert real == sorted(real)
    assert len(path) == mine.sum() == 7
    for before, now, row in zip(real, real[1:], path[1:], strict=False):
        assert row["least_ns"] <= now - before
        assert row["most_ns"] is None or now - before <= row["most_ns"]
    assert sum(row["most_ns"] is not None for row in path) >= 5
