# SPDX-License-Identifier: MIT
"""Recordings of one traffic under several filters, against captures of that traffic."""

from __future__ import annotations

import functools
from pathlib import Path

import dpkt
import numpy as np
import pytest

from skbviewer.matching import Sample, is_left_out
from skbviewer.readers import read as read_file
from skbviewer.records import Capture, Silent
from skbviewer.records import kbl_layout as layout
from tests.kmod.filter import tcpdump
from tests.lab import guest
from tests.lab.fixture import SERIES, Lab, built
from tests.lab.kbl_check import Kbl, Kind, Type, one, probes, read
from tests.lab.record import run

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

# What tcpdump calls the same; own words: what the filter comes to in this traffic.
FILTERS = {
    "none": "ip",
    "udp": "udp and port 7",
    "icmp": "icmp or arp",
    "tcp": "tcp and host 10.9.0.2",
    "source": "src host 10.9.0.1 and not icmp",
    "dev": "ip",
}
ICMP, TCP, UDP = 1, 6, 17
ARP = 0x0806


class Seen(set[tuple[int, bytes, bytes, int]]):
    """IPv4 packets by protocol, addresses and identification."""


@functools.cache
def filtered(series: str) -> Lab:
    """The guest that records under filters."""
    steps = guest.Run(("filter",), timeout_s=600)
    return Lab(series, built(series), run(built(series), steps, "filter"))


@pytest.fixture(scope="session", params=SERIES)
def lab(request: pytest.FixtureRequest) -> Lab:
    """The guest of each kernel."""
    return filtered(request.param)


@functools.cache
def recording(path: Path) -> Kbl:
    """Read each recording once."""
    return read(path)


def recorded(lab: Lab, name: str) -> Kbl:
    """The recording under one filter."""
    return recording(lab.out / f"filter-{name}.kbl")


def footprints(kbl: Kbl) -> list[tuple[np.void, ...]]:
    """The slots of every footprint."""
    event = layout.KblEvent.FOOTPRINT
    return [
        r.slots for r in kbl.records if r.head["kind"] == Kind.EVENT and r.head["event"] == event
    ]


def packets(kbl: Kbl) -> Seen:
    """The IPv4 packets that were recorded."""
    ipv4 = [s[1] for s in footprints(kbl) if len(s) == 2]
    return Seen(
        (int(v["protocol"]), bytes(v["saddr"]), bytes(v["daddr"]), int(v["ip_id"])) for v in ipv4
    )


def captured(path: Path, text: str) -> Seen:
    """The IPv4 packets of a capture that libpcap's filter accepts."""
    numbers = tcpdump.matches(path, text)
    assert numbers is not None
    found = Seen()
    with path.open("rb") as file:
        for when, raw in dpkt.pcap.Reader(file):
            packet = dpkt.ethernet.Ethernet(raw).data
            if isinstance(packet, dpkt.ip.IP) and int(when) in numbers:
                found.add((packet.p, packet.src, packet.dst, packet.id))
    return found


def renumbered(lab: Lab, name: str, tmp_path: Path) -> Path:
    """The capture with packet numbers for times, as tcpdump.matches() wants it."""
    path = tmp_path / "numbered.pcap"
    with (lab.out / f"filter-{name}.pcap").open("rb") as file:
        tcpdump.write(path, [raw for _, raw in dpkt.pcap.Reader(file)])
    return path


def calls(kbl: Kbl) -> dict[str, int]:
    """How many calls of each function were recorded."""
    names = {int(row["id"]): name for name, row in probes(kbl).items()}
    count = dict.fromkeys(names.values(), 0)
    for record in kbl.records:
        if record.head["kind"] == Kind.CALL:
            count[names[int(record.head["func"])]] += 1
    return count


def tcp_packets(path: Path) -> tuple[int, int]:
    """How many TCP packets a capture has, and how many of them a connected socket sent.

    Sockets in SYN_RECV and TIME_WAIT answer past ``__tcp_transmit_skb()`` and ``ip_queue_xmit()``:
    their packets have an identification of 0 (``ip_select_ident_segs()``, include/net/ip.h).
    Others count from a random number, perhaps from 65,535 to 0.
    """
    with path.open("rb") as file:
        frames = [dpkt.ethernet.Ethernet(raw).data for _, raw in dpkt.pcap.Reader(file)]
    packets = [packet for packet in frames if isinstance(packet, dpkt.ip.IP) and packet.p == TCP]
    known = {(packet.src, packet.id) for packet in packets}
    sent = [p for p in packets if p.id or (p.src, 0xFFFF) in known]
    return len(packets), len(sent)


@pytest.mark.parametrize("name", FILTERS)
def test_recorded_are_the_packets_that_libpcap_accepts(lab: Lab, name: str, tmp_path: Path) -> None:
    path = renumbered(lab, name, tmp_path)
    wanted, seen = captured(path, FILTERS[name]), packets(recorded(lab, name))
    everything = captured(path, "ip")
    assert wanted <= seen
    assert seen & (everything - wanted) == set()
    assert len(everything) > 10
    last = one(recorded(lab, name).tables[Type.COUNTERS], layout.KBL_COUNTERS)
    assert last["lost"] == 0
    assert (last["filtered"] > 0) == (name != "none")


def test_before_the_header_the_socket_decides(lab: Lab, tmp_path: Path) -> None:
    """The packets are counted in each capture, because a slow guest sends more of them."""
    everything = calls(recorded(lab, "none"))
    assert min(everything[n] for n in ("tcp_sendmsg", "udp_sendmsg", "__tcp_transmit_skb")) > 0
    assert everything["netlink_rcv_skb"] > 0
    tcp, udp = calls(recorded(lab, "tcp")), calls(recorded(lab, "udp"))
    for name, found in (("none", everything), ("tcp", tcp)):
        received, sent = tcp_packets(renumbered(lab, name, tmp_path))
        assert found["tcp_v4_rcv"] == received
        assert found["__tcp_transmit_skb"] == found["ip_queue_xmit"] == sent > 0
    for name in ("__tcp_transmit_skb", "ip_queue_xmit", "tcp_v4_rcv"):
        assert udp[name] == 0
    assert (tcp["tcp_sendmsg"], udp["tcp_sendmsg"]) == (everything["tcp_sendmsg"], 0)
    for name in ("udp_sendmsg", "udp_rcv"):
        assert udp[name] == everything[name]
        assert tcp[name] == 0


@pytest.mark.parametrize("name", ["udp", "icmp", "tcp", "source", "dev", "mark", "netns"])
def test_sockets_of_no_network_are_refused(lab: Lab, name: str) -> None:
    assert calls(recorded(lab, name))["netlink_rcv_skb"] == 0


def test_arp_is_recorded_by_the_addresses_it_speaks_of(lab: Lab) -> None:
    heads = {name: [s[0] for s in footprints(recorded(lab, name))] for name in FILTERS}
    arp = {name: any(h["ethertype"] == ARP for h in of) for name, of in heads.items()}
    assert arp == {"none": True, "udp": False, "icmp": True, "tcp": False, "source": True,
                   "dev": False}  # fmt: skip


def test_a_mark_none_has_is_not_recorded(lab: Lab) -> None:
    assert packets(recorded(lab, "mark")) == set()


def test_of_a_namespace_none_is_in_only_what_is_nowhere_is_recorded(lab: Lab) -> None:
    """TCP frees packets that have neither device nor socket any more: nobody knows their place."""
    nowhere = [s for s in footprints(recorded(lab, "netns")) if len(s) == 2]
    assert [s for s in nowhere if s[0]["ifindex"] or s[0]["sk"]] == []
    everything = [s for s in footprints(recorded(lab, "none")) if len(s) == 2]
    assert len(nowhere) < len(everything) / 10


def test_an_accepted_packet_stays_accepted_through_nat(lab: Lab, tmp_path: Path) -> None:
    seen = packets(recorded(lab, "nat"))
    client, router, server = (bytes((10, 9, *end)) for end in ((1, 2), (2, 1), (2, 2)))
    for protocol in (ICMP, TCP, UDP):
        ends = {(src, dst) for p, src, dst, _ in seen if p == protocol}
        assert ends == {(client, server), (router, server)}
    wanted = captured(renumbered(lab, "nat", tmp_path), "ip and src host 10.9.2.1")
    assert wanted
    assert wanted <= seen


def test_a_sampled_recording_has_whole_connections(lab: Lab) -> None:
    capture = read_file(lab.out / "filter-sample.pcap", Silent())
    assert isinstance(capture, Capture)
    rows = capture.packets
    left_out, ip = is_left_out(rows, Sample(2, 0)), np.asarray(rows["ip_version"]) == 4
    columns = (np.asarray(rows[name]) for name in ("protocol", "saddr_lo", "daddr_lo", "ip_id"))
    keys = [
        (p, src.to_bytes(4, "big"), dst.to_bytes(4, "big"), number)
        for p, src, dst, number in zip(*(column.tolist() for column in columns), strict=True)
    ]
    chosen, others = (
        Seen(key for key, mine in zip(keys, ip & which, strict=True) if mine)
        for which in (~left_out, left_out)
    )
    seen = packets(recorded(lab, "sample"))
    assert chosen <= seen
    assert seen & (others - chosen) == set()


def test_refused_filters_are_named_in_the_kernel_log(lab: Lab) -> None:
    said = (lab.out / "filter-refused").read_text().splitlines()
    assert [line.split("kbl: filter: ")[1] for line in said] == [
        "'foo' at character 9: not a word of this subset of pcap-filter",
        "'10.0.0.1/8' at character 6: not one address; use net",
        "at the end: a parenthesis is not closed",
        "'70000' at character 6: not a port number (names are not looked up)",
        "longer than 1023 characters",
    ]
    refused = (lab.out / "refused-filter").read_text().splitlines()
    assert [line.rpartition(": ")[2] for line in refused] == ["Invalid argument"] * 5
