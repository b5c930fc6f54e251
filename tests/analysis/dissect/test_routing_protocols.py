# SPDX-License-Identifier: MIT
"""Routing and bridging protocols have the name and Info that tshark gives them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from skbviewer.analysis.dissect.routing_protocols import control_summary, llc_summary
from skbviewer.session import Session, import_files
from tests.analysis.display_filter.control_frames import CONTROL, bpdu, ip, llc
from tests.readers import build

NAMED: tuple[str, ...] = (
    "HSRP",
    "EIGRP",
    "OSPF",
    "VRRP",
    "IGMPv2",
    "IGMPv3",
    "PIMv2",
    "SCTP",
    "CDP",
    "GVRP",
    "STP",
)
NAMED += ("NetBIOS", "BGP", "RIPv2", "NBSS", "SMB", "ISMP")
SHORTER = ("NetBIOS", "SMB", "SCTP", "ISMP")  # we show less than tshark
IGMP3 = bytes.fromhex("22000000000000020400" + "0000effffffa" + "03000000effffffb")
MORE = (
    ip(2, IGMP3, "224.0.0.22", 1),
    ip(2, bytes.fromhex("1164000000000000"), "224.0.0.1", 1),
    ip(2, bytes.fromhex("1164000000000000007d0000"), "224.0.0.1", 1),
    ip(2, bytes.fromhex("17000000effffffa"), "224.0.0.2", 1),
    ip(2, bytes.fromhex("16000000effffffa"), "239.255.255.250", 1),
    llc(bpdu(0)[:20], "0180c2000000"),
)


def theirs(capture: Path, home: Path) -> list[list[str]]:
    fields = ["-e", "_ws.col.Protocol", "-e", "_ws.col.Info"]
    command = ["tshark", "-2", "-n", "-r", str(capture), "-T", "fields", *fields]
    done = subprocess.run(
        command, env=os.environ | {"HOME": str(home)}, capture_output=True, text=True, check=True
    )
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_protocol_and_info_are_those_of_tshark(tmp_path: Path) -> None:
    assert shutil.which("tshark"), "tests/packages.txt: tshark"
    frames = (*CONTROL, *MORE[:-1])
    capture = tmp_path / "c.pcap"
    build.write_pcap(capture, [(n * 10**6, data) for n, data in enumerate(frames, 1)])
    session = Session.open(import_files([capture], tmp_path / "c.skbv").path)
    rows = session.packets.numbered(1, len(frames))
    session.close()
    seen = set()
    for row, (protocol, info) in zip(rows, theirs(capture, tmp_path), strict=True):
        if protocol not in NAMED or (protocol == "SMB" and row.protocol == 17):
            continue
        seen.add(protocol)
        assert row.protocol_name == protocol, row
        if protocol not in SHORTER and "Advertise" not in info:
            assert row.info.strip() == info.strip()
    assert seen == set(NAMED)


@pytest.mark.parametrize("protocol", [2, 88, 89, 103, 112, 132, 200])
def test_what_is_too_short_is_not_described(protocol: int) -> None:
    assert control_summary(protocol, b"") in (None, ("SCTP", ""))


def test_a_bridge_frame_cut_short_is_not_described() -> None:
    assert llc_summary(MORE[-1]) is None
    assert llc_summary(b"") is None


def test_the_name_of_a_neighbour_that_is_no_text_is_shown_escaped() -> None:
    name = b"\x00\x01\x00\x0bsw\x1b[2J\n"
    data = b"\xaa\xaa\x03\0\0\x0c\x20\0\x02\xb4\0\0" + name
    frame = bytes(12) + len(data).to_bytes(2, "big") + data
    assert llc_summary(frame) == ("CDP", r"Device ID: sw\x1b[2J\n")
