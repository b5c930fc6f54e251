# SPDX-License-Identifier: MIT
"""Find input files that moved: list them, and ask where they are now."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from skbviewer.records import SourceRow

from ..base.recording_interface import Recording
from ..base.window_size import open_at


def missing_sources(recording: Recording) -> list[SourceRow]:
    """Return the input files that are no longer at the paths which the session stores."""
    return [source for source in recording.sources() if not Path(source.path).is_file()]


def ask_missing(parent: QWidget, paths: Sequence[Path]) -> list[Path] | None:
    """Return `paths` with the new locations of missing files, for which the user is asked.

    Returns None if the user cancelled.
    """
    gone = [path for path in paths if not path.is_file()]
    if not gone:
        return list(paths)
    dialog = Locate(gone, parent)
    if dialog.exec() != QDialog.DialogCode.Accepted:
        return None
    found = dict(zip(gone, dialog.found(), strict=True))
    return [found.get(path, path) for path in paths]


class Locate(QDialog):
    """A dialog with a line for each moved file.

    When the user has found one file, the other files in its folder are filled in.
    """

    def __init__(self, gone: Sequence[Path], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Locate Moved Files")
        self._gone = list(gone)
        self.lines: list[QLineEdit] = []
        text = QLabel("These files have moved. Where are they now?")
        text.setWordWrap(True)
        grid = QGridLayout()
        for row, path in enumerate(gone):
            label = QLabel(path.name)
            label.setToolTip(str(path))
            line = QLineEdit()
            line.setPlaceholderText(str(path))
            line.setAccessibleName(f"New location of {path.name}")
            line.textChanged.connect(self._fill)
            browse = QPushButton("Browse…")
            browse.clicked.connect(lambda _=False, row=row: self._browse(row))
            for column, widget in enumerate((label, line, browse)):
                grid.addWidget(widget, row, column)
            self.lines.append(line)
        standard = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(standard.Ok | standard.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        column_of_all = QVBoxLayout(self)
        column_of_all.addWidget(text)
        column_of_all.addLayout(grid)
        column_of_all.addWidget(self.buttons)
        open_at(self, 720, 140)
        self._check()

    def found(self) -> list[Path]:
        """Return the new location of each moved file."""
        return [Path(line.text()) for line in self.lines]

    def take(self, row: int, path: Path) -> None:
        """Set the new location of the file in line `row`; look for other files next to it."""
        self.lines[row].setText(str(path))

    def _fill(self, text: str) -> None:
        """If `text` is the path of a file, fill in other files from its folder."""
        path = Path(text)
        for line, name in zip(self.lines, self._gone, strict=True):
            beside = path.parent / name.name
            if not line.text() and path.is_file() and beside.is_file():
                line.setText(str(beside))
        self._check()

    def _browse(self, row: int) -> None:
        name, _ = QFileDialog.getOpenFileName(self, f"Locate {self._gone[row].name}")
        if name:
            self.take(row, Path(name))

    def _check(self) -> None:
        ready = all(Path(line.text()).is_file() for line in self.lines)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(ready)
