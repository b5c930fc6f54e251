# SPDX-License-Identifier: MIT
"""The window with a bundled recording, and its graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pytestqt.qtbot import QtBot

from skbviewer.gui.base.recording_interface import RowIds
from skbviewer.gui.graphs.graph_window import GraphWindow
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.records import resource
from skbviewer.session import Session, import_files
from tests.gui.conftest import show_window

Window = TypeVar("Window", bound=GraphWindow)


@pytest.fixture(scope="session")
def bulk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    capture = resource("samples/bulk") / "bulk.pcap"
    out = tmp_path_factory.mktemp("graphs") / "bulk.skbv"
    return import_files([capture, capture.with_suffix(".kbl")], out).path


@pytest.fixture
def sample_window(bulk: Path, qtbot: QtBot) -> Iterator[MainWindow]:
    shown = show_window(qtbot, lambda paths, progress, keep=(): Session.open(bulk))
    window = next(shown)
    with qtbot.waitSignal(window.tasks.ended):
        window.open_files([bulk])
    yield window
    next(shown, None)


def open_graph(window: Any, title: str, kind: type[Window], qtbot: QtBot) -> Window:
    """Open a graph from the Statistics menu, and wait until it is counted."""
    window.menus.actions[title].trigger()
    found: Window = window.findChildren(kind)[-1]
    qtbot.waitUntil(lambda: not found.tasks.busy, timeout=20_000)
    return found


def wait_for_rows(window: Any, qtbot: QtBot, act: Callable[[], object]) -> RowIds | None:
    """Return the rows that are listed after `act`; None = all."""
    with qtbot.waitSignal(window.row_query.shown, timeout=10_000) as blocker:
        act()
    assert blocker.args is not None
    found: RowIds | None = blocker.args[0]
    return found
