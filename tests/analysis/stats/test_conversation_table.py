# SPDX-License-Identifier: MIT
"""Conversations and endpoints equal a plain count over the packets."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from skbviewer.analysis.stats import CONVERSATION_KINDS, conversations, endpoints
from skbviewer.analysis.streams.packet_flows import flows_of
from skbviewer.records import PacketRow, resource
from skbviewer.session import Session, import_files
from tests.readers.build import ipv4, udp, write_pcap

PROTOCOL = {"TCP": 6, "UDP": 17}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    out = tmp_path_factory.mktemp("talk") / "s.skbv"
    import_files([resource("samples/nat/nat.pcap"), resource("samples/nat/nat.kbl")], out)
    opened = Session.open(out)
    yield opened
    opened.close()


def rows_of(session: Session, kind: str) -> list[PacketRow]:
    rows = session.packets.numbered(1, session.packets.count())
    return [row for row in rows if row.protocol == PROTOCOL[kind] and row.sport is not None]


@pytest.mark.parametrize("kind", ["TCP", "UDP"])
def test_conversations(session: Session, kind: str) -> None:
    packets: dict[frozenset[object], list[PacketRow]] = defaultdict(list)
    for row in rows_of(session, kind):
        packets[frozenset([(row.saddr, row.sport), (row.daddr, row.dport)])].append(row)
    found = conversations(session.columns, kind)
    assert len(found) == len(packets) > 0
    for one in found:
        a, b = (one.address_a, one.port_a), (one.address_b, one.port_b)
        mine = packets[frozenset([a, b])]
        sent = [row for row in mine if (row.saddr, row.sport) == a]
        assert (one.packets, one.bytes) == (len(mine), sum(row.len for row in mine))
        assert (one.packets_ab, one.bytes_ab) == (len(sent), sum(row.len for row in sent))
        assert one.packets_ba == len(mine) - len(sent)
        assert one.begin_ns == min(row.ts_ns or 0 for row in mine)
        assert one.begin_ns + one.dur_ns == max(row.ts_ns or 0 for row in mine)
        assert one.kernel_ns == sum(row.kernel_ns or 0 for row in mine)


@pytest.mark.parametrize("kind", ["TCP", "UDP"])
def test_endpoints(session: Session, kind: str) -> None:
    rows = rows_of(session, kind)
    for one in endpoints(session.columns, kind):
        end = (one.address, one.port)
        assert one.tx_packets == sum((row.saddr, row.sport) == end for row in rows)
        assert one.rx_bytes == sum(row.len for row in rows if (row.daddr, row.dport) == end)
        assert one.packets == one.tx_packets + one.rx_packets


def test_of_some_packets_only(session: Session) -> None:
    rows = rows_of(session, "TCP")
    one = np.array([rows[0].number])
    (found,) = conversations(session.columns, "TCP", one)
    assert (found.packets, found.bytes) == (1, rows[0].len)
    for kind in CONVERSATION_KINDS:
        assert conversations(session.columns, kind, one[:0]) == []
        assert endpoints(session.columns, kind, one[:0]) == []


def test_each_kind_counts_its_packets(session: Session) -> None:
    total = session.packets.count()
    assert sum(row.packets for row in conversations(session.columns, "Ethernet")) == total
    versions = [sum(r.packets for r in conversations(session.columns, k)) for k in ("IPv4", "IPv6")]
    arp = sum(row.protocol is None for row in session.packets.numbered(1, total))
    assert sum(versions) + arp == total


MACS = bytes.fromhex("0a0b0c0d0e0f020304050607")
SNAP = bytes.fromhex("aaaa030000000800")
WITHOUT_ETHERNET = {
    "the device any": (113, struct.pack(">HHH6sxxH", 0, 1, 6, MACS[6:], 0x0800)),
    "802.11": (105, b"\x08\x01\0\0" + MACS + MACS[:6] + b"\0\0" + SNAP),
    "a DSA tag": (284, MACS + b"\x40\0\0\0\x08\0"),
}


@pytest.mark.parametrize("of", WITHOUT_ETHERNET)
def test_only_what_the_filter_eth_finds_is_a_conversation_of_ethernet(
    tmp_path: Path, of: str
) -> None:
    linktype, head = WITHOUT_ETHERNET[of]
    packet = ipv4("10.9.0.1", "10.9.0.2", 17, udp(4000, 7))
    write_pcap(tmp_path / "one.pcap", [(0, head + packet)], linktype=linktype)
    import_files([tmp_path / "one.pcap"], tmp_path / "one.skbv")
    session = Session.open(tmp_path / "one.skbv")
    columns = session.columns
    found = session.packets.listed("eth")
    assert found is not None and len(found) == 0
    assert [conversations(columns, "Ethernet"), endpoints(columns, "Ethernet")] == [[], []]
    assert [one.address_a for one in conversations(columns, "IPv4")] == ["10.9.0.1"]
    session.close()


def test_a_hash_that_two_share_separates_them_by_their_ends(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = conversations(session.columns, "UDP")
    for module in ("stats.conversation_table", "streams.packet_flows"):  # every hash is 0
        monkeypatch.setattr(f"skbviewer.analysis.{module}.ODD", np.uint64(0))
    assert conversations(session.columns, "UDP") == right


def test_the_table_of_flows_grows(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    right = {kind: conversations(session.columns, kind) for kind in CONVERSATION_KINDS}
    for name, small in (("SLOTS", 4), ("BLOCK", 5)):
        monkeypatch.setattr(f"skbviewer.analysis.streams.packet_flows.{name}", small)
    assert {kind: conversations(session.columns, kind) for kind in CONVERSATION_KINDS} == right


def test_many_packets_are_chosen_block_by_block(session: Session) -> None:
    some = np.arange(1, session.packets.count(), 2)
    few = [number for number in some.tolist() if number < 40]
    flows = flows_of(session.columns, some)
    assert int(flows.packets.sum()) == len(some)
    parts = [flows_of(session.columns, np.array([number])) for number in few]
    together = flows_of(session.columns, np.array(few))
    assert int(together.bytes.sum()) == sum(int(part.bytes.sum()) for part in parts)
