# SPDX-License-Identifier: MIT
"""The pane of kernel source: the definition of a function, found by a scan of skbscan.

The user is asked once for the scan and the kernel source; the settings keep both paths.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDockWidget,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from skbviewer.analysis.words.source_map import Place, SourceMap, load
from skbviewer.records import BadInput

from ..base.background_tasks import Tasks
from ..packets.selection import Selection
from .source_text import SourceText

SCAN, TREE = "source/scan", "source/tree"  # in the settings
ASK = (
    "To see the source of a function here, choose a scan of the recorded kernel. This command "
    "writes one:\n\nskbscan scan LINUX --json scan.json"
)


class SourceView(QWidget):
    """Shows the functions that `selection` asks for, and raises its pane for them."""

    def __init__(self, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._map: SourceMap | None = None
        self._function = ""
        self._tasks = Tasks(self)
        self.places = QComboBox()
        self.places.setAccessibleName("Definition")
        self.text = SourceText()
        self.hint = QLabel(ASK)
        self.hint.setWordWrap(True)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.hint.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.choose = QPushButton("&Choose Kernel Source…")
        self.choose.clicked.connect(self.ask)
        self._build()
        self.places.currentIndexChanged.connect(self._show_place)
        self._tasks.failed.connect(self._say)
        selection.source_asked.connect(self.show_function)

    def _build(self) -> None:
        hint = QWidget()
        middle = QVBoxLayout(hint)
        middle.addStretch(1)
        middle.addWidget(self.hint)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.choose)
        row.addStretch(1)
        middle.addLayout(row)
        middle.addStretch(1)
        whole = QWidget()
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.places)
        column.addWidget(self.text, 1)
        self.pages = QStackedWidget()
        self.pages.addWidget(hint)
        self.pages.addWidget(whole)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.pages)

    def show_function(self, function: str) -> None:
        """Show the definition of `function`.

        Reads the scan of the kernel source first, unless it has been read already.
        """
        self._function = function
        self._come_forward()
        scan = str(QSettings().value(SCAN, ""))
        if self._map is not None:
            self._show_places(self._map)
        elif scan:
            self._load(Path(scan), Path(str(QSettings().value(TREE, ""))))
        else:
            self._say(ASK)

    def ask(self) -> None:
        """Ask for the output of skbscan and for the kernel source that was scanned."""
        folder = str(QSettings().value(SCAN, ""))
        scan, _ = QFileDialog.getOpenFileName(
            self,
            "Choose a File Written by skbscan scan --json",
            folder,
            "JSON (*.json);;All files (*)",
        )
        if not scan:
            return
        tree = QFileDialog.getExistingDirectory(
            self,
            "Choose the Folder of the Kernel Source That Was Scanned",
            str(QSettings().value(TREE, "")),
        )
        self._load(Path(scan), Path(tree))

    def _load(self, scan: Path, tree: Path) -> None:
        self._say(f"Reading {scan.name} …")
        self._tasks.start("", lambda _: load(scan, tree), lambda made: self._use(made, scan, tree))

    def _use(self, made: SourceMap, scan: Path, tree: Path) -> None:
        QSettings().setValue(SCAN, str(scan))
        QSettings().setValue(TREE, str(tree))
        self._map = made
        if self._function:
            self._show_places(made)
        else:
            self._say(f"{len(made):,} functions. Double-click a function in the kernel path.")

    def _show_places(self, made: SourceMap) -> None:
        self.places.blockSignals(True)
        self.places.clear()
        for place in made.definitions(self._function):
            self.places.addItem(f"{place.file}:{place.line}   {self._function}", place)
        self.places.blockSignals(False)
        self._show_place(0)

    def _show_place(self, at: int) -> None:
        place = self.places.itemData(at)
        if not isinstance(place, Place) or self._map is None:
            self._say(f"{self._function} is not in the scan.")
            return
        try:
            text = self._map.text(place)
        except BadInput as error:
            self._say(f"{self._function} is defined at {place.file}:{place.line}.\n\n{error}")
            return
        self.pages.setCurrentIndex(1)
        self.text.show_lines(text, place.line, place.end_line)

    def _say(self, text: str) -> None:
        self.hint.setText(text)
        self.pages.setCurrentIndex(0)

    def _come_forward(self) -> None:
        dock = self.parentWidget()
        if isinstance(dock, QDockWidget):
            dock.show()
            dock.raise_()

    def close_tasks(self) -> None:
        """Stop reading, and wait until the thread has ended."""
        self._tasks.close()
