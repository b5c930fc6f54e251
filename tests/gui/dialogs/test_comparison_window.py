# SPDX-License-Identifier: MIT
"""The comparison window: what it shows, sorting, filters, cancelling, and files it cannot read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QFileDialog, QTableView
from pytestqt.qtbot import QtBot

from skbviewer.analysis.comparison import Comparison
from skbviewer.analysis.display_filter import parse
from skbviewer.gui.dialogs.comparison_model import ComparisonModel
from skbviewer.gui.dialogs.comparison_window import ComparisonWindow
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.records import Progress
from skbviewer.session import Session, open_files
from skbviewer.session.session_comparison import comparison_of

SAMPLES = Path("resources/samples").absolute()
BULK = [SAMPLES / "bulk" / f"bulk.{kind}" for kind in ("kbl", "pcap")]
NAME = "arp-and-neighbour"
ARP = [SAMPLES / NAME / f"{NAME}.{kind}" for kind in ("kbl", "pcap")]
DESCENDING = Qt.SortOrder.DescendingOrder


@pytest.fixture(scope="module")
def bulk() -> Iterator[Session]:
    session = open_files(BULK)
    yield session
    session.close()


@pytest.fixture(scope="module")
def found(bulk: Session) -> Iterator[Comparison]:
    other = open_files(ARP)
    yield comparison_of(bulk, other)
    other.close()


@pytest.fixture
def asked() -> list[str]:
    """The display filters for which the window asked."""
    return []


@pytest.fixture
def window(qtbot: QtBot, found: Comparison, asked: list[str]) -> Iterator[ComparisonWindow]:
    def ask(text: str, progress: Progress) -> Comparison:
        asked.append(text)
        return found

    made = ComparisonWindow(("a.skbv", "b.skbv"), ask, "tcp")
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: made.tabs.count() > 0)
    yield made
    made.close()


def model(window: ComparisonWindow, tab: int = 0) -> ComparisonModel:
    window.tabs.setCurrentIndex(tab)
    shown = window.model()
    assert shown is not None
    return shown


def cells(rows: ComparisonModel, row: int) -> list[str]:
    return [str(rows.index(row, column).data()) for column in range(rows.columnCount())]


def test_changes_come_first(window: ComparisonWindow, found: Comparison) -> None:
    assert window.tabs.tabText(0) == f"Changes · {len(found.changes)}"
    rows = model(window)
    QAbstractItemModelTester(rows)
    assert {row.name for row in rows.rows} == {row.name for row in found.changes}
    texts = [cells(rows, row) for row in range(rows.rowCount())]
    (rx,) = (text for text in texts if text[:2] == ["netif_rx_internal", "self time, a call"])
    assert rx[2:] == [
        "0.735 µs", "0.806 µs", "+9.8 %", "+8.0 to +11.5", "changed", "214", "37",
    ]  # fmt: skip
    assert "439 passes, 41 copies for sniffers" in window.head.text()
    assert f"{len(found.changes)} changes: " in window.head.text()


def test_each_section_has_a_tab(window: ComparisonWindow) -> None:
    titles = [window.tabs.tabText(at).split(" · ")[0] for at in range(window.tabs.count())]
    assert titles == ["Changes", "Totals", "Layers", "Functions", "Paths", "Drops"]
    rows = model(window, 4)
    names = [row.name for row in rows.rows]
    assert names[0] == names[1]  # the most frequent path with all its measures


def test_sorting_by_value(window: ComparisonWindow) -> None:
    rows = model(window, 3)
    rows.sort(4, DESCENDING)
    changes = [row.change for row in rows.rows]
    known = [change for change in changes if change is not None]
    assert known == sorted(known, reverse=True)
    assert changes[: len(known)] == known


def test_functions_lead_to_their_packets(window: ComparisonWindow, qtbot: QtBot) -> None:
    rows = model(window, 3)
    at = next(at for at, row in enumerate(rows.rows) if row.name == "ip_rcv")
    view = window.tabs.currentWidget()
    assert isinstance(view, QTableView)
    with qtbot.waitSignal(window.filter_asked) as asked:
        view.doubleClicked.emit(rows.index(at, 0))
    assert asked.args == ['kbl.func == "ip_rcv"', True]
    parse(rows.filter(at) or "")
    assert model(window, 1).filter(0) is None


def test_limit_to_the_display_filter(
    window: ComparisonWindow, qtbot: QtBot, asked: list[str]
) -> None:
    window.limit.click()
    qtbot.waitUntil(lambda: asked == ["", "tcp"])


def test_csv(window: ComparisonWindow) -> None:
    rows = model(window)
    lines = window.csv().splitlines()
    assert len(lines) == rows.rowCount() + 1
    assert lines[0].startswith("section,name,measure,unit,of,a,b,number_a,number_b,change,low,high")
    assert any(
        line.startswith("functions,netif_rx_internal,self time,ns,call,734.") for line in lines
    )


def test_from_the_file_menu(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, opened_bulk: MainWindow
) -> None:
    chosen = ([str(path) for path in ARP], "")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: chosen)
    opened_bulk.menus.actions["Compare With"].trigger()
    window = opened_bulk.findChildren(ComparisonWindow)[-1]
    qtbot.waitUntil(lambda: window.tabs.count() > 0, timeout=60_000)
    assert window.windowTitle() == f"Compare bulk.kbl + bulk.pcap with {NAME}.kbl + {NAME}.pcap"
    assert any(row.name == "netif_rx_internal" for row in model(window).rows)
    window.close()


def test_a_file_that_cannot_be_read(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, opened_bulk: MainWindow, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.skbv"
    bad.write_bytes(b"nothing")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(bad)], ""))
    opened_bulk.menus.actions["Compare With"].trigger()
    window = opened_bulk.findChildren(ComparisonWindow)[-1]
    qtbot.waitUntil(lambda: "bad.skbv" in window.note.text())
    assert window.tabs.count() == 0
    window.close()


def test_closing_cancels(qtbot: QtBot, opened_bulk: MainWindow) -> None:
    stopped: list[bool] = []

    def ask(text: str, progress: Progress) -> Comparison:
        try:
            while True:
                progress.report("Counting", 0, 1)
        finally:
            stopped.append(True)

    window = ComparisonWindow(("a", "b"), ask)
    qtbot.addWidget(window)
    window.show()
    window.close()
    qtbot.waitUntil(lambda: bool(stopped))


@pytest.fixture
def opened_bulk(qtbot: QtBot) -> Iterator[MainWindow]:
    window = MainWindow(open_files)
    qtbot.addWidget(window)
    window.show()
    window.opening.open(BULK)
    qtbot.waitUntil(lambda: window.selection.recording is not None, timeout=60_000)
    yield window
    window.close()


def test_a_recording_too_short_to_be_judged(qtbot: QtBot) -> None:
    """The window does not say that nothing changed."""
    short = open_files([SAMPLES / "handshake" / f"handshake.{kind}" for kind in ("kbl", "pcap")])
    made = ComparisonWindow(("a.skbv", "b.skbv"), lambda *_: comparison_of(short, short), "")
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: made.tabs.count() > 0)
    assert "The recordings could not be compared, because A and B have " in made.head.text()
    assert "No change" not in made.head.text()
    assert made.tabs.tabText(0) == "Changes · ?"
    made.close()
    short.close()
