# SPDX-License-Identifier: MIT
"""Numbers, shares and legs of paths, in bundled recordings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from skbviewer.analysis.breakdown.units import units_of
from skbviewer.analysis.stats import Chosen
from skbviewer.analysis.stats.path_table import path_rows
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
