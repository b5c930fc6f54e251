# SPDX-License-Identifier: MIT
"""Captures and KBLs packed by gzip or zstd read as if they were not."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from skbviewer import readers
from skbviewer.records import BadInput, Capture, KernelLog, Silent
from tests.readers.build import ethernet, ipv4, pcap_bytes, udp
from tests.readers.build_kbl import KblBuilder

PACKETS = [
    (n, ethernet(ipv4("192.0.2.1", "192.0.2.2", 17, udp(n, 53, bytes(n % 90)), n)))
    for n in range(3000)
]
WHOLE = pcap_bytes(PACKETS)

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


def load(path: Path) -> Capture:
    found = readers.read(path, Silent())
    assert isinstance(found, Capture)
    return found


@pytest.fixture
def plain(tmp_path: Path) -> Capture:
    path = tmp_path / "plain.pcap"
    path.write_bytes(WHOLE)
    return load(path)


@pytest.mark.parametrize("how", PACKERS)
def test_reads_as_the_plain_file(tmp_path: Path, plain: Capture, how: str) -> None:
    path = tmp_path / "a.pcap.packed"
    path.write_bytes(PACKERS[how](WHOLE))
    found = load(path)
    assert found.warnings == ()
    assert found.packets.tolist() == plain.packets.tolist()
    for packet in found.packets[::500]:
        part = readers.packet_bytes(path, int(packet["offset"]), int(packet["caplen"]))
        assert part == PACKETS[int(packet["ip_id"])][1]
    path.write_bytes(PACKERS[how](WHOLE[:24]))
    assert len(load(path).packets) == 0, "the file has changed"


@pytest.mark.parametrize("how", PACKERS)
def test_several_members(tmp_path: Path, plain: Capture, how: str) -> None:
    path = tmp_path / "a.packed"
    path.write_bytes(PACKERS[how](WHOLE[:5000]) + PACKERS[how](WHOLE[5000:]))
    assert load(path).packets.tolist() == plain.packets.tolist()


def test_zeros_behind_gzip_are_padding(tmp_path: Path, plain: Capture) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(WHOLE) + bytes(512))
    found = load(path)
    assert found.warnings == ()
    assert len(found.packets) == len(plain.packets)


@pytest.mark.parametrize("how", PACKERS)
def test_cut_packing_gives_what_is_there(tmp_path: Path, plain: Capture, how: str) -> None:
    path = tmp_path / "a.packed"
    packed = PACKERS[how](WHOLE[:5000]) + PACKERS[how](WHOLE[5000:])
    path.write_bytes(packed[: len(packed) * 2 // 3])
    found = load(path)
    assert "compressed data is damaged or truncated" in found.warnings[0]
    count = len(found.packets)
    assert 0 < count < len(plain.packets)
    assert found.packets.tolist() == plain.packets[:count].tolist()


def test_packing_of_nothing_and_of_other_things(tmp_path: Path) -> None:
    for name, data, why in (
        ("empty", gzip.compress(b""), "compressed by gzip, but empty"),
        ("bad", b"\x1f\x8b\x08\x00rest", "compressed by gzip, but empty"),
        ("text", zstandard.ZstdCompressor().compress(b"some text"), "neither pcap"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BadInput, match=why):
            readers.read(tmp_path / name, Silent())


def test_packed_kbl(tmp_path: Path) -> None:
    build = KblBuilder()
    build.entry(5, 0, build.probe("ip_rcv"), 0xFFFF888000001000)
    path = tmp_path / "a.kbl.gz"
    path.write_bytes(gzip.compress(build.to_bytes()))
    found = readers.read(path, Silent())
    assert isinstance(found, KernelLog)
    assert len(found.records) == 1
