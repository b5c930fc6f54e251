# SPDX-License-Identifier: MIT
"""A session keeps where and when each exact packet was captured."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.records import NO_DELTA
from skbviewer.session import Session, import_files
from skbviewer.store import Builder, open_session, queries, schema
from tests.matching.joined import MS, sent
from tests.matching.story import tcp4, tcp4_frame
from tests.readers import build

from .two_logs import PACKETS, two_logs


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """The captures of left and right, and the logs of both."""
    opened = two_logs(tmp_path_factory.mktemp("captured"))
    yield opened
    opened.close()


@pytest.mark.parametrize("number", range(1, 2 * PACKETS + 1))
def test_only_the_log_of_the_captures_host_shows_it(session: Session, number: int) -> None:
    """Packets 1 to 20 are of left's capture, the others of right's; left sends the odd ones."""
    host = "left" if number <= PACKETS else "right"
    sends = (number % 2 == 1) is (host == "left")
    for leg in session.paths.path(packet=number).legs:
        if leg.log == host:
            assert leg.captured is not None and leg.wire_ns is not None
            assert leg.captured[:2] == ("eth0", "out" if sends else "in")
            error = leg.wire_error_ns or 0
            assert leg.captured.after_ns - error <= leg.wire_ns <= leg.captured.before_ns + error
        else:
            assert leg.captured is None


def test_the_view_of_matches_shows_the_same(session: Session) -> None:
    with closing(sqlite3.connect(session.file)) as db:
        asked = "SELECT packet, leg, device, direction, after_ns, before_ns FROM matches"
        rows = db.execute(f"{asked} WHERE device IS NOT NULL").fetchall()
        stored = db.execute("SELECT packet, leg, after_ns, before_ns FROM moment").fetchall()
    assert sorted(row[:2] + row[4:] for row in rows) == sorted(stored)
    assert len(rows) == 2 * PACKETS and {row[2] for row in rows} == {"eth0"}


def test_what_no_clock_joins_has_no_distance_in_the_session(tmp_path: Path) -> None:
    """A TCP packet without a time, which its numbers alone decide."""
    story = sent([(MS, tcp4(5, seq=77))])
    story.lasting(None)
    story.log(tmp_path)
    frame = tcp4_frame(5, seq=77)
    untimed = build.block(3, struct.pack("<I", len(frame)) + frame)
    untimed = build.section_header() + build.interface_block() + untimed
    (tmp_path / "a.pcapng").write_bytes(untimed)
    import_files([tmp_path / "story.kbl", tmp_path / "a.pcapng"], tmp_path / "s.skbv")
    with closing(sqlite3.connect(tmp_path / "s.skbv")) as db:
        assert db.execute("SELECT verdict, delta_ns FROM matches").fetchall() == [("exact", None)]
        assert db.execute("SELECT delta_ns FROM match").fetchall() == [(NO_DELTA,)]
        assert db.execute("SELECT count(*) FROM moment").fetchone() == (0,)


def test_an_unknown_distance_is_null_to_who_asks(tmp_path: Path) -> None:
    one = np.ones(1, np.int64)
    leg: dict[str, npt.NDArray[np.generic]] = dict.fromkeys(schema.leg.names, one)
    row = {"packet": one, "leg": one, "verdict": one, "rung": one, "confidence": np.ones(1)}
    with Builder(tmp_path / "a.skbv") as builder:
        builder.add_array(schema.leg, leg)
        builder.add_array(schema.match, row | {"delta_ns": np.array([NO_DELTA])})
        builder.finish()
    with open_session(tmp_path / "a.skbv").connect() as db:
        (stored,) = queries.legs_of_packet(db, 1)
        assert stored.delta_ns is None
        asked = db.exec_driver_sql("SELECT delta_ns, device, direction FROM matches").all()
        assert asked == [(None, None, None)]
        assert queries.moments(db, 1) == []
