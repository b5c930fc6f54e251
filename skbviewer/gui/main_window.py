# SPDX-License-Identifier: MIT
"""The window: builds the parts, opens files, exports.  What it shows comes from a Recording."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSettings
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QInputDialog,
    QLabel,
    QMainWindow,
    QMessageBox,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from skbviewer import __version__
from skbviewer.records import BadInput

from . import recent, samples
from .contract import Opener, Recording
from .export_files import Export, write_csv, write_png
from .joining import files_to_open
from .menus import Menus
from .missing import missing
from .notices import Banner, WorkBar
from .selection import Selection
from .status import status_text
from .tasks import Tasks
from .welcome import Welcome
from .workspace import Workspace

FILES = "Captures, kernel recordings, sessions (*.pcap *.pcapng *.cap *.kbl *.skbv);;All files (*)"


class MainWindow(QMainWindow):
    """`opener` turns files into a Recording; it runs in a worker thread."""

    def __init__(self, opener: Opener) -> None:
        super().__init__()
        self._opener = opener
        self.recording: Recording | None = None
        self.kernel_only: bool = False
        self.tasks = Tasks(self)
        self.selection = Selection(self)
        self.workspace: Workspace = Workspace(self.selection)
        self.welcome = Welcome()
        self.banner = Banner()
        self.work_bar = WorkBar()
        self.status = QLabel()
        self._build()
        self._link()
        self.menus = Menus(self)
        self._restore()

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
        for widget in (self.work_bar, self.banner):
            column.addWidget(widget)
        column.addWidget(self.pages, 1)
        self.setCentralWidget(whole)
        self.statusBar().addWidget(self.status, 1)

    def _link(self) -> None:
        self.tasks.started.connect(self.work_bar.begin)
        self.tasks.progress.connect(self.work_bar.show_progress)
        self.tasks.ended.connect(self.work_bar.hide)
        self.tasks.failed.connect(lambda line: self.banner.tell(line, "error"))
        self.work_bar.cancelled.connect(self.tasks.cancel)
        self.welcome.open_asked.connect(self.ask_open)
        self.welcome.bundled_asked.connect(self.open_bundled)
        self.welcome.files_asked.connect(self.open_files)

    def _restore(self) -> None:
        settings = QSettings()
        self.resize(1280, 800)
        for key, restore in (
            ("geometry", self.restoreGeometry),
            ("panes", self.workspace.restore_layout),
        ):
            if settings.contains(key):
                restore(settings.value(key))

    def open_files(self, paths: Sequence[Path]) -> None:
        """Open `paths`; joined to what is open where one holds what the other lacks."""
        if not paths:
            return
        files = files_to_open(self.recording, paths)
        names = " + ".join(path.name for path in files)
        self.tasks.start(
            f"Opening {names}",
            lambda progress: self._opener(files, progress),
            lambda recording: self._show(recording, files),
        )

    def _show(self, recording: Recording, files: Sequence[Path]) -> None:
        self.close_recording()
        self.recording = recording
        self.kernel_only = self.kernel_only or recording.packet_count() == 0
        self.workspace.show_recording(recording, self.kernel_only)
        self.pages.setCurrentWidget(self.workspace)
        self.workspace.table.setFocus()
        self.menus.enable(True)
        self.setWindowTitle(f"{' + '.join(path.name for path in files)} - skbviewer")
        self.status.setText(status_text(recording))
        hint = missing(recording)
        if hint is not None:
            self.banner.tell(hint, "hint")
        recent.remember(files)

    def close_recording(self) -> None:
        """Close what is open and go back to the welcome page."""
        self.banner.clear()
        self.status.clear()
        self.setWindowTitle("skbviewer")
        self.workspace.show_recording(None, False)
        self.menus.enable(False)
        self.kernel_only = False
        if self.recording is not None:
            self.recording.close()
            self.recording = None
        self.welcome.show_recent(recent.recent_files())
        self.pages.setCurrentWidget(self.welcome)

    def toggle_kernel_only(self) -> None:
        """List packet lives that met no wire packet below the wire packets, or not."""
        self.kernel_only = not self.kernel_only
        if self.recording is not None:
            self.workspace.table.show_recording(self.recording, self.kernel_only)

    def ask_open(self) -> None:
        folder = str(QSettings().value("folder", ""))
        names, _ = QFileDialog.getOpenFileNames(self, "Open", folder, FILES)
        if names:
            QSettings().setValue("folder", str(Path(names[0]).parent))
            self.open_files([Path(name) for name in names])

    def open_bundled(self) -> None:
        try:
            self.open_files(samples.bundled())
        except FileNotFoundError as error:
            self.banner.tell(str(error), "error")

    def ask_packet(self) -> None:
        last = self.workspace.table.packets.packets
        row = self.workspace.table.current_row()
        now = row.packet if row is not None and row.packet is not None else 1
        number, chosen = QInputDialog.getInt(
            self, "Go to Packet", f"Packet number (1 to {last}):", now, 1, max(last, 1)
        )
        if chosen:
            self.workspace.table.go_to_packet(number)

    def ask_png(self) -> None:
        self._export("Export PNG", "png", write_png)

    def ask_csv(self) -> None:
        self._export("Export CSV", "csv", write_csv)

    def _export(self, title: str, suffix: str, write: Export) -> None:
        row = self.selection.row
        if row is None or self.recording is None:
            return
        proposal = f"packet-{row.number}.{suffix}"
        name, _ = QFileDialog.getSaveFileName(self, title, proposal, f"*.{suffix}")
        if not name:
            return
        try:
            write(self.recording, row, Path(name))
        except (BadInput, OSError) as error:
            self.banner.tell(f"{title}: {error}", "error")
        else:
            self.statusBar().showMessage(f"Wrote {name}", 8000)

    def about(self) -> None:
        QMessageBox.about(
            self,
            "About skbviewer",
            f"<b>skbviewer {__version__}</b><p>Packets on the wire and their way through the Linux "
            "kernel, in one window.</p><p>MIT licence; the kernel module is GPL-2.0-only.</p>",
        )

    # Qt's own names

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        urls = event.mimeData().urls()
        self.open_files([Path(url.toLocalFile()) for url in urls if url.isLocalFile()])
        event.acceptProposedAction()

    def closeEvent(self, event: QCloseEvent) -> None:
        settings = QSettings()
        settings.setValue("geometry", self.saveGeometry())
        settings.setValue("panes", self.workspace.saveState())
        self.tasks.close()
        self.close_recording()
        super().closeEvent(event)
