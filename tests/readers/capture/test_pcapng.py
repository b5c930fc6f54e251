# SPDX-License-Identifier: MIT
"""pcapng: sections, interfaces, clocks, every kind of packet block, damage at every place."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import dpkt
import pytest

from skbviewer.readers import packet_bytes, read
from skbviewer.records import BadInput, Capture, Silent
from tests.readers.build import (
    block,
    enhanced_packet,
    ethernet,
    interface_block,
    ipv4,
    section_header,
    udp,
    write_pcapng,
)

T0 = 1_700_000_000_123_456_789
FRAMES = [
    ethernet(ipv4("10.0.0.1", "10.0.0.2", 17, udp(7, n, b"x" * n), ip_id=n)) for n in range(3)
]
PACKETS = [(T0 + n * 1000, frame) for n, frame in enumerate(FRAMES)]


def load(path: Path, data: bytes | None = None) -> Capture:
    if data is not None:
        path.write_bytes(data)
    capture = read(path, Silent())
    assert isinstance(capture, Capture)
    return capture


@pytest.mark.parametrize("order", ["<", ">"])
def test_both_byte_orders(tmp_path: Path, order: str) -> None:
    path = write_pcapng(tmp_path / "a.pcapng", PACKETS, order)
    capture = load(path)
    assert capture.kind == "pcapng" and capture.warnings == ()
    assert [item.name for item in capture.interfaces] == ["veth0"]
    assert capture.packets["ts"].tolist() == [ts for ts, _ in PACKETS]
    assert capture.packets["ip_id"].tolist() == [0, 1, 2]
    for packet, frame in zip(capture.packets, FRAMES, strict=True):
        assert packet_bytes(path, int(packet["offset"]), int(packet["caplen"])) == frame
    oracle = dpkt.pcapng.Reader(io.BytesIO(path.read_bytes()))
    assert [data for _, data in oracle] == FRAMES


@pytest.mark.parametrize(
    ("tsresol", "tsoffset", "ticks", "ns"),
    [
        (None, None, 1_700_000_000_123_456, 1_700_000_000_123_456_000),
        (0, None, 1_700_000_000, 1_700_000_000_000_000_000),
        (3, 100, 1_700_000_000_123, 1_700_000_100_123_000_000),
        (9, -7, T0, T0 - 7_000_000_000),
        (12, None, 5_000_000_001_999, 5_000_000_001),
        (0x80 | 10, None, (1_700_000_000 << 10) + 512, 1_700_000_000_500_000_000),
        (0x80 | 40, None, (7 << 40) + (1 << 39), 7_500_000_000),
        (0x7F, None, T0, 0),
        (0xFF, None, T0, 0),
    ],
)
def test_clock_of_an_interface(
    tmp_path: Path, tsresol: int | None, tsoffset: int | None, ticks: int, ns: int
) -> None:
    description = interface_block(tsresol=tsresol, tsoffset=tsoffset)
    data = section_header() + description + enhanced_packet(ticks, FRAMES[0])
    assert load(tmp_path / "a", data).packets["ts"].tolist() == [ns]


def test_sections_of_two_orders_and_their_interfaces(tmp_path: Path) -> None:
    data = b""
    for order, ns in (("<", 5), (">", 7)):
        data += section_header(order)
        data += interface_block(1, order, f"eth{ns}") + interface_block(101, order, f"tun{ns}")
        data += enhanced_packet(ns, FRAMES[1], 0, order)
        data += enhanced_packet(ns + 1, FRAMES[2][14:], 1, order)
    capture = load(tmp_path / "a", data)
    assert [item.name for item in capture.interfaces] == ["eth5", "tun5", "eth7", "tun7"]
    assert capture.packets["interface"].tolist() == [0, 1, 2, 3]
    assert capture.packets["linktype"].tolist() == [1, 101, 1, 101]
    assert capture.packets["ts"].tolist() == [5, 6, 7, 8]
    assert capture.packets["ip_id"].tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize("order", ["<", ">"])
def test_simple_and_obsolete_packet_blocks(tmp_path: Path, order: str) -> None:
    frame = FRAMES[2]
    old = struct.pack(order + "HHIIII", 0, 3, T0 >> 32, T0 & 0xFFFFFFFF, len(frame), len(frame))
    data = section_header(order) + interface_block(1, order, snaplen=38)
    data += block(3, struct.pack(order + "I", len(frame)) + frame[:38], order)
    data += block(2, old + frame, order) + block(0xBAD, b"unknown", order)
    capture = load(tmp_path / "a", data)
    assert capture.packets["ts"].tolist() == [-1, T0]
    assert capture.packets["caplen"].tolist() == [38, len(frame)]
    assert capture.packets["len"].tolist() == [len(frame), len(frame)]
    assert capture.packets["ip_id"].tolist() == [2, 2]
    (warning,) = capture.warnings
    assert "1 simple packet block has no time" in warning


def test_packets_without_interface_are_counted(tmp_path: Path) -> None:
    data = section_header() + interface_block()
    data += enhanced_packet(1, FRAMES[0]) + enhanced_packet(2, FRAMES[1], interface=4)
    capture = load(tmp_path / "a", data)
    assert capture.packets["ts"].tolist() == [1]
    assert "1 packet left out, because its section" in capture.warnings[0]


def test_packet_longer_than_its_block(tmp_path: Path) -> None:
    fields = struct.pack("<5I", 0, 0, 1, 5000, 5000)
    data = section_header() + interface_block() + enhanced_packet(1, FRAMES[0])
    damaged = len(data)
    data += block(6, fields + FRAMES[0]) + block(6, b"") + enhanced_packet(2, FRAMES[1])
    capture = load(tmp_path / "a", data)
    assert capture.packets["ts"].tolist() == [1, 2]
    assert (
        f"at byte {damaged}: 2 packet blocks left out, because they are too short"
        in capture.warnings[0]
    )


@pytest.mark.parametrize("length", [0, 8, 33, 0xFFFFFFFC, 40])
def test_bad_block_length(tmp_path: Path, length: int) -> None:
    whole = section_header() + interface_block() + enhanced_packet(1, FRAMES[0])
    bad = bytearray(enhanced_packet(2, FRAMES[1]))
    bad[4:8] = struct.pack("<I", length)
    capture = load(tmp_path / "a", whole + bytes(bad))
    assert capture.packets["ts"].tolist() == [1]
    (warning,) = capture.warnings
    assert f"at byte {len(whole)}: " in warning


def test_cut_at_every_byte(tmp_path: Path) -> None:
    path = write_pcapng(tmp_path / "a", PACKETS)
    whole = path.read_bytes()
    sizes = [len(enhanced_packet(*packet)) for packet in PACKETS]
    begins = [len(whole) - sum(sizes[n:]) for n in range(4)]
    for size in range(len(whole)):
        if size < len(section_header()):
            with pytest.raises(BadInput):
                load(path, whole[:size])
            continue
        capture = load(path, whole[:size])
        assert len(capture.packets) == max(0, sum(begin <= size for begin in begins) - 1)
        at_border = size in begins or size == len(section_header())
        assert len(capture.warnings) == (0 if at_border else 1)


@pytest.mark.parametrize("version", [(1, 1), (2, 0), (0, 1)])
def test_unknown_version(tmp_path: Path, version: tuple[int, int]) -> None:
    data = bytearray(section_header())
    data[12:16] = struct.pack("<HH", *version)
    with pytest.raises(BadInput, match="is not known"):
        load(tmp_path / "a", bytes(data))
