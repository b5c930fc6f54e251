# SPDX-License-Identifier: MIT
"""The pane of memory: a recorded run, and what its emulator counted for each call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QTreeWidgetItem
from pytestqt.qtbot import QtBot

from skbviewer.analysis.executed_instructions import with_steps
from skbviewer.gui.packet_panes import accessed_memory_view
from skbviewer.gui.packet_panes.accessed_memory_view import MemoryView
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.records import PathCall
from skbviewer.session import open_files
from tests.gui.conftest import show_window
from tests.instructions.touched_run import Touched, touched

SEGMENT = 6  # a packet
PAGE = 4096


@pytest.fixture(scope="module")
def run() -> Touched:
    return touched()


@pytest.fixture
def window(
    run: Touched, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MainWindow]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for made in show_window(qtbot, open_files):
        open_run(made, run, qtbot)
        yield made


def open_run(window: MainWindow, run: Touched, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.tasks.ended, timeout=60_000):
        window.open_files([run.kbl, run.pcap])
    qtbot.waitUntil(lambda: window.selection.path is not None, timeout=20_000)
    qtbot.waitUntil(lambda: not window.workspace._lay_out_when_shown)


@pytest.fixture
def pane(window: MainWindow, qtbot: QtBot) -> MemoryView:
    """Return the pane, which is opened and in front."""
    dock = window.workspace.docks["memory"]
    dock.show()
    dock.raise_()
    found = dock.widget()
    assert isinstance(found, MemoryView)
    qtbot.waitUntil(found.isVisible)
    return found


def test_it_is_opened_by_counts_with_accesses_only(
    window: MainWindow, run: Touched, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    dock = window.workspace.docks["memory"]
    assert dock.isHidden()
    count(window, run, qtbot, monkeypatch)
    assert not dock.isHidden()
    dock.close()
    window.workspace.table.go_to_row(SEGMENT)
    assert dock.isHidden()


def count(window: MainWindow, run: Touched, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose the counts with Tools > Executed Instructions, and go to the segment."""
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(run.counts_path), ""))
    window.workspace.table.go_to_row(SEGMENT - 1)
    with qtbot.waitSignal(window.steps.read, timeout=20_000):
        window.menus.actions["Executed Instructions"].trigger()


def calls(window: MainWindow, run: Touched) -> list[PathCall]:
    """Return the calls of the segment with what they accessed, each once."""
    recording = window.selection.recording
    assert recording is not None
    steps = recording.executed_steps(run.counts_path)
    path = with_steps(recording.paths.path(packet=SEGMENT), steps.of_log, steps.lines)
    return [*{call.entry_ns: call for leg in path.legs for call in leg.calls}.values()]


def shown(pane: MemoryView) -> dict[int, list[str]]:
    """Return the cells of pages behind the address."""
    items = [page_item(pane, at) for at in range(pane.tree.topLevelItemCount())]
    return {int(item.text(0), 16): [item.text(at) for at in range(1, 5)] for item in items}


def page_item(pane: MemoryView, at: int) -> QTreeWidgetItem:
    item = pane.tree.topLevelItem(at)
    assert item is not None
    return item


def test_it_says_why_it_is_empty(window: MainWindow, pane: MemoryView) -> None:
    assert pane.empty.text() == accessed_memory_view.NO_COUNTS
    window.selection.choose_nothing()
    assert pane.empty.text() == accessed_memory_view.NO_PACKET


def test_it_has_the_pages_of_the_selected_packet(
    window: MainWindow, pane: MemoryView, run: Touched, qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    count(window, run, qtbot, monkeypatch)
    lines, users = dict[int, list[int]](), Counter[int]()
    made = calls(window, run)
    for call in made:
        users.update({line.address // PAGE * PAGE for line in call.lines or ()})
        for line in call.lines or ():
            total = lines.setdefault(line.address, [0, 0])
            total[0] += line.loads
            total[1] += line.stores
    wanted = dict[int, list[str]]()
    for page in users:
        own = [both for line, both in lines.items() if line // PAGE * PAGE == page]
        numbers = (len(own), *map(sum, zip(*own, strict=True)), users[page])
        wanted[page] = [f"{number:,}" for number in numbers]
    assert shown(pane) == wanted and len(wanted) > 10
    loads = sum(both[0] for both in lines.values())
    assert f"{len(lines)} cache lines, {loads:,} loads" in pane.title.text()
    unknown = sum(call.lines is None for call in made)
    assert (f"{unknown} call" in pane.title.text()) == bool(unknown)
    first = page_item(pane, 0)
    assert first.childCount() == int(first.text(1))
    window.workspace.table.go_to_row(SEGMENT)
    assert shown(pane) != wanted and pane.tree.topLevelItemCount() > 10


def test_numbers_are_sorted_as_numbers(
    window: MainWindow, pane: MemoryView, run: Touched, qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    count(window, run, qtbot, monkeypatch)
    pane.tree.sortItems(2, Qt.SortOrder.DescendingOrder)
    loads = [int(cells[1].replace(",", "")) for cells in shown(pane).values()]
    assert loads == sorted(loads, reverse=True) and loads[0] >= 100


def test_only_the_selected_call(
    window: MainWindow, pane: MemoryView, run: Touched, qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    count(window, run, qtbot, monkeypatch)
    pane.selected.setChecked(True)
    assert pane.tree.topLevelItemCount() == 0 and pane.empty.text()
    path = window.selection.path
    assert path is not None
    number, call = next((at, one) for at, one in enumerate(path.legs[0].calls) if one.lines)
    window.selection.choose_call(0, number)
    assert {*shown(pane)} == {line.address // PAGE * PAGE for line in call.lines or ()}
    assert "1 call" in pane.title.text()
