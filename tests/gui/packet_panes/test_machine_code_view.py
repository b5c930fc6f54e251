# SPDX-License-Identifier: MIT
"""The pane of machine code, on a real recording and an image built for it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from skbviewer.gui.packet_panes.execution_count_bars import SHARE
from skbviewer.gui.packet_panes.machine_code_model import CodeColumn
from skbviewer.gui.packet_panes.machine_code_view import ASK, IMAGES, CodeView
from skbviewer.gui.packets.selection import Selection
from skbviewer.records import resource
from skbviewer.session import Session, import_files
from tests.readers.build_executed_blocks import build as build_counts
from tests.readers.build_kernel_image import Function, build

LOG = resource("samples/handshake/handshake.kbl")
RELEASE = "6.1.0-56-cloud-amd64"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("code") / "s.skbv"
    import_files([LOG, LOG.with_suffix(".pcap")], out)
    return out


@pytest.fixture(scope="module")
def image(file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with closing(sqlite3.connect(file)) as db:
        wanted = "SELECT address FROM probe WHERE name = 'tcp_v4_rcv'"
        (address,) = db.execute(wanted).fetchone()
        (stext,) = db.execute("SELECT value FROM meta WHERE key = 'stext'").fetchone()
        wanted = "SELECT name FROM symbol WHERE name LIKE 'tcp_v4_rcv+%'"
        offsets = [int(name.split("+0x")[1], 16) for (name,) in db.execute(wanted)]
    at = address + (1 << 64) - int(stext)
    calls = {offset: f"callee_{offset:x}" for offset in offsets}
    return build(tmp_path_factory.mktemp("image"), [Function("tcp_v4_rcv", at, calls)])


@pytest.fixture
def selection(file: Path) -> Iterator[Selection]:
    session = Session.open(file)
    made = Selection()
    made.use(session)
    yield made
    session.close()


@pytest.fixture
def view(selection: Selection, qtbot: QtBot) -> Iterator[CodeView]:
    made = CodeView(selection)
    qtbot.addWidget(made)
    made.resize(700, 400)
    made.show()
    yield made
    made.close_tasks()


def cell(view: CodeView, row: int, column: CodeColumn) -> str:
    return str(view.code.index(row, column).data(Qt.ItemDataRole.DisplayRole))


def test_it_asks_once_and_remembers(
    view: CodeView,
    selection: Selection,
    image: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert view.hint.text() == ASK
    selection.code_asked.emit("tcp_v4_rcv")
    assert RELEASE in view.hint.text() and view.choose.isVisible()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(image), ""))
    view.choose.click()
    qtbot.waitUntil(lambda: view.pages.currentIndex() == 1)
    assert json.loads(str(QSettings().value(IMAGES))) == {RELEASE: str(image)}
    assert cell(view, 0, CodeColumn.INSTRUCTION).split() == ["call", "__fentry__"]
    assert cell(view, 0, CodeColumn.SOURCE).startswith("code.S:")
    again = CodeView(selection)
    qtbot.addWidget(again)
    again.show_function("tcp_v4_rcv")
    qtbot.waitUntil(lambda: again.pages.currentIndex() == 1)
    again.close_tasks()


def test_marks_and_jumps(view: CodeView, image: Path, qtbot: QtBot) -> None:
    QSettings().setValue(IMAGES, json.dumps({RELEASE: str(image)}))
    view.show_function("tcp_v4_rcv")
    qtbot.waitUntil(lambda: view.pages.currentIndex() == 1)
    marks = []
    for _ in view.code.marked_rows():
        view.next_mark.click()
        marks.append(cell(view, view.table.currentIndex().row(), CodeColumn.MARKS))
    assert "tcp_v4_do_rcv: 4 calls" in marks and len(set(marks)) > 4
    jump = next(r for r in range(99) if cell(view, r, CodeColumn.INSTRUCTION).startswith("je "))
    view.follow(view.code.index(jump, 0))
    there = view.table.currentIndex().row()
    assert cell(view, jump, CodeColumn.INSTRUCTION).split()[1] == cell(
        view, there, CodeColumn.OFFSET
    )
    assert view.arrows.lanes == 2  # the loop is inside the jump's end


def test_what_cannot_be_shown_is_said(view: CodeView, image: Path, qtbot: QtBot) -> None:
    QSettings().setValue(IMAGES, json.dumps({RELEASE: str(image)}))
    view.show_function("nosuch")
    qtbot.waitUntil(lambda: "has a function nosuch" in view.hint.text())
    assert view.pages.currentIndex() == 0 and view.choose.isVisible()


def test_damaged_settings_and_no_recording(view: CodeView, selection: Selection) -> None:
    QSettings().setValue(IMAGES, "{not JSON")
    view.show_function("tcp_v4_rcv")
    assert RELEASE in view.hint.text()
    selection.use(None)
    assert view.hint.text() == ASK
    view.show_function("tcp_v4_rcv")
    assert "no kernel log" in view.hint.text()


@pytest.fixture(scope="module")
def code() -> bytes:
    """Return code that ends with a call of a function that the log does not know."""
    return bytes.fromhex("0f1f440000 4885ff 7405 e8aaaa0000 c3")


@pytest.fixture(scope="module")
def address(file: Path) -> int:
    """Return the address of tcp_v4_rcv, signed."""
    with closing(sqlite3.connect(file)) as db:
        wanted = "SELECT address FROM probe WHERE name = 'tcp_v4_rcv'"
        return int(db.execute(wanted).fetchone()[0])


@pytest.fixture
def recorded(
    file: Path, address: int, code: bytes, tmp_path: Path, qtbot: QtBot
) -> Iterator[CodeView]:
    """Return a pane on a recording whose log has the code of tcp_v4_rcv."""
    out = shutil.copy(file, tmp_path / "recorded.skbv")
    with closing(sqlite3.connect(out)) as db:
        row = (1, address, 1, code)
        db.execute("INSERT INTO code (source, address, ended, data) VALUES (?, ?, ?, ?)", row)
        db.commit()
    session, chosen = Session.open(Path(out)), Selection()
    chosen.use(session)
    made = CodeView(chosen)
    qtbot.addWidget(made)
    made.show()
    yield made
    made.close_tasks()
    session.close()


def test_recorded_code_needs_no_image(recorded: CodeView, qtbot: QtBot) -> None:
    QSettings().remove(IMAGES)
    recorded.show_function("tcp_v4_rcv")
    qtbot.waitUntil(lambda: recorded.pages.currentIndex() == 1)
    assert cell(recorded, 0, CodeColumn.INSTRUCTION).startswith("nop")
    assert "16 bytes, recorded in handshake.kbl" in recorded.title.text()
    assert not QSettings().contains(IMAGES)
    recorded.show_function("ip_rcv")
    assert RELEASE in recorded.hint.text() and recorded.choose.isVisible()


def test_the_image_adds_what_was_replaced(
    recorded: CodeView, image: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    QSettings().setValue(IMAGES, json.dumps({RELEASE: str(image)}))
    recorded.show_function("tcp_v4_rcv")
    qtbot.waitUntil(lambda: recorded.pages.currentIndex() == 1)
    assert cell(recorded, 0, CodeColumn.BYTES).startswith("0f 1f 44 00 00 (image: e8 ")
    other = build(tmp_path, [Function("tcp_v4_rcv", 0x1000, {})])
    QSettings().setValue(IMAGES, json.dumps({RELEASE: str(other)}))
    recorded.show_function("tcp_v4_rcv")  # an image of another build is left out
    qtbot.waitUntil(lambda: recorded.pages.currentIndex() == 1)
    assert cell(recorded, 0, CodeColumn.BYTES) == "0f 1f 44 00 00"


@pytest.fixture
def counted(
    recorded: CodeView, address: int, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> CodeView:
    """Return the pane with counts: the first three instructions 7,000 times, the call once."""
    begin = address % (1 << 64)
    blocks = [(begin, begin + 10, 3, 7000, 21000), (begin + 10, begin + 15, 1, 1, 1)]
    file = build_counts(tmp_path / "counts.1", blocks)
    QSettings().remove(IMAGES)
    recorded.show_function("tcp_v4_rcv")
    qtbot.waitUntil(lambda: recorded.pages.currentIndex() == 1)
    assert recorded.table.isColumnHidden(CodeColumn.EXECUTED)
    assert not recorded.hide_counts.isVisible()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(file), ""))
    recorded.choose_counts.click()
    qtbot.waitUntil(lambda: recorded.hide_counts.isVisible())
    return recorded


def test_counts_are_beside_the_instructions(counted: CodeView) -> None:
    assert not counted.table.isColumnHidden(CodeColumn.EXECUTED)
    cells = [cell(counted, row, CodeColumn.EXECUTED) for row in range(5)]
    assert cells == ["7,000", "7,000", "7,000", "1", "0"]
    shares = [counted.code.index(row, CodeColumn.EXECUTED).data(SHARE) for row in range(5)]
    assert shares == [1, 1, 1, 1 / 7000, None]
    assert "21,001 instructions executed; 16 bytes, recorded in" in counted.title.text()
    assert "counts.1" in counted.title.toolTip()


def test_bars_are_as_long_as_their_shares(counted: CodeView, qtbot: QtBot) -> None:
    counted.resize(900, 400)
    counted.table.clearSelection()
    counted.table.setColumnWidth(CodeColumn.EXECUTED, 200)
    picture = counted.table.viewport().grab().toImage()

    def painted(row: int) -> int:
        box = counted.table.visualRect(counted.code.index(row, CodeColumn.EXECUTED))
        paper = picture.pixelColor(box.left() + 1, box.top() + 1)
        at = box.top() + 3  # above the number
        line = [picture.pixelColor(x, at) for x in range(box.left(), box.right())]
        return sum(colour != paper for colour in line)

    assert painted(1) > 190 and 1 <= painted(3) < 5 and painted(4) == 0


def test_counts_can_be_hidden(counted: CodeView, qtbot: QtBot) -> None:
    counted.table.selectRow(3)
    counted.hide_counts.click()
    qtbot.waitUntil(lambda: not counted.hide_counts.isVisible())
    qtbot.waitUntil(lambda: counted.pages.currentIndex() == 1)
    assert counted.table.isColumnHidden(CodeColumn.EXECUTED)
    assert "executed" not in counted.title.text()
    assert counted.table.currentIndex().row() == 3


def test_counts_of_another_boot_are_refused(
    counted: CodeView,
    address: int,
    tmp_path: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin = address % (1 << 64)
    other = build_counts(tmp_path / "other", [(begin + 1, begin + 5, 1, 1, 1)])
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(other), ""))
    counted.choose_counts.click()
    qtbot.waitUntil(lambda: counted.refused.isVisible())
    assert "another boot" in counted.refused.text()
    assert counted.table.isColumnHidden(CodeColumn.EXECUTED) and counted.pages.currentIndex() == 1
    counted.show_function("tcp_v4_rcv")
    qtbot.waitUntil(lambda: counted.pages.currentIndex() == 1)
    assert not counted.refused.isVisible()


def test_code_of_an_image_has_no_counts(view: CodeView, image: Path, qtbot: QtBot) -> None:
    QSettings().setValue(IMAGES, json.dumps({RELEASE: str(image)}))
    view.show_function("tcp_v4_rcv")
    qtbot.waitUntil(lambda: view.pages.currentIndex() == 1)
    assert not view.choose_counts.isEnabled() and "kblrecord --code" in view.choose_counts.toolTip()


def test_counts_are_forgotten_with_the_recording(counted: CodeView, qtbot: QtBot) -> None:
    counted.show_function("tcp_v4_rcv")
    qtbot.waitUntil(lambda: counted.pages.currentIndex() == 1)
    assert counted.hide_counts.isVisible()
    selection = counted._selection
    recording = selection.recording
    selection.use(None)
    selection.use(recording)
    counted.show_function("tcp_v4_rcv")
    qtbot.waitUntil(lambda: counted.pages.currentIndex() == 1)
    assert counted.table.isColumnHidden(CodeColumn.EXECUTED)
