# SPDX-License-Identifier: MIT
"""In a log without some hits, the reader finds the other calls, and counts the misses."""

from __future__ import annotations

import tarfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from skbviewer.readers import read
from skbviewer.records import KernelLog, Silent

from .missed_hits import POLL_NS, without_hits

SAMPLE = Path(__file__).parent / "samples/6.12-netem-same-headers.tar.xz"
ENTRY, EVENT, LOST, FOOTPRINT, CONSUME = 1, 4, 5, 34, 6
HEADER = ("saddr_lo", "daddr_lo", "ip_id", "protocol", "sport", "dport", "seq")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded log."""
    folder = tmp_path_factory.mktemp("missed")
    with tarfile.open(SAMPLE) as archive:
        archive.extract("log.kbl", folder, filter="data")
    return folder / "log.kbl"


def loaded(path: Path) -> KernelLog:
    log = read(path, Silent())
    assert isinstance(log, KernelLog)
    return log


def calls(log: KernelLog) -> Counter[tuple[int, ...]]:
    """Count the calls by when, where, what, and with which header."""
    some = log.records["kind"] == ENTRY
    names = ("ts", "cpu", "func", "skb", "exit_ts", *HEADER)
    return Counter(zip(*(log.records[n][some].tolist() for n in names), strict=True))


@pytest.mark.parametrize("dated", [True, False])
def test_the_other_calls_are_as_they_were(recorded: Path, tmp_path: Path, dated: bool) -> None:
    gone = without_hits(recorded, tmp_path / "less.kbl", 0.1, 1, dated)
    whole, less = loaded(recorded), loaded(tmp_path / "less.kbl")
    assert [w.split("(")[1] for w in less.warnings] == [
        f"0 buffers full, {gone} missed hits, 0 nested hits)"
    ]
    before, after = calls(whole), calls(less)
    assert before.total() - after.total() == gone > 0.05 * before.total()
    # The next hit writes a footprint with what the skb held before: a few differ by that.
    assert (after - before).total() < 0.02 * gone
    assert less.lost_records - whole.lost_records == gone


def test_what_tracepoints_show_stays(recorded: Path, tmp_path: Path) -> None:
    without_hits(recorded, tmp_path / "less.kbl", 0.3, 1, False)
    whole, less = (loaded(path).records for path in (recorded, tmp_path / "less.kbl"))
    for event in (CONSUME, 17, 18, 19, 20):  # consumed, received, queued, sent
        assert np.array_equal(*(r["ts"][r["event"] == event] for r in (whole, less)))


def test_misses_are_counted_within_the_time_between_two_polls(
    recorded: Path, tmp_path: Path
) -> None:
    gone = without_hits(recorded, tmp_path / "dated.kbl", 0.1, 1, True)
    without_hits(recorded, tmp_path / "undated.kbl", 0.1, 1, False)
    dated, undated = (loaded(tmp_path / f"{name}.kbl") for name in ("dated", "undated"))
    lost = dated.records["kind"] == LOST
    assert dated.records["data"][lost].sum() == gone == sum(undated.missed.values())
    assert set(dated.records["dur"][lost].tolist()) == {POLL_NS}
    assert not dated.missed and not (undated.records["kind"] == LOST).any()
