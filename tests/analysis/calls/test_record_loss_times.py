# SPDX-License-Identifier: MIT
"""Lost spans: LOST records and holes in the file are reported alike."""

from __future__ import annotations

import sqlite3
import struct
from pathlib import Path

import numpy as np
import pytest

from skbviewer import readers
from skbviewer.analysis import build_calls
from skbviewer.analysis.calls.interruptions import MARK_GAP
from skbviewer.analysis.calls.record_loss_times import Spans, losses
from skbviewer.matching import build_legs, build_series
from skbviewer.records import HOLE, KernelLog, Silent
from skbviewer.records import kbl_layout as layout
from skbviewer.session import import_files
from tests.matching.story import udp4
from tests.readers.build_kbl import KblBuilder

A = 0xFFFF888000001000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """One long call with two others inside it; the records of one are in a missing chunk."""
    build = KblBuilder(per_chunk=2)
    outer, inner, after = (build.probe(n) for n in ("udp_send_skb", "ip_send_skb", "ip_output"))
    build.entry(100, 0, outer, A, ipv4=udp4(1))
    build.entry(110, 0, after, A)
    build.exit(120, 0, after, A)
    build.lost(130, 0, 125, 7)
    build.entry(200, 0, inner, A)
    build.exit(300, 0, inner, A)
    build.exit(400, 0, outer, A)
    build.entry(500, 0, after, A)
    build.exit(600, 0, after, A)
    data = build.to_bytes()
    magic = struct.pack("<IBB", layout.KBL_CHUNK_MAGIC, layout.KblChunkType.RECORDS, 0)
    parts = data.split(magic)
    assert len(parts) == 6
    whole = tmp_path / "a.kbl"
    whole.write_bytes(magic.join(parts[:3] + parts[4:]))
    return whole


def test_no_number_is_given_across_a_hole_in_the_file(path: Path) -> None:
    log = readers.read(path, Silent())
    assert isinstance(log, KernelLog)
    gap, hole = zip(*losses(log), strict=True)
    assert gap == (3, 130, 5, 0, 7, layout.KblLost.BUFFER)
    assert hole == (-1, 400, 400 - 131, 0, 1, HOLE)
    series = build_series(log)
    calls = build_calls(log, series, build_legs(log, series))
    assert calls["entry_ns"].tolist() == [100, 110, 500]
    assert ((calls["marks"] & MARK_GAP) != 0).tolist() == [True, False, False]
    assert calls["self_ns"].tolist() == [-1, 10, 100]


def test_a_session_shows_holes_as_losses(path: Path) -> None:
    import_files([path], path.parent / "a.skbv")
    with sqlite3.connect(path.parent / "a.skbv") as db:
        rows = db.execute("SELECT source, ordinal, ts, dur, cpu, data, flags FROM loss").fetchall()
    db.close()
    assert rows == [(1, 3, 130, 5, 0, 7, 1), (1, -1, 400, 269, 0, 1, HOLE)]


def test_spans_are_met_from_begin_to_end() -> None:
    begin, end = np.arange(0, 60, 5), np.arange(0, 60, 5) + 2
    spans = [(10, 30), (12, 15), (50, 50)]
    stretches = zip(begin, end, strict=True)
    expected = [any(b <= last and e >= first for b, e in spans) for first, last in stretches]
    assert Spans(spans).meet(begin, end).tolist() == expected
    assert len(Spans()) == 0 and not Spans().meet(begin, end).any()
