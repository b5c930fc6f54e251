# SPDX-License-Identifier: MIT
"""Packets that only the kernel saw count from the start of the stream a capture has of them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from skbviewer.records import resource
from skbviewer.session import Session, import_files

BULK = resource("samples/bulk")


def numbers(infos: list[str]) -> list[tuple[str, int, int]]:
    """Ports, Seq and Ack."""
    found = []
    for info in infos:
        shown = re.search(r"(\d+ → \d+) .*Seq=(\d+) Ack=(\d+)", info)
        if shown is not None:
            found.append((shown[1], int(shown[2]), int(shown[3])))
    return found


def test_a_packet_before_it_was_cut_has_the_numbers_of_its_first_segment(tmp_path: Path) -> None:
    files = [BULK / "bulk.kbl", BULK / "bulk.pcap"]
    session = Session.open(import_files(files, tmp_path / "s.skbv").path)
    packets = session.packets.numbered(1, session.packets.count())
    lives = session.packets.kernel_only(1, session.packets.kernel_only_count())
    segments = {(ports, seq) for ports, seq, _ in numbers([row.info for row in packets])}
    whole = numbers([row.info for row in lives])
    with pytest.raises(KeyError):
        session.packets.rows(np.array([-9999]))
    session.close()
    assert len(whole) == len(lives) == 11
    assert {(ports, seq) for ports, seq, _ in whole} <= segments
    assert all(ack == 1 for _, _, ack in whole)


def test_without_a_capture_the_headers_numbers_stay(tmp_path: Path) -> None:
    session = Session.open(import_files([BULK / "bulk.kbl"], tmp_path / "s.skbv").path)
    lives = session.packets.kernel_only(1, session.packets.kernel_only_count())
    seqs = [seq for _, seq, _ in numbers([row.info for row in lives])]
    session.close()
    assert seqs and min(seqs) > 1_000_000


@pytest.fixture(autouse=True)
def version() -> None:
    """The recordings are as they are."""
