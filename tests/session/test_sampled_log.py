# SPDX-License-Identifier: MIT
"""A log of one connection in N: packets of the others are sampled out, not wire-only."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skbviewer.analysis.stats import statistic_of
from skbviewer.cli.main import main
from skbviewer.gui.base.status_text import status_text
from skbviewer.gui.files.import_summary import import_line, summary_html
from skbviewer.matching import Sample, is_left_out
from skbviewer.readers import read
from skbviewer.records import Capture, Silent
from skbviewer.session import Session, import_files
from tests.matching.story import Story, capture
from tests.readers import build
from tests.readers.build_kbl import Ipv4, SkbInfo

CLIENT, SERVER, PACKETS, MS = "10.0.0.1", "10.0.0.2", 40, 1_000_000
EPOCH = 1_700_000_000_000_000_007
SAMPLE = Sample(3, 5)
HOST = SkbInfo(ifindex=2, netns=100)
TEXT = "one connection in 3 was recorded, hash seed 5"


def frames() -> list[tuple[int, bytes]]:
    """A datagram of each of PACKETS connections."""
    return [
        (EPOCH + MS * n, build.ethernet(build.ipv4(CLIENT, SERVER, 17, build.udp(1000 + n, 7), n)))
        for n in range(1, PACKETS + 1)
    ]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("sampled")
    capture(folder, frames(), "a.pcap")
    taken = read(folder / "a.pcap", Silent())
    assert isinstance(taken, Capture)
    left_out = is_left_out(taken.packets, SAMPLE)
    story = Story()
    story.lasting(EPOCH)
    story.kbl.meta |= {"filter": "sample 3/5", "sample.rate": "3", "sample.seed": "5"}
    for n in np.flatnonzero(~left_out).tolist():
        skb, at = 0xFFFF888000000000 + n * 0x1000, MS * (n + 1)
        story.alloc(at - 3000, skb)
        header = Ipv4(CLIENT, SERVER, n + 1, 17, 1001 + n, 7)
        story.call("dev_hard_start_xmit", at, at + 500, skb, skbinfo=HOST, ipv4=header)
        story.free(at + 5000, skb)
    story.log(folder)
    return [folder / "a.pcap", folder / "story.kbl"]


@pytest.fixture(scope="module")
def session(files: list[Path]) -> Session:
    out = files[0].parent / "a.skbv"
    import_files(files, out)
    return Session.open(out)


@pytest.fixture(scope="module")
def left_out(files: list[Path]) -> np.ndarray:
    taken = read(files[0], Silent())
    assert isinstance(taken, Capture)
    return is_left_out(taken.packets, SAMPLE)


def test_packets_of_other_connections_are_sampled_out(
    session: Session, left_out: np.ndarray
) -> None:
    rows = list(session.packets.numbered(1, PACKETS))
    assert [row.verdict == "sampled-out" for row in rows] == left_out.tolist()
    assert {row.verdict for row in rows} == {"exact", "sampled-out"}
    reasons = {row.reason for row in rows if row.verdict == "sampled-out"}
    assert len(reasons) == 1 and "did not choose" in reasons.pop()
    assert all(row.confidence is None for row in rows if row.verdict == "sampled-out")


def test_fields_know_the_verdict(session: Session, left_out: np.ndarray) -> None:
    chosen = session.packets.select('kbl.verdict == "sampled-out"')
    assert chosen is not None and chosen.tolist() == (np.flatnonzero(left_out) + 1).tolist()
    matched = session.packets.select("kbl.matched == 1")
    assert matched is not None and matched.tolist() == (np.flatnonzero(~left_out) + 1).tolist()


def test_the_rate_is_beside_the_sums(session: Session, left_out: np.ndarray) -> None:
    info = session.info()
    assert info["sampling"] == [
        {"source": 2, "rate": 3, "seed": 5, "of_packets": False, "sound": True}
    ]
    assert info["matches"]["sampled_out"] == int(left_out.sum())
    assert info["matches"]["wire_only"] == 0
    assert statistic_of("functions", session.stats.scope()).notes == (TEXT,)
    assert session.stats.table("layers").notes == (TEXT,)


def test_commands_print_it(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    main(["info", str(session.file)])
    printed = capsys.readouterr().out
    assert f"sampling      {TEXT} (source 2)" in printed
    assert "sampled-out" in printed
    main(["stats", str(session.file), "functions"])
    assert f"note: {TEXT}" in capsys.readouterr().err
    for words in (["diagnose"], ["compare", str(session.file)]):
        assert main([*words, str(session.file)]) == 0
        assert capsys.readouterr().err == f"note: {TEXT}\n"


def test_the_window_shows_it(session: Session, left_out: np.ndarray) -> None:
    count = int(left_out.sum())
    assert f"Sampled out: {count}" in status_text(session)
    assert f"{count} sampled out" in import_line(session)
    html = summary_html(session)
    assert f"O{TEXT[1:]}." in html and "<th align='left'>Sampled out</th>" in html
