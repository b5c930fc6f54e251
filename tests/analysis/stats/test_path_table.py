# SPDX-License-Identifier: MIT
"""Numbers, shares and legs of paths, in bundled recordings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from skbviewer.analysis.breakdown.timed_packets import units_of
from skbviewer.analysis.stats import Chosen, Scope
from skbviewer.analysis.stats.latency_table import PACKET, latency_rows
from skbviewer.analysis.stats.path_table import path_rows
from skbviewer.analysis.stats.time_in_kernel_table import time_table
from skbviewer.session import Session, open_files

SAMPLES = Path("resources/samples")


@pytest.fixture(scope="module", params=["bulk", "arp-and-neighbour"])
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    files = [SAMPLES / request.param / f"{request.param}.{kind}" for kind in ("kbl", "pcap")]
    opened = open_files(files)
    yield opened
    opened.close()


def test_shares_are_of_the_packets_with_a_known_time(session: Session) -> None:
    rows = path_rows(session.stats.scope())
    known = len(units_of(session.stats.scope()).id)
    assert sum(row.number for row in rows) == known
    assert [row.share for row in rows] == [round(100 * row.number / known, 3) for row in rows]
    numbers = np.arange(1, session.packets.count() + 1)
    chosen = path_rows(session.stats.scope(Chosen(numbers)))
    kernel = session.columns.array("packet", "kernel_ns")
    assert sum(row.number for row in chosen) == np.count_nonzero(kernel >= 0)
    assert sum(row.share for row in chosen) == pytest.approx(100, abs=0.01)


def test_a_path_has_the_same_number_in_every_choice(session: Session) -> None:
    begin = session.stats.begin_ns()
    names = {row.path: row.name for row in path_rows(session.stats.scope())}
    assert list(names) == list(range(1, len(names) + 1))
    some = np.arange(1, session.packets.count() + 1, 3)
    choices = (Chosen(some), Chosen(None, begin + 10_000_000), Chosen(None, None, begin + 10**10))
    for chosen in choices:
        rows = path_rows(session.stats.scope(chosen))
        assert rows
        assert {row.path: row.name for row in rows}.items() <= names.items()


def test_all_adds_skbs_that_are_not_network_packets(session: Session) -> None:
    network = session.stats.scope()
    every = session.stats.scope(Chosen(everything=True))
    columns = session.columns
    alone = columns.array("series", "kernel_only") > 0
    known = columns.array("series", "kernel_ns") >= 0
    others = np.flatnonzero(alone & known & (columns.array("series", "identity") < 0))
    ns = int(columns.array("series", "kernel_ns")[others].sum())
    assert len(others) > 0 and ns > 0

    def counted(scope: Scope) -> int:
        return sum(row.number for row in path_rows(scope))

    assert counted(every) == counted(network) + len(others)
    total = [sum(row.total_ns for row in time_table(scope).rows) for scope in (network, every)]
    assert total[1] == total[0] + ns
    (packets,) = (row for row in latency_rows(every) if row.kind == PACKET)
    assert packets.number == counted(every)
