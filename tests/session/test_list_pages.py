# SPDX-License-Identifier: MIT
"""Rows by number in any order, with thread and drop reason."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from skbviewer.records import PacketRow, SeriesRow, resource
from skbviewer.session import Session, import_files


def session_of(name: str, folder: Path, *suffixes: str) -> Session:
    files = [resource(f"samples/{name}") / f"{name}.{suffix}" for suffix in suffixes]
    import_files(files, folder / "s.skbv")
    return Session.open(folder / "s.skbv")


@pytest.fixture(scope="module")
def drops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    session = session_of("drops", tmp_path_factory.mktemp("drops"), "pcap", "kbl")
    yield session
    session.close()


def test_rows_come_in_the_order_asked_for(drops: Session) -> None:
    lives = min(3, drops.packets.kernel_only_count())
    assert lives > 0
    ids = np.array([5, -lives, 2, 5, -1])
    assert [row.number for row in drops.packets.rows(ids)] == [5, f"K{lives}", 2, 5, "K1"]
    kinds = [type(row) for row in drops.packets.rows(ids)]
    assert kinds == [PacketRow, SeriesRow, PacketRow, PacketRow, SeriesRow]


def test_rows_tell_what_packets_tell(drops: Session) -> None:
    count = drops.packets.count()
    assert drops.packets.rows(np.arange(1, count + 1)) == drops.packets.numbered(1, count + 9)
    assert drops.packets.rows(np.array([-1, -2])) == drops.packets.kernel_only(1, 2)


def test_a_dropped_packet_says_why_and_its_path_says_the_same(drops: Session) -> None:
    rows = drops.packets.rows(np.arange(1, drops.packets.count() + 1))
    dropped = [row for row in rows if row.drop]
    assert dropped
    for row in dropped:
        assert isinstance(row, PacketRow)
        events = [e for leg in drops.paths.path(packet=row.number).legs for e in leg.events]
        assert any(e.event == "drop" and row.drop in e.text for e in events)


def test_the_thread_is_one_of_the_path(drops: Session) -> None:
    rows = drops.packets.rows(np.arange(1, drops.packets.count() + 1))
    owned = [row for row in rows if row.process]
    assert owned
    for row in owned:
        assert isinstance(row, PacketRow)
        calls = [c for leg in drops.paths.path(packet=row.number).legs for c in leg.calls]
        threads = {f"{c.comm} [{c.pid}]".strip() for c in calls if c.context == "task"}
        assert row.process in threads


def test_an_unknown_row_is_reported(drops: Session) -> None:
    with pytest.raises(KeyError):
        drops.packets.rows(np.array([1, 10_000_000]))


@pytest.mark.parametrize("word", ["source", "destination", "protocol", "info", "frame.len"])
@pytest.mark.parametrize("descending", [False, True])
def test_any_column_orders_the_rows(drops: Session, word: str, descending: bool) -> None:
    ids = drops.packets.listed("", (word, descending), kernel_only=True)
    assert ids is not None
    count = drops.packets.count(), drops.packets.kernel_only_count()
    assert len(ids) == len(set(ids.tolist())) == sum(count)
    rows = drops.packets.rows(ids)
    if word == "protocol":
        names = [row.protocol for row in rows if row.protocol is not None]
        assert names == sorted(names, reverse=descending)
    other = drops.packets.listed("", (word, not descending), kernel_only=True)
    assert other is not None and other.tolist() != ids.tolist()


@pytest.mark.parametrize("descending", [False, True])
def test_column_process_is_sorted_by_the_thread_that_it_shows(
    drops: Session, descending: bool
) -> None:
    ids = drops.packets.listed("", ("process", descending), kernel_only=True)
    assert ids is not None and len(ids) == drops.packets.count() + drops.packets.kernel_only_count()
    shown = [row.process for row in drops.packets.rows(ids)]
    known = [text for text in shown if text]
    assert shown == known + [""] * (len(shown) - len(known))  # rows without a thread are last
    threads = [(comm, int(pid[:-1])) for comm, _, pid in (text.rpartition(" [") for text in known)]
    assert threads == sorted(threads, key=lambda of: (of[0].lower(), of[1]), reverse=descending)
    assert len(set(threads)) > 1


def test_kernel_only_rows_stand_at_their_time_among_the_packets(drops: Session) -> None:
    ids = drops.packets.listed("", None, kernel_only=True)
    assert ids is not None
    times = [
        r.time_ns if isinstance(r, SeriesRow) else r.ts_ns or 0 for r in drops.packets.rows(ids)
    ]
    late = [b - a for a, b in pairwise(times) if b < a]
    assert min(late, default=0) > -1_000_000  # within what the clock fit may be wrong
    first, last = drops.packets.rows(np.array([1, drops.packets.count()]))
    assert isinstance(first, PacketRow) and isinstance(last, PacketRow)
    assert first.ts_ns is not None and last.ts_ns is not None
    assert first.ts_ns - 10**10 < times[0] and times[-1] < last.ts_ns + 10**10


def test_reasons_add_up_to_all_rows(drops: Session) -> None:
    found = drops.reasons()
    matches = drops.info()["matches"]
    by_verdict = {each.verdict: 0 for each in found}
    for each in found:
        by_verdict[each.verdict] += each.number
    assert by_verdict["kernel-only"] == drops.packets.all_kernel_only_count()
    assert by_verdict["exact"] == matches["exact"] > 0
    assert sum(by_verdict.values()) - by_verdict["kernel-only"] == drops.packets.count()
    for packet in drops.packets.rows(np.arange(1, drops.packets.count() + 1)):
        assert any(packet.reason == each.why for each in found)


def test_only_a_drop_of_the_packet_itself_is_a_loss(drops: Session) -> None:
    rows = {row.number: row for row in drops.packets.numbered(1, drops.packets.count())}
    reply, filtered = rows[4], rows[5]
    assert (reply.drop, reply.lost) == ("NO_SOCKET", False)  # ping's raw socket has a copy
    assert reply.drop_place.startswith("icmp_rcv+")
    assert (filtered.drop, filtered.lost) == ("NETFILTER_DROP", True)
    assert filtered.drop_place.startswith("nf_hook_slow+")


def test_what_is_freed_with_its_whole_is_no_loss(tmp_path: Path) -> None:
    session = session_of("ipv6-and-fragments", tmp_path, "pcap", "kbl")
    rows = session.packets.numbered(1, session.packets.count())
    session.close()
    fragments = [row for row in rows if row.drop_place.startswith("skb_release_data+")]
    assert fragments and not any(row.lost for row in fragments)
    purged = [row for row in rows if row.drop == "QUEUE_PURGE"]
    assert purged and not any(row.lost for row in purged)  # a FIN without data
    assert any("IPv6 fragment (off=" in row.info for row in rows)
