# SPDX-License-Identifier: MIT
"""The process that tests.bench.gui measures: does what a user does and prints how long it took.

Arguments: session, width, height, runs, and when the process was started (time.monotonic(), which
all processes share).  Prints one line of JSON: lists of [wall, CPU] seconds by name.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from skbviewer.cli.program_start import importing

with importing():  # as the program itself does
    import numpy as np
    from PySide6.QtCore import QPoint, QSettings, Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from skbviewer.gui.window.app import application
    from skbviewer.gui.window.main_window import MainWindow
    from skbviewer.records.resource_files import resource
    from skbviewer.session import open_files
    from skbviewer.session.kernel import session_statistics

    from .gui_watch import Watch, show, until
    from .gui_windows import comparison, diagnosis, graphs, sql, tables, visible_part

SEED = 20261121
ZOOM_TO_NS = 1_000
FILTERS = ("udp", "tcp.port == 443", "ip.addr == 10.0.0.0/9", "kbl.dur > 20us", "frame.len > 500")


def open_session(window: MainWindow, path: Path) -> None:
    """Open and paint the first rows."""
    window.open_files([path])
    until(lambda: window.recording is not None and not window.tasks.busy)
    until(lambda: window.workspace.table.packets.rowCount() > 0)
    show(window)


def click_to_path(window: MainWindow, watch: Watch, runs: int, rng: np.random.Generator) -> None:
    """Click on rows that are in sight, far apart from each other."""
    table = window.workspace.table
    for _ in range(runs):
        row = int(rng.integers(table.packets.rowCount()))
        table.scrollTo(table.packets.index(row, 0))
        show(window)
        place = table.visualRect(table.packets.index(row, 0)).center()
        shown: list[object] = []
        connection = window.selection.path_changed.connect(shown.append)

        def click(place: QPoint = place, shown: list[object] = shown) -> None:
            QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
            until(lambda: bool(shown))
            show(window)

        watch.time("click to path", click)
        window.selection.path_changed.disconnect(connection)


def scroll(window: MainWindow, watch: Watch, runs: int, rng: np.random.Generator) -> None:
    """Jump to a random place, then scroll a page: the rows are not in memory yet."""
    table = window.workspace.table
    bar = table.verticalScrollBar()
    for _ in range(runs):
        bar.setValue(int(rng.integers(bar.maximum() + 1)))
        watch.time("scroll frame", table.viewport().repaint)
        bar.setValue(bar.value() + bar.pageStep())
        watch.time("scroll frame", table.viewport().repaint)
        QApplication.processEvents()


def zoom(window: MainWindow, watch: Watch, runs: int) -> None:
    """Zoom from everything to ZOOM_TO_NS around a call."""
    view = window.workspace.timeline
    until(lambda: not view.loader.busy)

    def lanes() -> None:
        view.show_kind("cpu")
        until(lambda: view.lanes.timeline is not None and not view.loader.busy)

    watch.time("lanes of all calls", lanes)
    show(window)
    timeline = view.lanes.timeline
    assert timeline is not None
    of = timeline.boxes
    middle = float(of.begin[len(of.begin) // 2])
    for part in np.linspace(0, 1, runs):
        half = timeline.span_ns / 2 * (ZOOM_TO_NS / timeline.span_ns) ** part
        view.box.setXRange(middle - half, middle + half)
        watch.time("timeline frame", view.plot.viewport().repaint)
    view.fit()


def filters(window: MainWindow, watch: Watch, rounds: int) -> None:
    """Apply filters, each for the first time and again."""
    for _ in range(rounds):
        for text in FILTERS:
            shown: list[object] = []
            connection = window.row_query.shown.connect(lambda *a, shown=shown: shown.append(a))

            def apply(text: str = text, shown: list[object] = shown) -> None:
                window.use_filter(text, True)
                until(lambda: bool(shown))
                show(window)

            watch.time("filter to list", apply)
            window.row_query.shown.disconnect(connection)
    window.use_filter("", True)
    until(lambda: not window.row_query.tasks.busy)


def small_session(watch: Watch, size: tuple[int, int], runs: int) -> None:
    """The window on the bundled recording, imported already."""
    folder = resource("samples/handshake")
    files = [folder / f"handshake.{suffix}" for suffix in ("kbl", "pcap")]
    open_files(files).close()
    for _ in range(runs):
        window = MainWindow(open_files)
        window.resize(*size)
        window.show()

        def opened(window: MainWindow = window) -> None:
            window.open_files(files)
            until(lambda: window.recording is not None and not window.tasks.busy)
            show(window)

        watch.time("small session to first rows", opened)
        window.close()


def main() -> int:
    """Do all in a folder of its own for settings."""
    with tempfile.TemporaryDirectory(prefix="bench-gui-") as folder:
        measure(folder)
    return 0


def measure(folder: str) -> None:
    """Do everything once the first rows are there."""
    session, (width, height, runs) = Path(sys.argv[1]), map(int, sys.argv[2:5])
    started = float(sys.argv[5])
    QSettings.setDefaultFormat(QSettings.Format.IniFormat)
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, folder)
    session_statistics.KEPT_BYTES = 0  # results are computed each time instead of shown again
    watch, rng = Watch(), np.random.default_rng(SEED)
    application()
    window = MainWindow(open_files)
    window.resize(width, height)
    window.show()
    open_session(window, session)
    took = (time.monotonic() - started, time.process_time())
    watch.found["launch to first rows"] = [took]
    if runs:
        watch.memory("memory after opening", "VmRSS")
        scroll(window, watch, runs, rng)
        click_to_path(window, watch, runs, rng)
        filters(window, watch, max(1, runs // 20))
        zoom(window, watch, runs)
        watch.time("idle work", lambda: until(lambda: not window.colouring.busy))
        visible_part(window)
        graphs(window, watch, max(1, runs // 10))
        diagnosis(window, watch, max(1, runs // 20))
        sql(window, watch, max(1, runs // 20))
        tables(window, watch, max(1, runs // 30))
        comparison(window, watch, session)
        watch.memory("memory at the end", "VmRSS")
        watch.memory("memory at its peak", "VmHWM")
        small_session(watch, (width, height), max(1, runs // 10))
    window.close()
    print(json.dumps(watch.found))


if __name__ == "__main__":
    sys.exit(main())
