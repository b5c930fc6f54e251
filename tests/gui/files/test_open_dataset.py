# SPDX-License-Identifier: MIT
"""File > Open Dataset: a real dataset of two hosts, of which sessions are chosen and opened."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QFileDialog
from pytestqt.qtbot import QtBot

from skbviewer.dataset import dataset_paths, session_manifests
from skbviewer.dataset.add_task import add_pair
from skbviewer.gui.files.dataset_sessions import BEGIN, DatasetSessions
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.session import open_files
from tests.dataset.recordings import pair

from ..conftest import show_window

NAMES = ("drops", "nat", "handshake")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three recordings of host lab; the manifest of one is given another host, web10."""
    made = tmp_path_factory.mktemp("open") / "fleet"
    dataset_paths.make(made)
    originals = made.parent / "originals"
    originals.mkdir()
    for name in NAMES:
        files = tuple(Path(shutil.copy(path, originals)) for path in pair(name))
        assert add_pair(made, files).added
    one = _of(made, "nat")
    session_manifests.write(made, one._replace(host="lab2"))
    return made


def _of(dataset: Path, name: str) -> session_manifests.Manifest:
    (found,) = (
        e for e in session_manifests.read_all(dataset) if Path(e.originals[0].path).stem == name
    )
    return found


@pytest.fixture
def real(qtbot: QtBot) -> Iterator[MainWindow]:
    yield from show_window(qtbot, open_files)


def shown(window: MainWindow, qtbot: QtBot, dataset: Path) -> DatasetSessions:
    with qtbot.waitSignal(window.tasks.ended):
        window.dataset_opening.list_sessions(dataset)
    dialog = window.dataset_opening.dialog
    assert dialog is not None
    return dialog


def texts(dialog: DatasetSessions, column: int) -> list[str]:
    model = dialog.table.model()
    return [str(model.index(row, column).data()) for row in range(model.rowCount())]


def choose(dialog: DatasetSessions, *hosts: str) -> None:
    flags = QItemSelectionModel.SelectionFlag
    for row, host in enumerate(texts(dialog, 0)):
        if host in hosts:
            index = dialog.table.model().index(row, 0)
            dialog.table.selectionModel().select(index, flags.Select | flags.Rows)


def test_hosts_and_times_are_listed(window: MainWindow, qtbot: QtBot, dataset: Path) -> None:
    dialog = shown(window, qtbot, dataset)
    found = session_manifests.read_all(dataset)
    assert texts(dialog, 0) == [each.host for each in found]
    assert texts(dialog, 3) == [str(each.rows("packets")) for each in found]
    assert texts(dialog, BEGIN) == sorted(texts(dialog, BEGIN))
    open_button = dialog.buttons.button(QDialogButtonBox.StandardButton.Open)
    assert not open_button.isEnabled()
    dialog.host.setCurrentText("lab")  # not lab2
    assert texts(dialog, 0) == ["lab", "lab"]
    choose(dialog, "lab")
    assert open_button.isEnabled()
    packets = sum(each.rows("packets") for each in dialog.chosen)
    assert dialog.note.text() == f"2 sessions, 1 host, {packets} packets"
    dialog.host.setCurrentIndex(0)
    assert dialog.chosen == []
    dialog.reject()


def test_the_note_counts_as_the_table_does(qtbot: QtBot, dataset: Path) -> None:
    many = _of(dataset, "nat")._replace(tables={"packets": (1_234_567, 1)})
    dialog = DatasetSessions(dataset, [many])
    qtbot.addWidget(dialog)
    choose(dialog, "lab2")
    assert texts(dialog, 3) == ["1,234,567"]
    assert dialog.note.text() == "1 session, 1 host, 1,234,567 packets"


def test_the_chosen_sessions_are_opened_together(
    real: MainWindow, qtbot: QtBot, dataset: Path
) -> None:
    dialog = shown(real, qtbot, dataset)
    choose(dialog, "lab")
    packets = sum(each.rows("packets") for each in dialog.chosen)
    dialog.accept()
    qtbot.waitUntil(lambda: real.recording is not None, timeout=60_000)
    assert real.recording is not None
    assert real.recording.packets.count() == packets
    names = {Path(source.path).name for source in real.recording.sources()}
    assert names == {f"{name}.{end}" for name in ("drops", "handshake") for end in ("kbl", "pcap")}
    qtbot.waitUntil(lambda: not real.tasks.busy)


def test_a_changed_original_is_named(window: MainWindow, qtbot: QtBot, dataset: Path) -> None:
    path = next(Path(e.path) for e in _of(dataset, "nat").originals if e.path.endswith("pcap"))
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    try:
        dialog = shown(window, qtbot, dataset)
        choose(dialog, "lab2")
        with qtbot.waitSignal(window.tasks.failed) as failed:
            dialog.accept()
    finally:
        path.write_bytes(data)
    assert failed.args is not None
    assert f"{path}: has changed since" in failed.args[0]
    assert window.recording is None


def test_a_folder_that_is_none(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    with qtbot.waitSignal(window.tasks.failed) as failed:
        window.dataset_opening.ask()
    assert failed.args is not None
    assert "is no dataset: it has no dataset.json" in failed.args[0]
    assert window.dataset_opening.dialog is None


def test_a_dataset_without_sessions(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    dataset_paths.make(tmp_path / "empty")
    dialog = shown(window, qtbot, tmp_path / "empty")
    assert dialog.note.text() == "The dataset has no session."
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
