# SPDX-License-Identifier: MIT
"""Widgets that only the garbage collector frees are destroyed in the window's thread."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from skbviewer.gui.base import garbage_collection
from skbviewer.gui.base.garbage_collection import collected_in_this_thread
from skbviewer.gui.window import app


class Owner:
    """Refers to itself, and says in which thread it is finalized."""

    def __init__(self, threads: list[threading.Thread]) -> None:
        self.threads, self.itself = threads, self

    def __del__(self) -> None:
        self.threads.append(threading.current_thread())


@pytest.fixture
def collecting() -> Iterator[None]:
    """Collect automatically, as outside tests."""
    gc.enable()
    yield
    gc.disable()


def allocate_in_a_thread() -> None:
    """Allocate as much in another thread as leads to an automatic collection there."""
    thread = threading.Thread(target=lambda: [[n] for n in range(100_000)])
    thread.start()
    thread.join()


@pytest.mark.usefixtures("collecting")
def test_only_the_thread_of_the_window_collects(
    qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(garbage_collection, "INTERVAL_MS", 10)
    threads: list[threading.Thread] = []
    with collected_in_this_thread(qapp):
        Owner(threads)
        allocate_in_a_thread()
        assert threads == []
        kept = [[n] for n in range(1000)]
        qtbot.waitUntil(lambda: bool(threads))
    assert threads == [threading.main_thread()]
    assert len(kept) == 1000


@pytest.mark.usefixtures("collecting")
def test_the_program_collects_in_the_thread_of_its_window(
    qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    def exec_() -> int:
        Owner(threads)
        allocate_in_a_thread()
        return len(threads)

    monkeypatch.setattr(qapp, "exec", exec_)
    monkeypatch.setattr("sys.excepthook", None)
    assert app.run([]) == 0
    for window in qapp.topLevelWidgets():
        window.close()
    assert gc.isenabled()
