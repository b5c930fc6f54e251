# SPDX-License-Identifier: MIT
"""Graphs, tables, diagnosis, comparison and SQL: windows beside the main window."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from PySide6.QtWidgets import QDialog

from skbviewer.analysis.stats import STATISTICS
from skbviewer.gui.base.shown_packets import View
from skbviewer.gui.dialogs.comparison_window import ComparisonWindow, show_comparison
from skbviewer.gui.dialogs.diagnosis_window import DiagnosisWindow, Extent, show_diagnosis
from skbviewer.gui.dialogs.sql_console import SqlConsole, show_sql_console
from skbviewer.gui.dialogs.statistics_window import StatisticsWindow, show_statistic
from skbviewer.gui.graphs.all_graphs import GRAPHS as SHOWN
from skbviewer.gui.graphs.graph_window import GraphWindow
from skbviewer.gui.window.main_window import MainWindow

from .gui_goals import (
    CANCEL,
    COMPARISON,
    COUNT,
    DIAGNOSIS,
    EVERYTHING,
    GRAPHS,
    SCREENFUL,
    of,
    table,
)
from .gui_watch import Watch, show, until

PARTS = 1000  # a screenful is so small a part
COUNTING = "SELECT count(*) FROM calls"
ENDLESS = "SELECT count(*) FROM calls AS a, calls AS b WHERE a.self_ns + 1 < b.self_ns"
TYPED_S = 4.0  # a user does not type a statement faster; meanwhile its process starts
STARTED_S = 1.0  # the endless query is running by then
Dialog = TypeVar("Dialog", bound=QDialog)


def newest(window: MainWindow, kind: type[Dialog]) -> Dialog:
    """Return the window that was opened last."""
    found: Dialog = window.findChildren(kind)[-1]
    return found


def visible_part(window: MainWindow) -> None:
    """Show a part of the time in the timeline."""
    timeline = window.workspace.timeline
    low, high = timeline.window_ns()
    timeline.show_window((low + high) // 2, (low + high) // 2 + (high - low) // PARTS)


def graphs(window: MainWindow, watch: Watch, runs: int) -> None:
    """Count and paint each graph, of everything and of a part of the time."""
    for graph, name in zip(SHOWN, GRAPHS, strict=True):
        window.menus.actions[graph.menu.replace("&", "").rstrip("…")].trigger()
        opened = newest(window, GraphWindow)
        _until_done(opened)  # what it reads is in memory now
        for place, part in ((2, EVERYTHING), (1, SCREENFUL)):
            opened.extent.setCurrentIndex(place)
            _repeat(watch, of(name, part), opened, opened.count, runs)
        opened.close()


def diagnosis(window: MainWindow, watch: Watch, runs: int) -> None:
    """Diagnose everything and a part of the time."""
    show_diagnosis(
        window, window.selection, View(lambda: window.row_query.filter, window.visible_ns)
    )
    opened = newest(window, DiagnosisWindow)
    until(lambda: not opened.tasks.busy)
    for extent, part in ((Extent.EVERYTHING, EVERYTHING), (Extent.VISIBLE, SCREENFUL)):
        opened.extent.setCurrentText(extent.value)
        _repeat(watch, of(DIAGNOSIS, part), opened, opened.diagnose, runs)
    opened.close()


def tables(window: MainWindow, watch: Watch, runs: int) -> None:
    """Count each table for a part of the packets and for everything, from the first time on."""
    packets = window.workspace.table.packets.rowCount()
    first = packets // 2
    window.use_filter(f"frame.number in {{{first}..{first + packets // PARTS}}}", True)
    until(lambda: not window.row_query.tasks.busy)
    for name in STATISTICS:

        def opening(name: str = name) -> None:
            show_statistic(window, name, window.selection, window.row_query.filter, window.names)
            opened = newest(window, StatisticsWindow)
            until(lambda: not opened.tasks.busy)
            show(opened)

        watch.time(of(table(name), SCREENFUL), opening)
        opened = newest(window, StatisticsWindow)
        for _ in range(runs):
            _repeat(watch, of(table(name), EVERYTHING), opened, opened.limit.click, 1)
            _repeat(watch, of(table(name), SCREENFUL), opened, opened.limit.click, 1)
        opened.close()
    window.use_filter("", True)
    until(lambda: not window.row_query.tasks.busy)


def comparison(window: MainWindow, watch: Watch, session: Path) -> None:
    """Compare the recording with itself."""

    def compare() -> None:
        show_comparison(window, window.selection, "", [session])
        until(lambda: not newest(window, ComparisonWindow).tasks.busy)
        show(newest(window, ComparisonWindow))

    watch.time(COMPARISON, compare)
    newest(window, ComparisonWindow).close()


def sql(window: MainWindow, watch: Watch, runs: int) -> None:
    """Count all calls in the console; begin a query that takes hours, and cancel it."""
    show_sql_console(window, window.selection)
    console = newest(window, SqlConsole)
    for _ in range(runs):
        console.editor.setPlainText(COUNTING)
        _let_run(TYPED_S)
        _repeat(watch, COUNT, console, console.run, 1)
        console.editor.setPlainText(ENDLESS)
        console.run()
        _let_run(STARTED_S)
        if not console.busy:
            raise RuntimeError("the endless query has ended")
        _repeat(watch, CANCEL, console, console.cancel.click, 1)
    console.close()


def _let_run(seconds: float) -> None:
    end = time.monotonic() + seconds
    until(lambda: time.monotonic() > end)


Busy = GraphWindow | DiagnosisWindow | StatisticsWindow | SqlConsole


def _until_done(opened: Busy) -> None:
    until(lambda: not (opened.busy if isinstance(opened, SqlConsole) else opened.tasks.busy))


def _repeat(watch: Watch, name: str, opened: Busy, start: Callable[[], object], runs: int) -> None:
    """Measure from `start` until the result is painted."""

    def once() -> None:
        start()
        _until_done(opened)
        show(opened)

    for _ in range(runs):
        watch.time(name, once)
