# SPDX-License-Identifier: MIT
"""The list shows the protocol in the payload, as long as the capture is where it was."""

from __future__ import annotations

import gzip
from pathlib import Path

import dpkt
import pytest

from skbviewer.session import Session, import_files
from tests.readers import build


def frame(protocol: int, segment: bytes) -> bytes:
    return build.ethernet(build.ipv4("10.0.0.1", "10.0.0.2", protocol, segment))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    question = bytes(dpkt.dns.DNS(id=5, qd=[dpkt.dns.DNS.Q(name="example.org", type=28)]))
    frames = [
        (1_000, frame(17, build.udp(4000, 53, question))),
        (2_000, frame(17, build.udp(4000, 53, b"\xff" * 9))),
        (3_000, frame(6, build.tcp(4000, 80, payload=b"GET / HTTP/1.1\r\n\r\n"))),
        (4_000, frame(17, build.udp(4000, 9, question))),
    ]
    pcap, out = tmp_path / "names.pcap", tmp_path / "s.skbv"
    build.write_pcap(pcap, frames)
    import_files([pcap], out)
    return pcap, out


def described(out: Path) -> list[tuple[str, str]]:
    session = Session.open(out)
    rows = [(row.protocol_name, row.info) for row in session.packets.numbered(1, 10)]
    session.close()
    return rows


def test_names_of_the_payload(files: tuple[Path, Path]) -> None:
    dns, garbage, http, other = described(files[1])
    assert dns == ("DNS", "Standard query 0x0005 AAAA example.org")
    assert garbage[0] == "UDP"
    assert http == ("HTTP", "GET / HTTP/1.1")
    assert other[0] == "UDP"


def test_a_capture_that_is_gone_or_changed_is_not_read(files: tuple[Path, Path]) -> None:
    pcap, out = files
    with pcap.open("ab") as file:
        file.write(b"more")
    assert described(out)[0][0] == "UDP"
    pcap.unlink()
    assert described(out)[0][0] == "UDP"


def test_of_a_packed_capture(files: tuple[Path, Path], tmp_path: Path) -> None:
    packed, out = tmp_path / "names.pcap.gz", tmp_path / "packed.skbv"
    packed.write_bytes(gzip.compress(files[0].read_bytes()))
    import_files([packed], out)
    assert described(out) == described(files[1])
    session = Session.open(out)
    found = session.packets.select('frame contains "example"')
    assert found is not None and found.tolist() == [1, 4]
    session.close()
