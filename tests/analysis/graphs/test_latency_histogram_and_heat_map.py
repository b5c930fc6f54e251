# SPDX-License-Identifier: MIT
"""The grid of time by latency, against a slow count; its logarithmic edges."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.analysis.graphs.latency_histogram_and_heat_map import PER_DECADE, PERCENTS, log_edges
from skbviewer.analysis.stats import Chosen
from skbviewer.records import resource
from skbviewer.session import Session, import_files


@pytest.fixture(autouse=True)
def version() -> None:
    """Override the two versions: no log is written here, so one run is enough."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    capture = resource("samples/bulk") / "bulk.pcap"
    out = tmp_path_factory.mktemp("grid") / "bulk.skbv"
    return Session.open(import_files([capture, capture.with_suffix(".kbl")], out).path)


@pytest.mark.parametrize(
    ("low", "high"), [(0, 0), (1, 1), (7, 7), (999, 1000), (1, 10**9), (10**9, 3 * 10**11)]
)
def test_edges_enclose_all_values(low: int, high: int) -> None:
    edges = log_edges(low, high)
    assert edges[0] <= max(low, 1) and edges[-1] > high and edges[-2] <= max(high, 1)
    assert np.all(np.diff(edges) > 0)


def test_a_decade_has_as_many_bins_as_promised() -> None:
    edges = log_edges(1000, 9_999)
    assert edges[0] == 1000 and edges[-1] == 10_000 and len(edges) == PER_DECADE + 1


def test_counts_are_those_of_a_slow_count(session: Session) -> None:
    grid = session.graphs.latencies(Chosen())
    assert grid is not None
    expected = np.zeros_like(grid.counts)
    edges, unknown, known = grid.edges_ns.tolist(), 0, []
    times = session.packets.numbered(1, session.packets.count())
    for packet in times:
        if packet.kernel_ns is None or packet.ts_ns is None:
            unknown += 1
            continue
        known.append(packet.kernel_ns)
        column = (packet.ts_ns - grid.begin_ns) // grid.interval_ns
        bin_ = max(at for at, edge in enumerate(edges) if edge <= packet.kernel_ns)
        expected[column, bin_] += 1
    assert np.array_equal(grid.counts, expected)
    assert grid.unknown == unknown and grid.total == len(known) > 100
    known.sort()
    ranks = [known[-(-len(known) * percent // 100) - 1] for percent in PERCENTS]
    assert list(grid.percentiles_ns) == ranks


def test_a_bin_has_the_packets_that_its_filter_shows(session: Session) -> None:
    grid = session.graphs.latencies(Chosen())
    assert grid is not None
    for at, number in enumerate(grid.histogram.tolist()):
        low, high = grid.edges_ns[at : at + 2].tolist()
        text = f"kbl.in_kernel >= {low}ns && kbl.in_kernel < {high}ns"
        ids = session.packets.select(text)
        assert ids is not None and len(ids) == number


def test_nothing_is_known_of_no_packet(session: Session) -> None:
    assert session.graphs.latencies(Chosen(np.zeros(0, np.int64))) is None
