# SPDX-License-Identifier: MIT
"""A recording that was imported, and a tap beside its host: the same packets, by their numbers."""

from __future__ import annotations

from pathlib import Path

import dpkt
import numpy as np

from skbviewer.dataset import dataset_paths
from skbviewer.dataset.add_task import add_pair
from skbviewer.dataset.same_packets_across_sessions import across_sessions
from skbviewer.matching import EXACT, FAR
from skbviewer.records import Silent
from tests.bench.generate import generate

PACKETS, CALLS, AHEAD, EACH = 3000, 9000, 7.5, 10


def test_a_tap_beside_a_host(tmp_path: Path) -> None:
    made = generate(tmp_path, PACKETS, CALLS)
    tap, numbers = tmp_path / "tap.pcap", []
    with made.capture.open("rb") as source, tap.open("wb") as target:
        reader = dpkt.pcap.Reader(source)
        writer = dpkt.pcap.Writer(target, linktype=reader.datalink(), nano=True)
        for number, (time, data) in enumerate(reader, 1):
            if number % EACH:
                writer.writepkt(data, float(time) + AHEAD)
                numbers.append(number)
    dataset = tmp_path / "dataset"
    dataset_paths.make(dataset)
    host = add_pair(dataset, (made.log, made.capture))
    assert host.added, host.error
    assert add_pair(dataset, (tap,)).added
    found = across_sessions(dataset, Silent())
    names = [session for session, _ in found.recordings]
    assert len(names) == 2
    pairs = found.pairs
    exact = pairs.verdict == EXACT
    a, b = pairs.a[exact], pairs.b[exact]
    is_host = np.array([name == host.session for name in names])[found.found.clock[a]]
    at_host, at_tap = np.where(is_host, a, b), np.where(is_host, b, a)
    seen = found.number[at_host] > 0
    truth = np.array(numbers)[found.number[at_tap[seen]] - 1]
    assert found.number[at_host[seen]].tolist() == truth.tolist()
    assert seen.sum() > PACKETS / 2
    # The tap's ttl is that of the host: only packets that the host made or received have an order.
    bounded = (pairs.least_ns[exact] > -FAR // 2) & (pairs.most_ns[exact] < FAR // 2)
    assert bounded.mean() > 0.5
