# SPDX-License-Identifier: MIT
"""File > Open Dataset: list the sessions of a dataset, and open the input files of the chosen ones.

A worker thread reads the manifests, and checks the input files by their hashes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QSettings
from PySide6.QtWidgets import QFileDialog, QWidget

from skbviewer.dataset import session_manifests
from skbviewer.dataset.session_manifests import Manifest
from skbviewer.records import Progress

from ..base.background_tasks import Tasks
from .dataset_sessions import DatasetSessions

FOLDER = "dataset_folder"  # setting: the last dataset
Open = Callable[[Sequence[Path]], object]


class DatasetOpening(QObject):
    """Opens parts of datasets in one window.  `open_files` opens files together."""

    def __init__(self, window: QWidget, tasks: Tasks, open_files: Open) -> None:
        super().__init__(window)
        self._window, self._tasks, self._open_files = window, tasks, open_files
        self.dialog: DatasetSessions | None = None

    def ask(self) -> None:
        """Ask for the folder of a dataset, then list its sessions."""
        last = str(QSettings().value(FOLDER, ""))
        name = QFileDialog.getExistingDirectory(self._window, "Open Dataset", last)
        if name:
            self.list_sessions(Path(name))

    def list_sessions(self, folder: Path) -> None:
        """List the sessions of the dataset `folder`."""

        def work(_: Progress) -> list[Manifest]:
            return session_manifests.read_all(folder)

        self._tasks.start(f"Reading {folder.name}", work, lambda found: self._show(folder, found))

    def _show(self, folder: Path, found: Sequence[Manifest]) -> None:
        QSettings().setValue(FOLDER, str(folder))
        dialog = DatasetSessions(folder, found, self._window)
        dialog.accepted.connect(lambda: self._open(folder, dialog.chosen))
        self.dialog = dialog
        dialog.open()

    def _open(self, folder: Path, chosen: Sequence[Manifest]) -> None:
        def work(progress: Progress) -> list[Path]:
            from skbviewer.dataset.open_as_session import original_files

            return original_files(folder, chosen, progress)

        self._tasks.start("Comparing the original files", work, self._open_files)
