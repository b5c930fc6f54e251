# SPDX-License-Identifier: MIT
"""Executed instructions in the window: a recorded run of a guest, and what its emulator counted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from skbviewer.analysis.executed_instructions import with_steps
from skbviewer.gui.packet_panes.call_columns import CALL_COLUMNS, STEPS
from skbviewer.gui.packet_panes.call_tree import CallTree
from skbviewer.gui.packet_panes.machine_code_model import CodeColumn
from skbviewer.gui.packet_panes.machine_code_view import CodeView
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.records import PathCall
from skbviewer.session import open_files
from tests.gui.conftest import show_window
from tests.instructions.few_functions import Few, few

FIRST = ("Steps", "Self Steps", "Probe Steps")


@pytest.fixture(scope="module")
def run() -> Few:
    return few()


@pytest.fixture
def window(
    run: Few, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MainWindow]:
    """Return the window on the recording, with its first row selected."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for made in show_window(qtbot, open_files):
        open_run(made, run, qtbot)
        yield made


def open_run(window: MainWindow, run: Few, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.tasks.ended, timeout=60_000):
        window.open_files([run.kbl])
    qtbot.waitUntil(lambda: window.workspace.tree.calls.rowCount() > 0, timeout=20_000)


def choose(window: MainWindow, counts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose a file with Tools > Executed Instructions."""
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(counts), ""))
    window.menus.actions["Executed Instructions"].trigger()


def hidden(tree: CallTree) -> list[bool]:
    return [tree.isColumnHidden(at) for at in STEPS]


def shown(tree: CallTree) -> list[tuple[PathCall, list[str]]]:
    """Return the calls of the tree with the texts of their steps."""
    found, todo = [], [QModelIndex()]
    while todo:
        parent = todo.pop()
        for row in range(tree.calls.rowCount(parent)):
            index = tree.calls.index(row, 0, parent)
            todo.append(index)
            call = tree.calls.call_of_row(index)
            if call is not None and "*" not in str(index.data()):
                found.append((call, [str(index.siblingAtColumn(at).data()) for at in STEPS]))
    return found


def test_the_kernel_path_has_the_steps_of_calls(
    window: MainWindow, run: Few, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, selection = window.workspace.tree, window.selection
    assert [CALL_COLUMNS[at].title for at in STEPS] == [*FIRST]
    assert hidden(tree) == 3 * [True]
    assert selection.recording is not None and selection.path is not None
    choose(window, run.counts_path, monkeypatch)
    qtbot.waitUntil(lambda: hidden(tree) == 3 * [False])
    assert "executed instructions of 805 calls" in window.statusBar().currentMessage()
    steps = selection.recording.executed_steps(run.counts_path)
    row = selection.row
    assert row is not None
    plain = selection.recording.paths.path(series=row.series)
    wanted = {
        call.entry_ns: [call.executed, call.executed_self, call.executed_probes]
        for leg in with_steps(plain, steps.of_log).legs
        for call in leg.calls
    }
    cells = [(call.entry_ns, texts) for call, texts in shown(tree) if call.entry_ns in wanted]
    assert len(cells) >= len(wanted) > 3
    for entry, texts in cells:
        assert texts in (
            [f"{number:,}" for number in wanted[entry] if number is not None],
            3 * ["None"],  # an event's row
        )
    tip = str(tree.calls.index_of(0, 0).data(3))
    assert "Steps: " in tip and "of probes" in tip


def test_another_row_has_steps_too_and_the_call_stays_selected(
    window: MainWindow, run: Few, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, selection = window.workspace.tree, window.selection
    selection.choose_call(0, 1)
    choose(window, run.counts_path, monkeypatch)
    qtbot.waitUntil(lambda: hidden(tree) == 3 * [False])
    assert selection.call == (0, 1)
    window.workspace.table.go_to_row(5)
    QApplication.processEvents()
    assert selection.path is not None
    assert any(call.executed for leg in selection.path.legs for call in leg.calls)


def test_the_disassembly_uses_the_same_file_and_hides_both(
    window: MainWindow, run: Few, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = window.workspace.tree
    code = window.workspace.docks["code"].widget()
    assert isinstance(code, CodeView)
    window.selection.code_asked.emit("ip_rcv")
    qtbot.waitUntil(lambda: code.pages.currentIndex() == 1)
    choose(window, run.counts_path, monkeypatch)
    qtbot.waitUntil(lambda: hidden(tree) == 3 * [False])
    qtbot.waitUntil(lambda: code.hide_counts.isVisible())
    first = int(str(code.code.index(0, CodeColumn.EXECUTED).data()).replace(",", ""))
    assert first == 201  # datagrams and a packet of ICMP
    code.hide_counts.click()
    qtbot.waitUntil(lambda: code.pages.currentIndex() == 1)
    assert hidden(tree) == 3 * [True] and code.table.isColumnHidden(CodeColumn.EXECUTED)


def test_a_file_that_does_not_fit_is_refused(
    window: MainWindow, run: Few, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    with qtbot.waitSignal(window.steps.failed):
        choose(window, run.kbl, monkeypatch)
    assert window.messages.is_shown and hidden(window.workspace.tree) == 3 * [True]


def test_steps_are_forgotten_with_the_recording(
    window: MainWindow, run: Few, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = window.workspace.tree
    choose(window, run.counts_path, monkeypatch)
    qtbot.waitUntil(lambda: hidden(tree) == 3 * [False])
    open_run(window, run, qtbot)
    assert hidden(tree) == 3 * [True] and window.selection.counts is None
