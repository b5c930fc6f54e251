# SPDX-License-Identifier: MIT
"""Import, cancel, caching and reading from several threads."""

from __future__ import annotations

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from ipaddress import ip_address
from pathlib import Path

import pytest

from skbviewer.analysis.stats import layer_table
from skbviewer.records import BadInput, Cancelled, resource
from skbviewer.session import Session, cached_session, import_files, open_files

SAMPLE = resource("samples/handshake")
FILES = [SAMPLE / "handshake.pcap", SAMPLE / "handshake.kbl"]


class Watch:
    """Progress that is kept, and cancels at the n-th report."""

    def __init__(self, cancel_at: int | None = None) -> None:
        self.reports: list[tuple[str, int, int]] = []
        self._cancel_at = cancel_at

    def report(self, what: str, done: int, total: int) -> None:
        self.reports.append((what, done, total))
        if len(self.reports) == self._cancel_at:
            raise Cancelled


def test_progress_is_true(tmp_path: Path) -> None:
    watch = Watch()
    import_files(FILES, tmp_path / "s.skbv", watch)
    assert len(watch.reports) > 5
    assert all(0 <= done <= total for _, done, total in watch.reports)
    steps = [done for what, done, _ in watch.reports if what == "following packets"]
    assert steps == list(range(6))  # the longest stage moves, and can be cancelled in between


def test_cancel_at_any_moment_leaves_nothing(tmp_path: Path) -> None:
    whole = Watch()
    import_files(FILES, tmp_path / "whole.skbv", whole)
    (tmp_path / "whole.skbv").unlink()
    for moment in range(1, len(whole.reports) + 1):
        with pytest.raises(Cancelled):
            import_files(FILES, tmp_path / "s.skbv", Watch(moment))
        assert os.listdir(tmp_path) == []


def test_unsaved_session_is_cached_by_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    capture = tmp_path / "a.pcap"
    capture.write_bytes(FILES[0].read_bytes())
    first = cached_session([capture])
    assert open_files([capture]).file == first
    watch = Watch()
    assert open_files([capture], watch).packets.count() == 16
    assert {what for what, *_ in watch.reports} == {"hashing a.pcap"}  # nothing was read again
    capture.write_bytes(FILES[0].read_bytes()[:-200])
    assert cached_session([capture]) != first


def test_session_file_opens_as_it_is(tmp_path: Path) -> None:
    import_files(FILES, tmp_path / "s.skbv")
    assert open_files([tmp_path / "s.skbv"]).file == tmp_path / "s.skbv"


def test_several_threads_read_at_once(tmp_path: Path) -> None:
    import_files(FILES, tmp_path / "s.skbv")
    session = Session.open(tmp_path / "s.skbv")
    numbers = list(range(1, 17)) * 4
    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(lambda n: session.paths.path(packet=n), numbers))
    assert [p.packet.number for p in paths if p.packet] == numbers


def test_moved_capture_has_no_bytes(tmp_path: Path) -> None:
    capture = tmp_path / "a.pcap"
    capture.write_bytes(FILES[0].read_bytes())
    import_files([capture], tmp_path / "s.skbv")
    session = Session.open(tmp_path / "s.skbv")
    assert session.contents.packet_bytes(1) is not None
    capture.unlink()
    assert session.contents.packet_bytes(1) is None


@pytest.mark.parametrize("data", [b"", b"hello", bytes(range(256)) * 20])
def test_what_is_named_a_session_is_reported_as_one(data: bytes, tmp_path: Path) -> None:
    """Not as a capture or KBL of an unknown format."""
    path = tmp_path / "a.skbv"
    path.write_bytes(data)
    for paths in ([path], [FILES[0], path]):
        with pytest.raises(BadInput, match="not a session file") as caught:
            open_files(paths)
        assert caught.value.path == path


def test_several_logs_keep_their_packet_lives_apart(tmp_path: Path) -> None:
    """Rows of the second log are numbered behind those of the first."""
    files = [resource(f"samples/{name}/{name}.kbl") for name in ("nat", "drops")]
    import_files(files, tmp_path / "both.skbv")
    asked = (
        "SELECT DISTINCT leg.source, one.source FROM leg"
        " LEFT JOIN series one ON one.id = leg.series",
        "SELECT DISTINCT one.source, other.source FROM series one JOIN series other"
        " ON other.id = one.parent",
    )
    with closing(sqlite3.connect(tmp_path / "both.skbv")) as db:
        for question in asked:
            assert sorted(db.execute(question).fetchall()) == [(1, 1), (2, 2)]
    session = Session.open(tmp_path / "both.skbv")
    assert layer_table(session.stats.scope()).legs > 100


def test_the_view_of_packets_has_ipv6_addresses(tmp_path: Path) -> None:
    folder = resource("samples/ipv6-and-fragments")
    made = import_files([folder / "ipv6-and-fragments.pcap"], tmp_path / "s.skbv").path
    with closing(sqlite3.connect(made)) as db:
        rows_of_view = db.execute("SELECT number, saddr, daddr FROM packets").fetchall()
    rows = {row.number: row for row in Session.open(made).packets.numbered(1, len(rows_of_view))}
    assert any(":" in str(saddr) for _, saddr, _ in rows_of_view)
    for number, saddr, daddr in rows_of_view:
        row = rows[number]
        for text, wanted in ((saddr, row.saddr), (daddr, row.daddr)):
            assert (text and ip_address(text)) == (wanted and ip_address(wanted))
