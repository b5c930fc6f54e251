# SPDX-License-Identifier: MIT
"""pcap: byte orders, time units, damage at every place."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from skbviewer.readers import packet_bytes, read
from skbviewer.records import BadInput, Capture, Silent
from tests.readers.build import ethernet, ipv4, pcap_bytes, udp, write_pcap

T0 = 1_700_000_000_123_456_789
FRAMES = [
    ethernet(ipv4("10.0.0.1", "10.0.0.2", 17, udp(7, n, b"x" * n), ip_id=n)) for n in range(3)
]
PACKETS = [(T0 + n * 1000, frame) for n, frame in enumerate(FRAMES)]


def load(path: Path) -> Capture:
    capture = read(path, Silent())
    assert isinstance(capture, Capture)
    return capture


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nano", [True, False])
def test_every_byte_order_and_unit(tmp_path: Path, order: str, nano: bool) -> None:
    path = write_pcap(tmp_path / "a.pcap", PACKETS, order, nano)
    capture = load(path)
    unit = 1 if nano else 1000
    assert capture.kind == "pcap" and capture.warnings == ()
    assert capture.packets["ts"].tolist() == [ts // unit * unit for ts, _ in PACKETS]
    assert capture.packets["ip_id"].tolist() == [0, 1, 2]
    assert capture.packets["linktype"].tolist() == [1, 1, 1]
    for packet, frame in zip(capture.packets, FRAMES, strict=True):
        assert packet_bytes(path, int(packet["offset"]), int(packet["caplen"])) == frame


def test_snaplen_cuts_packets_and_identity(tmp_path: Path) -> None:
    capture = load(write_pcap(tmp_path / "a.pcap", PACKETS, snaplen=36))
    assert capture.packets["caplen"].tolist() == [36] * 3
    assert capture.packets["len"].tolist() == [len(frame) for frame in FRAMES]
    assert capture.packets["ip_id"].tolist() == [0, 1, 2]
    # 14 + 20 + 2 bytes: not both ports are there.
    assert capture.packets["sport"].tolist() == [-1] * 3


def test_modified_pcap(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    head = struct.pack("<IHHiIII", 0xA1B2CD34, 2, 4, 0, 0, 65535, 1)
    record = struct.pack("<IIIIIHBB", 5, 6, len(FRAMES[1]), len(FRAMES[1]), 1, 0x800, 0, 0)
    path.write_bytes(head + (record + FRAMES[1]) * 2)
    packets = load(path).packets
    assert packets["ts"].tolist() == [5_000_006_000] * 2
    assert packets["dport"].tolist() == [1, 1]


def old_pcap(major: int, minor: int, records: list[tuple[bytes, int, bool]]) -> bytes:
    """Return a pcap; a record is (bytes, packet length, whether the length comes first)."""
    made = struct.pack("<IHHiIII", 0xA1B2C3D4, major, minor, 0, 0, 65535, 1)
    for kept, length, swapped in records:
        lengths = (length, len(kept)) if swapped else (len(kept), length)
        made += struct.pack("<IIII", 5, 6, *lengths) + kept
    return made


OLD = {
    "2.0": (2, 0, (True, True, True)),
    "2.2": (2, 2, (True, True, True)),
    "2.3": (2, 3, (False, False, False)),
    "2.3 swapped": (2, 3, (True, True, True)),
    "2.3 mixed": (2, 3, (True, False, True)),
    "DG/UX": (543, 0, (True, True, True)),
}


@pytest.mark.parametrize("name", OLD)
def test_lengths_of_old_versions(tmp_path: Path, name: str) -> None:
    """The walk steps by the captured length, wherever it stands."""
    major, minor, swapped = OLD[name]
    path = tmp_path / "a.pcap"
    kept = [frame[: 36 + n] for n, frame in enumerate(FRAMES)]
    lengths = [len(frame) for frame in FRAMES]
    data = old_pcap(major, minor, list(zip(kept, lengths, swapped, strict=True)))
    path.write_bytes(data)
    capture = load(path)
    assert capture.warnings == ()
    assert capture.packets["caplen"].tolist() == [36, 37, 38]
    assert capture.packets["len"].tolist() == lengths
    assert capture.packets["ip_id"].tolist() == [0, 1, 2]
    path.write_bytes(data[:-1])
    (warning,) = load(path).warnings
    assert warning.endswith("the file ends in the middle of packet 3, 1 byte is missing")


def test_no_packets(tmp_path: Path) -> None:
    capture = load(write_pcap(tmp_path / "a.pcap", []))
    assert len(capture.packets) == 0 and capture.warnings == ()


def test_cut_at_every_byte(tmp_path: Path) -> None:
    whole, path = pcap_bytes(PACKETS), tmp_path / "a.pcap"
    ends = [24]
    for frame in FRAMES:
        ends.append(ends[-1] + 16 + len(frame))
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        if size < 24:
            with pytest.raises(BadInput):
                read(path, Silent())
            continue
        capture = load(path)
        complete = sum(end <= size for end in ends) - 1
        assert len(capture.packets) == complete
        if size in ends:
            assert capture.warnings == ()
        else:
            (warning,) = capture.warnings
            place = f"{path} at byte {ends[complete]}: the file ends in the middle of "
            assert warning.startswith(place) and f"packet {complete + 1}" in warning


@pytest.mark.parametrize("caplen", [0xFFFFFFFF, 0x7FFFFFFF, 300_000])
def test_hostile_length_stops_the_walk(tmp_path: Path, caplen: int) -> None:
    path = tmp_path / "a.pcap"
    bad = struct.pack("<IIII", 1, 1, caplen, caplen) + b"x" * 400_000
    path.write_bytes(pcap_bytes(PACKETS) + bad)
    capture = load(path)
    assert len(capture.packets) == 3
    assert f"packet 4 claims to have {caplen} captured bytes" in capture.warnings[0]


def test_snaplen_nonsense_is_no_obstacle(tmp_path: Path) -> None:
    data = bytearray(pcap_bytes(PACKETS))
    for snaplen in (0, 1, 0xFFFFFFFF):
        data[16:20] = struct.pack("<I", snaplen)
        path = tmp_path / f"{snaplen}.pcap"
        path.write_bytes(data)
        assert len(load(path).packets) == 3


def test_unknown_version(tmp_path: Path) -> None:
    data = bytearray(pcap_bytes(PACKETS))
    data[4:6] = struct.pack("<H", 9)
    (tmp_path / "a.pcap").write_bytes(data)
    with pytest.raises(BadInput, match=r"pcap version 9\.4"):
        read(tmp_path / "a.pcap", Silent())
