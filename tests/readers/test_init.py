# SPDX-License-Identifier: MIT
"""read() and packet_bytes(): which file is what, and what cannot be used."""

from __future__ import annotations

import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from skbviewer.readers import packet_bytes, read
from skbviewer.records import BadInput, Cancelled, Silent
from tests.readers.build import ethernet, ipv4, udp, write_pcap, write_pcapng
from tests.readers.build_kbl import KblBuilder

FRAME = ethernet(ipv4("10.0.0.1", "10.0.0.2", 17, udp(1, 2)))


class Stop:
    """A Progress whose user wants to stop."""

    def report(self, what: str, done: int, total: int) -> None:
        raise Cancelled


def reason(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        read(path, Silent())
    assert caught.value.path == path
    assert "\n" not in str(caught.value)
    return caught.value.why


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    assert reason(tmp_path) == "is a directory"
    assert reason(tmp_path / "none") == "no such file or directory"
    (tmp_path / "empty").touch()
    assert reason(tmp_path / "empty") == "the file is empty"
    os.mkfifo(tmp_path / "fifo")
    assert reason(tmp_path / "fifo") == "is not a regular file"
    (tmp_path / "short").write_bytes(b"\xd4")
    assert (
        reason(tmp_path / "short")
        == "the file is neither pcap, pcapng, KBL nor a retis log (first bytes: d4)"
    )
    (tmp_path / "gzip").write_bytes(b"\x1f\x8b\x08\x00rest")
    assert "gzip" in reason(tmp_path / "gzip")


def test_session_is_no_input(tmp_path: Path) -> None:
    path = tmp_path / "a.skbv"
    with closing(sqlite3.connect(path)) as session:
        session.execute("CREATE TABLE packet (id INTEGER)")
    assert "session" in reason(path)


def test_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may read every file: the kernel's refusal is played."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write_pcap(tmp_path / "a.pcap", [(1, FRAME)])
    monkeypatch.setattr(Path, "open", refuse)
    assert reason(path) == "permission denied"
    with pytest.raises(BadInput, match="permission denied"):
        packet_bytes(path, 40, 4)


def test_packet_bytes_of_a_shortened_file(tmp_path: Path) -> None:
    path = write_pcap(tmp_path / "a.pcap", [(1, FRAME)])
    assert packet_bytes(path, 40, len(FRAME)) == FRAME
    with pytest.raises(BadInput, match="at byte 40: the file is shorter"):
        packet_bytes(path, 40, len(FRAME) + 1)
    with pytest.raises(BadInput, match="no such file"):
        packet_bytes(tmp_path / "none", 0, 1)


def test_random_bytes_never_crash(tmp_path: Path) -> None:
    dice = random.Random(2)
    path = tmp_path / "a"
    begins = [b"\xd4\xc3\xb2\xa1", b"\n\r\r\n", b"2LBK", b"KBL2", b'{"startup":', b""]
    for start in begins * 60:
        path.write_bytes(start + dice.randbytes(dice.randrange(1, 1024)))
        try:
            read(path, Silent())
        except BadInput as error:
            assert str(path) in str(error)


def test_random_damage_never_crashes(tmp_path: Path) -> None:
    dice = random.Random(3)
    kbl = KblBuilder()
    kbl.entry(5, 0, kbl.probe("ip_rcv"), 0x1000)
    path = tmp_path / "a"
    files = [
        write_pcap(path, [(1, FRAME)] * 3).read_bytes(),
        write_pcapng(path, [(1, FRAME)] * 3).read_bytes(),
        kbl.to_bytes("<"),
        kbl.to_bytes(">"),
    ]
    for data in files * 100:
        damaged = bytearray(data)
        for _ in range(dice.randrange(1, 6)):
            damaged[dice.randrange(4, len(data))] = dice.randrange(256)
        path.write_bytes(damaged)
        try:
            read(path, Silent())
        except BadInput as error:
            assert str(path) in str(error)


def test_cancelled(tmp_path: Path) -> None:
    for path in (
        write_pcap(tmp_path / "a.pcap", [(1, FRAME)]),
        write_pcapng(tmp_path / "a.pcapng", [(1, FRAME)]),
        KblBuilder().write(tmp_path / "a.kbl"),
    ):
        with pytest.raises(Cancelled):
            read(path, Stop())
