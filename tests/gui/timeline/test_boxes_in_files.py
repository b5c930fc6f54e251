# SPDX-License-Identifier: MIT
"""Lanes of a large recording are in files; after a paint, the kernel may drop what was read."""

from __future__ import annotations

import mmap
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from skbviewer.analysis.timeline.pixel_bins import LAYER
from skbviewer.gui.timeline.lane_items import LanesItem
from skbviewer.gui.timeline.pixel_frame import Frame
from skbviewer.records import resource
from skbviewer.records.scratch_memory import Scratch
from skbviewer.session import open_files

FRAME = Frame(0, 10**9, 0, 20, 800, 400)


@pytest.fixture
def in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder, in which every box is stored."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("skbviewer.session.kernel.timeline_lanes_and_overview.MANY_BOXES", 1)
    monkeypatch.setattr("skbviewer.records.scratch_memory.SMALLEST_FILE", 1)
    return tmp_path


@pytest.mark.parametrize("kind", ["cpu", "layer", "process"])
def test_lanes_in_files_are_those_in_memory(
    in_files: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    log = resource("samples/bulk/bulk.kbl")
    session = open_files([log, log.with_suffix(".pcap")])
    filed = session.timeline.lanes(kind)
    assert filed.scratch.in_files
    monkeypatch.setattr("skbviewer.session.kernel.timeline_lanes_and_overview.MANY_BOXES", 1 << 40)
    plain = session.timeline.lanes(kind)
    assert not plain.scratch.in_files
    session.close()
    assert filed.lanes == plain.lanes and filed.names == plain.names
    for name in filed.boxes._fields:
        assert getattr(filed.boxes, name).tolist() == getattr(plain.boxes, name).tolist()
    assert filed.boxes.layers() == sorted(set((plain.boxes.look & LAYER).tolist()))


def test_boxes_are_dropped_when_nothing_is_painted(
    in_files: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    log = resource("samples/handshake/handshake.kbl")
    session = open_files([log, log.with_suffix(".pcap")])
    item, dropped = LanesItem(), list[int]()
    forget = Scratch.forget

    def noted(scratch: Scratch) -> None:
        forget(scratch)
        dropped.append(mmap.MADV_DONTNEED)

    item.draw(session.timeline.lanes("cpu"))
    monkeypatch.setattr(Scratch, "forget", noted)
    first = item.bins_of(FRAME).tolist()
    assert not dropped
    qtbot.waitUntil(lambda: len(dropped) == 1)
    item.draw(item.timeline)
    assert item.bins_of(FRAME).tolist() == first and first
    session.close()


def test_a_cache_folder_that_cannot_be_made(
    tmp_path: Path, in_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = resource("samples/handshake/handshake.kbl")
    session = open_files([log, log.with_suffix(".pcap")])
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert not session.timeline.lanes("cpu").scratch.in_files
    session.close()
