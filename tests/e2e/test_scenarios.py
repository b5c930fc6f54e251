# SPDX-License-Identifier: MIT
"""Every scenario of both kernels' guests, with many functions armed, from files to verdicts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import dpkt
import pytest

from skbviewer.session import Session, import_files
from tests.lab.fixture import MISSED, Lab
from tests.lab.fixture import lab as lab
from tests.lab.identity import frames

pytestmark = pytest.mark.lab

MERGED = ("merge-sent", "merge")  # before and behind GRO
CAPTURES = ("basic", "loopback", "drops", "nat", "bulk", "segments", "copies", *MERGED)


@pytest.fixture(scope="module")
def session(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """One session of one kernel's log and all captures."""
    out = tmp_path_factory.mktemp("scenarios") / f"{lab.series}.skbv"
    files: list[Path] = [lab.out / "lab.kbl", *(lab.out / f"{name}.pcap" for name in CAPTURES)]
    unexpected = [w for w in import_files(files, out).warnings if not MISSED.search(w)]
    assert unexpected == []
    return Session.open(out)


def test_every_ipv4_packet_is_exact(lab: Lab, session: Session) -> None:
    sent = sum(
        isinstance(frame.data, dpkt.ip.IP)
        for name in CAPTURES
        for _, frame in frames(lab.out / f"{name}.pcap")
    )
    packets = [
        p for p in session.packets.numbered(1, session.packets.count()) if p.ip_id is not None
    ]
    assert len(packets) == sent > 4000
    verdicts = Counter(p.verdict for p in packets)
    assert verdicts["wire-only"] <= session.info()["recorder"]["missed"]  # all its calls, then
    # Where hits were missed, the packet's lifetime may be one that the log lacks.
    lacking = sum(p.reason.startswith("Records from the time of this packet") for p in packets)
    assert lacking == 0 or session.info()["recorder"]["missed"]
    assert verdicts["exact"] + verdicts["wire-only"] + lacking == sent
    assert all(p.reason for p in packets if p.verdict != "exact")


def numbers(session: Session) -> dict[str, range]:
    """The packets of each capture."""
    found, begin = {}, 1
    for source in session.sources():
        if source.kind != "kbl":
            found[Path(source.path).stem] = range(begin, begin + source.rows)
            begin += source.rows
    return found


def test_every_sent_packet_leads_to_the_one_that_came_up(session: Session) -> None:
    """Each tenth is looked at; GRO has merged most of them."""
    of, asked = numbers(session), 0
    came = {leg.series for number in of["merge"] for leg in session.paths.path(packet=number).legs}
    for packet in session.packets.numbered(of["merge-sent"].start, len(of["merge-sent"])):
        if packet.number % 10 or packet.dport != 5201 or packet.verdict != "exact":
            continue
        path = session.paths.path(packet=packet.number)
        onward = {leg.series for leg in path.branches if leg.relation == "into"}
        assert came & (onward | {leg.series for leg in path.legs})
        asked += 1
    assert asked > 50


def test_only_the_kernels_probes_missed_anything(lab: Lab, session: Session) -> None:
    """kretprobes miss whole batches of packets on a slow machine; each miss is counted."""
    info = session.info()
    counted = info["recorder"]
    assert counted["lost"] == 0
    assert info["lost_records"] == counted["missed"] + counted["nested"]
    assert info["lost_records"] <= info["records"] // (50 if lab.series == "6.1" else 1000)
