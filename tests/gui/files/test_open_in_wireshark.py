# SPDX-License-Identifier: MIT
"""File > Open in Wireshark on a real recording; a stand-in for Wireshark keeps what it gets."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from skbviewer.gui.files.open_in_wireshark import NOT_FOUND
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.records.resource_files import resource
from skbviewer.session import open_files

from ..conftest import show_window

STAND_IN = """#!/bin/sh
for last; do :; done
cp "$last" {0}/partial && mv {0}/partial {0}/shown.pcapng
"""


@pytest.fixture
def real(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    """The window on the bundled handshake; programs are found in an empty folder only."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for window in show_window(qtbot, open_files):
        folder = resource("samples/handshake")
        with qtbot.waitSignal(window.tasks.ended, timeout=60_000):
            window.open_files([folder / "handshake.kbl", folder / "handshake.pcap"])
        yield window


def open_in_wireshark(window: MainWindow) -> None:
    window.menus.actions["Open in Wireshark"].trigger()


def test_without_wireshark_the_banner_says_what_to_do(
    real: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    open_in_wireshark(real)
    assert real.banner.text == NOT_FOUND


def test_wireshark_gets_the_displayed_packets(
    real: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "wireshark").write_text(STAND_IN.format(tmp_path))
    (programs / "wireshark").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    with qtbot.waitSignal(real.row_query.shown):
        real.use_filter("arp", True)
    with qtbot.waitSignal(real.tasks.ended):
        open_in_wireshark(real)
    shown = tmp_path / "shown.pcapng"
    qtbot.waitUntil(shown.exists)
    with closing(open_files([shown])) as capture:
        assert capture.packets.count() == real.row_query.count() == 2
