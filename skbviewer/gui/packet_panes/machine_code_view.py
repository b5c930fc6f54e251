# SPDX-License-Identifier: MIT
"""The pane of machine code: the instructions of a function, as recorded or from a kernel image.

If no code was recorded, the user is asked for the image once per kernel release; the settings keep
the image's path.  The user may choose a file with executed instructions; it is used until another
recording is opened.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QSettings, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDockWidget,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from skbviewer.records import Progress, counted

from ..base.background_tasks import Tasks
from ..base.theme import is_dark
from ..packets.executed_instructions_file import ask_counts
from ..packets.selection import Selection
from .execution_count_bars import ExecutedBars
from .jump_arrows import JumpArrows
from .machine_code_loading import CodeFiles, LoadedCode, load_code
from .machine_code_model import CodeColumn, CodeModel

if TYPE_CHECKING:
    from skbviewer.analysis.disassembly import Disassembly

IMAGES = "disassembly/images"  # in the settings: JSON, the path of the image by release
ASK = (
    "To see the machine code of a function, right-click a call and choose "
    "“Disassemble This Function”."
)
WHICH = "The machine code of {} is in the kernel image (vmlinux or vmlinuz) of Linux {}."
NO_COUNTS = "Counts can only be shown for recorded code: record it with 'kblrecord --code'."
COUNTS_TIP = (
    "Show how often each instruction was executed; choose the file that the emulator's plugin "
    "wrote, counted since the same boot"
)
NO_LOG = "The recording has no kernel log, so it has no functions to disassemble."


class CodeView(QWidget):
    """Shows the functions that `selection` asks for, and raises its pane for them."""

    def __init__(self, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self._function, self._files = "", CodeFiles()
        self._shown: Disassembly | None = None
        self._tasks = Tasks(self)
        self._tasks.failed.connect(self._say)
        self.code = CodeModel(self)
        self.arrows = JumpArrows(self)
        self.bars = ExecutedBars(self)
        self.table = _table(self.code, self.arrows, self.bars)
        self.table.doubleClicked.connect(self.follow)
        self.table.selectionModel().currentRowChanged.connect(self._mark)
        follow = QShortcut(QKeySequence(Qt.Key.Key_Return), self.table)
        follow.setContext(Qt.ShortcutContext.WidgetShortcut)
        follow.activated.connect(lambda: self.follow(self.table.currentIndex()))
        self.title, self.hint, self.refused = QLabel(), QLabel(ASK), QLabel()
        self.next_mark = QPushButton("&Next Mark")
        self.next_mark.clicked.connect(self._go_to_next_mark)
        self.other = QPushButton("Choose &Image…")
        self.choose = QPushButton("Choose Kernel &Image…")
        for button in (self.other, self.choose):
            button.clicked.connect(self.ask)
        self.choose_counts, self.hide_counts = (
            QPushButton("Choose &Counts…"),
            QPushButton("&Hide Counts"),
        )
        self.choose_counts.clicked.connect(lambda: ask_counts(self, selection))
        self.hide_counts.clicked.connect(lambda: selection.use_counts(None))
        self._build()
        self._say(ASK)
        selection.code_asked.connect(self.show_function)
        selection.recording_changed.connect(self._forget)
        selection.counts_changed.connect(self._count)

    def _build(self) -> None:
        hint = QWidget()
        self.hint.setWordWrap(True)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        by = Qt.TextInteractionFlag  # the keyboard, too, so that F6 comes here without a button
        self.hint.setTextInteractionFlags(by.TextSelectableByMouse | by.TextSelectableByKeyboard)
        self.hint.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        middle = QVBoxLayout(hint)
        middle.addStretch(1)
        middle.addWidget(self.hint)
        middle.addWidget(self.choose, 0, Qt.AlignmentFlag.AlignHCenter)
        middle.addStretch(1)
        self.title.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        # A long title is cut, its tooltip is whole: it must not make the pane wider.
        self.title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.refused.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.refused.setWordWrap(True)
        self.refused.setContentsMargins(6, 0, 6, 3)
        whole = QWidget()
        head = QHBoxLayout()
        head.setContentsMargins(6, 3, 6, 3)
        head.addWidget(self.title, 1)
        for button in (self.next_mark, self.choose_counts, self.hide_counts, self.other):
            head.addWidget(button)
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.refused)
        column.addWidget(self.table, 1)
        self.pages = QStackedWidget()
        self.pages.addWidget(hint)
        self.pages.addWidget(whole)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.pages)

    def show_function(self, function: str) -> None:
        """Show the machine code of `function`.

        If the code was not recorded and no kernel image is known, the user is asked for an image.
        """
        self._function = function
        self._come_forward()
        release, known = self._release(), _images()
        if not release:
            self._say(NO_LOG)
        elif release in known:
            self._load(Path(known[release]))
        elif self._is_recorded():
            self._load(None)
        else:
            self._say(WHICH.format(function, release), choose=True)

    def ask(self) -> None:
        """Ask for a kernel image, and show the function's code from this image."""
        known = _images().get(self._release(), "/boot")
        name, _ = QFileDialog.getOpenFileName(
            self, "Choose the Recorded Kernel", known, "Kernel images (vmlinu*);;All files (*)"
        )
        if name:
            self._load(Path(name), chosen=True)

    def _count(self, counts: Path | None) -> None:
        self._files = self._files._replace(counts=counts)
        if self._shown is not None:
            self._load(self._files.image)

    def _release(self) -> str:
        recording = self._selection.recording
        return next(iter(recording.code.releases()), "") if recording is not None else ""

    def _is_recorded(self) -> bool:
        recording = self._selection.recording
        return recording is not None and recording.code.is_recorded(self._function)

    def _load(self, image: Path | None, chosen: bool = False) -> None:
        """Show the function; see CodeFiles."""
        recording, function = self._selection.recording, self._function
        if recording is None:
            return
        self._say(f"Disassembling {function} …")
        self._files = files = CodeFiles(image, self._files.counts, chosen)

        def work(progress: Progress) -> LoadedCode:
            return load_code(recording.code, function, files, progress)

        self._tasks.failed.disconnect()
        self._tasks.failed.connect(lambda line: self._say(line, choose=True))
        self._tasks.start("", work, self._show)

    def _show(self, made: LoadedCode) -> None:
        shown, arrows, image = made.shown, made.arrows, self._files.image
        if image is not None:
            QSettings().setValue(IMAGES, json.dumps(_images() | {self._release(): str(image)}))
        before, self._shown = self._shown, shown
        is_same = before is not None and before[:4] == shown[:4]  # to the end of the function
        row = self.table.currentIndex().row() if is_same else 0
        self.arrows.show(arrows)
        self.code.show(shown, is_dark(self.palette()))
        title = _title(shown)
        self.title.setText(f"<b>{shown.function}</b>&nbsp; {title}")
        self.title.setToolTip(
            "\n\n".join((f"{shown.function}: {title}", shown.image, *shown.notes))
        )
        self._show_counts(shown, made.refused)
        marked = self.code.marked_rows()
        self.next_mark.setEnabled(bool(marked))
        has_lines = any(one.source is not None for one in shown.instructions)
        self.table.setColumnHidden(CodeColumn.SOURCE, not has_lines)
        self.table.setColumnHidden(CodeColumn.JUMPS, not arrows)
        self.pages.setCurrentIndex(1)
        self.table.resizeColumnsToContents()
        self.table.setColumnWidth(CodeColumn.JUMPS, self.arrows.width())
        self._go_to(max(row, 0))

    def _show_counts(self, shown: Disassembly, refused: str) -> None:
        """Show or hide the widgets and columns that show counts of executed instructions.

        A file with counts that was `refused` is not used again.
        """
        if refused:
            self._files = self._files._replace(counts=None)
        self.refused.setText(refused)
        self.refused.setVisible(bool(refused))
        self.choose_counts.setEnabled(shown.recorded)
        self.choose_counts.setToolTip(COUNTS_TIP if shown.recorded else NO_COUNTS)
        self.hide_counts.setVisible(shown.executed is not None)
        self.table.setColumnHidden(CodeColumn.EXECUTED, shown.executed is None)

    def follow(self, index: QModelIndex) -> None:
        """Go to the target of a jump, or show the function that is called.

        `index` is the clicked cell.
        """
        if not index.isValid():
            return
        one = self.code.instruction(index.row())
        row = self.code.row_of(one.target) if one.target is not None else -1
        if row >= 0:
            self._go_to(row)
        elif one.name and "+" not in one.name:
            self.show_function(one.name)

    def _go_to(self, row: int) -> None:
        index = self.code.index(row, CodeColumn.INSTRUCTION)
        self.table.setCurrentIndex(index)
        self.table.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def _go_to_next_mark(self) -> None:
        rows, current = self.code.marked_rows(), self.table.currentIndex().row()
        if rows:
            self._go_to(next((row for row in rows if row > current), rows[0]))

    def _mark(self, current: QModelIndex, _before: QModelIndex) -> None:
        self.arrows.current = current.row()
        self.table.viewport().update()

    def _forget(self, _recording: object) -> None:
        self._tasks.cancel()
        self._function, self._files, self._shown = "", CodeFiles(), None
        self.code.show(None, is_dark(self.palette()))
        self._say(ASK)

    def _say(self, text: str, choose: bool = False) -> None:
        self.hint.setText(text)
        self.choose.setVisible(choose)
        self.pages.setCurrentIndex(0)

    def _come_forward(self) -> None:
        dock = self.parentWidget()
        if isinstance(dock, QDockWidget):
            dock.show()
            dock.raise_()

    def close_tasks(self) -> None:
        """Stop reading, and wait until the thread has ended."""
        self._tasks.close()

    # Qt's own names

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.code.dark = is_dark(self.palette())


def _title(shown: Disassembly) -> str:
    """Return the rest of the pane's title, after the name of the function."""
    size = counted(shown.end - shown.begin, "byte")
    whence = "recorded in " if shown.recorded else ""
    executed = "" if shown.executed is None else f"{shown.executed:,} instructions executed; "
    return f"{executed}{size}, {whence}{Path(shown.image).name}"


def _table(model: CodeModel, arrows: JumpArrows, bars: ExecutedBars) -> QTableView:
    made = QTableView()
    made.setModel(model)
    made.setAccessibleName("Machine code")
    made.setItemDelegateForColumn(CodeColumn.JUMPS, arrows)
    made.setItemDelegateForColumn(CodeColumn.EXECUTED, bars)
    made.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    made.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    made.setShowGrid(False)
    made.setWordWrap(False)
    made.setTabKeyNavigation(False)
    made.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    made.verticalHeader().hide()
    made.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    made.verticalHeader().setDefaultSectionSize(made.fontMetrics().height() + 4)
    header = made.horizontalHeader()
    header.setStretchLastSection(True)
    header.setHighlightSections(False)
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    return made


def _images() -> dict[str, str]:
    """Return the kernel images in the settings, by kernel release; {} if they are damaged."""
    try:
        found = json.loads(str(QSettings().value(IMAGES, "{}")))
    except ValueError:
        return {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}
