# SPDX-License-Identifier: MIT
"""Every packet and every series of a session has a verdict and a reason."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from skbviewer.analysis import reason
from skbviewer.matching import NAMELESS
from skbviewer.readers import read
from skbviewer.records import Capture, Silent, resource
from skbviewer.session import Session, import_files

VERDICTS = {0: "exact", 1: "ambiguous", 2: "kernel-only"}


def test_packets_without_an_ip_header_have_reasons_of_their_own(tmp_path: Path) -> None:
    """ARP alone fits no clock; a packet cut in its IP header may be of any life."""
    folder = resource("samples/handshake")
    sample = read(folder / "handshake.pcap", Silent())
    assert isinstance(sample, Capture)
    frames = (folder / "handshake.pcap").read_bytes()
    arp = sample.packets["ethertype"] == 0x0806
    begins, sizes = sample.packets["offset"][arp], sample.packets["caplen"][arp]
    parts = [frames[b - 16 : b + n] for b, n in zip(begins.tolist(), sizes.tolist(), strict=True)]
    (tmp_path / "arp.pcap").write_bytes(frames[:24] + b"".join(parts))
    import_files([tmp_path / "arp.pcap", folder / "handshake.kbl"], tmp_path / "arp.skbv")
    session = Session.open(tmp_path / "arp.skbv")
    no_header = "The capture has no IP header of this packet"
    assert {
        (p.verdict, p.reason) for p in session.packets.numbered(1, session.packets.count())
    } == {("ambiguous", f"{no_header}, and several lifetimes are close to the packet in time.")}
    assert reason(2, NAMELESS).startswith(no_header)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """TCP at full speed."""
    folder, out = resource("samples/bulk"), tmp_path_factory.mktemp("bulk") / "bulk.skbv"
    import_files([folder / "bulk.pcap", folder / "bulk.kbl"], out)
    return Session.open(out)


def test_series_have_verdict_rung_and_confidence(session: Session) -> None:
    verdict, rung, confidence, tap, identity = (
        session.columns.array("series", name)
        for name in ("verdict", "rung", "confidence", "tap", "identity")
    )
    seen = Counter(VERDICTS[number] for number in verdict.tolist())
    assert seen["exact"] >= session.packets.count()
    assert seen["kernel-only"] > 0
    assert ((confidence > 0) == (verdict == 0)).all()
    assert set(rung[(tap == 1) & (verdict == 2)].tolist()) == {-3}
    assert set(rung[(identity >= 0) & (verdict == 2) & (tap == 0)].tolist()) <= {0, -1}


def test_rows_without_a_packet_say_why(session: Session) -> None:
    rows = session.packets.kernel_only(1, session.packets.kernel_only_count())
    assert rows
    assert all(row.reason for row in rows)


def test_packets_say_why(session: Session) -> None:
    reasons = Counter(p.reason for p in session.packets.numbered(1, session.packets.count()))
    assert (
        reasons["The only packet with this source, destination, IP identification and protocol."]
        > 50
    )
    assert "" not in reasons


def test_a_packet_of_one_host_was_under_way_between_none(session: Session) -> None:
    assert session.paths.under_way(5) == []
    assert session.info()["one_way"] == []


def test_the_wire_time_is_on_the_logs_clock(session: Session) -> None:
    path = session.paths.path(packet=20)
    assert any(leg.begin_ns <= (leg.wire_ns or 0) <= leg.end_ns for leg in path.legs)
