# SPDX-License-Identifier: MIT
"""Packet 23 of sample bulk: what was merged into it, since when its entries count; its notes."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from skbviewer.records import resource
from skbviewer.session import Session, import_files


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    out: Path = tmp_path_factory.mktemp("bulk") / "bulk.skbv"
    import_files([resource(f"samples/bulk/bulk.{end}") for end in ("pcap", "kbl")], out)
    return Session.open(out)


def test_a_merged_packet_has_the_verdict_that_it_has_itself(session: Session) -> None:
    branches = session.paths.path(packet=23).branches
    assert {leg.packet for leg in branches} >= {25, 27}
    for leg in branches:
        assert leg.reason
        if leg.packet is not None:
            itself = session.packets.numbered(leg.packet, 1)[0]
            assert (leg.match, leg.row) == (itself.verdict, str(leg.packet))


def test_entries_of_all_legs_count_from_one_moment(session: Session) -> None:
    path = session.paths.path(packet=23)
    sent, received = path.legs
    assert sent.zero_ns == received.zero_ns == sent.begin_ns
    assert {leg.zero_ns for leg in path.branches} == {sent.begin_ns}


def test_an_ack_that_makes_tcp_send_is_not_busy_with_it(session: Session) -> None:
    packet = session.packets.numbered(23, 1)[0]
    assert packet.kernel_ns == 2_035_030
    assert packet.busy_ns is not None and packet.busy_ns < 100_000
    others = [
        wait for wait in session.paths.path(packet=23).legs[1].waits if wait.what == "other packets"
    ]
    assert max(wait.dur_ns for wait in others) == 845_492  # tcp_write_xmit and what it sends


def test_a_call_of_a_kernel_only_packet_leads_to_its_row(session: Session) -> None:
    columns = session.columns
    (series,) = np.flatnonzero(columns.array("series", "kernel_only") == 1)
    (leg, *_) = np.flatnonzero(columns.array("leg", "series") == series + 1)
    (call, *_) = np.flatnonzero(columns.array("call", "leg") == leg + 1)
    place = session.paths.call_place(int(call) + 1)
    assert (place.packet, place.row) == (None, -1)
    mine = session.paths.path(packet=23).legs[0]
    first = session.paths.call_place(session.paths.call_number(23, mine.series, 0, 0))
    assert (first.packet, first.row) == (23, 23)


def test_a_call_whose_thread_was_switched_out_is_not_said_to_sleep(tmp_path: Path) -> None:
    """Another task ran on the CPU; whether the thread slept or was preempted is not recorded."""
    out = tmp_path / "handshake.skbv"
    import_files([resource(f"samples/handshake/handshake.{end}") for end in ("pcap", "kbl")], out)
    with closing(Session.open(out)) as session:
        connect = session.paths.path(packet=3).legs[0].calls[0]
    assert connect.note.startswith("switched out, interrupted")
