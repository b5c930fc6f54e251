# SPDX-License-Identifier: MIT
"""Qt without a display, settings in a folder of the test's own, no thread left behind."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"  # before Qt loads

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from skbviewer.gui.base.recording_interface import Opener
from skbviewer.gui.packets.packet_table import PacketTable
from skbviewer.gui.window.main_window import MainWindow

from .fake import FakeRecording
from .fake import opener as fake_opener

# What the offscreen platform says of windows, menus and popups; nothing the program can change.
OFFSCREEN = r"This plugin does not support (propagateSizeHints|raise|grabbing)"
OpenWindow = Callable[..., MainWindow]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.qt_log_ignore(OFFSCREEN))


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, qapp: QApplication) -> None:
    qapp.setApplicationName("skbviewer")
    qapp.setOrganizationName("skbviewer")
    QSettings.setDefaultFormat(QSettings.Format.IniFormat)
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, str(tmp_path / "ini"))
    QSettings().clear()
    QSettings().setValue("import_summary", "false")  # it would be the active window


@pytest.fixture(autouse=True)
def no_stray_threads() -> Iterator[None]:
    before = own_threads()
    yield
    assert own_threads() == before


def own_threads() -> set[threading.Thread]:
    """Return the threads that Python started.

    It also lists those of Qt's pool, for good, in which code has asked for the current thread.
    """
    found = threading.enumerate()
    return {thread for thread in found if not isinstance(thread, threading._DummyThread)}


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    """Return the window on made-up recordings, nothing open."""
    yield from show_window(qtbot, fake_opener)


def show_window(qtbot: QtBot, opener: Opener) -> Iterator[MainWindow]:
    window = MainWindow(opener)
    qtbot.addWidget(window)
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    yield window
    window.close()
    assert not window.tasks.busy


@pytest.fixture
def opened(window: MainWindow, qtbot: QtBot) -> MainWindow:
    """Return the window with a capture and a KBL open."""
    open_and_wait(window, qtbot, "handshake.kbl", "handshake.pcap")
    return window


def open_and_wait(window: MainWindow, qtbot: QtBot, *names: str) -> None:
    with qtbot.waitSignal(window.tasks.ended):
        window.open_files([Path("/tmp") / name for name in names])
    QApplication.processEvents()  # panes take their places


@pytest.fixture
def table(qtbot: QtBot) -> PacketTable:
    """Return the packet list by itself."""
    table = PacketTable()
    qtbot.addWidget(table)
    table.resize(1400, 400)
    with qtbot.waitExposed(table):
        table.show()
    table.show_rows(FakeRecording())
    return table
