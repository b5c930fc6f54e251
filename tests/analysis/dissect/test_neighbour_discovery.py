# SPDX-License-Identifier: MIT
"""ICMP and ICMPv6 messages have the Info that tshark gives them."""

from __future__ import annotations

import shutil
import struct
from ipaddress import IPv6Address
from pathlib import Path

from skbviewer.analysis.dissect.routing_protocols import control_summary
from skbviewer.session import Session, import_files
from tests.readers import build

from .test_routing_protocols import theirs

TARGET = bytes(4) + IPv6Address("fe80::1").packed
SOURCE_LINK, TARGET_LINK = (bytes.fromhex(f"0{n}01aabbccddeeff") for n in (1, 2))
NONCE = bytes.fromhex("0e01000000000000")
ROUTER = struct.pack(">BBHII", 64, 0, 1800, 0, 0)
QUOTED = bytes(4) + build.ipv6("fe80::1", "fe80::2", 17, build.udp(1, 2, b"abcd"))
QUERY = struct.pack(">HH", 0x1234, 2)

BODIES: dict[int, tuple[bytes, ...]] = {
    128: (QUERY,),
    129: (QUERY,),
    130: (bytes(20),),
    131: (bytes(20),),
    132: (bytes(20),),
    133: (bytes(4), bytes(4) + SOURCE_LINK),
    134: (ROUTER, ROUTER + SOURCE_LINK, ROUTER + NONCE + SOURCE_LINK),
    135: (TARGET, TARGET + SOURCE_LINK, TARGET + NONCE + SOURCE_LINK, TARGET + TARGET_LINK),
    136: tuple(
        bytes([flags << 5]) + TARGET[1:] + link for flags in range(8) for link in (b"", TARGET_LINK)
    ),
    137: (bytes(36), bytes(36) + TARGET_LINK, bytes(36) + SOURCE_LINK + TARGET_LINK),
    143: (b"\0\0\0\1" + bytes([4, 0, 0, 0]) + TARGET[4:],),
}


def six(kind: int, code: int, body: bytes) -> bytes:
    message = bytes([kind, code, 0, 0]) + body
    return build.ethernet(build.ipv6("fe80::9", "ff02::1", 58, message), 0x86DD)


def four(kind: int, code: int) -> bytes:
    quoted = build.ipv4("10.0.0.1", "10.0.0.2", 17, build.udp(1, 2, b"abcd"), 7)
    message = build.icmp(kind, code, 0x1234, 2, quoted)
    return build.ethernet(build.ipv4("10.0.0.1", "10.0.0.2", 1, message, 7))


FRAMES = (
    *(four(kind, code) for kind in (3, 5, 11, 12) for code in range(17)),
    *(four(kind, 0) for kind in (0, 8, 10, 13, 14, 15, 16, 17, 18)),
    *(six(1, code, QUOTED) for code in range(8)),
    *(six(2, 0, QUOTED), six(3, 0, QUOTED), six(3, 1, QUOTED)),
    *(six(4, code, QUOTED) for code in range(4)),
    *(six(kind, 0, body) for kind, bodies in BODIES.items() for body in bodies),
)


def test_info_is_that_of_tshark(tmp_path: Path) -> None:
    assert shutil.which("tshark"), "tests/packages.txt: tshark"
    capture = tmp_path / "c.pcap"
    build.write_pcap(capture, [(n * 10**6, data) for n, data in enumerate(FRAMES, 1)])
    session = Session.open(import_files([capture], tmp_path / "c.skbv").path)
    rows = session.packets.numbered(1, len(FRAMES))
    session.close()
    # tshark 4.4 writes "No route", 4.0 "no route".
    ours = [(row.protocol_name, row.info.casefold()) for row in rows]
    found = [(name, info.rstrip().casefold()) for name, info in theirs(capture, tmp_path)]
    assert found == ours


def test_a_message_cut_short_keeps_what_its_columns_tell() -> None:
    assert control_summary(58, b"\x87\0\0\0" + TARGET[:12]) is None
    assert control_summary(58, b"") is None
    assert control_summary(58, b"\x80\0\0\0" + QUERY) is None  # an echo: its columns tell all
