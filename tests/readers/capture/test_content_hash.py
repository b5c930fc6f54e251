# SPDX-License-Identifier: MIT
"""What packets carry, as one number: as docs/kbl-format.md defines it, from any capture."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from skbviewer.readers import read
from skbviewer.records import Capture, KernelLog, Silent
from skbviewer.records import kbl_layout as kbl
from tests.readers.build import arp, ethernet, icmp, ipv4, ipv6, tcp, udp, write_pcap
from tests.readers.build_kbl import Ipv4, KblBuilder, SkbInfo, ext

A4, B4, A6, B6 = "10.9.0.1", "10.9.0.2", "2001:db8::1", "2001:db8::2"
LONG = bytes(range(1, 101))
# Bytes that do not count, by protocol: ports and checksum.
PORTS = (0, 1, 2, 3)
LEFT_OUT: dict[int, tuple[int, ...]] = {6: (*PORTS, 16, 17), 17: (*PORTS, 6, 7)}
LEFT_OUT |= {136: LEFT_OUT[17], 132: (*PORTS, 8, 9, 10, 11)}


def expected(carried: bytes, protocol: int) -> int:
    """The definition in docs/kbl-format.md, byte by byte."""
    taken = bytearray(carried[:48])
    for i in LEFT_OUT.get(protocol, ()):
        if i < len(taken):
            taken[i] = 0
    made = len(taken)
    taken += bytes(-len(taken) % 8)
    for (word,) in struct.iter_unpack("<Q", taken):
        made = (made ^ word) * 0x9E3779B97F4A7C15 % (1 << 64)
        made ^= made >> 32
    return made & 0x7FFFFFFF


def contents(tmp_path: Path, *frames: bytes, snaplen: int = 0) -> list[int]:
    path = write_pcap(tmp_path / "a.pcap", list(enumerate(frames)), snaplen=snaplen)
    capture = read(path, Silent())
    assert isinstance(capture, Capture)
    return [int(c) for c in capture.packets["content"]]


def v4(protocol: int, carried: bytes) -> bytes:
    return ethernet(ipv4(A4, B4, protocol, carried))


CARRIED = {
    "udp": (17, udp(1000, 2000, LONG)),
    "short": (17, udp(1000, 2000, b"abc")),
    "tcp": (6, tcp(1000, 2000, 5, 6, 0x10, LONG)),
    "bare-tcp": (6, tcp(1000, 2000, 5, 6, 0x10, b"")),
    "icmp": (1, icmp(8, 0, 7, 9, LONG)),
    "sctp": (132, LONG),
    "esp": (50, LONG),
}


@pytest.mark.parametrize("name", CARRIED)
def test_is_what_the_format_says(tmp_path: Path, name: str) -> None:
    protocol, carried = CARRIED[name]
    frame = v4(protocol, carried)
    assert contents(tmp_path, frame) == [expected(carried, protocol)]


@pytest.mark.parametrize("name", ["udp", "short", "tcp", "sctp", "esp"])
def test_does_not_depend_on_the_ip_version(tmp_path: Path, name: str) -> None:
    protocol, carried = CARRIED[name]
    frame = ethernet(ipv6(A6, B6, protocol, carried), 0x86DD)
    assert contents(tmp_path, frame) == [expected(carried, protocol)]


def test_padding_does_not_count(tmp_path: Path) -> None:
    frame = v4(17, udp(1, 2, b"abc"))
    plain, padded = contents(tmp_path, frame, frame + b"\xaa" * 20)
    assert plain == padded


def test_options_of_ip_do_not_count(tmp_path: Path) -> None:
    bare = bytearray(ipv4(A4, B4, 17, udp(1, 2, LONG)))
    more = bytes([bare[0] + 1]) + struct.pack("!xH", len(bare) + 4) + bytes(bare[4:20])
    frames = [ethernet(bytes(bare)), ethernet(more + bytes(4) + bytes(bare[20:]))]
    first, second = contents(tmp_path, *frames)
    assert first == second == expected(udp(1, 2, LONG), 17)


def test_a_later_fragment_has_no_transport_header(tmp_path: Path) -> None:
    packet = bytearray(ipv4(A4, B4, 17, LONG))
    packet[6:8] = struct.pack("!H", 0x2000 | 10)
    assert contents(tmp_path, ethernet(bytes(packet))) == [expected(LONG, 0)]


def test_ports_and_checksums_do_not_count(tmp_path: Path) -> None:
    """NAT changes ports, and a checksum is not summed up before the driver."""
    frames = []
    for ports, checksum in (((1000, 2000), 0), ((3000, 4000), 0x1234)):
        carried = bytearray(udp(*ports, LONG))
        carried[6:8] = struct.pack("!H", checksum)
        frames.append(v4(17, bytes(carried)))
    assert len(set(contents(tmp_path, *frames))) == 1


@pytest.mark.parametrize("at", range(12, 48))
def test_each_other_byte_counts(tmp_path: Path, at: int) -> None:
    carried = bytearray(udp(1000, 2000, LONG))
    frames = [v4(17, bytes(carried))]
    carried[at] ^= 0x40
    frames.append(v4(17, bytes(carried)))
    assert len(set(contents(tmp_path, *frames))) == 2


def test_what_was_not_captured_is_unknown(tmp_path: Path) -> None:
    frame = v4(17, udp(1000, 2000, LONG))
    assert contents(tmp_path, frame, snaplen=14 + 20 + 47) == [-1]
    assert contents(tmp_path, frame, snaplen=14 + 20 + 48) == [expected(udp(1000, 2000, LONG), 17)]


def test_behind_an_extension_header_it_is_unknown(tmp_path: Path) -> None:
    carried = bytes([17, 0, 1, 4, 0, 0, 0, 0]) + udp(1, 2, LONG)
    assert contents(tmp_path, ethernet(ipv6(A6, B6, 60, carried), 0x86DD)) == [-1]


def test_of_arp_all_counts(tmp_path: Path) -> None:
    frame = ethernet(arp(1, A4, B4), 0x0806)
    assert contents(tmp_path, frame + bytes(18)) == [expected(arp(1, A4, B4), 0)]


def tapped(path: Path, order: str = "<") -> KernelLog:
    """Two calls of a packet socket's function; only the first one has the content hash."""
    fields = {"valid": kbl.KBL_TAP_CONTENT, "content": 77, "sk": 0xFFFF888000001000}
    fields |= {"pkt_type": 4, "ip_summed": 3, "checksum": 9}
    build = KblBuilder(version=3, per_chunk=1000)
    func = build.probe("tpacket_rcv")
    build.event(
        5, 0, kbl.KblEvent.FOOTPRINT, 0x1000, 0, ipv4=Ipv4(A4, B4, 1, 17), skbinfo=SkbInfo()
    )
    slot = ext(kbl.KBL_EXT_TAP, kbl.KblExtType.TAP, **fields)
    build.call(20, 0, func, 0x1000, 5, extra=(slot,))
    build.call(10, 0, func, 0x1000, 5)
    build.write(path, order=order)
    log = read(path, Silent())
    assert isinstance(log, KernelLog)
    return log


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_log_says_what_a_socket_was_given(tmp_path: Path, order: str) -> None:
    log = tapped(tmp_path / "a.kbl", order)
    assert log.warnings == ()
    (tap,) = log.taps
    assert int(log.records["ts"][tap["record"]]) == 20
    assert (int(tap["content"]), int(tap["checksum"])) == (77, -1)
    assert (int(tap["summed"]), int(tap["direction"])) == (3, 4)
    assert int(tap["sock"]) == 0xFFFF888000001000 - (1 << 64)


def test_a_log_of_before_says_nothing(tmp_path: Path) -> None:
    build = KblBuilder(version=3)
    build.call(10, 0, build.probe("tpacket_rcv"), 0x1000, 5)
    build.write(tmp_path / "a.kbl")
    log = read(tmp_path / "a.kbl", Silent())
    assert isinstance(log, KernelLog)
    assert len(log.taps) == 0
