# SPDX-License-Identifier: MIT
"""The numbers of packet lives that met no wire packet."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from skbviewer.analysis.ingest.kernel_only_rows import numbers
from skbviewer.matching import SeriesTable
from skbviewer.matching.lifetimes.skb_arrival_in_function import RecordTimes
from skbviewer.records import RECORD_DTYPE, resource
from skbviewer.session import Session, import_files


def table(tap: list[bool]) -> SeriesTable:
    zeros = np.zeros(len(tap), np.int64)
    none = zeros.astype(np.int32)
    met = RecordTimes(np.zeros(len(tap), RECORD_DTYPE), none, zeros)
    return SeriesTable(none, zeros, np.array(tap), met, none, none)


def test_those_with_an_identity_come_first_over_all_kbls() -> None:
    found = numbers(
        [table([False, False, True, False]), table([False, False])],
        [np.array([2, 2, 2, 0]), np.array([2, 2])],
        [np.array([5, -1, 6, 7]), np.array([-1, 3])],
    )
    assert [each.tolist() for each in found] == [[1, 3, -1, -1], [4, 2]]


def test_only_those_with_an_identity_are_listed_unless_asked(tmp_path: Path) -> None:
    folder = resource("samples/arp-and-neighbour")
    import_files([folder / "arp-and-neighbour.kbl"], tmp_path / "s.skbv")
    session = Session.open(tmp_path / "s.skbv")
    identified, every = session.packets.kernel_only_count(), session.packets.all_kernel_only_count()
    assert 0 < identified < every
    usual = session.packets.select("", None, kernel_only=True)
    whole = session.packets.select("", None, kernel_only=True, all_lives=True)
    assert usual is not None and sorted((-usual).tolist()) == list(range(1, identified + 1))
    assert whole is not None and sorted((-whole).tolist()) == list(range(1, every + 1))
    rows = session.packets.rows(np.array([-every]))
    assert rows[0].number == f"K{every}"
    assert rows[0].saddr is None
