# SPDX-License-Identifier: MIT
"""Sampling: module and viewer choose the same connections, from headers and from sockets."""

from __future__ import annotations

import random
import socket
from pathlib import Path

import numpy as np
import pytest

from skbviewer.matching import Sample, is_left_out, sample_of
from skbviewer.readers import read
from skbviewer.records import Capture, Silent
from tests.kmod.filter import tcpdump
from tests.kmod.filter.build import ask
from tests.kmod.filter.packets import (
    ICMP,
    ICMP6,
    SCTP,
    TCP,
    UDP,
    UDPLITE,
    Packet,
    Sock,
    frame,
    sock_subject,
    subject,
)

AF_PACKET, AF_UNIX = 17, 1
GRE = 47


def connections(count: int) -> list[Packet]:
    """A packet of each of `count` connections, IPv4 and IPv6, always the same ones."""
    draw = random.Random(5)
    made = []
    for _ in range(count):
        layer3 = draw.choice(["ip", "ip6"])
        four = [f"10.{draw.randrange(256)}.{draw.randrange(256)}.1" for _ in "sd"]
        six = [f"2001:db8:{draw.randrange(65536):x}::{draw.randrange(65536):x}" for _ in "sd"]
        src, dst = four if layer3 == "ip" else six
        protocol = draw.choice([TCP, TCP, TCP, UDP, UDP, UDPLITE, ICMP, ICMP6, SCTP, GRE])
        sport, dport = draw.randrange(1, 65536), draw.randrange(1, 65536)
        made.append(Packet(layer3, src, dst, protocol, sport, dport))
    return made


def reply(packet: Packet) -> Packet:
    """Return the connection seen in the other direction."""
    return Packet(packet.layer3, packet.dst, packet.src, packet.protocol, packet.dport,
                  packet.sport)  # fmt: skip


def verdicts(text: str, subjects: list[bytes]) -> str:
    """The module's verdicts, a letter each."""
    said = ask([text.encode()], subjects)[0]
    assert said.error is None
    return said.verdicts


def left_out(path: Path, packets: list[Packet], sample: Sample) -> list[bool]:
    """Return for each packet whether the viewer finds that the sample leaves it out."""
    tcpdump.write(path, [frame(packet) for packet in packets])
    capture = read(path, Silent())
    assert isinstance(capture, Capture)
    return [bool(one) for one in is_left_out(capture.packets, sample)]


@pytest.mark.parametrize(("rate", "seed"), [(1, 0), (2, 0), (50, 0), (3, 7), (7, 0xFFFFFFFF)])
def test_viewer_and_module_agree(tmp_path: Path, rate: int, seed: int) -> None:
    packets = connections(3000)
    packets += [Packet(p.layer3, p.src, p.dst, p.protocol, p.sport, p.dport, 9, True)
                for p in packets[:300]]  # fmt: skip
    packets += [Packet("arp", "10.0.0.1", "10.0.0.2"), Packet("lldp")]
    module = verdicts(f"sample {rate}/{seed}", [subject(p) for p in packets])
    viewer = left_out(tmp_path / "a.pcap", packets, Sample(rate, seed))
    # The test's footprints of IPv6 fragments have no protocol, the module's own have one.
    plain = [i for i, p in enumerate(packets) if not (p.fragment and p.layer3 == "ip6")]
    assert [module[i] == "N" for i in plain] == [viewer[i] for i in plain]
    assert module[-2:] == "YY"
    assert ("N" in module) == (rate > 1)


def test_both_directions_are_one_connection() -> None:
    packets = connections(500)
    there = verdicts("sample 4", [subject(p) for p in packets])
    assert there == verdicts("sample 4", [subject(reply(p)) for p in packets])
    assert set(there) == {"N", "Y"}


@pytest.mark.parametrize("rate", [2, 10, 100])
def test_about_one_in_n_is_chosen(rate: int) -> None:
    """Within four standard deviations of a fair draw."""
    count = 4000
    chosen = verdicts(f"sample {rate}", [subject(p) for p in connections(count)]).count("Y")
    assert abs(chosen - count / rate) < 4 * np.sqrt(count / rate * (1 - 1 / rate))


def test_another_seed_chooses_others() -> None:
    subjects = [subject(p) for p in connections(1000)]
    assert verdicts("sample 2/1", subjects) != verdicts("sample 2/2", subjects)
    assert verdicts("sample 2", subjects) == verdicts("sample 2/0", subjects)


def test_a_connected_socket_decides_as_its_packets() -> None:
    packets = [p for p in connections(1000) if p.protocol in (TCP, UDP)]
    family = {"ip": socket.AF_INET, "ip6": socket.AF_INET6}
    socks = [Sock(family[p.layer3], p.protocol, p.src, p.dst, p.sport, p.dport) for p in packets]
    mapped = [
        Sock(socket.AF_INET6, p.protocol, f"::ffff:{p.src}", f"::ffff:{p.dst}", p.sport, p.dport)
        for p in packets
        if p.layer3 == "ip"
    ]
    headers = verdicts("sample 3", [subject(p) for p in packets])
    assert verdicts("sample 3", [sock_subject(s) for s in socks]) == headers
    four = "".join(v for v, p in zip(headers, packets, strict=True) if p.layer3 == "ip")
    assert verdicts("sample 3", [sock_subject(s) for s in mapped]) == four


@pytest.mark.parametrize(
    ("data", "verdict"),
    [
        (subject(Packet("none")), "U"),
        (subject(Packet("ip", "10.0.0.1", "10.0.0.2", UDP, 1, 2, frag_off=9)), "U"),
        (sock_subject(Sock(socket.AF_INET, UDP, "10.0.0.1", num=53)), "U"),
        (sock_subject(Sock(socket.AF_INET6, TCP)), "U"),
        (sock_subject(Sock(AF_PACKET, 3)), "U"),
        (sock_subject(Sock(AF_UNIX, 0)), "N"),
    ],
)
def test_what_cannot_be_hashed_yet(data: bytes, verdict: str) -> None:
    assert verdicts("sample 4000000000", [data]) == verdict


@pytest.mark.parametrize("text", ["sample 0", "sample", "sample 5/x", "sample -1", "tcp sample 5"])
def test_wrong_rates_are_refused(text: str) -> None:
    assert ask([text.encode()], [])[0].error is not None


@pytest.mark.parametrize(
    ("meta", "sample"),
    [
        ({"sample.rate": "50", "sample.seed": "7"}, Sample(50, 7)),
        ({"sample.rate": "50"}, Sample(50, 0)),
        ({}, None),
        ({"sample.rate": "0", "sample.seed": "7"}, None),
        ({"sample.rate": "many"}, None),
        ({"sample.rate": "5", "sample.seed": str(1 << 32)}, None),
    ],
)
def test_the_rate_is_in_the_file(meta: dict[str, str], sample: Sample | None) -> None:
    assert sample_of(meta) == sample
