# SPDX-License-Identifier: MIT
"""File > Export Timeline: choose what is written, and see the command that writes the same file.

A worker thread writes tables and profiles and reads the data of reports; the dialog shows its
progress. Only the window's thread can paint pictures.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from skbviewer.analysis.timeline.lanes import ALIGNED
from skbviewer.analysis.timeline.shown_timeline_part import Shown, command_of
from skbviewer.export import EXPORTS, Export, Request, Subject
from skbviewer.export.chosen_rows import none_chosen
from skbviewer.export.packets_from_tracer_log import without_bytes
from skbviewer.records import BadInput, Progress

from ..base.background_tasks import Tasks
from ..base.message_and_progress_bars import WorkBar
from ..base.messages import Messages
from ..base.recording_interface import Recording
from ..pictures.export_painters import READERS, writer_of
from .packet_export_options import PacketOptions

# What can be written of the timeline and of the packets that the display filter shows.
OFFERED = tuple(
    (export, subject)
    for subject in (Subject.TIMELINE, Subject.PACKETS)
    for export in EXPORTS
    if subject in export.subjects
)
WORK_DELAY_MS = 300  # no progress is shown before
AskName = Callable[[QWidget, str, str, str], tuple[str, str]]


class ExportDialog(QDialog):
    """Writes the content of the timeline to a file.

    `made` is the written file; None as long as no file was written.
    """

    def __init__(self, recording: Recording, shown: Shown, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export Timeline")
        self._recording, self._shown = recording, shown
        self._t0 = 0 if shown.lanes == ALIGNED else recording.timeline.overview().t0_ns
        self.made: Path | None = None
        self.ask_name: AskName = QFileDialog.getSaveFileName
        self.form, self.theme = QComboBox(), QComboBox()
        self.title_edit, self.command = QLineEdit(shown.title), QLineEdit()
        self.wide, self.high = _number(200, 30_000, " px"), _number(100, 30_000, " px")
        self.dpi = _number(24, 2400, " dpi")
        self.packet_options = PacketOptions(recording)
        self.note = ""  # about the file that was written
        self.error = QLabel()
        self.tasks, self.work_bar = Tasks(self), WorkBar(delay_ms=WORK_DELAY_MS)
        self._build()
        self._link()
        self._restore()
        self._describe()

    def _build(self) -> None:
        for export, subject in OFFERED:
            self.form.addItem(export.title, f"{export.name} {subject.name}")
        self.theme.addItem("Light, for print", False)
        self.theme.addItem("Dark", True)
        size = QHBoxLayout()
        for widget in (self.wide, QLabel("×"), self.high, QLabel("at"), self.dpi):
            size.addWidget(widget)
        size.addStretch(1)
        self.title_edit.setPlaceholderText("Default: what is shown")
        self.command.setReadOnly(True)
        self.command.setToolTip("The command that writes the same file as this dialog")
        self.error.setWordWrap(True)
        self.error.hide()
        rows = QFormLayout(self)
        pixels = QLabel("&Size")  # a layout cannot be a buddy
        pixels.setBuddy(self.wide)
        for label, thing in (
            ("&Format", self.form),
            ("&Title", self.title_edit),
            (pixels, size),
            ("&Colors", self.theme),
            ("Packets", self.packet_options),
            ("Command", self.command),
        ):
            rows.addRow(label, thing)
        rows.addRow(self.error)
        rows.addRow(self.work_bar)
        standard = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(standard.Save | standard.Cancel)
        rows.addRow(self.buttons)
        self.setMinimumWidth(620)

    def _link(self) -> None:
        self.buttons.accepted.connect(self.save)
        self.buttons.rejected.connect(self.reject)
        self.tasks.started.connect(self.work_bar.begin)
        self.tasks.progress.connect(self.work_bar.show_progress)
        self.tasks.ended.connect(self.work_bar.end)
        self.tasks.started.connect(lambda _: self._allow_save(False))
        self.tasks.ended.connect(lambda: self._allow_save(True))
        self.tasks.failed.connect(self._show_error)
        self.work_bar.cancelled.connect(self.tasks.cancel)
        self.form.currentIndexChanged.connect(self._describe)
        self.theme.currentIndexChanged.connect(self._describe)
        self.packet_options.changed.connect(self._describe)
        self.title_edit.textChanged.connect(self._describe)
        for box in (self.wide, self.high, self.dpi):
            box.valueChanged.connect(self._describe)

    def _restore(self) -> None:
        settings = QSettings()
        for box, key, value in ((self.wide, "width", 2400), (self.high, "height", 1500)):
            box.setValue(int(str(settings.value(f"export/{key}", value))))
        self.dpi.setValue(int(str(settings.value("export/dpi", 300))))

    def shown(self) -> Shown:
        """Return the part of the timeline that will be written, with the chosen size and theme."""
        return self._shown._replace(
            title=self.title_edit.text().strip(),
            size=(self.wide.value(), self.high.value()),
            dpi=self.dpi.value(),
            dark=bool(self.theme.currentData()),
        )

    def _chosen(self) -> tuple[Export, Subject]:
        return OFFERED[self.form.currentIndex()]

    def _describe(self) -> None:
        export, subject = self._chosen()
        for option, widgets in (
            ("theme", (self.theme,)),
            ("dpi", (self.dpi,)),
            ("title", (self.title_edit,)),
            ("size", (self.wide, self.high)),
        ):
            for widget in widgets:
                widget.setEnabled(option in export.options)
        is_packets = subject is Subject.PACKETS
        self.packet_options.allow(export.options if is_packets else frozenset())
        files = self._recording.words()
        if is_packets:
            words = ["skbviewer", "export", *files, f"--{export.name}"]
            words += [f"packets{export.suffixes[0]}", "--filter", self._shown.filter]
            text = shlex.join(words + self.packet_options.words())
        else:
            text = command_of(self.shown(), files, export.name, self._t0)
        self.command.setText(text)
        self.command.setCursorPosition(0)

    def save(self) -> None:
        """Ask for a file name, and write the file; errors are shown in the dialog."""
        export, subject = self._chosen()
        suffix = export.suffixes[0]
        stem = "packets" if subject is Subject.PACKETS else "timeline"
        folder = Path(str(QSettings().value("folder", "")))
        name, _ = self.ask_name(
            self, "Export Timeline", str(folder / f"{stem}{suffix}"), f"*{suffix}"
        )
        if not name:
            return
        out = Path(name)
        try:
            asked = Request(None, self._shown.filter, self.shown())
            request = self.packet_options.applied(asked)
        except BadInput as error:
            self._show_error(str(error))
            return
        recording, write = self._recording, writer_of(export, subject)

        def work(progress: Progress) -> str:
            asked = request._replace(progress=progress)
            try:
                write(recording, asked, out)
            except KeyError as error:  # no log holds bytes of packets
                raise BadInput(out, None, str(error.args[0])) from error
            return none_chosen(recording, export, asked) or without_bytes(recording, asked)

        if export.write is not None:
            self.tasks.start(f"Writing {out.name}", work, lambda note: self._finish(out, note))
            return
        if export.name in READERS:
            read, write_read = READERS[export.name]

            def reading(progress: Progress) -> Any:
                return read(recording, request._replace(progress=progress))

            what = f"Reading for {out.name}"
            self.tasks.start(what, reading, lambda found: self._paint(write_read, found, out))
            return
        self._paint(lambda asked, to: write(recording, asked, to), request, out)

    def _paint(self, write: Callable[[Any, Path], None], what: Any, out: Path) -> None:
        """Write a picture, or a file that contains pictures, in this thread."""
        try:
            write(what, out)
        except (BadInput, OSError) as error:
            self._show_error(str(error))
        else:
            self._finish(out)

    def _finish(self, out: Path, note: str = "") -> None:
        self._keep()
        self.made, self.note = out, note
        self.accept()

    def _show_error(self, line: str) -> None:
        self.error.setText(line)
        self.error.show()

    def _allow_save(self, on: bool) -> None:
        self.buttons.button(QDialogButtonBox.StandardButton.Save).setEnabled(on)

    def _keep(self) -> None:
        settings = QSettings()
        for key, box in (("width", self.wide), ("height", self.high), ("dpi", self.dpi)):
            settings.setValue(f"export/{key}", box.value())

    # Qt's own name

    def done(self, result: int) -> None:
        """Stop the work in the background, and close."""
        self.tasks.close()
        super().done(result)


def _number(low: int, high: int, unit: str) -> QSpinBox:
    box = QSpinBox()
    box.setRange(low, high)
    box.setSuffix(unit)
    return box


def ask_export(
    window: QWidget, recording: Recording | None, shown: Shown | None, messages: Messages
) -> None:
    """Open the dialog that exports what the timeline shows now.

    `shown` is None if the timeline is empty; then a message says so.
    """
    if recording is None or shown is None:
        messages.hint("Select a packet first: the timeline is empty.")
        return
    dialog = ExportDialog(recording, shown, window)
    dialog.accepted.connect(lambda: _say(dialog, messages))
    dialog.open()


def _say(dialog: ExportDialog, messages: Messages) -> None:
    """Report the name of the file that was written, and what is missing in it."""
    messages.say_written(dialog.made)
    if dialog.note:
        messages.hint(f"{dialog.made}: {dialog.note}")
