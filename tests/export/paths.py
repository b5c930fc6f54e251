# SPDX-License-Identifier: MIT
"""A path to export: a leg of three calls, with awkward names and values."""

from __future__ import annotations

from skbviewer.records import (
    Captured,
    Leg,
    PacketPath,
    PacketRow,
    PathCall,
    SourceKind,
    SourceRow,
    Wait,
)

SKB = 0xFFFF888000001000
SOURCE = SourceRow(1, '/data/a "b", c.pcap', SourceKind.PCAP, 10, "ab" * 32, 1, (), {})


def call(function: str, entry: int, leave: int | None, depth: int, parent: int) -> PathCall:
    dur = None if leave is None else leave - entry
    return PathCall(
        function=function,
        caller="" if depth == 0 else "net<rx>+0x10",
        layer="ip",
        depth=depth,
        parent=parent,
        entry_ns=entry,
        exit_ns=leave,
        dur_ns=dur,
        self_ns=dur,
        cpu=1,
        context="softirq",
        pid=7,
        comm='a,"b" & c',
        skb=SKB,
        device="eth0",
        tail_call=depth == 2,
        note="" if leave is not None else "no exit recorded",
    )


def packet() -> PacketRow:
    return PacketRow(
        number=4,
        ts_ns=1_700_000_000_000_000_123,
        caplen=60,
        len=1500,
        linktype=1,
        source=1,
        frame=4,
        saddr="10.0.0.1",
        daddr="10.0.0.2",
        ip_id=1,
        protocol=17,
        sport=1000,
        dport=53,
        info="1000 → 53 Len=4",
        verdict="exact",
        confidence=1.0,
        kernel_ns=900,
        functions=3,
        reason="Only packet with this key.",
        protocol_name="UDP",
        source_text="10.0.0.1",
        destination_text="10.0.0.2",
    )


def path(with_packet: bool = True) -> PacketPath:
    calls = (
        call("netif_receive_skb", 1000, 1500, 0, -1),
        call("ip_rcv", 1100, None, 1, 0),
        call("udp_rcv", 1200, 1300, 2, 1),
        call("skb_consume_udp", 9000, 9100, 0, -1),
    )
    wait = Wait("socket queue", 1500, 7500)
    leg = Leg(3, "rx", "exact", "", 1000, 1900, 900, 4, (wait,), calls, 100, "eth0")
    leg = leg._replace(source=2, wire_ns=1050, wire_error_ns=20)
    return PacketPath(packet() if with_packet else None, (leg,))


def of_two_hosts() -> PacketPath:
    """Return a path sent by "left", received by "right".

    The clock of "right" is 40 ms behind, give or take 300 ns.
    """
    (got,) = path().legs
    sent = got._replace(
        kind="tx", source=2, log="left", session_offset_ns=5 * 10**9, begin_ns=900, wire_error_ns=7
    )
    got = got._replace(source=3, log="right", session_offset_ns=5_040_000_000, session_error_ns=300)
    return PacketPath(packet(), (sent, got))


NO_LEGS = PacketPath(packet(), ())


def captured(seen: Captured) -> PacketPath:
    """Return the path, whose leg shows where and when the packet was captured."""
    whole = path()
    return whole._replace(legs=(whole.legs[0]._replace(captured=seen),))
