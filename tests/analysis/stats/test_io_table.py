# SPDX-License-Identifier: MIT
"""The time from which intervals count, with and without a capture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skbviewer.analysis.stats import Chosen, statistic_of
from skbviewer.analysis.stats.io_table import IoRow, zero_notes
from skbviewer.records.kbl_layout import KblEvent
from skbviewer.session import open_files

SAMPLES = Path("resources/samples")
MS = 1_000_000


@pytest.mark.parametrize("name", ["drops", "arp-and-neighbour"])
def test_without_a_capture_intervals_count_as_the_time_column_does(name: str) -> None:
    """The first leg is zero, not the first drop."""
    session = open_files([SAMPLES / name / f"{name}.kbl"])
    table = statistic_of("io", session.stats.scope(Chosen(interval_ns=MS)))
    events = session.columns.array("event", "event") == int(KblEvent.DROP)
    legs = session.columns.array("event", "leg")[events].astype(np.int64)
    network = session.columns.array("series", "identity") >= 0
    mine = network[session.columns.array("leg", "series")[legs - 1] - 1] & (legs > 0)
    begin = session.columns.array("leg", "begin_ns").astype(np.int64).min()
    after = session.columns.array("event", "ts")[events][mine].astype(np.int64) - begin
    places, counts = np.unique(after // MS * MS, return_counts=True)
    column = table.keys.index("drops")
    shown = [(row[0], row[column]) for row in table.rows if row[column]]
    assert shown == list(zip(places.tolist(), counts.tolist(), strict=True))
    assert shown[0][0] > 0
    assert "there is no capture, so times count from the first leg in the kernel log" in table.notes
    session.close()


def test_intervals_before_packet_1_are_named() -> None:
    name = "drops"
    session = open_files([SAMPLES / name / f"{name}.{kind}" for kind in ("kbl", "pcap")])
    scope = session.stats.scope()
    later = IoRow(0, 1, 8, None, None, None, None, 0)
    assert zero_notes(scope, [later]) == ()
    notes = zero_notes(scope, [later._replace(after_ns=-MS), later])
    assert notes == ("times count from packet 1, so intervals before packet 1 have negative times",)
    session.close()
