# SPDX-License-Identifier: MIT
"""A log of one packet in N: what the hash leaves out is sampled out, as long as it is sound."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skbviewer.cli.main import main
from skbviewer.gui.files.import_summary import summary_html
from skbviewer.matching import Sample, is_left_out
from skbviewer.readers import read
from skbviewer.records import BEGUN_LATE, Capture, Silent
from skbviewer.session import Session, import_files
from tests.matching.story import Story, capture
from tests.readers import build
from tests.readers.build_kbl import Ipv4, SkbInfo

CLIENT, SERVER, PACKETS, MS = "10.0.0.1", "10.0.0.2", 40, 1_000_000
EPOCH = 1_700_000_000_000_000_007
SAMPLE = Sample(3, 5, True)
HOST = SkbInfo(ifindex=2, netns=100)
TEXT = "one packet in 3 was recorded, hash seed 5"


def frames() -> list[tuple[int, bytes]]:
    """Datagrams of one connection."""
    return [
        (EPOCH + MS * n, build.ethernet(build.ipv4(CLIENT, SERVER, 17, build.udp(1000, 7), n)))
        for n in range(1, PACKETS + 1)
    ]


def session_of(folder: Path, broken: int) -> Session:
    """Import a log of the chosen datagrams, which counts `broken` signs of merged packets."""
    capture(folder, frames(), "a.pcap")
    taken = read(folder / "a.pcap", Silent())
    assert isinstance(taken, Capture)
    story = Story()
    story.lasting(EPOCH)
    story.kbl.meta |= {"filter": "sample-packets 3/5", "sample.packets": "3", "sample.seed": "5"}
    story.kbl.counters = {"sample_broken": broken}
    story.function("__alloc_skb")  # probed, but no birth of a packet without headers is recorded
    for n in np.flatnonzero(~is_left_out(taken.packets, SAMPLE)).tolist():
        skb, at = 0xFFFF888000000000 + n * 0x1000, MS * (n + 1)
        header = Ipv4(CLIENT, SERVER, n + 1, 17, 1000, 7)
        story.call("dev_hard_start_xmit", at, at + 500, skb, skbinfo=HOST, ipv4=header)
        story.free(at + 5000, skb)
    story.log(folder)
    import_files([folder / "a.pcap", folder / "story.kbl"], folder / "a.skbv")
    return Session.open(folder / "a.skbv")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return session_of(tmp_path_factory.mktemp("sound"), 0)


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return session_of(tmp_path_factory.mktemp("broken"), 1)


def test_packets_that_the_hash_leaves_out_are_sampled_out(sound: Session) -> None:
    rows = list(sound.packets.numbered(1, PACKETS))
    assert {row.verdict for row in rows} == {"exact", "sampled-out"}
    reasons = {row.reason for row in rows if row.verdict == "sampled-out"}
    assert len(reasons) == 1 and "one packet in N" in reasons.pop()


def test_the_rate_is_beside_the_sums(sound: Session, capsys: pytest.CaptureFixture[str]) -> None:
    assert sound.info()["sampling"] == [{"source": 2, **SAMPLE._asdict()}]
    assert sound.stats.table("functions").notes == (TEXT,)
    assert f"O{TEXT[1:]}." in summary_html(sound)
    main(["info", str(sound.file)])
    assert f"sampling      {TEXT} (source 2)" in capsys.readouterr().out
    assert main(["diagnose", str(sound.file)]) == 0
    assert capsys.readouterr().err == f"note: {TEXT}\n"


def test_a_sent_packet_is_not_called_whole(sound: Session) -> None:
    row = next(row for row in sound.packets.numbered(1, PACKETS) if row.verdict == "exact")
    (leg,) = sound.paths.path(packet=row.number).legs
    assert leg.note == BEGUN_LATE and leg.kernel_ns is None
    assert row.kernel_ns is None


def test_after_packets_were_merged_nothing_is_sampled_out(broken: Session) -> None:
    rows = list(broken.packets.numbered(1, PACKETS))
    assert {row.verdict for row in rows} == {"exact", "wire-only"}
    reasons = {row.reason for row in rows if row.verdict == "wire-only"}
    assert len(reasons) == 1 and "missing" in reasons.pop()
    (note,) = broken.stats.table("functions").notes
    assert note.startswith(f"{TEXT}; packets may have been segmented")
