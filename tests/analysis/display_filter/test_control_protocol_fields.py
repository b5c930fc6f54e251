# SPDX-License-Identifier: MIT
"""Fields of control protocols and of checksums pass the same packets as in tshark."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from skbviewer.analysis.fields.checksum_fields import right
from skbviewer.session import Session, import_files
from tests.readers import build

from .conftest import capture_of, passed
from .control_frames import CONTROL, checksums
from .tshark import tshark_finds

ROUTING = "hsrp || eigrp || ospf || bgp || cdp || vrrp || gvrp || igmp || ismp"
TTL = (
    "(ip.dst != 224.0.0.0/4 && ip.ttl < 5 && !(pim || ospf || eigrp || bgp || tcp.port == 179)) || "
    "(ip.dst == 224.0.0.0/24 && ip.dst != 224.0.0.251 && ip.ttl != 1 && "
    "!(vrrp || eigrp || rip || glbp))"
)
FILTERS = (
    "hsrp", "hsrp.state != 8 && hsrp.state != 16", "hsrp.state == 8", "eigrp", "ospf",
    "ospf.msg != 1", "ospf.msg == 4", "vrrp", "igmp", "pim", "sctp", "sctp.chunk_type == 6",
    "sctp.chunk_type == 0", "cdp", "gvrp", "stp", "stp.type == 0x80", "stp.type == 2", "netbios",
    "ismp", "bgp", "smb", "nbss", "nbns", "smb || nbss || nbns || netbios", "glbp", "rip",
    ROUTING, TTL,
)  # fmt: skip
LAYERS = ("ip", "tcp", "udp", "icmp", "icmpv6")
STATUS = [
    f'{layer}.checksum.status == "{word}"' for layer in LAYERS for word in ("Bad", "Good")
] + ['udp.checksum.status == "Not present"']
CHECK = tuple(f"{layer}.check_checksum:TRUE" for layer in ("ip", "tcp", "udp"))


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("control")
    frames = (*CONTROL, *checksums())
    build.write_pcap(folder / "c.pcap", [(n * 10**6, data) for n, data in enumerate(frames, 1)])
    opened = Session.open(import_files([folder / "c.pcap"], folder / "c.skbv").path)
    yield opened
    opened.close()


def test_the_same_packets_pass_as_in_tshark(session: Session, tmp_path: Path) -> None:
    assert shutil.which("tshark"), "tests/packages.txt: tshark"
    control = [f"({text}) && frame.number <= {len(CONTROL)}" for text in FILTERS]
    texts = control + [f"{text} && frame.number > {len(CONTROL)}" for text in STATUS]
    found = tshark_finds(capture_of(session), texts, tmp_path, CHECK)
    ours = [passed(session, text) for text in texts]
    assert dict(zip(texts, ours, strict=True)) == dict(zip(texts, found, strict=True))
    assert [text for text, hits in zip(texts, ours, strict=True) if not hits] == []


def test_the_endpoint_mapper_is_known_by_its_port(session: Session) -> None:
    """tshark waits for the rest of a conversation before it says so."""
    port = [n for n, frame in enumerate(CONTROL, 1) if frame[36:38] == (135).to_bytes(2, "big")]
    assert passed(session, "dcerpc") == port != []


def test_a_cut_packet_and_a_fragment_cannot_be_verified(tmp_path: Path) -> None:
    whole = next(frame for frame in checksums() if frame[23] == 6)
    part = build.ethernet(build.ipv4("10.0.0.1", "10.0.0.2", 6, build.tcp(1, 2), frag_off=0x2000))
    build.write_pcap(tmp_path / "c.pcap", [(1, whole), (2, part)], snaplen=len(whole) - 1)
    session = Session.open(import_files([tmp_path / "c.pcap"], tmp_path / "c.skbv").path)
    assert session.fields.values("tcp.checksum.status", [1, 2]) == ["Unverified"] * 2
    session.close()


def test_checksums_where_no_packet_is_a_fragment(tmp_path: Path) -> None:
    """The column of fragment offsets is one byte wide then."""
    whole = next(frame for frame in checksums() if frame[23] == 6)
    whole = whole[:20] + b"\0\0" + whole[22:]  # may be fragmented, but is not
    build.write_pcap(tmp_path / "c.pcap", [(1, whole)])
    session = Session.open(import_files([tmp_path / "c.pcap"], tmp_path / "c.skbv").path)
    assert session.columns.array("packet", "frag_off").itemsize == 1
    assert session.fields.values("tcp.checksum.status", [1])[0] in ("Good", "Bad")
    session.close()


def test_rules_do_without_bytes_when_the_capture_is_gone(session: Session, tmp_path: Path) -> None:
    build.write_pcap(tmp_path / "c.pcap", [(n, data) for n, data in enumerate(CONTROL, 1)])
    opened = Session.open(import_files([tmp_path / "c.pcap"], tmp_path / "c.skbv").path)
    (tmp_path / "c.pcap").unlink()
    ids = opened.packets.listed("frame.number in {1..9}")
    assert ids is not None
    assert (
        opened.packets.first_fit(["hsrp.state == 4", "ospf", "udp"], ids)
        == [2] * 5 + [-1] + [1] * 3
    )
    opened.close()


def test_ones_complement() -> None:
    assert right(bytes.fromhex("ffff")) and right(bytes.fromhex("0001fffe"))
    assert right(b"\x01", 0xFEFF) and not right(b"\x01", 0xFEFE)
    assert not right(bytes(4))
