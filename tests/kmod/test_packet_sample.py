# SPDX-License-Identifier: MIT
"""Sampling by packet: module and viewer choose the same packets of real and made captures."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import dpkt
import numpy as np
import pytest

from skbviewer.matching import Sample, is_left_out, sample_of
from skbviewer.readers import read
from skbviewer.records import Capture, Silent
from skbviewer.records import kbl_layout as layout
from tests.kmod.filter import tcpdump
from tests.kmod.filter.build import ask
from tests.kmod.filter.packets import (
    ICMP,
    ICMP6,
    SOCK,
    SUBJECT_TAIL,
    TCP,
    UDP,
    UDPLITE,
    Packet,
    Sock,
    slot,
    sock_subject,
    subject,
)

SAMPLES = sorted((Path(__file__).parents[2] / "resources/samples").glob("*/*.pcap"))
IP, IP6, FRAGMENT = 0x0800, 0x86DD, 44
DF, MF = 0x4000, 0x2000
L4 = (TCP, UDP, UDPLITE, ICMP, ICMP6)


def transport(protocol: int, data: bytes) -> dict[str, int]:
    """Return the fields of a footprint that kbl_l4.h reads from a transport header."""
    if protocol not in L4 or len(data) < (20 if protocol == TCP else 8):
        return {}
    sport, second, third, fourth = struct.unpack_from(">HHHH", data)
    if protocol == TCP:
        seq, ack = struct.unpack_from(">II", data, 4)
        return {"sport": sport, "dport": second, "seq": seq, "ack": ack, "l4_valid": 1}
    if protocol in (ICMP, ICMP6):
        return {"sport": sport, "dport": third, "seq": fourth, "l4_valid": 1}
    return {"sport": sport, "dport": second, "l4_valid": 1}


def ipv4(data: bytes) -> bytes:
    """Return KBL_EXT_IPV4 of a packet."""
    length, number, bits, protocol = struct.unpack_from(">xxHHHxB", data)
    rest = {} if bits & 0x1FFF else transport(protocol, data[(data[0] & 15) * 4 :])
    return slot(layout.KBL_EXT_IPV4, type=1, protocol=protocol, ip_id=number, frag_off=bits,
                saddr=data[12:16], daddr=data[16:20], tot_len=length, **rest)  # fmt: skip


def ipv6(data: bytes) -> bytes:
    """Return KBL_EXT_IPV6 and KBL_EXT_IPV6_L4 of a packet without other extension headers."""
    (length, upper), body, more = struct.unpack_from(">HB", data, 4), data[40:], {}
    if upper == 0:  # hop-by-hop options, as multicast reports have them
        upper, body = body[0], body[8 * body[1] + 8 :]
    if upper == FRAGMENT:
        upper, bits, number = struct.unpack_from(">BxHI", body)
        more = {"frag_id": number, "frag_off": bits >> 3 | (bits & 1) * MF}
        body = b"" if bits >> 3 else body[8:]
    return slot(
        layout.KBL_EXT_IPV6, type=2, nexthdr=upper, saddr_hi=data[8:16], saddr_lo=data[16:24],
        daddr_hi=data[24:32],
    ) + slot(
        layout.KBL_EXT_IPV6_L4, type=3, payload_len=length, daddr_lo=data[32:40], **more,
        **transport(upper, body),
    )  # fmt: skip


def footprint(frame: bytes, ethertype: int | None = None, gso: int = 0) -> bytes:
    """Return what the module would read of this frame's packet, as a struct subject."""
    kind = int.from_bytes(frame[12:14])
    four, six = kind == IP, kind == IP6
    said = kind if ethertype is None else ethertype
    skb = slot(layout.KBL_EXT_SKB, ethertype=said, gso_size=gso)
    parts = ipv4(frame[14:]) if four else bytes(layout.KBL_SLOT_SIZE)
    parts += ipv6(frame[14:]) if six else bytes(2 * layout.KBL_SLOT_SIZE)
    tail = SUBJECT_TAIL.pack(bytes(4), bytes(4), b"", 0, 0)
    return bytes([0, four, six, 0, 0, 0, 0, 0]) + skb + parts + tail + bytes(SOCK.size)


def frames_of(path: Path) -> list[bytes]:
    with path.open("rb") as file:
        return [frame for _, frame in dpkt.pcap.Reader(file)]


def module(frames: list[bytes], text: str) -> str:
    """The module's verdicts, a letter each."""
    said = [ask([text.encode()], [footprint(f) for f in frames[i : i + 4000]])[0]
            for i in range(0, len(frames), 4000)]  # fmt: skip
    assert not [one.error for one in said if one.error]
    return "".join(one.verdicts for one in said)


def viewer(path: Path, sample: Sample) -> str:
    """The viewer's choice, in the module's letters."""
    capture = read(path, Silent())
    assert isinstance(capture, Capture)
    return "".join("YN"[int(out)] for out in is_left_out(capture.packets, sample))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize(("rate", "seed"), [(1, 0), (2, 0), (4, 9), (100, 0xFFFFFFFF)])
def test_real_captures(path: Path, rate: int, seed: int) -> None:
    said = module(frames_of(path), f"sample-packets {rate}/{seed}")
    assert said == viewer(path, Sample(rate, seed, True))
    assert ("N" in said) == (rate > 1)


def test_the_captures_have_all_kinds() -> None:
    """Otherwise the comparison would show little."""
    kinds = set()
    for path in SAMPLES:
        for frame in frames_of(path):
            if frame[12:14] == b"\x08\0":
                kinds.add(("ip", frame[23], struct.unpack_from(">H", frame, 20)[0] & (DF | MF)))
            elif frame[12:14] == b"\x86\xdd":
                kinds.add(("ip6", frame[20], 0))
    assert {("ip", TCP, DF), ("ip", UDP, DF), ("ip", ICMP, MF), ("ip6", TCP, 0)} <= kinds
    assert {("ip6", UDP, 0), ("ip6", FRAGMENT, 0)} <= kinds


def datagram(number: int, bits: int, ports: tuple[int, int], payload: int = 0) -> bytes:
    body = struct.pack(">HHHH", *ports, 8 + payload, 0) + bytes(payload)
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), number, bits, 64, UDP, 0)
    return bytes(12) + b"\x08\0" + head + bytes((10, 0, 0, 1, 10, 0, 0, 2)) + body


def random_frames(count: int, bits: int) -> list[bytes]:
    draw = random.Random(7)
    return [
        datagram(draw.randrange(65536), bits, (draw.randrange(1, 65536), 53)) for _ in range(count)
    ]


@pytest.mark.parametrize("bits", [0, DF])
@pytest.mark.parametrize("rate", [2, 10, 100])
def test_about_one_in_n_is_chosen(rate: int, bits: int) -> None:
    """Within four standard deviations of a fair draw; also of packets of one connection."""
    one = [datagram(number, bits, (7, 53)) for number in range(4000)]
    for frames in (one, random_frames(4000, bits)):
        chosen = module(frames, f"sample-packets {rate}").count("Y")
        assert abs(chosen - 4000 / rate) < 4 * np.sqrt(4000 / rate * (1 - 1 / rate))


def test_fragments_of_a_datagram_agree_with_it(tmp_path: Path) -> None:
    """Only addresses, protocol and identification count: later fragments have nothing else."""
    for number in range(300):
        pieces = [datagram(number, bits, (7, 53), more) for bits, more in
                  ((0, 3000), (MF, 1472), (185, 20), (MF | 185, 600))]  # fmt: skip
        assert len(set(module(pieces, "sample-packets 2"))) == 1
        if number < 20:
            tcpdump.write(tmp_path / "a.pcap", pieces)
            assert viewer(tmp_path / "a.pcap", Sample(2, 0, True)) == module(
                pieces, "sample-packets 2"
            )


def test_ports_and_length_count_if_the_packet_cannot_be_cut() -> None:
    """A sender that sets DF may leave the identification 0."""
    for frames in ([datagram(0, DF, (port, 53)) for port in range(1, 400)],
                   [datagram(0, DF, (7, 53), more) for more in range(400)]):  # fmt: skip
        assert set(module(frames, "sample-packets 2")) == {"Y", "N"}


def test_another_seed_chooses_others() -> None:
    frames = random_frames(1000, DF)
    assert module(frames, "sample-packets 2/1") != module(frames, "sample-packets 2/2")
    assert module(frames, "sample-packets 2") == module(frames, "sample-packets 2/0")


@pytest.mark.parametrize(
    ("data", "verdict"),
    [
        # The sender has not set the EtherType: other header fields may be stale.
        (footprint(datagram(1, DF, (7, 53)), ethertype=0), "U"),
        (footprint(datagram(1, DF, (7, 53)), gso=1448), "U"),
        (footprint(datagram(1, DF, (7, 53))[:38]), "U"),
        (subject(Packet("none")), "U"),
        (sock_subject(Sock(2, UDP, "10.0.0.1", "10.0.0.2", 7, 53)), "U"),
        (subject(Packet("arp", "10.0.0.1", "10.0.0.2")), "Y"),
        (subject(Packet("lldp")), "Y"),
        (sock_subject(Sock(1, 0)), "N"),
    ],
)
def test_what_cannot_be_hashed(data: bytes, verdict: str) -> None:
    assert ask([b"sample-packets 4000000000"], [data])[0].verdicts == verdict


@pytest.mark.parametrize("text", ["sample-packets 0", "sample-packets", "tcp sample-packets 5",
                                  "sample-packets 5/x", "sample packets 5"])  # fmt: skip
def test_wrong_rates_are_refused(text: str) -> None:
    assert ask([text.encode()], [])[0].error is not None


@pytest.mark.parametrize(
    ("meta", "sample"),
    [
        ({"sample.packets": "4", "counters.sample_broken": "0"}, Sample(4, 0, True)),
        ({"sample.packets": "4", "sample.seed": "7", "counters.sample_broken": "2"},
         Sample(4, 7, True, False)),
        ({"sample.packets": "4"}, Sample(4, 0, True, False)),
        ({"sample.packets": "0", "counters.sample_broken": "0"}, None),
    ],
)  # fmt: skip
def test_the_rate_is_in_the_file(meta: dict[str, str], sample: Sample | None) -> None:
    assert sample_of(meta) == sample
