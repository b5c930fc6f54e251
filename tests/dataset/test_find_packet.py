# SPDX-License-Identifier: MIT
"""Sightings of one packet in other sessions are found, also without kernel logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dpkt
import pytest

from skbviewer.dataset import dataset_paths, session_manifests
from skbviewer.dataset.add_task import add_pair
from skbviewer.dataset.find_packet import find
from skbviewer.records import BadInput, Silent
from tests.dataset.recordings import Both, pair

LATER = 0.25  # s, of the second sniffer's clock
SECOND = 10**9


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A capture, and every second packet of it as another sniffer saw it."""
    out = tmp_path_factory.mktemp("twice")
    other, made = out / "other.pcap", out / "dataset"
    with pair("handshake")[1].open("rb") as source, other.open("wb") as target:
        reader = dpkt.pcap.Reader(source)
        writer = dpkt.pcap.Writer(target, linktype=reader.datalink(), nano=True)
        for number, (time, data) in enumerate(reader):
            if number % 2 == 0:
                writer.writepkt(data, float(time) + LATER)
    dataset_paths.make(made)
    first = add_pair(made, (pair("handshake")[1],)).session
    assert add_pair(made, (other,)).added
    return made, first


def test_each_packet_finds_its_other_sighting(twice: tuple[Path, str]) -> None:
    made, first = twice
    numbers = []
    for number in range(1, 17):
        try:
            found = find(made, f"{first[:12]}:{number}", SECOND, Silent())
        except BadInput:  # ARP
            continue
        rows: list[dict[str, Any]] = [
            dict(zip(found.columns, row, strict=True)) for row in found.rows
        ]
        # The other capture lacks half of the packets, so nothing shows that it is the same traffic.
        assert {row["verdict"] for row in rows} <= {"candidate", "ambiguous"}
        assert {row["reason"] for row in rows} <= {None, "not-shared", "rivals"}
        assert {row["hop"] for row in rows} <= {None}
        assert first not in {row["session"] for row in rows}
        if number % 2:
            nearest = min(rows, key=lambda row: abs(row["after_ns"] - LATER * 1e9))
            assert nearest["number"] == (number + 1) // 2
            assert nearest["after_ns"] == pytest.approx(LATER * 1e9, abs=1000)
            numbers.append(number)
        else:
            assert rows == []
    assert len(numbers) > 4


def test_the_time_between_is_bounded(twice: tuple[Path, str]) -> None:
    made, first = twice
    for number in range(1, 17):
        try:
            assert find(made, f"{first}:{number}", SECOND // 100, Silent()).rows == []
        except BadInput:
            continue


def test_wrong_names(both: Both) -> None:
    sessions = [each.session for each in session_manifests.read_all(both.folder)]
    for word, why in (
        ("x", "expected SESSION:N"),
        ("'; --:1", "expected SESSION:N"),
        (f"{sessions[0]}:0", "there is no such packet"),
        ("ffffffffffff:1", "there is no such packet"),
    ):
        with pytest.raises(KeyError, match=why):
            find(both.folder, word, SECOND, Silent())
