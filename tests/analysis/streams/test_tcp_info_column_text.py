# SPDX-License-Identifier: MIT
"""Info of TCP has the numbers, windows and words that tshark's has."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from skbviewer.records import Cancelled, PacketRow, resource
from skbviewer.session import Session, import_files
from tests.analysis.streams.random_tcp_streams import write_streams
from tests.readers import build


@pytest.fixture(autouse=True)
def version() -> None:
    """Override the two versions: no log is written here, so one run is enough."""


def imported(capture: Path, folder: Path) -> Session:
    return Session.open(import_files([capture], folder / "s.skbv").path)


@pytest.fixture
def faulty_streams(tmp_path: Path) -> Iterator[Session]:
    write_streams(tmp_path / "streams.pcap", 1)
    opened = imported(tmp_path / "streams.pcap", tmp_path)
    yield opened
    opened.close()


def essence(info: str) -> tuple[list[str], list[str]]:
    """Words in brackets, without those about reassembly; numbers."""
    words = re.findall(r"\[TCP (?!segment|PDU reassembled)[^]]*\]", info)
    return words, re.findall(r"(?:Seq|Ack|Win)=\d+", info)


def theirs(capture: Path, home: Path) -> list[str]:
    plain = ["-d", "tcp.port==5201,data"]  # Wireshark 4.4 dissects iPerf3
    command = ["tshark", "-n", *plain, "-r", str(capture), "-T", "fields", "-e", "_ws.col.Info"]
    done = subprocess.run(
        command, env=os.environ | {"HOME": str(home)}, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def differing(session: Session, capture: Path, home: Path) -> list[tuple[str, str]]:
    assert shutil.which("tshark"), "tests/packages.txt: tshark"
    ours = [row.info for row in session.packets.numbered(1, session.packets.count())]
    pairs = list(zip(ours, theirs(capture, home), strict=True))
    return [(a, b) for a, b in pairs if essence(a) != essence(b) and "[Illegal Seg" not in b]


def test_of_streams_with_all_that_goes_wrong(faulty_streams: Session, tmp_path: Path) -> None:
    """The rest is of Wireshark's order of repeated retransmissions, see docs/display-filter.md.

    Wireshark 4.4 reports fewer acknowledgements of unseen segments than 4.0.
    """
    wrong = differing(faulty_streams, tmp_path / "streams.pcap", tmp_path)
    assert len(wrong) <= 3
    unseen = "[TCP ACKed unseen segment]"
    assert all(
        ("Retransmission]" in a and "[TCP Out-Of-Order]" in b) or (unseen in a and unseen not in b)
        for a, b in wrong
    )
    infos = [row.info for row in faulty_streams.packets.numbered(1, faulty_streams.packets.count())]
    assert sum("[TCP Dup ACK " in info for info in infos) > 20
    assert len({word for info in infos for word in essence(info)[0]}) > 30


def test_of_a_real_recording(tmp_path: Path) -> None:
    capture = resource("samples/bulk") / "bulk.pcap"
    session = imported(capture, tmp_path)
    assert differing(session, capture, tmp_path) == []
    session.close()


def test_large_sessions_tell_it_when_streams_were_followed(
    faulty_streams: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skbviewer.session.packets.packet_list.FEW_PACKETS", 1)
    ids = np.arange(1, faulty_streams.packets.count() + 1)
    before = faulty_streams.packets.rows(ids)
    assert not faulty_streams.packets.streams_followed()
    assert not any("[TCP " in row.info for row in before)
    faulty_streams.packets.follow_streams()
    assert faulty_streams.packets.streams_followed()
    after = faulty_streams.packets.rows(ids)
    assert sum("[TCP " in row.info for row in after) > 100
    syns = [row.info for row in after if "[SYN]" in row.info]
    assert syns and all(" Seq=0 Win=" in info for info in syns)
    part = ids[5::7][::-1]
    assert faulty_streams.packets.rows(part) == [after[n - 1] for n in part.tolist()]


def test_nobody_looks_into_data_that_was_sent_before(tmp_path: Path) -> None:
    def frame(seq: int, payload: bytes) -> bytes:
        segment = build.tcp(4000, 80, seq, 1, 0x18, payload)
        return build.ethernet(build.ipv4("10.0.0.1", "10.0.0.2", 6, segment))

    get = b"GET / HTTP/1.1\r\n\r\n"
    later = 10 + len(get) + 5
    frames = [(1, frame(10, get)), (2 * 10**8, frame(10, get)), (3 * 10**8, frame(later, get))]
    build.write_pcap(tmp_path / "a.pcap", frames)
    session = imported(tmp_path / "a.pcap", tmp_path)
    rows: list[PacketRow] = session.packets.numbered(1, 3)
    session.close()
    assert [row.protocol_name for row in rows] == ["HTTP", "TCP", "HTTP"]
    assert rows[1].info.startswith("[TCP Retransmission] 4000 ")
    assert rows[2].info == "[TCP Previous segment not captured] GET / HTTP/1.1"


class Stop:
    """A Progress whose user has enough."""

    def report(self, what: str, done: int, total: int) -> None:
        raise Cancelled


def test_following_streams_can_be_stopped_and_begun_again(faulty_streams: Session) -> None:
    with pytest.raises(Cancelled):
        faulty_streams.packets.follow_streams(Stop())
    faulty_streams.packets.follow_streams()
    assert "Seq=0" in faulty_streams.packets.numbered(1, 1)[0].info
