# SPDX-License-Identifier: MIT
"""The pane of memory: pages and cache lines that calls of the selected packet accessed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QFontMetrics, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QDockWidget,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QSizePolicy,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from skbviewer.analysis.executed_instructions.accessed_pages import (
    UsedPage,
    calls_of_path,
    used_pages,
)
from skbviewer.records import PacketPath, PathCall, TouchedLine, counted

from ..base.empty_view_hint import EmptyText
from ..packets.executed_instructions_file import ask_counts
from ..packets.selection import NONE, Selection

TITLES = ("Page, Cache Line", "Lines", "Loads", "Stores", "Calls", "Functions")
NUMBERS = range(1, 5)  # columns
LOADS = 2  # column
MARGIN = 12  # pixels beside an address
NUMBER_ROLE = Qt.ItemDataRole.UserRole
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
NO_PACKET = "Select a packet to see which memory its calls accessed."
NO_COUNTS = (
    "The memory that calls accessed is known only if the emulator's plugin counted their loads and "
    "stores. Choose its file."
)
NO_PATH = "This packet has no calls."
UNKNOWN = "The loads and stores of these calls were not counted, or are unknown."
COUNTS_TIP = "Choose a file that the emulator's plugin wrote during this recording"
SELECTED_TIP = "Show only memory accesses of the call that is selected in the kernel path"


class MemoryItem(QTreeWidgetItem):
    """A row of the tree; it is compared with other rows by numbers, not by their texts."""

    def __lt__(self, other: QTreeWidgetItem) -> bool:
        """Return whether this row comes before the row `other` in the sorted column."""
        column = self.treeWidget().sortColumn()
        if column in NUMBERS:
            return int(self.data(column, NUMBER_ROLE) or 0) < int(
                other.data(column, NUMBER_ROLE) or 0
            )
        return self.text(column) < other.text(column)


class MemoryView(QWidget):
    """Follows the path, the call and the counts of `selection` while it is visible.

    The pane is opened when the user chooses a file of counts that has loads and stores.
    """

    def __init__(self, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self.title, self.tree = QLabel(), QTreeWidget()
        self.selected = QCheckBox("Only the &Selected Call")
        self.choose = QPushButton("Choose &Counts…")
        self.empty = EmptyText(self.tree)
        self._is_new = False  # the counts were just chosen
        self._build()
        self.selected.toggled.connect(lambda _: self._show())
        self.choose.clicked.connect(lambda: ask_counts(self, selection))
        selection.counts_changed.connect(self._expect)
        selection.path_changed.connect(self._follow)
        selection.call_changed.connect(lambda _leg, _call: self._show_call())
        self._show()

    def _build(self) -> None:
        self.tree.setHeaderLabels(TITLES)
        self.tree.setAccessibleName("Memory that the calls of the selected packet accessed")
        self.tree.setUniformRowHeights(True)
        self.tree.setAlternatingRowColors(True)
        self.tree.setAllColumnsShowFocus(True)
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.tree.setSortingEnabled(True)
        self.tree.sortItems(LOADS, Qt.SortOrder.DescendingOrder)
        self.tree.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for column in NUMBERS:
            self.tree.headerItem().setTextAlignment(column, RIGHT)
        self.title.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.choose.setToolTip(COUNTS_TIP)
        self.selected.setToolTip(SELECTED_TIP)
        head = QHBoxLayout()
        head.setContentsMargins(6, 3, 6, 3)
        head.addWidget(self.title, 1)
        head.addWidget(self.selected)
        head.addWidget(self.choose)
        column_of_all = QVBoxLayout(self)
        column_of_all.setContentsMargins(0, 0, 0, 0)
        column_of_all.setSpacing(0)
        column_of_all.addLayout(head)
        column_of_all.addWidget(self.tree, 1)

    def _expect(self, counts: Path | None) -> None:
        self._is_new = counts is not None

    def _follow(self, path: PacketPath | None) -> None:
        legs = path.legs if path is not None else ()
        if self._is_new and any(call.lines is not None for leg in legs for call in leg.calls):
            self._is_new, dock = False, self.parentWidget()
            if isinstance(dock, QDockWidget):
                dock.show()
        self._show()

    def _show_call(self) -> None:
        if self.selected.isChecked():
            self._show()

    def _show(self) -> None:
        if not self.isVisible():
            return
        calls = self._calls()
        known = [call for call in calls if call.lines is not None]
        pages = used_pages(known)
        self.tree.clear()
        self.tree.addTopLevelItems([_page_item(page) for page in pages])
        for column in range(1, len(TITLES)):
            self.tree.resizeColumnToContents(column)
        fixed = QFontMetrics(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        room = fixed.horizontalAdvance(f"{0:#018x}") + 2 * self.tree.indentation() + MARGIN
        self.tree.setColumnWidth(0, room)
        self.title.setText(_title(calls, known, pages) if known else "")
        self.title.setToolTip(self.title.text())
        self.empty.show_text("" if pages else self._why_empty(calls))

    def _calls(self) -> list[PathCall]:
        """Return the calls of the path or, if the user wants only the selected call, this call."""
        path, (leg, call) = self._selection.path, self._selection.call
        if path is None:
            return []
        if not self.selected.isChecked():
            return calls_of_path(path)
        legs = (*path.legs, *path.branches)
        return [legs[leg].calls[call]] if (leg, call) != NONE and call >= 0 else []

    def _why_empty(self, calls: Sequence[PathCall]) -> str:
        if self._selection.path is None:
            return NO_PACKET
        if self._selection.counts is None:
            return NO_COUNTS
        if not calls:
            return SELECTED_TIP if self.selected.isChecked() else NO_PATH
        return UNKNOWN

    # Qt's own names

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show()


def _title(calls: Sequence[PathCall], known: Sequence[PathCall], pages: Sequence[UsedPage]) -> str:
    """Return one line of text about the memory that is shown."""
    lines = sum(len(one.page.lines) for one in pages)
    loads, stores = (sum(getattr(one.page, name) for one in pages) for name in ("loads", "stores"))
    said = (
        f"{counted(len(pages), 'page')}, {counted(lines, 'cache line')}, "
        f"{loads:,} loads and {stores:,} stores of {counted(len(known), 'call')}"
    )
    missing = len(calls) - len(known)
    return f"{said}; those of {counted(missing, 'call')} are unknown" if missing else said


def _page_item(one: UsedPage) -> MemoryItem:
    numbers = (len(one.page.lines), one.page.loads, one.page.stores, one.calls)
    item = _item(one.page.address, numbers, ", ".join(one.functions))
    item.addChildren([_line_item(line) for line in one.page.lines])
    return item


def _line_item(line: TouchedLine) -> MemoryItem:
    return _item(line.address, (None, line.loads, line.stores, None), "")


def _item(address: int, numbers: Sequence[int | None], functions: str) -> MemoryItem:
    item = MemoryItem([f"{address:#018x}"])
    item.setFont(0, QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    for column, number in zip(NUMBERS, numbers, strict=True):
        item.setText(column, "" if number is None else f"{number:,}")
        item.setData(column, NUMBER_ROLE, number)
        item.setTextAlignment(column, RIGHT)
    item.setText(len(TITLES) - 1, functions)
    item.setToolTip(len(TITLES) - 1, functions.replace(", ", "\n"))
    return item
