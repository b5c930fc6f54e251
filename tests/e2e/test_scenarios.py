# SPDX-License-Identifier: MIT
"""Every scenario of both kernels' guests, with many functions armed, from files to verdicts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import dpkt
import pytest

from skbviewer.session import Session, import_files
from tests.lab.fixture import Lab
from tests.lab.fixture import lab as lab
from tests.lab.identity import frames

pytestmark = pytest.mark.lab

CAPTURES = ("basic", "loopback", "drops", "nat", "bulk", "segments")


@pytest.fixture(scope="module")
def session(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """One session of one kernel's log and all captures."""
    out = tmp_path_factory.mktemp("scenarios") / f"{lab.series}.skbv"
    files: list[Path] = [lab.out / "lab.kbl", *(lab.out / f"{name}.pcap" for name in CAPTURES)]
    assert import_files(files, out).warnings == ()
    return Session.open(out)


def test_every_ipv4_packet_is_exact_or_explained(lab: Lab, session: Session) -> None:
    sent = sum(
        isinstance(frame.data, dpkt.ip.IP)
        for name in CAPTURES
        for _, frame in frames(lab.out / f"{name}.pcap")
    )
    packets = [p for p in session.packets(1, session.packet_count()) if p.ip_id is not None]
    assert len(packets) == sent > 4000
    verdicts = Counter(p.verdict for p in packets)
    assert verdicts["wire-only"] == 0
    assert verdicts["exact"] >= 0.99 * sent
    assert all(p.reason for p in packets if p.verdict != "exact")


def test_nothing_was_lost(session: Session) -> None:
    assert session.info()["lost_records"] == 0
