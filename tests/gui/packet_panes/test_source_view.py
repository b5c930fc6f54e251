# SPDX-License-Identifier: MIT
"""The kernel source of a function of the path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from skbviewer.gui.packet_panes.source_view import SCAN, SourceView
from skbviewer.gui.packets.selection import Selection

FILE = "".join(f"/* line {number} */\n" for number in range(1, 200))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "linux"
    (folder / "net/ipv4").mkdir(parents=True)
    (folder / "net/ipv4/ip_output.c").write_text(FILE)
    rows = [
        {"function": "ip_output", "file": "net/ipv4/ip_output.c", "line": 120, "end_line": 131},
        {"function": "dst_output", "file": "include/net/dst.h", "line": 440, "end_line": 444},
    ]
    (tmp_path / "scan.json").write_text(json.dumps({"functions": rows}))
    return folder


@pytest.fixture
def selection() -> Selection:
    return Selection()


@pytest.fixture
def view(selection: Selection, qtbot: QtBot) -> Iterator[SourceView]:
    made = SourceView(selection)
    qtbot.addWidget(made)
    made.resize(700, 400)
    made.show()
    yield made
    made.close_tasks()


def choose(monkeypatch: pytest.MonkeyPatch, scan: Path, tree: Path) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(scan), ""))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tree))


def test_it_asks_first_and_remembers(
    view: SourceView,
    selection: Selection,
    tree: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    selection.source_asked.emit("ip_output")
    assert "skbscan scan" in view.hint.text() and view.pages.currentIndex() == 0
    choose(monkeypatch, tree.parent / "scan.json", tree)
    view.choose.click()
    qtbot.waitUntil(lambda: view.pages.currentIndex() == 1)
    assert view.places.currentText() == "net/ipv4/ip_output.c:120   ip_output"
    assert view.text.textCursor().block().text() == "/* line 120 */"
    assert len(view.text.extraSelections()) == 12
    first = view.text.firstVisibleBlock().blockNumber() + 1
    assert first == 117
    again = SourceView(selection)
    qtbot.addWidget(again)
    again.show_function("ip_output")
    qtbot.waitUntil(lambda: again.pages.currentIndex() == 1)
    again.close_tasks()


def test_what_is_not_there_is_said(
    view: SourceView,
    selection: Selection,
    tree: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choose(monkeypatch, tree.parent / "scan.json", tree)
    view.ask()
    qtbot.waitUntil(lambda: "2 functions" in view.hint.text())
    selection.source_asked.emit("veth_xmit")
    assert view.hint.text() == "veth_xmit is not in the scan."
    selection.source_asked.emit("dst_output")
    assert "include/net/dst.h:440" in view.hint.text() and "cannot read" in view.hint.text()


def test_another_file_is_refused_and_not_remembered(
    view: SourceView, tree: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(monkeypatch, tree / "net/ipv4/ip_output.c", tree)
    view.ask()
    qtbot.waitUntil(lambda: "not JSON written by skbscan" in view.hint.text())
    assert not QSettings().contains(SCAN)
