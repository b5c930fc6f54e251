# SPDX-License-Identifier: MIT
"""Info and details of the bundled recordings, line by line as tshark has them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from skbviewer.analysis.dissect import Node
from skbviewer.records import resource
from skbviewer.session import Session, import_files

SAMPLES = ("arp-and-neighbour", "bulk", "drops", "handshake", "ipv6-and-fragments", "nat")
PREFERENCES = ("ip.defragment:FALSE", "ipv6.defragment:FALSE")
VERIFYING = ("ip.check_checksum:TRUE", "tcp.check_checksum:TRUE", "udp.check_checksum:TRUE")
ECHO = "ECHO"  # tshark hides TCP's and UDP's own numbers where the port is 7; they are of more use
# tshark 4.0 forgets the claim of a reply's sender when its target is looked at: its tree has it.
FORGOTTEN = {("arp-and-neighbour", 14)}
# What a line says less or otherwise than tshark's, whatever its value.
OTHERWISE = re.compile(
    r"(Header Length|Codepoint|Explicit Congestion|Type|Code|Offset|TCP payload|Data|"
    r"\[Packet size limited|Next Header: (Hop-by-Hop|Fragment)|IPv6 (Hop-by-Hop|Fragment)|"
    r"ICMPv6 Option \(type|Checksum: 0x\w+ \[(incorrect|unverified)|"
    r".*\(ff:ff:ff:ff:ff:ff\)|.*: (Not set \(0\)|Set \(1\))$)"
)
QUOTING = {("drops", 13), ("ipv6-and-fragments", 46)}  # ICMP errors: we show no field


@pytest.fixture(autouse=True)
def version() -> None:
    """Override the two versions: no log is written here, so one run is enough."""


@pytest.fixture(params=SAMPLES)
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Path, Session]]:
    name = str(request.param)
    capture = resource(f"samples/{name}") / f"{name}.pcap"
    session = Session.open(import_files([capture], tmp_path / "s.skbv").path)
    yield name, capture, session
    session.close()


def tshark(capture: Path, home: Path, *words: str) -> str:
    assert shutil.which("tshark"), "tests/packages.txt: tshark"
    preferences = (*PREFERENCES, *(VERIFYING if "-V" in words else ()))
    options = [word for name in preferences for word in ("-o", name)]
    command = ["tshark", "-2", "-n", *options, *words, "-r", str(capture)]
    environment = os.environ | {"HOME": str(home), "TZ": "UTC"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_info(sample: tuple[str, Path, Session], tmp_path: Path) -> None:
    name, capture, session = sample
    fields = ("-T", "fields", "-e", "_ws.col.Protocol", "-e", "_ws.col.Info")
    theirs = [line.split("\t") for line in tshark(capture, tmp_path, *fields).splitlines()]
    rows = session.packets.numbered(1, len(theirs))
    assert len(rows) == len(theirs) == session.packets.count()
    for row, (protocol, info) in zip(rows, theirs, strict=True):
        if protocol == ECHO or (name, row.number) in FORGOTTEN:
            continue
        assert (row.protocol_name, row.info) == (protocol, info.rstrip()), row.number


def test_details(sample: tuple[str, Path, Session], tmp_path: Path) -> None:
    name, capture, session = sample
    frames = re.split(r"(?m)^(?=Frame \d+:)", tshark(capture, tmp_path, "-V"))[1:]
    assert len(frames) == session.packets.count()
    compared = 0
    for number, text in enumerate(frames, 1):
        theirs = {re.sub(r"^[01. ]+ = ", "", line.strip()) for line in text.splitlines()}
        for node in every(session.contents.detail(number)):
            if OTHERWISE.match(node.text) or (name, number) in QUOTING:
                continue
            assert node.text in theirs, (number, node.text)
            compared += 1
    assert compared > 20 * len(frames)


def test_twice_claimed_addresses(tmp_path: Path) -> None:
    capture = resource("samples/arp-and-neighbour") / "arp-and-neighbour.pcap"
    session = Session.open(import_files([capture], tmp_path / "s.skbv").path)
    fields = ("-T", "fields", "-e", "frame.number", "-e", "arp.duplicate-address-frame")
    lines = [line.split("\t") for line in tshark(capture, tmp_path, *fields).splitlines()]
    theirs = {int(number): int(first) for number, first in lines if first}
    ours = {}
    for row in session.packets.numbered(1, session.packets.count()):
        others = [node.packet for node in session.contents.detail(row.number) if node.packet]
        assert bool(others) == ("duplicate use of" in row.info)
        if others:
            ours[row.number] = others[0]
    session.close()
    assert ours == theirs and theirs


def every(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        yield from every(node.children)
