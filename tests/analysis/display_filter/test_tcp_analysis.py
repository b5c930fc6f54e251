# SPDX-License-Identifier: MIT
"""Streams and tcp.analysis.* against tshark, where much goes wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.analysis.fields.tcp_analysis_findings import NAMES
from skbviewer.session import Session, import_files

from ..streams.random_tcp_streams import write_streams
from .conftest import passed
from .tshark import tshark_finds

# Two labels for the same fault: which of them depends on what Wireshark still remembers.
TWINS = ("retransmission", "out_of_order")
ACK_LOST = "tcp.analysis.ack_lost_segment"
FILTERS = [
    *(f"tcp.analysis.{name}" for name in NAMES if name not in (*TWINS, "ack_lost_segment")),
    " || ".join(f"tcp.analysis.{name}" for name in TWINS),
    "tcp.stream == 0",
    "tcp.stream == 13",
    "tcp.stream > 20",
    "tcp.seq > 1",
    "tcp.seq == 0",
    "tcp.seq > 500",
    "tcp.ack == 1",
    "tcp.ack > 300",
]


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_faults_are_found_as_by_tshark(seed: int, tmp_path: Path) -> None:
    capture = tmp_path / "streams.pcap"
    write_streams(capture, seed)
    session = Session.open(import_files([capture], tmp_path / "s.skbv").path)
    found = tshark_finds(capture, FILTERS, tmp_path)
    wrong = {
        text: (sorted(set(ours) - set(theirs)), sorted(set(theirs) - set(ours)))
        for text, theirs in zip(FILTERS, found, strict=True)
        if (ours := passed(session, text)) != theirs
    }
    assert wrong == {}
    assert all(found), "every fault is in the capture"


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_lost_acknowledgments_are_found_once(seed: int, tmp_path: Path) -> None:
    """Wireshark repeats it with some of the segments that acknowledge the same."""
    capture = tmp_path / "streams.pcap"
    write_streams(capture, seed)
    session = Session.open(import_files([capture], tmp_path / "s.skbv").path)
    theirs, ours = tshark_finds(capture, [ACK_LOST], tmp_path)[0], passed(session, ACK_LOST)
    assert ours and set(ours) <= set(theirs)
    names = ("tcp.stream", "tcp.srcport", "tcp.ack")
    keys = list(zip(*(session.fields.values(name, theirs) for name in names), strict=True))
    first = {key: frame for frame, key in reversed(list(zip(theirs, keys, strict=True)))}
    assert sorted(first.values()) == ours


def test_streams_of_two_files_are_apart(tmp_path: Path) -> None:
    captures = [tmp_path / f"{name}.pcap" for name in "ab"]
    for capture in captures:
        write_streams(capture, 1, count=3)
    session = Session.open(import_files(captures, tmp_path / "s.skbv").path)
    half = session.packets.count() // 2
    first = passed(session, "tcp.stream == 0")
    assert passed(session, "tcp.stream == 3") == [n + half for n in first]
