# SPDX-License-Identifier: MIT
"""The packet list's header: click to sort, drag to move, right-click to show, hide and add."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QCompleter, QInputDialog, QLineEdit, QMenu, QWidget

from skbviewer.analysis.fields.all_fields import FIELDS

from ..base.sort_header import SortHeader


class PacketHeader(SortHeader):
    """The packet list's header, whose signals carry the logical index of a column."""

    add_asked = Signal(str)  # name of a field
    remove_asked = Signal(int)
    title_asked = Signal(int, str)
    fit_asked = Signal(int)  # fit to contents; -1: all columns
    reset_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSectionsMovable(True)
        self.setSortIndicatorClearable(True)
        self.setHighlightSections(False)
        self.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setMinimumSectionSize(24)
        self.setAccessibleName("Columns of the packet list")

    def titles(self) -> list[str]:
        """Return the titles of all columns, by logical index (hidden columns count)."""
        model = self.model()
        return [str(model.headerData(at, Qt.Orientation.Horizontal)) for at in range(self.count())]

    def shown_columns(self) -> list[int]:
        """Return the indices of the visible columns, from left to right."""
        visual = [self.logicalIndex(at) for at in range(self.count())]
        return [at for at in visual if not self.isSectionHidden(at)]

    def menu_at(self, section: int) -> QMenu:
        """Return the context menu of a column; a `section` of -1 is the area after all columns."""
        menu = QMenu(self)
        if section >= 0:
            order = Qt.SortOrder
            for text, way in (
                ("Sort &Ascending", order.AscendingOrder),
                ("Sort &Descending", order.DescendingOrder),
            ):
                act = menu.addAction(text)
                act.triggered.connect(lambda _=False, way=way: self.setSortIndicator(section, way))
            none = menu.addAction("&No Sorting")
            none.triggered.connect(lambda: self.setSortIndicator(-1, order.AscendingOrder))
            menu.addSeparator()
            menu.addAction("&Rename…").triggered.connect(lambda: self._ask_title(section))
            menu.addAction("Resize to &Contents").triggered.connect(
                lambda: self.fit_asked.emit(section)
            )
            hide = menu.addAction("&Hide Column")
            hide.triggered.connect(lambda: self.setSectionHidden(section, True))
            hide.setEnabled(self.count() - self.hiddenSectionCount() > 1)
            remove = menu.addAction("Remo&ve Column")
            remove.triggered.connect(lambda: self.remove_asked.emit(section))
            menu.addSeparator()
        menu.addAction("Add &Field as Column…").triggered.connect(self.ask_field)
        menu.addAction("Resize A&ll Columns").triggered.connect(lambda: self.fit_asked.emit(-1))
        menu.addAction("Rese&t Columns").triggered.connect(self.reset_asked)
        menu.addSeparator()
        self.fill_shown(menu)
        return menu

    def fill_shown(self, menu: QMenu) -> None:
        """Add an entry to `menu` for each column; the entry shows or hides the column."""
        titles = self.titles()
        for section in (self.logicalIndex(visual) for visual in range(self.count())):
            act = menu.addAction(titles[section])
            act.setCheckable(True)
            act.setChecked(not self.isSectionHidden(section))
            last = self.count() - self.hiddenSectionCount() == 1
            act.setEnabled(not (last and act.isChecked()))
            act.toggled.connect(
                lambda shown, section=section: self.setSectionHidden(section, not shown)
            )

    def ask_field(self) -> None:
        """Ask for a field's name, with completion, and emit `add_asked`."""
        dialog = QInputDialog(self)
        dialog.setWindowTitle("Add Field as Column")
        dialog.setLabelText("Field, as in a display filter (ip.ttl, tcp.port, kbl.cpu, …):")
        line = dialog.findChild(QLineEdit)
        if line is not None:
            completer = QCompleter(sorted(FIELDS), dialog)
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            line.setCompleter(completer)
        dialog.textValueSelected.connect(self.add_asked)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _ask_title(self, section: int) -> None:
        title, chosen = QInputDialog.getText(
            self, "Rename Column", "Title:", text=self.titles()[section]
        )
        if chosen and title:
            self.title_asked.emit(section, title)

    # Qt's own names

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        place = QPoint(event.pos())
        menu = self.menu_at(self.logicalIndexAt(place))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())
