# SPDX-License-Identifier: MIT
"""The SQL console: results, errors, cancelling, history, and rows that lead to packets."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester, QTest
from pytestqt.qtbot import QtBot

from skbviewer.export.query_text import as_markdown, as_tsv
from skbviewer.gui.dialogs import query_history
from skbviewer.gui.dialogs.sql_console import SqlConsole
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.session import open_files

SAMPLE = Path("resources/samples/drops").absolute()
ENDLESS = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT sum(x) FROM t"
PACKETS = """SELECT packet, verdict, NULL AS empty FROM matches
WHERE packet IN (3, 5, 6) ORDER BY packet"""


@pytest.fixture
def main(qtbot: QtBot) -> Iterator[MainWindow]:
    window = MainWindow(open_files)
    qtbot.addWidget(window)
    window.show()
    window.opening.open([SAMPLE / f"drops.{kind}" for kind in ("kbl", "pcap")])
    qtbot.waitUntil(lambda: window.selection.recording is not None, timeout=60_000)
    yield window
    window.close()


@pytest.fixture
def console(main: MainWindow) -> SqlConsole:
    main.menus.actions["SQL Console"].trigger()
    return main.findChildren(SqlConsole)[-1]


def run(console: SqlConsole, qtbot: QtBot, sql: str) -> None:
    console.editor.setPlainText(sql)
    with qtbot.waitSignal(console.process.ended, timeout=60_000):
        QTest.keyClick(console.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: not console.busy, timeout=60_000)


def test_rows_lead_to_packets(main: MainWindow, console: SqlConsole, qtbot: QtBot) -> None:
    run(console, qtbot, f"-- a comment first\n{PACKETS}")
    model = console.model
    assert model is not None
    QAbstractItemModelTester(model)
    assert model.result.columns == ("packet", "verdict", "empty")
    assert set(model.packets) == {3, 5, 6}
    assert model.index(0, 2).data() == ""
    assert console.note.text().startswith(f"{model.rowCount()} rows in ")
    console.table.doubleClicked.emit(model.index(model.rowCount() - 1, 1))
    row = main.selection.row
    assert row is not None and row.id == 6
    console.apply.click()
    assert main.workspace.filter_bar.text() == "frame.number in {3, 5..6}"
    qtbot.waitUntil(lambda: main.selection.rows is not None)
    assert main.selection.rows is not None and main.selection.rows.tolist() == [3, 5, 6]


def test_copies(console: SqlConsole, qtbot: QtBot) -> None:
    run(console, qtbot, "SELECT 1 AS n, 'a|b' AS t UNION ALL SELECT 2, NULL")
    assert console.text("TSV") == "n\tt\n1\ta|b\n2\t\n"
    assert console.text("Markdown") == "| n | t |\n| ---: | --- |\n| 1 | a\\|b |\n| 2 |  |\n"
    assert json.loads(console.text("JSON")) == [{"n": 1, "t": "a|b"}, {"n": 2, "t": None}]
    copies = console.copy.menu()
    assert copies is not None
    copies.actions()[0].trigger()
    assert QGuiApplication.clipboard().text() == console.text("TSV")
    assert not console.apply.isEnabled()  # no column packet
    assert as_tsv(["a"], [["x\ty\nz"]]) == "a\nx y z\n"
    assert as_markdown(["a"], []) == "| a |\n| ---: |\n"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT missing FROM calls", "No such column: missing"),
        ("DELETE FROM packets", "Only SELECT over"),
        ("SELECT count(*) FROM sqlite_master", "only SELECT over"),
        ("SELECT 1 WHERE 0", "0 rows in"),
    ],
)
def test_what_is_said(console: SqlConsole, qtbot: QtBot, sql: str, said: str) -> None:
    run(console, qtbot, sql)
    assert said in console.note.text()
    assert "\n" not in console.note.text()


def test_cut_rows_are_said(console: SqlConsole, qtbot: QtBot) -> None:
    run(console, qtbot, "SELECT a.function FROM calls a, calls b")
    assert console.model is not None and console.model.rowCount() == 100_000
    assert "only the first 100000 rows" in console.note.text()


def test_cancel_is_quick(console: SqlConsole, qtbot: QtBot) -> None:
    console.editor.setPlainText(ENDLESS)
    console.run()
    qtbot.wait(1500)
    assert console.busy and console.cancel.isEnabled()
    begin = time.monotonic()
    console.cancel.click()
    assert time.monotonic() - begin < 0.2
    assert console.note.text() == "Cancelled."
    assert not console.cancel.isEnabled()


def test_closing_ends_the_query(main: MainWindow, console: SqlConsole, qtbot: QtBot) -> None:
    console.editor.setPlainText(ENDLESS)
    console.run()
    main.close_recording()
    assert not console.busy and not console.isVisible()
    qtbot.wait(50)  # the window is deleted
    main.selection.recording_changed.emit(None)


def test_the_next_process_waits(main: MainWindow, console: SqlConsole, qtbot: QtBot) -> None:
    def waiting() -> list[str]:
        """The children of this process that run queries."""
        every = " ".join(file.read_text() for file in Path("/proc/self/task").glob("*/children"))
        return [pid for pid in every.split() if "query" in _command(pid)]

    qtbot.waitUntil(lambda: len(waiting()) == 1)
    first = waiting()
    run(console, qtbot, "SELECT 1 AS n")
    qtbot.waitUntil(lambda: len(waiting()) == 1)
    assert waiting() != first
    console.close()
    assert not waiting()


def _command(pid: str) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def test_no_interpreter(main: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    main.menus.actions["SQL Console"].trigger()
    console = main.findChildren(SqlConsole)[-1]
    console.run()
    qtbot.waitUntil(lambda: not console.busy)
    assert console.note.text() == "Cannot start /nonexistent/python"


def test_history(console: SqlConsole) -> None:
    for number in range(60):
        query_history.add_query(f"SELECT {number}")
    query_history.add_query("SELECT 30")
    kept = query_history.queries()
    assert len(kept) == 50 and kept[:2] == ["SELECT 30", "SELECT 59"]
    menu = console.history.menu()
    assert menu is not None
    menu.aboutToShow.emit()
    menu.actions()[1].trigger()
    assert console.editor.toPlainText() == "SELECT 59"


def test_names_are_inserted(console: SqlConsole) -> None:
    names = [console.tables.topLevelItem(at) for at in range(console.tables.topLevelItemCount())]
    calls = next(item for item in names if item is not None and item.text(0) == "calls")
    console.editor.setPlainText("")
    console.tables.itemDoubleClicked.emit(calls, 0)
    assert console.editor.toPlainText() == "calls"
    console.tables.expandItem(calls)
    children = [calls.child(at) for at in range(calls.childCount())]
    assert "self_ns" in [child.text(0) for child in children if child is not None]


def test_a_result_as_a_chart(console: SqlConsole, qtbot: QtBot) -> None:
    run(console, qtbot, "SELECT number, kernel_ns, len FROM packets WHERE kernel_ns > 0")
    console.views.setCurrentWidget(console.chart)
    chart, model = console.chart, console.model
    assert chart.made is not None and model is not None
    assert (chart.over.currentText(), chart.value.currentText()) == ("number", "kernel_ns")
    assert chart.made.y.tolist() == [row[1] for row in model.result.rows]
    chart.value.setCurrentText("len")
    chart.value.activated.emit(2)
    assert chart.made.y.tolist() == [row[2] for row in model.result.rows]
    x, y = float(chart.made.x[4]), float(chart.made.y[4])
    chart.plot.hovered.emit(QPointF(x, y))
    assert chart.note.text() == f"{x:.4g}: {y:.4g}"
    chart.plot.box.clicked.emit(x, y)
    assert console.table.selectionModel().selectedRows()[0].row() == 4
    chart.plot.box.brushed.emit(QRectF(2, 0, 3, 9))
    assert chart.plot.box.viewRange()[0] == [2, 5]


def test_texts_are_bars(console: SqlConsole, qtbot: QtBot) -> None:
    console.views.setCurrentWidget(console.chart)
    run(console, qtbot, "SELECT 'one' AS name, 5 AS n UNION ALL SELECT 'two', 7")
    made = console.chart.made
    assert made is not None and made.labels == ("one", "two") and made.y.tolist() == [5, 7]
    console.chart.plot.hovered.emit(QPointF(1, -1))
    assert console.chart.note.text() == "two: 7"
    run(console, qtbot, "SELECT 'one' AS name")
    assert console.chart.made is None and "needs a column" in console.chart.note.text()


def test_a_result_as_a_lane(main: MainWindow, console: SqlConsole, qtbot: QtBot) -> None:
    console.views.setCurrentWidget(console.lane)
    sql = "SELECT 7000 AS time_ns, 500 AS dur_ns, 'late' AS name, 6 AS packet UNION ALL "
    run(console, qtbot, sql + "SELECT 2000, NULL, 'early', 3")
    lane = console.lane
    assert lane.made is not None and lane.made.begin.tolist() == [0, 5000]
    lane.plot.hovered.emit(QPointF(5100, 0))
    assert lane.note.text() == "late: row 1, at 5 µs, 500 ns long"
    lane.plot.box.clicked.emit(5100.0, 0.0)
    row = main.selection.row
    assert row is not None and row.id == 6
    run(console, qtbot, "SELECT 1 AS n")
    assert lane.note.text().startswith("A lane needs a column")
