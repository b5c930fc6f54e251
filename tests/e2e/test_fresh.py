# SPDX-License-Identifier: MIT
"""A recording made just now in the lab's guest, from the files to the answers."""

from __future__ import annotations

from pathlib import Path

from skbviewer.session import Session, import_files
from tests.lab.fixture import MISSED
from tests.lab.fixture import lab_recording as lab_recording
from tests.lab.record import Recording

from .handshake import handshake, table, wrong


def test_fresh_recording_is_matched_whole(lab_recording: Recording, tmp_path: Path) -> None:
    out = tmp_path / "fresh.skbv"
    warnings = import_files([lab_recording.pcap, lab_recording.kbl], out).warnings
    assert [warning for warning in warnings if not MISSED.search(warning)] == []
    session = Session.open(out)
    assert wrong(session, lab_recording.pcap) == []
    info = session.info()
    assert info["lost_records"] == info["recorder"]["missed"] <= info["records"] // 100
    assert info["matches"]["wire_only"] == 0
    of_arp = info["matches_by_protocol"]["arp"]["ambiguous"]  # busy machine: matched by time
    assert info["matches"]["ambiguous"] == of_arp <= 2
    assert {path.packet.verdict for path in handshake(session).values() if path.packet} == {"exact"}
    assert table(handshake(session)).count("\n") == 10


def test_lossy_recording_shows_its_loss(lab_recording: Recording, tmp_path: Path) -> None:
    out = tmp_path / "lossy.skbv"
    import_files([lab_recording.lossy], out)
    assert Session.open(out).info()["lost_records"] > 0
