# SPDX-License-Identifier: MIT
"""The window names a session's older matching rules, and can match it again."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from skbviewer.gui.files.import_summary import summary_html
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.matching import RULES
from skbviewer.session import import_files, open_files
from tests.session.older import age

from ..packets.test_real_list import number, open_and_list, sample
from ..packets.test_real_list import real as real


def _older(folder: Path, real: MainWindow, qtbot: QtBot) -> Path:
    """A session of older rules with a mark, opened in the window at packet 3."""
    saved = folder / "kept.skbv"
    inputs = [Path(shutil.copy(path, folder)) for path in sample("drops", "kbl", "pcap")]
    import_files(inputs, saved)
    kept = open_files([saved])
    kept.notes.set_flags("mark", np.array([3]))
    kept.close()
    age(saved)
    open_and_list(real, qtbot, [saved])
    real.navigation.to_id(3)
    return saved


def _says_older(real: MainWindow, qtbot: QtBot) -> bool:
    status = real.recording_status
    qtbot.waitUntil(lambda: "Matched: " in status.accessibleDescription())
    return "Matched by older rules (0, now " in status.accessibleDescription()


def test_a_session_of_older_rules_says_so_and_is_matched_again(
    real: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    saved = _older(tmp_path, real, qtbot)
    assert "kept.skbv: its verdicts were made by older rules (0, now " in real.banner.text
    assert "\n" not in real.banner.text and _says_older(real, qtbot)
    old = real.recording
    assert old is not None and "older rules" in summary_html(old)
    QTest.mouseClick(real.banner.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: real.recording not in (None, old), timeout=60_000)
    new = real.recording
    assert new is not None and new.rules() == RULES and new.file == saved
    assert not real.banner.isVisible() and not _says_older(real, qtbot)
    assert "older rules" not in summary_html(new)
    assert real.notes.marked() == 1
    qtbot.waitUntil(lambda: number(real) == "3")


def test_a_session_of_older_rules_whose_files_are_gone_is_shown(
    real: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = _older(tmp_path, real, qtbot)
    real.close_recording()
    moved = {p: p.rename(p.with_suffix(f".moved{p.suffix}")) for p in tmp_path.glob("drops.*")}
    open_and_list(real, qtbot, [saved])
    assert (
        "older rules (0, now " in real.banner.text
        and "notes and marks are kept" in real.banner.text
    )
    assert _says_older(real, qtbot) and real.workspace.table.packets.rowCount() > 0
    monkeypatch.setattr(
        "skbviewer.gui.files.file_menu.ask_missing", lambda *_: None
    )  # the user gave up
    QTest.mouseClick(real.banner.button, Qt.MouseButton.LeftButton)
    assert not real.tasks.busy and "older rules" in real.banner.text
    wrong = sample("handshake", "kbl", "pcap")
    monkeypatch.setattr("skbviewer.gui.files.file_menu.ask_missing", lambda *_: wrong)
    with qtbot.waitSignal(real.tasks.ended, timeout=60_000):
        QTest.mouseClick(real.banner.button, Qt.MouseButton.LeftButton)
    assert "has other contents than drops.kbl had" in real.banner.text and _says_older(real, qtbot)
    monkeypatch.setattr(
        "skbviewer.gui.files.file_menu.ask_missing",
        lambda _, paths: [moved[path] for path in paths],
    )
    open_and_list(real, qtbot, [saved])
    old = real.recording
    QTest.mouseClick(real.banner.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: real.recording not in (None, old), timeout=60_000)
    assert not real.banner.isVisible() and real.notes.marked() == 1


def test_a_session_of_newer_rules_says_so_and_is_left_alone(
    real: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    saved = tmp_path / "newer.skbv"
    import_files(sample("drops", "kbl", "pcap"), saved)
    age(saved, RULES + 1)
    open_and_list(real, qtbot, [saved])
    assert f"newer rules ({RULES + 1}, here {RULES})" in real.banner.text
    assert not real.banner.button.isVisible()
