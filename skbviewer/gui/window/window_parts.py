# SPDX-License-Identifier: MIT
"""The parts of the window and their connections.  The parts get data from a Recording."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSettings, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QMainWindow,
    QMessageBox,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from skbviewer import __version__
from skbviewer.records.annotation import IGNORE, MARK, TIME_REF

from ..base.appearance import Appearance
from ..base.background_tasks import Tasks
from ..base.host_names import HostNames
from ..base.message_and_progress_bars import Banner, WorkBar
from ..base.messages import LONG_MS, Messages
from ..base.recording_interface import Opener, Recording, RowIds
from ..base.status_text import list_text, status_text
from ..base.window_size import open_at
from ..dialogs import settings_profiles
from ..dialogs.colouring_rules import Colouring
from ..dialogs.window_settings import WindowSettings, use_times
from ..files import recent_files as recent
from ..files import restored_view
from ..files.file_menu import Opening
from ..files.open_dataset import DatasetOpening
from ..files.restored_view import ViewState
from ..files.welcome_page import Welcome
from ..packets import column_state
from ..packets.executed_instructions_file import ExecutedSteps
from ..packets.row_marks_and_comments import Notes
from ..packets.row_query import RowQuery
from ..packets.selection import Selection
from ..timeline import window_connection
from .navigation import Navigation
from .pane_layout import Workspace
from .row_actions import RowActions
from .status_label import StatusLabel

STATUS_GAP = 14  # pixels
QUERY_DELAY_MS = 300  # faster queries show no progress


def _app() -> QApplication:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    return app


class WindowParts(QMainWindow):
    """A window without menus.  `opener` opens files as a Recording; it runs in a worker thread."""

    keys_asked = Signal()  # the list of keys

    def __init__(self, opener: Opener) -> None:
        super().__init__()
        self.recording: Recording | None = None
        self.appearance: Appearance = Appearance(_app(), self)
        self.tasks: Tasks = Tasks(self)
        self.counting = Tasks(self)  # for the status bar: counts over all packets
        self.selection: Selection = Selection(self)
        self.notes: Notes = Notes(self)
        self.names: HostNames = HostNames(self)
        self.row_query: RowQuery = RowQuery(self.notes, self)
        self.workspace: Workspace = Workspace(self.selection, self.notes)
        self.welcome = Welcome()
        self.banner: Banner = Banner()
        self.work_bar = WorkBar()
        self.query_bar = WorkBar(delay_ms=QUERY_DELAY_MS)
        self.status = QLabel()
        self.recording_status, self.profile_status = StatusLabel(), QLabel()
        self.messages: Messages = Messages(self.banner, self.statusBar())
        work, table = self.workspace, self.workspace.table
        self.rows: RowActions = RowActions(self.selection, self.notes, table, self.messages)
        self.colouring: Colouring = Colouring(
            self, self.selection, self.row_query, table, self.messages, work.timeline.loader
        )
        self.settings: WindowSettings = WindowSettings(
            work, table, work.tree, work.filter_bar, self.colouring
        )
        self.opening: Opening = Opening(
            self, opener, self, self.selection, self.tasks, self.messages
        )
        self.dataset_opening: DatasetOpening = DatasetOpening(
            self, self.tasks, self.opening.open_recent
        )
        self.navigation: Navigation = Navigation(
            self, self.selection, self.row_query, self.notes, table, work.find_bar, self.messages
        )
        self.steps: ExecutedSteps = ExecutedSteps(self.selection, self)
        self._build()
        self._link()

    def _build(self) -> None:
        self.setWindowTitle("skbviewer")
        self.setAcceptDrops(True)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.welcome)
        self.pages.addWidget(self.workspace)
        whole = QWidget()
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget in (self.work_bar, self.query_bar, self.banner):
            column.addWidget(widget)
        column.addWidget(self.pages, 1)
        self.setCentralWidget(whole)
        self.status.setAccessibleName("Packets, displayed, marked")
        self.status.setContentsMargins(0, 0, STATUS_GAP, 0)  # separates it from the next text
        self.recording_status.setAccessibleName("Matches and clock")
        self.statusBar().addWidget(self.status, 1)
        self.statusBar().addPermanentWidget(self.recording_status)
        self.statusBar().addPermanentWidget(self.profile_status)
        self.show_profile()

    def _link(self) -> None:
        for tasks, bar in (
            (self.tasks, self.work_bar),
            (self.row_query.tasks, self.query_bar),
            (self.navigation.tasks, self.query_bar),
        ):
            tasks.started.connect(bar.begin)
            tasks.progress.connect(bar.show_progress)
            tasks.ended.connect(bar.end)
            bar.cancelled.connect(tasks.cancel)
        failing = (self.tasks, self.row_query, self.notes, self.steps)
        for failed in (each.failed for each in failing):
            failed.connect(self.messages.error)
        self.steps.read.connect(lambda line: self.messages.say(line, LONG_MS))
        self.row_query.fell_back.connect(self.workspace.filter_bar.fall_back)
        self.notes.tasks.started.connect(self.statusBar().showMessage)
        self.notes.tasks.ended.connect(self.statusBar().clearMessage)
        self.workspace.find_bar.failed.connect(self.messages.error)
        self.welcome.open_asked.connect(self.opening.ask)
        self.welcome.bundled_asked.connect(lambda: self.opening.open_bundled())
        self.welcome.files_asked.connect(self.opening.open_recent)
        table = self.workspace.table
        table.order_asked.connect(self.row_query.set_order)
        self.workspace.filter_bar.applied.connect(self.row_query.set_filter)
        table.packets.names = self.names
        self.names.changed.connect(table.packets.repaint)
        self.names.changed.connect(table.widths.fit)
        self.selection.filter_asked.connect(self.use_filter)
        self.row_query.shown.connect(self._show_rows)
        self.row_query.refused.connect(self.workspace.filter_bar.refuse)
        self.notes.changed.connect(self._show_notes)
        self.navigation.life_asked.connect(self.list_life)
        timeline = self.workspace.timeline
        window_connection.attach(
            timeline, self.selection, self.row_query, self.notes, self.messages
        )
        timeline.keys_asked.connect(self.keys_asked)

    def use_settings(self) -> None:
        """Restore size, position and layout of the window, and all other saved settings."""
        settings = QSettings()
        open_at(self, 1280, 800)
        if settings.contains("geometry"):
            self.restoreGeometry(settings.value("geometry"))
        self.settings.use()

    def show_profile(self) -> None:
        """Show the name of the current profile in the status bar, except that of the default."""
        name = settings_profiles.current()
        self.profile_status.setText("" if name == settings_profiles.DEFAULT else f"Profile: {name}")

    # the recording

    def open_files(self, paths: Sequence[Path], then: ViewState | None = None) -> None:
        """Open `paths`.

        Captures join an open kernel log, and kernel logs join open captures: see files_to_open().
        """
        self.opening.open(paths, then)

    def show_recording(self, recording: Recording, title: str) -> None:
        """Close the open recording, and show `recording` from its first row on."""
        self.close_recording()
        self.recording = recording
        self.notes.use(recording)
        self.row_query.use(recording)
        self.workspace.show_recording(recording)
        self.colouring.use(recording)
        self.workspace.filter_bar.set_known(recording.fields.texts)
        self.row_query.refresh()
        self.pages.setCurrentWidget(self.workspace)
        self.workspace.table.setFocus()
        self.setWindowTitle(f"{title} - skbviewer")
        self.counting.start("", lambda _: status_text(recording), self.recording_status.show_text)

    def close_recording(self) -> None:
        """Close the recording and show the welcome page."""
        if self.recording is not None and self.opening.files:
            restored_view.save_view(self.view_state())
        self.banner.clear()
        self.setWindowTitle("skbviewer")
        self.counting.cancel()
        self.notes.use(None)
        self.row_query.use(None)
        self.navigation.use_nothing()
        self.workspace.show_recording(None)
        self.status.clear()
        self.recording_status.show_text("")
        if self.recording is not None:
            self.recording.close()
            self.recording = None
        self.welcome.show_recent(recent.recent_files())
        self.pages.setCurrentWidget(self.welcome)

    def view_state(self) -> ViewState:
        """Return the present view: files, filter, sort order, current row, zoom and columns."""
        row, table = self.workspace.table.current_row(), self.workspace.table
        return ViewState(
            tuple(str(path) for path in self.opening.files),
            self.row_query.filter,
            self.row_query.order,
            self.row_query.kernel_only,
            0 if row is None else row.id,
            column_state.write(table.columns_state()),
            self.workspace.lanes(),
            self.workspace.timeline.window_ns(),
            table.packets.time_format.name,
            table.packets.precision.name,
        )

    def visible_ns(self) -> tuple[int, int] | None:
        """Return the selected range or, if none is selected, the range that the timeline shows.

        The range is (begin, end) in session time, ns.

        Returns None if no range is selected and the timeline shows relative times.
        """
        timeline = self.workspace.timeline
        if self.selection.range is not None:
            return self.selection.range
        return None if timeline.mode.is_relative else timeline.window_ns()

    def restore(self, state: ViewState) -> None:
        """Restore filter, sort order, current row, columns and zoom from `state`."""
        table = self.workspace.table
        if state.columns:
            table.restore_columns(column_state.read(state.columns))
        use_times(table, state.time_format, state.precision)
        self.row_query.order = state.order
        self.row_query.kernel_only = self.row_query.kernel_only or state.kernel_only
        table.show_order(state.order)
        self._pending = state
        if state.filter:
            self.workspace.filter_bar.apply_text(state.filter)
        else:
            self.row_query.refresh()

    _pending: ViewState | None = None  # to be restored when the rows have arrived

    def _show_rows(self, rows: RowIds | None) -> None:
        self.workspace.show_rows(self.recording, rows)
        self.workspace.table.empty.show_text(self.row_query.why_empty())
        pending, self._pending = self._pending, None
        if pending is not None and pending.row:
            self.workspace.table.go_to_id(pending.row)
        if pending is not None and pending.lanes:
            self.workspace.timeline.show_again(pending.lanes, pending.zoom)
        self._show_counts()

    def _show_counts(self) -> None:
        if self.recording is not None:
            flags, listing = self.notes.flags, self.row_query
            counts = (self.recording.packets.count(), listing.kernel_only_count(), listing.count())
            self.status.setText(list_text(*counts, flags.count(MARK), flags.count(IGNORE)))

    def _show_notes(self) -> None:
        """Apply the time references and repaint the rows, after notes or flags changed."""
        refs, table = self.notes.flags.all(TIME_REF), self.workspace.table
        refs = refs[refs > 0]
        rows = [] if self.recording is None or not len(refs) else self.recording.packets.rows(refs)
        table.packets.set_references(refs, [row.ts_ns or 0 for row in rows])
        self._show_counts()
        self.selection.notes_changed.emit()

    # menu actions on the list

    def use_filter(self, text: str, apply: bool) -> None:
        """Put a display filter into the filter bar, and apply it if `apply` is set."""
        if apply:
            self.workspace.filter_bar.apply_text(text)
        else:
            self.workspace.filter_bar.set_text(text)
            self.workspace.filter_bar.setFocus()

    def toggle_kernel_only(self) -> None:
        """Show or hide skb lifetimes that match no captured packet."""
        self.row_query.show_kernel_only(not self.row_query.kernel_only)

    def toggle_all_lives(self) -> None:
        """Show or hide skb lifetimes without a known IP or ARP header."""
        self.row_query.show_all_lives(not self.row_query.all_lives)

    def list_life(self, row_id: int) -> None:
        """Make the packet list show rows K<n>, and go to the row whose id is `row_id` (-n)."""
        known = 0 if self.recording is None else self.recording.packets.kernel_only_count()
        self._pending = ViewState((), row=row_id)
        if -row_id > known:
            self.row_query.show_all_lives(True)
        else:
            self.row_query.show_kernel_only(True)

    def toggle_ignored(self) -> None:
        """Show or hide ignored rows."""
        self.row_query.hide_ignored(not self.row_query.ignored_hidden)

    def toggle_inner(self) -> None:
        """Show functions without an skb if they are hidden; otherwise, hide them."""
        self.selection.show_inner(not self.selection.inner)

    def about(self) -> None:
        """Show version and licence."""
        QMessageBox.about(
            self,
            "About skbviewer",
            f"<b>skbviewer {__version__}</b><p>Packets on the wire and their path through the "
            "Linux kernel, in one window.</p>"
            "<p>MIT licence; the kernel module is GPL-2.0-only.</p>",
        )

    # Qt's own names

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()

    def dropEvent(self, event: QDropEvent) -> None:
        urls = event.mimeData().urls()
        self.open_files([Path(url.toLocalFile()) for url in urls if url.isLocalFile()])
        event.setDropAction(Qt.DropAction.CopyAction)  # after a move the source deletes the files
        event.accept()

    def closeEvent(self, event: QCloseEvent) -> None:
        QSettings().setValue("geometry", self.saveGeometry())
        self.settings.keep()
        self.close_recording()
        own = (self.tasks, self.counting, self.notes.tasks, self.steps.tasks)
        for tasks in (*own, self.row_query.tasks, self.navigation.tasks):
            tasks.close()
        self.workspace.close_tasks()
        self.names.close_tasks()
        self.colouring.close()
        for widget in QApplication.topLevelWidgets():
            if widget.parent() is self and widget is not self:
                widget.close()
        super().closeEvent(event)
