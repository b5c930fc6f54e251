# SPDX-License-Identifier: MIT
"""The pane of the kernel path: the calls of one packet as a tree."""

from __future__ import annotations

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QSettings,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFontMetrics, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from skbviewer.records import PacketPath, PathCall

from ..base.empty_view_hint import EmptyText
from .call_columns import CALL_COLUMNS, COMPENSATED, COUNT, FUNCTION, STEPS, UNUSUAL
from .call_filter import call_filter
from .call_model import CallModel

MOST = 0.5
SQUEEZED = 30  # pixels, at most
NO_PACKET = "Select a packet to list the kernel functions that handled it."
NO_CALLS = "No kernel log has a record of this packet."
HIDDEN, BY_TIME = "calls/hidden", "calls/by_time"  # in the settings


def _hidden_columns() -> frozenset[str]:
    found = QSettings().value(HIDDEN, list(UNUSUAL))
    if isinstance(found, list):
        return frozenset(map(str, found))
    return frozenset([str(found)] if found else [])  # an INI file has no lists of one or none


class AiryRows(QStyledItemDelegate):
    """Rows that are a little higher than their text."""

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return super().sizeHint(option, index) + QSize(0, 4)


class CallTree(QTreeView):
    """Emits `call_chosen` with (leg, call) of the selected row; call -1 is a leg's row.

    `source_asked` carries the function of a row that was double-clicked or activated by Return.
    """

    call_chosen = Signal(int, int)
    source_asked = Signal(str)
    code_asked = Signal(str)  # a function to disassemble
    row_asked = Signal(int)  # a row of the packet list: n, -n for K<n>
    filter_asked = Signal(str, bool)  # a display filter, and whether to apply it

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("calls")
        self.setAccessibleName("Kernel functions that handled the selected packet")
        self.calls = CallModel(self)
        self.calls.by_time = QSettings().value(BY_TIME, False, bool) is True
        self._path: PacketPath | None = None
        self._needed = 0
        self._known: dict[int, bool] = {}  # columns hidden if the recording has no values
        self.empty = EmptyText(self)
        self.empty.show_text(NO_PACKET)
        self.setModel(self.calls)
        self.setUniformRowHeights(True)
        self.setAlternatingRowColors(True)
        self.setAllColumnsShowFocus(True)
        self.setIndentation(11)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setItemDelegate(AiryRows(self))
        self._lay_out()
        self.selectionModel().currentRowChanged.connect(self._report)
        self.activated.connect(self._ask_source)
        self.header().setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.header().customContextMenuRequested.connect(self._ask_columns)
        self._hidden = _hidden_columns()
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._ask_menu)

    def row_menu(self, index: QModelIndex) -> QMenu:
        """Return the context menu of a cell; it also has the actions for the whole tree."""
        call = self.calls.call_of_row(index)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        row = self.calls.packet_at(index)
        if row:
            name = f"Packet {row}" if row > 0 else f"K{-row}"
            menu.addAction(f"&Go to {name}").triggered.connect(lambda: self.row_asked.emit(row))
            menu.addSeparator()
        if call is not None:
            self._add_of_call(menu, index, call)
            menu.addSeparator()
        self._add_order(menu)
        return menu

    def _add_of_call(self, menu: QMenu, index: QModelIndex, call: PathCall) -> None:
        wanted = call_filter(CALL_COLUMNS[index.column()].title, call)
        for text, apply in (("&Apply as Filter", True), ("&Prepare as Filter", False)):
            action = menu.addAction(f"{text}: {wanted.replace('&', '&&')}")
            action.triggered.connect(lambda _=False, on=apply: self.filter_asked.emit(wanted, on))
        menu.addSeparator()
        cell = str(index.data() or "")
        copy = menu.addAction("&Copy")
        copy.triggered.connect(lambda: QGuiApplication.clipboard().setText(cell))
        source = menu.addAction("Show &Source")
        source.triggered.connect(lambda: self.source_asked.emit(call.function))
        code = menu.addAction("&Disassemble This Function")
        code.triggered.connect(lambda: self.code_asked.emit(call.function))

    def _add_order(self, menu: QMenu) -> None:
        order = menu.addAction("In &Order of Time")
        order.setCheckable(True)
        order.setChecked(self.calls.by_time)
        order.toggled.connect(self.set_by_time)

    def _ask_menu(self, place: QPoint) -> None:
        self.row_menu(self.indexAt(place)).popup(self.viewport().mapToGlobal(place))

    def set_by_time(self, on: bool) -> None:
        """List calls in order of entry if `on`, or else below the call that contains them."""
        leg, call = self.calls.call_at(self.currentIndex())
        QSettings().setValue(BY_TIME, on)
        self.calls.by_time = on
        self.show_path(self._path)
        self.show_call(leg, call)

    def show_path(self, path: PacketPath | None) -> None:
        """Show the path of the selected packet; None shows nothing."""
        self._path = path
        self.calls.show(path)
        self.empty.show_text(NO_PACKET if path is None else "" if path.legs else NO_CALLS)
        self.expandAll()
        for row in range(len(path.legs) if path else 0, self.calls.rowCount()):
            self.collapse(self.calls.index(row, 0))  # a branch: its title says what it is
        for row, parent in self.calls.wide():
            self.setFirstColumnSpanned(row, parent, True)
        legs = path.legs if path else ()
        calls = [call for leg in legs for call in leg.calls]
        self._known = {
            COMPENSATED: any(call.comp_ns is not None for call in calls),
            COUNT: any(call.counter is not None for call in calls),
            **dict.fromkeys(STEPS, any(call.executed_probes is not None for call in calls)),
        }
        self._show_columns()
        self._needed = 0 if path is None else self._width_needed(path)
        self._make_room()

    def show_call(self, leg: int, call: int) -> None:
        """Go to call `call` of leg `leg` (both from 0) without emitting `call_chosen`.

        Call -1 is the leg's own row.  If the tree does not have the call, no row is current.
        """
        if self.calls.call_at(self.currentIndex()) == (leg, call):
            return  # already at the call, or at an event in it
        index = self.calls.index_of(leg, call)
        with QSignalBlocker(self):
            self.setCurrentIndex(index)
        if index.isValid():
            self.scrollTo(index)

    def set_colours(self, colours: dict[str, QColor], dark: bool) -> None:
        """Set the colours of the layers, by name; `dark` says whether the window is dark."""
        self.calls.set_colours(colours, dark)

    def use_settings(self) -> None:
        """Show the columns that are chosen in the settings."""
        self._hidden = _hidden_columns()
        self._show_columns()

    def columns_menu(self) -> QMenu:
        """Return a menu that shows or hides each column except the first."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._add_order(menu)
        menu.addSeparator()
        for place, column in enumerate(CALL_COLUMNS):
            if place == FUNCTION:
                continue
            action = menu.addAction(column.title)
            action.setCheckable(True)
            action.setChecked(column.title not in self._hidden)
            action.toggled.connect(lambda on, title=column.title: self._toggle(title, on))
        return menu

    def _toggle(self, title: str, shown: bool) -> None:
        self._hidden = self._hidden - {title} if shown else self._hidden | {title}
        QSettings().setValue(HIDDEN, sorted(self._hidden))
        self._show_columns()

    def _show_columns(self) -> None:
        """Hide columns that the user does not want, and columns without values in the recording."""
        for place, column in enumerate(CALL_COLUMNS):
            known = self._known.get(place, True)
            self.setColumnHidden(place, not known or column.title in self._hidden)

    def _ask_columns(self, place: QPoint) -> None:
        self.columns_menu().exec(self.header().mapToGlobal(place))

    def _ask_source(self, index: QModelIndex) -> None:
        function, row = self.calls.function_at(index), self.calls.packet_at(index)
        if row and not function:
            self.row_asked.emit(row)
        if function:
            self.source_asked.emit(function)

    def _report(self, current: QModelIndex, _before: QModelIndex) -> None:
        self.call_chosen.emit(*self.calls.call_at(current))

    def _width_needed(self, path: PacketPath) -> int:
        """Return the width in pixels at which the function column shows every name."""
        metrics = QFontMetrics(self.font())
        widths = (
            (call.depth + 2) * self.indentation() + metrics.horizontalAdvance(call.function)
            for leg in path.legs
            for call in leg.calls
        )
        return max(widths, default=0) + 14

    def _make_room(self) -> None:
        """Widen the function column for deeply nested names, up to MOST of the view.

        The function column is made a little narrower if this lets the last visible column fit.
        """
        room = self.viewport().width()
        width = max(self.columnWidth(FUNCTION), min(self._needed, round(room * MOST)))
        end = width
        for place in range(FUNCTION + 1, len(CALL_COLUMNS)):
            end += self.columnWidth(place)  # 0 if hidden
            if room < end <= room + SQUEEZED:
                width -= end - room
                break
        if width != self.columnWidth(FUNCTION):
            self.setColumnWidth(FUNCTION, width)

    def _lay_out(self) -> None:
        metrics = QFontMetrics(self.font())
        header = self.header()
        header.setStretchLastSection(True)
        header.setFirstSectionMovable(False)
        for place, column in enumerate(CALL_COLUMNS):
            header.resizeSection(place, metrics.horizontalAdvance(column.sample) + 18)

    # Qt's own names

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()
