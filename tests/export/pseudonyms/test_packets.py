# SPDX-License-Identifier: MIT
"""Packets with pseudonyms: no address is left, and tshark finds the same checksums good."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import numpy as np
import pytest

from skbviewer.export import Request, write_pcapng
from skbviewer.export.pseudonyms import Pseudonyms
from skbviewer.export.pseudonyms.packets import with_pseudonyms
from skbviewer.records import resource
from skbviewer.session import Session, import_files
from tests.export.wireshark.test_with_tshark import SAMPLES, tshark
from tests.readers.build import ethernet, udp, write_pcap

from .frames import FOUR, MACS, SIX, UDP, checksum, four, frames

KEY = bytes(range(16))
CHECKS = ("ip", "tcp", "udp", "icmp", "icmpv6", "igmp")
PREFERENCES = [
    word
    for name in ("ip", "tcp", "udp")
    for word in ("-o", f"{name}.check_checksum:TRUE")
]  # fmt: skip
SHAPE = ("frame.len", "frame.cap_len", "frame.protocols", "tcp.len", "tcp.stream", "udp.length")


def fields(file: Path, names: Sequence[str]) -> list[list[str]]:
    words = [word for name in names for word in ("-e", name)]
    return [line.split("\t") for line in tshark(file, *PREFERENCES, "-T", "fields", *words)]


def statuses(file: Path) -> list[list[str]]:
    """Return the status of the checksums of each frame."""
    return fields(file, [f"{name}.checksum.status" for name in CHECKS])


def rewritten(frame: bytes, linktype: int = 1) -> bytes:
    return rewritten_at(frame, 0, len(frame), linktype)


def rewritten_at(data: bytes, offset: int, size: int, linktype: int = 1) -> bytes:
    """`data` with pseudonyms in the packet at `offset`."""
    kind, begin, caplen = (np.array([n], np.int64) for n in (linktype, offset, size))
    names = Pseudonyms(KEY)
    whole = np.frombuffer(data, np.uint8)
    return with_pseudonyms(whole, kind, begin, caplen, caplen, names).tobytes()


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """All frames, and the same with pseudonyms."""
    folder, made = tmp_path_factory.mktemp("frames"), frames()
    times = [10**18 + n * 1000 for n in range(len(made))]
    old = write_pcap(folder / "old.pcap", list(zip(times, made, strict=True)))
    import_files([old], folder / "s.skbv")
    session = Session.open(folder / "s.skbv")
    write_pcapng(session, Request(pseudonym_key=KEY), folder / "new.pcapng")
    return old, folder / "new.pcapng"


def test_no_address_is_left(both: tuple[Path, Path]) -> None:
    data = both[1].read_bytes()
    hidden = [*MACS, *(IPv4Address(text).packed for text in FOUR)]
    hidden += [IPv6Address(text).packed for text in SIX] + [m[3:] for m in MACS]
    hidden += [text.encode() for text in (*FOUR, *SIX)]
    assert [address for address in hidden if address in data] == []
    assert all(address in both[0].read_bytes() for address in (*hidden[:10], FOUR[0].encode()))


def test_good_checksums_stay_good(both: tuple[Path, Path]) -> None:
    old, new = map(statuses, both)
    assert new == old
    good = Counter(name for line in old for name, one in zip(CHECKS, line, strict=True) if one)
    assert all(good[name] for name in CHECKS)
    assert not any("0" in one.split(",") for line in old for one in line)  # 0 is bad


def test_nothing_becomes_malformed(both: tuple[Path, Path]) -> None:
    old, new = (fields(file, ("_ws.malformed", *SHAPE)) for file in both)
    assert not any(line[0] for line in new[:-1])  # the last is LLDP, which becomes zeros
    # What is in payloads is not dissected any more.
    layers = [[line[3].split(":")[:4] for line in lines[:-1]] for lines in (old, new)]
    assert layers[0] == layers[1]
    assert [line[1:3] + line[4:] for line in old] == [line[1:3] + line[4:] for line in new]


def test_the_same_address_has_one_pseudonym_everywhere(both: tuple[Path, Path]) -> None:
    names = Pseudonyms(KEY)
    places = (
        "ip.addr", "arp.src.proto_ipv4", "arp.dst.proto_ipv4", "icmp.redir_gw", "igmp.saddr",
        "ipv6.addr", "icmpv6.nd.ns.target_address", "icmpv6.nd.na.target_address",
        "icmpv6.rd.na.destination_address", "icmpv6.mldr.mar.source_address",
        "icmpv6.opt.prefix", "icmpv6.opt.rdnss", "ipv6.routing.srh.addr",
        "icmpv6.mldr.mar.multicast_address", "eth.addr", "arp.src.hw_mac", "arp.dst.hw_mac",
        "icmpv6.opt.linkaddr",
    )  # fmt: skip
    found = {"icmpv6.opt.prefix"}  # whose bits after the prefix are zero: see below
    for old, new in zip(*(fields(file, places) for file in both), strict=True):
        for name, one, other in zip(places, old, new, strict=True):
            if name == "icmpv6.opt.prefix" or not one:
                assert bool(one) == bool(other)
                continue
            expected = [names.text(text) for text in one.split(",")]
            assert other.split(",") == expected, name
            found.add(name)
    assert found == set(places)


def test_prefixes_of_routers_fit_their_addresses(both: tuple[Path, Path]) -> None:
    """The prefix that a router advertises is that of the addresses in it."""
    names = Pseudonyms(KEY)
    lines = fields(both[1], ("icmpv6.opt.prefix",))
    prefixes = [text for (line,) in lines if line for text in line.split(",")]
    first, second = (int(IPv6Address(names.text(text))) for text in SIX[:2])
    assert int(IPv6Address(prefixes[0])) == first >> 64 << 64
    assert int(IPv6Address(prefixes[1])) >> 80 == second >> 80


def udp_checksum_is_good(frame: bytes) -> bool:
    """Whether the checksum of UDP in IPv4 in Ethernet is good."""
    packet = frame[14:]
    pseudo = packet[12:20] + struct.pack("!HH", UDP, len(packet) - 20)
    return checksum(pseudo + packet[20:]) == 0


@pytest.mark.parametrize("off", [0, 0x55])
def test_bad_checksums_stay_bad(off: int) -> None:
    packet = bytearray(four(UDP, udp(1, 2, b"payload")))
    packet[26] ^= off
    frame = ethernet(bytes(packet))
    made = rewritten(frame)
    assert made[26:34] != frame[26:34]
    assert udp_checksum_is_good(frame) == udp_checksum_is_good(made) == (off == 0)


@pytest.mark.parametrize("linktype", [113, 276, 101, 12, 0, 105, 147])
def test_other_link_types_keep_no_address(linktype: int) -> None:
    packet = four(UDP, udp(1, 2, b"payload"))
    heads = {
        113: struct.pack("!HHH", 0, 1, 6) + MACS[0] + bytes(2) + b"\x08\x00",
        276: struct.pack("!HHIHBB", 0x0800, 0, 2, 1, 0, 6) + MACS[0] + bytes(2),
        0: struct.pack("<I", 2),
        105: b"\x08\x02" + bytes(2) + MACS[0] + MACS[1] + MACS[2] + bytes(2)
        + bytes.fromhex("aaaa030000000800"),
        147: MACS[0],
    }  # fmt: skip
    frame = heads.get(linktype, b"") + packet
    made = rewritten(frame, linktype)
    assert len(made) == len(frame)
    for address in (*MACS, *(IPv4Address(text).packed for text in FOUR)):
        assert address not in made
    assert (linktype == 147) == (not any(made))


def test_random_bytes_are_rewritten_within_their_bounds() -> None:
    random = np.random.default_rng(1)
    for at, frame in enumerate(frames() * 20):
        data = bytearray(frame)
        for place in random.integers(12, len(data), 4):
            data[place] = random.integers(256)
        cut = bytes(data[: random.integers(1, len(data) + 1)]) if at % 2 else bytes(data)
        around = b"before" + cut + b"after"
        made = rewritten_at(around, 6, len(cut))
        assert len(made) == len(around)
        assert made[:6] == b"before" and made[-5:] == b"after"


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_keep_their_conversations(tmp_path: Path, name: str) -> None:
    inputs = [resource("samples") / name / f"{name}.{kind}" for kind in ("kbl", "pcap")]
    import_files(inputs, tmp_path / "s.skbv")
    session = Session.open(tmp_path / "s.skbv")
    old, new = tmp_path / "old.pcapng", tmp_path / "new.pcapng"
    write_pcapng(session, Request(), old)
    write_pcapng(session, Request(pseudonym_key=KEY), new)
    assert statuses(old) == statuses(new)
    names = Pseudonyms(KEY)
    ends = ("ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "eth.src", "tcp.stream", "udp.stream")
    seen = fields(old, ends)
    expected = [[",".join(map(names.text, cell.split(","))) for cell in line] for line in seen]
    assert fields(new, ends) == expected
    hidden = {text for line in seen for cell in line[:5] for text in cell.split(",") if text}
    hidden = {text for text in hidden if names.text(text) != text}
    assert hidden
    data = new.read_bytes()
    for text in hidden:
        packed = bytes.fromhex(text.replace(":", "")) if text.count(":") == 5 else b""
        if not packed:
            packed = (IPv6Address if ":" in text else IPv4Address)(text).packed
        assert packed not in data, text
        assert text.encode() not in data, text
