# SPDX-License-Identifier: MIT
"""View > Coloring Rules: a dialog for the names, filters, colours and order of the rules.

Invalid filters are rejected.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush, QColor, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QColorDialog,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from skbviewer.analysis.display_filter import FilterError, parse

from ..base.theme import DROP_COLOURS, is_dark, themed
from ..base.window_size import open_at
from ..packets.colour_rules import DEFAULTS, Rule, colours

NAME, FILTER = 0, 1
HINT = "A packet gets the colors of the first rule whose filter it matches."
Item = QTreeWidgetItem
Index = QModelIndex | QPersistentModelIndex
_CHECKED, _UNCHECKED = Qt.CheckState.Checked, Qt.CheckState.Unchecked


class _Ticks(QStyledItemDelegate):
    """Draws check marks in the window's colours; in a rule's colours they might be invisible."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        ticked = QStyleOptionViewItem(option)
        self.initStyleOption(ticked, index)
        if not ticked.features & QStyleOptionViewItem.ViewItemFeature.HasCheckIndicator:
            return
        view = option.widget
        part, mark = QStyle.SubElement, QStyle.PrimitiveElement
        ticked.rect = view.style().subElementRect(part.SE_ItemViewItemCheckIndicator, ticked, view)
        ticked.palette = view.palette()
        on, off = QStyle.StateFlag.State_On, QStyle.StateFlag.State_Off
        ticked.state &= ~(on | off)
        ticked.state |= on if ticked.checkState == _CHECKED else off
        view.style().drawPrimitive(mark.PE_IndicatorItemViewItemCheck, ticked, painter, view)


class ColourDialog(QDialog):
    """Edits `rules`.  After the user has accepted the dialog, rules() returns the edited rules."""

    def __init__(self, rules: Sequence[Rule], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Coloring Rules")
        self.list = QTreeWidget()
        self.list.setHeaderLabels(["Name", "Filter"])
        self.list.setRootIsDecorated(False)
        self.list.setItemDelegate(_Ticks(self.list))
        self.list.setAccessibleName(
            "Coloring rules; a packet gets the colors of the first rule that it matches"
        )
        self.list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.note = QLabel(HINT)
        self.note.setWordWrap(True)
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok
            | QDialogButtonBox.StandardButton.Cancel
            | QDialogButtonBox.StandardButton.RestoreDefaults
        )
        self._build()
        self._fill(rules)
        self.list.itemChanged.connect(self._check)
        self.list.currentItemChanged.connect(lambda *_: self._check())

    def _build(self) -> None:
        tools = QHBoxLayout()
        for text, slot in (
            ("&Add", self.add),
            ("&Remove", self.remove),
            ("Move &Up", lambda: self.move_by(-1)),
            ("Move &Down", lambda: self.move_by(1)),
            ("&Background…", lambda: self._ask_colour(True)),
            ("&Text…", lambda: self._ask_colour(False)),
        ):
            button = QPushButton(text)
            button.setAutoDefault(False)
            button.clicked.connect(slot)
            tools.addWidget(button)
        tools.addStretch(1)
        column = QVBoxLayout(self)
        column.addWidget(self.list, 1)
        column.addLayout(tools)
        column.addWidget(self.note)
        column.addWidget(self.buttons)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        restore = self.buttons.button(QDialogButtonBox.StandardButton.RestoreDefaults)
        restore.clicked.connect(lambda: self._fill(DEFAULTS))
        open_at(self, 820, 460)

    def _fill(self, rules: Sequence[Rule]) -> None:
        self.list.clear()
        self.list.addTopLevelItems([self._item(rule) for rule in rules])
        self.list.resizeColumnToContents(NAME)
        self._check()

    def _item(self, rule: Rule) -> Item:
        item = Item([rule.name, rule.text])
        item.setFlags(
            Qt.ItemFlag.ItemIsEnabled
            | Qt.ItemFlag.ItemIsSelectable
            | Qt.ItemFlag.ItemIsEditable
            | Qt.ItemFlag.ItemIsUserCheckable
            | Qt.ItemFlag.ItemIsDragEnabled
        )
        item.setCheckState(NAME, _CHECKED if rule.on else _UNCHECKED)
        self._paint(item, rule)
        return item

    def _paint(self, item: Item, rule: Rule) -> None:
        item.setData(NAME, Qt.ItemDataRole.UserRole, (rule.background, rule.foreground))
        shown = colours(rule, is_dark(self.palette()))
        for column in (NAME, FILTER):
            item.setBackground(column, QBrush(shown.background))
            item.setForeground(column, QBrush(shown.text))

    def rules(self) -> tuple[Rule, ...]:
        """Return the edited rules, in the order of the list."""
        items = [self.list.topLevelItem(n) for n in range(self.list.topLevelItemCount())]
        return tuple(self._rule(item) for item in items if item is not None)

    def _rule(self, item: Item) -> Rule:
        background, foreground = item.data(NAME, Qt.ItemDataRole.UserRole)
        on = item.checkState(NAME) is _CHECKED
        return Rule(item.text(NAME), item.text(FILTER), background, foreground, on)

    def _at(self) -> int:
        """Return the position of the current rule; -1 if there is none."""
        item = self.list.currentItem()
        return -1 if item is None else self.list.indexOfTopLevelItem(item)

    def add(self) -> None:
        """Insert a new rule before the current one and edit its filter."""
        at = max(self._at(), 0)
        item = self._item(Rule("New rule", "", "#ffe08a", "#12272e"))
        self.list.insertTopLevelItem(at, item)
        self.list.setCurrentItem(item)
        self.list.editItem(item, FILTER)
        self._check()

    def remove(self) -> None:
        """Remove the current rule."""
        at = self._at()
        if at >= 0:
            self.list.takeTopLevelItem(at)
        self._check()

    def move_by(self, step: int) -> None:
        """Move the current rule down by `step` rows; a negative number moves it up."""
        at = self._at()
        if at >= 0 and 0 <= at + step < self.list.topLevelItemCount():
            item = self.list.takeTopLevelItem(at)
            if item is not None:
                self.list.insertTopLevelItem(at + step, item)
                self.list.setCurrentItem(item)

    def _ask_colour(self, background: bool) -> None:
        item = self.list.currentItem()
        if item is None:
            return
        rule = self._rule(item)
        now = QColor(rule.background if background else rule.foreground)
        found = QColorDialog.getColor(now, self, "Background" if background else "Text")
        if found.isValid():
            name = found.name()
            self._paint(
                item,
                rule._replace(background=name) if background else rule._replace(foreground=name),
            )

    def _check(self, *_: object) -> None:
        """Allow OK only if all filters are valid; show the first error."""
        wrong = next((text for rule in self.rules() if (text := _error(rule))), "")
        self.note.setText(wrong or HINT)
        palette = self.palette()
        if wrong:
            red = themed(DROP_COLOURS, is_dark(palette))
            palette.setColor(self.note.foregroundRole(), red)
        self.note.setPalette(palette)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(not wrong)


def _error(rule: Rule) -> str:
    try:
        plan = parse(rule.text)
    except FilterError as error:
        return f"{rule.name}: {error.message}"
    return f"{rule.name}: a filter is needed" if plan is None else ""
