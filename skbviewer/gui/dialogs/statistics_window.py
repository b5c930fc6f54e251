# SPDX-License-Identifier: MIT
"""The window of the Statistics menu: a table of STATISTICS, for all or for displayed packets."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from weakref import WeakSet

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QTableView,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from skbviewer.analysis.stats import STATISTICS, Table
from skbviewer.export.atomic_write import write_text
from skbviewer.export.statistics_csv import write_table_csv
from skbviewer.records import BadInput, Progress

from ..base.background_tasks import Tasks
from ..base.empty_view_hint import EmptyText
from ..base.host_names import HostNames
from ..base.message_and_progress_bars import WorkBar
from ..base.recording_interface import RowIds
from ..base.sort_header import SortHeader
from ..base.window_size import open_at
from ..packets.selection import Selection
from .statistics_model import ADDRESSES, StatisticModel

Ask = Callable[[RowIds | None, Progress], Table]
WORK_DELAY_MS = 300  # no progress is shown before
MOST_WIDE = 420  # pixels of a column
MEASURED = 100  # first rows for which columns are made wide enough; Qt's 1000 take a second


class StatisticsWindow(QDialog):
    """The table `statistic`. `ask` counts the given rows, or all packets for None.

    `limit_to` is (display filter, rows that match the filter); without a filter, `limit_to` is ("",
    None). `filter_asked` carries a display filter, and whether to apply it.
    """

    filter_asked = Signal(str, bool)

    def __init__(
        self,
        statistic: str,
        ask: Ask,
        limit_to: tuple[str, RowIds | None],
        names: HostNames,
        first_ns: int,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.statistic = statistic
        self.setWindowTitle(STATISTICS[statistic].name)
        self._ask_rows, (self._filter, self._rows) = ask, limit_to
        self._names, self._first_ns = names, first_ns
        self.tasks = Tasks(self)
        self._fitted: WeakSet[QTableView] = WeakSet()
        self.tabs, self.work_bar, self.note = (
            QTabWidget(),
            WorkBar(delay_ms=WORK_DELAY_MS),
            QLabel(),
        )
        self.limit = QCheckBox("&Limit to display filter")
        self.limit.setEnabled(self._rows is not None)
        self.limit.setChecked(self._rows is not None)
        self.limit.setToolTip(self._filter or "No display filter is set")
        self.resolve = QCheckBox("&Name resolution")
        self.resolve.setToolTip("Look up the host names of the addresses")
        self.resolve.setChecked(names.on)
        self.resolve.hide()
        self.copy, self.save = QPushButton("&Copy as CSV"), QPushButton("&Save as CSV…")
        self._build()
        self._link()
        self._count()

    def _build(self) -> None:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        for button in (self.copy, self.save):
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        for each in buttons.buttons():
            if isinstance(each, QPushButton):
                each.setAutoDefault(False)  # Enter is for the table
        buttons.rejected.connect(self.close)
        self.tabs.tabBar().setAutoHide(True)
        self.note.setWordWrap(True)
        row = QHBoxLayout()
        row.addWidget(self.limit)
        row.addWidget(self.resolve)
        row.addWidget(self.note, 1)
        row.setSpacing(16)
        column = QVBoxLayout(self)
        for widget in (self.work_bar, self.tabs):
            column.addWidget(widget, 1 if widget is self.tabs else 0)
        column.addLayout(row)
        column.addWidget(buttons)
        open_at(self, 1440, 560)

    def _link(self) -> None:
        self.tasks.started.connect(self.work_bar.begin)
        self.tasks.progress.connect(self.work_bar.show_progress)
        self.tasks.ended.connect(self.work_bar.end)
        self.tasks.failed.connect(self.note.setText)
        self.work_bar.cancelled.connect(self._cancel)
        self.tabs.currentChanged.connect(lambda _: self._fit_columns())
        self.limit.toggled.connect(lambda _: self._count())
        self.resolve.toggled.connect(self._names.switch)
        self._names.changed.connect(self._rename)
        self.copy.clicked.connect(self._copy)
        self.save.clicked.connect(self._ask_save)

    def count_again(self, _: bool) -> None:
        """Count again, because the user has shown or hidden the functions without an skb."""
        self._count()

    def _count(self) -> None:
        rows = self._rows if self.limit.isChecked() else None
        self.note.setText("Counting …")
        self.tasks.start("Counting", lambda progress: self._ask_rows(rows, progress), self._show)

    def _cancel(self) -> None:
        self.tasks.cancel()
        self.note.setText("Cancelled.")

    def _show(self, found: Table) -> None:
        at = max(self.tabs.currentIndex(), 0)
        silent = QSignalBlocker(self.tabs)
        while self.tabs.count():
            old = self.tabs.widget(0)
            self.tabs.removeTab(0)
            if old is not None:
                old.deleteLater()
        for tab in STATISTICS[self.statistic].tabs or ("",):
            model = StatisticModel(self.statistic, found, tab, self._first_ns, self)
            model.use_names(self._names.name)
            title = f"{tab} · {model.rowCount():,}"
            self.tabs.addTab(self._table(model), title)
        self.tabs.setCurrentIndex(at)
        silent.unblock()
        self._fit_columns()
        self.resolve.setVisible(any(key in ADDRESSES for key in found.keys))
        self.note.setText(self._hint(found))
        for button in (self.copy, self.save):
            button.setEnabled(bool(found.rows))
        view = self.tabs.currentWidget()
        if view is not None:
            view.setFocus()

    def _hint(self, found: Table) -> str:
        """Return a table's notes and warnings or, without any, what a double-click does."""
        said = (*found.notes, *found.warnings)
        if said:
            return ". ".join(text[:1].upper() + text[1:] for text in said) + "."
        can_filter = found.rows and STATISTICS[self.statistic].filter is not None
        return "Double-click a row to show its packets." if can_filter else ""

    def _table(self, model: StatisticModel) -> QTableView:
        table = QTableView()
        model.setParent(table)
        table.setHorizontalHeader(SortHeader(table))
        table.setModel(model)
        table.setAccessibleName(f"{self.windowTitle()} {model.tab}".strip())
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setAlternatingRowColors(True)
        table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
        table.setSortingEnabled(True)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(QFontMetrics(table.font()).height() + 6)
        table.setWordWrap(False)
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        table.customContextMenuRequested.connect(lambda place: self._menu(table, model, place))
        table.doubleClicked.connect(lambda index: self._use(model, index.row()))
        for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            shortcut = QShortcut(QKeySequence(key), table)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(lambda: self._use(model, table.currentIndex().row()))
        table.horizontalHeader().setResizeContentsPrecision(MEASURED)
        last = model.columnCount() - 1
        table.horizontalHeader().setStretchLastSection(last >= 0 and model.has_sentences(last))
        EmptyText(table).show_text("" if model.rowCount() else self._why_empty())
        return table

    def _fit_columns(self) -> None:
        """Fit the visible tab's columns once; fitting five tabs of a large table takes 0.3 s."""
        table = self.tabs.currentWidget()
        if not isinstance(table, QTableView) or table in self._fitted:
            return
        self._fitted.add(table)
        table.resizeColumnsToContents()
        for column in range(table.model().columnCount()):
            table.setColumnWidth(column, min(table.columnWidth(column), MOST_WIDE))

    def _why_empty(self) -> str:
        what = self.windowTitle().lower()
        if self.limit.isChecked():
            return f"No {what} among the packets that the display filter shows."
        return f"No {what} in this recording."

    def filter_of(self, model: StatisticModel, position: int) -> str | None:
        """Return the filter for the packets of a row, combined with the filter that is applied now.

        Returns None if the row has no filter.
        """
        text = model.filter(position) if 0 <= position < model.rowCount() else None
        if text is not None and self.limit.isChecked() and self._filter:
            return f"({self._filter}) && {text}"
        return text

    def _use(self, model: StatisticModel, position: int) -> None:
        text = self.filter_of(model, position)
        if text is not None:
            self.filter_asked.emit(text, True)
        elif position >= 0:
            self.note.setText("No display filter can select the packets of this row.")

    def menu(self, model: StatisticModel, position: int) -> QMenu:
        """Return the context menu of a row."""
        text = self.filter_of(model, position)
        menu = QMenu(self)
        for title, wanted, apply in (
            ("&Apply as Filter", text, True),
            ("&Prepare as Filter", text, False),
            ("Apply as Filter: &not this", f"!({text})", True),
        ):
            action = menu.addAction(title)
            action.setEnabled(text is not None)
            action.triggered.connect(
                lambda _=False, t=wanted, on=apply: self.filter_asked.emit(t, on)
            )
        return menu

    def _menu(self, table: QTableView, model: StatisticModel, place: QPoint) -> None:
        index = table.indexAt(place)
        if index.isValid():
            menu = self.menu(model, index.row())
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.exec(table.viewport().mapToGlobal(place))

    def models(self) -> list[StatisticModel]:
        """Return the models of all tabs."""
        views = [self.tabs.widget(n) for n in range(self.tabs.count())]
        found = [view.model() for view in views if isinstance(view, QTableView)]
        return [model for model in found if isinstance(model, StatisticModel)]

    def csv(self) -> str:
        """Return the visible tab as `skbviewer stats --csv` prints it; "" before it is computed."""
        models = self.models()
        if not models:
            return ""
        out = io.StringIO(newline="")
        write_table_csv(models[self.tabs.currentIndex()].shown(), out)
        return out.getvalue()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.csv().replace("\r\n", "\n"))

    def _ask_save(self) -> None:
        title = f"Save {self.windowTitle()} as CSV"
        name, _ = QFileDialog.getSaveFileName(self, title, f"{self.statistic}.csv", "*.csv")
        if not name:
            return
        try:
            write_text(Path(name), self.csv())
        except BadInput as error:
            self.note.setText(str(error))
        else:
            self.note.setText(f"Wrote {name}")

    def _rename(self) -> None:
        for model in self.models():
            model.use_names(self._names.name)

    # Qt's own names

    def done(self, result: int) -> None:
        """Stop the work in the background, and close."""
        self.tasks.close()
        super().done(result)


def show_statistic(
    window: QWidget, statistic: str, selection: Selection, text: str, names: HostNames
) -> None:
    """Open the window for the table `statistic` of STATISTICS.

    `text` is the applied display filter; `names` has the host names of addresses.
    """
    recording = selection.recording
    if recording is None:
        return
    first = recording.packets.numbered(1, 1)
    dialog = StatisticsWindow(
        statistic,
        lambda rows, progress: recording.stats.table(statistic, rows, progress),
        (text, selection.rows if text else None),
        names,
        (first[0].ts_ns if first else None) or 0,
        window,
    )
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.filter_asked.connect(selection.filter_asked)
    selection.inner_changed.connect(dialog.count_again)
    dialog.show()
