# SPDX-License-Identifier: MIT
"""Every step of an import reports its progress, and stops when it is asked to."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from skbviewer import readers
from skbviewer.readers.kbl import slot_blocks
from skbviewer.records import Cancelled, Part, Progress, resource
from skbviewer.session import import_files
from skbviewer.session.file_hash import sha256

LOG = resource("samples/bulk") / "bulk.kbl"
CAPTURE = resource("samples/bulk") / "bulk.pcap"


class ProgressLog:
    """Keeps all reports; cancels at a report with a given number and step."""

    def __init__(self, stop_in: str = "", after: int = 0) -> None:
        self.said: list[tuple[str, int, int]] = []
        self._stop_in, self._left = stop_in, after

    def report(self, what: str, done: int, total: int) -> None:
        self.said.append((what, done, total))
        if self._stop_in and what.startswith(self._stop_in):
            self._left -= 1
            if self._left < 0:
                raise Cancelled

    def of(self, what: str) -> list[int]:
        return [done for name, done, _ in self.said if name.startswith(what)]


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot_blocks, "BLOCK_SLOTS", 1)


def test_decoding_moves_from_nothing_to_all(small_blocks: None) -> None:
    log = ProgressLog()
    readers.read(LOG, log)
    percent = log.of(f"decoding {LOG.name}")
    assert percent == sorted(percent)
    assert (percent[0], percent[-1]) == (0, 100)
    assert len(set(percent)) > 6


@pytest.mark.parametrize("after", [0, 1, 5])
def test_decoding_stops_within(after: int, small_blocks: None) -> None:
    with pytest.raises(Cancelled):
        readers.read(LOG, ProgressLog("decoding", after))


STEPS = ("reading", "decoding", "hashing", "following", "finding", "storing", "dissecting")


@pytest.mark.parametrize("step", [*STEPS, "matching", "making indexes"])
def test_an_import_stops_in_each_step_and_leaves_nothing(step: str, tmp_path: Path) -> None:
    with pytest.raises(Cancelled):
        import_files([LOG, CAPTURE], tmp_path / "s.skbv", ProgressLog(step))
    assert list(tmp_path.iterdir()) == []


def test_hashing_and_unpacking_tell_the_file(tmp_path: Path) -> None:
    packed = tmp_path / "b.kbl.gz"
    packed.write_bytes(gzip.compress(LOG.read_bytes()))
    log = ProgressLog()
    readers.read(packed, log)
    sha256(packed, log)
    size = packed.stat().st_size
    assert ("hashing b.kbl.gz", 0, size) in log.said
    assert log.of("decompressing b.kbl.gz")[-1] == size
    with pytest.raises(Cancelled):
        sha256(LOG, ProgressLog("hashing"))


def test_a_part_lies_between_its_ends() -> None:
    log = ProgressLog()
    outer: Progress = Part(log, "all", 40, 80, 100)
    for done in (0, 1, 2):
        outer.report("inner", done, 2)
    Part(outer, "ignored", 1, 2, 2).report("", 1, 2)
    assert log.said == [("all", 40, 100), ("all", 60, 100), ("all", 80, 100), ("all", 60, 100)]
