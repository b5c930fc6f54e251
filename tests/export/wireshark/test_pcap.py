# SPDX-License-Identifier: MIT
"""Captures without kernel fields: tshark reads the same packets from them as from the originals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skbviewer.export import Request, write_pcap
from skbviewer.records import BadInput
from skbviewer.records.resource_files import resource
from skbviewer.session import Session, import_files, open_files

from .test_pcapng import FRAME, block, session_of
from .test_with_tshark import tshark


@pytest.fixture(scope="module")
def nat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder, saved = resource("samples/nat"), tmp_path_factory.mktemp("nat") / "nat.skbv"
    import_files([folder / "nat.kbl", folder / "nat.pcap"], saved)
    session = open_files([saved])
    yield session
    session.close()


NAMES = ("frame.time_epoch", "frame.len", "frame.cap_len", "frame.md5_hash")


def shown(capture: Path) -> list[str]:
    """A line a packet: its time, its lengths, and a hash of its bytes."""
    fields = [word for name in NAMES for word in ("-e", name)]
    return tshark(capture, "-o", "frame.generate_md5_hash:TRUE", "-T", "fields", *fields)


def test_all_packets_are_those_of_the_capture(nat: Session, tmp_path: Path) -> None:
    out = tmp_path / "out.pcap"
    write_pcap(nat, Request(), out)
    assert shown(out) == shown(resource("samples/nat") / "nat.pcap")


def test_packets_of_one_program_can_be_chosen(nat: Session, tmp_path: Path) -> None:
    out = tmp_path / "out.pcap"
    write_pcap(nat, Request(filter="icmp"), out)
    every = shown(resource("samples/nat") / "nat.pcap")
    rows = nat.packets.select("icmp")
    assert rows is not None and 0 < len(rows) < len(every)
    assert shown(out) == [every[n - 1] for n in sorted(rows.tolist())]


def test_two_captures_are_merged_in_order_of_time(tmp_path: Path) -> None:
    folder = resource("samples/nat")
    halves = [tmp_path / name for name in ("late.pcap", "early.pcap")]
    data = (folder / "nat.pcap").read_bytes()
    first = 24 + 16 + int.from_bytes(data[32:36], "little")  # where its second packet begins
    halves[0].write_bytes(data[:24] + data[first:])
    halves[1].write_bytes(data[:first])
    import_files(halves, tmp_path / "s.skbv")
    session = open_files([tmp_path / "s.skbv"])
    write_pcap(session, Request(), tmp_path / "out.pcap")
    session.close()
    assert shown(tmp_path / "out.pcap") == shown(folder / "nat.pcap")


def test_packets_are_cut_and_get_pseudonyms(nat: Session, tmp_path: Path) -> None:
    out = tmp_path / "out.pcap"
    write_pcap(nat, Request(snaplen=60, payload=False, pseudonym_key=b"k" * 16), out)
    data = out.read_bytes()
    assert bytes([10, 9, 2, 1]) not in data
    sizes = tshark(out, "-T", "fields", "-e", "frame.cap_len")
    assert len(sizes) == nat.packets.count() and max(map(int, sizes)) <= 60


def test_packets_of_two_link_types_are_refused(tmp_path: Path) -> None:
    data = b"".join(block("<", kind, body) for kind, body in [
        (0x0A0D0D0A, bytes.fromhex("4d3c2b1a01000000ffffffffffffffff")),
        (1, bytes.fromhex("0100000000000000")), (1, bytes.fromhex("6500000000000000")),
        *((6, n.to_bytes(4, "little") + bytes(8) + len(FRAME).to_bytes(4, "little") * 2
           + FRAME + bytes(-len(FRAME) % 4)) for n in (0, 1)),
    ])  # fmt: skip
    session = session_of(tmp_path, data)
    with pytest.raises(BadInput, match=r"one link type.* 2 \(Ethernet, Raw IP\).*--pcapng"):
        write_pcap(session, Request(), tmp_path / "out.pcap")
    assert not (tmp_path / "out.pcap").exists()
    write_pcap(session, Request(filter="frame.number == 1"), tmp_path / "out.pcap")
    assert (tmp_path / "out.pcap").stat().st_size == 24 + 16 + len(FRAME)
    session.close()


def test_a_time_that_pcap_cannot_hold_is_refused(tmp_path: Path) -> None:
    ticks = (1 << 53) * 1000  # us: the year 2255
    packet = (b"\0" * 4 + (ticks >> 32).to_bytes(4, "little")
              + (ticks & 0xFFFFFFFF).to_bytes(4, "little")
              + len(FRAME).to_bytes(4, "little") * 2 + FRAME + bytes(-len(FRAME) % 4))  # fmt: skip
    data = b"".join(block("<", kind, body) for kind, body in [
        (0x0A0D0D0A, bytes.fromhex("4d3c2b1a01000000ffffffffffffffff")),
        (1, bytes.fromhex("0100000000000000")), (6, packet),
    ])  # fmt: skip
    session = session_of(tmp_path, data)
    with pytest.raises(BadInput, match="from 1970 to 2105"):
        write_pcap(session, Request(), tmp_path / "out.pcap")
    session.close()


def test_no_packets_make_an_empty_capture(nat: Session, tmp_path: Path) -> None:
    out = tmp_path / "out.pcap"
    write_pcap(nat, Request(filter="sctp"), out)
    assert out.stat().st_size == 24
    assert tshark(out) == []
