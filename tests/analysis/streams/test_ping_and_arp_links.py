# SPDX-License-Identifier: MIT
"""Pings and their answers are those that tshark joins, whatever is missing or sent twice."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import dpkt
import pytest

from skbviewer.records import resource
from skbviewer.session import Session, import_files
from tests.readers import build

HOSTS = ("10.0.0.1", "10.0.0.2", "10.0.0.3")


@pytest.fixture(autouse=True)
def version() -> None:
    """Override the two versions: no log is written here, so one run is enough."""


def summed(message: bytes) -> bytes:
    """With its checksum, which tshark uses to tell answers to one ping from another's."""
    made = dpkt.icmp.ICMP(message)
    made.sum = 0  # is then made
    return bytes(made)


def pings(count: int, seed: int) -> list[tuple[int, bytes]]:
    """Requests and replies of few numbers: some are lost, doubled, or nobody asked for them."""
    luck, made = random.Random(seed), []
    for at in range(count):
        one, other = sorted(luck.sample(HOSTS, 2))
        kind = luck.choice((0, 8, 8))
        if kind == 0:
            one, other = other, one
        if luck.random() < 0.1:
            other = luck.choice(("224.0.0.1", "255.255.255.255"))
        message = summed(build.icmp(kind, 0, luck.randrange(2), luck.randrange(3)))
        made.append((at * 10**6, build.ethernet(build.ipv4(one, other, 1, message, at))))
    return made


@pytest.mark.parametrize("seed", range(3))
def test_partners_are_those_of_tshark(tmp_path: Path, seed: int) -> None:
    assert shutil.which("tshark"), "tests/packages.txt: tshark"
    capture = tmp_path / "c.pcap"
    build.write_pcap(capture, pings(200, seed))
    session = Session.open(import_files([capture], tmp_path / "c.skbv").path)
    ours = [row.info for row in session.packets.numbered(1, 200)]
    session.close()
    done = subprocess.run(
        ["tshark", "-2", "-n", "-r", str(capture), "-T", "fields", "-e", "_ws.col.Info"],
        env=os.environ | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ours == [line.rstrip() for line in done.stdout.splitlines()]
    for words in ("(reply in ", "(request in ", "(no response found!)"):
        assert any(words in info for info in ours)


def test_captures_of_one_ping_at_two_places_answer_for_themselves(tmp_path: Path) -> None:
    capture = resource("samples/nat") / "nat.pcap"
    (tmp_path / "again.pcap").write_bytes(capture.read_bytes())
    files = [capture, tmp_path / "again.pcap"]
    session = Session.open(import_files(files, tmp_path / "c.skbv").path)
    infos = {row.number: row.info for row in session.packets.numbered(1, session.packets.count())}
    session.close()
    half = len(infos) // 2
    assert infos[4].endswith("(request in 3)") and infos[3].endswith("(reply in 4)")
    assert infos[half + 4].endswith(f"(request in {half + 3})")


def test_without_the_capture_nobody_says_who_claims_an_address(tmp_path: Path) -> None:
    capture = resource("samples/arp-and-neighbour") / "arp-and-neighbour.pcap"
    moved = tmp_path / "a.pcap"
    moved.write_bytes(capture.read_bytes())
    session = Session.open(import_files([moved], tmp_path / "c.skbv").path)
    moved.unlink()
    (row,) = session.packets.numbered(8, 1)
    assert row.info == "Gratuitous ARP for 10.9.0.2 (Request)"
    assert session.packets.numbered(4, 1)[0].info.endswith("(request in 3)")
    moved.write_bytes(capture.read_bytes())
    assert "duplicate use of" in session.packets.numbered(8, 1)[0].info
    session.close()
