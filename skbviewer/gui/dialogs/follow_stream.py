# SPDX-License-Identifier: MIT
"""Analyze > Follow Stream: the data of both ends, each in its colour.

A click goes to the packet.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QFontDatabase, QMouseEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from skbviewer.export.atomic_write import write_text
from skbviewer.records import BadInput, Progress
from skbviewer.session.packets.followed_stream import Stream

from ..base.background_tasks import Tasks
from ..base.messages import Messages
from ..base.theme import is_dark, themed
from ..base.window_size import open_at
from ..packets.selection import Selection
from .stream_text import Form, SideText, side_texts

# Wireshark's client and server, light and dark theme: colours of text and background.
TEXTS = (("#7f0000", "#ff9c9c"), ("#00007f", "#9cb8ff"))
GROUNDS = (("#fbeded", "#3a2226"), ("#ededfb", "#22283c"))
MOST_SHOWN = 2 << 20  # characters; Save As writes everything


class StreamText(QPlainTextEdit):
    """The data of both sides; `packet_asked` carries the number of the packet that was clicked."""

    packet_asked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setAccessibleName("Data of the stream")
        self._begins: list[int] = []
        self._packets: list[int] = []

    def show_texts(self, texts: list[SideText], dark: bool) -> bool:
        """Show the texts; return False if they are too long and only their beginning is shown.

        `dark` chooses the colours for a dark window.
        """
        self.clear()
        self._begins, self._packets = [], []
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        for one in texts:
            if cursor.position() > MOST_SHOWN:
                break
            self._begins.append(cursor.position())
            self._packets.append(one.packet)
            cursor.insertText(one.text, _format(one.side, dark))
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)
        return len(self._packets) == len(texts)

    def packet_at(self, position: int) -> int | None:
        """Return the number of the packet with the character at `position`; None if none."""
        found = [p for b, p in zip(self._begins, self._packets, strict=True) if b <= position]
        return found[-1] if found else None

    # Qt's own names

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        cursor = self.cursorForPosition(event.position().toPoint())
        packet = self.packet_at(cursor.position())
        if packet is not None and not self.textCursor().hasSelection():
            self.packet_asked.emit(packet)


def _format(side: int, dark: bool) -> QTextCharFormat:
    form = QTextCharFormat()
    form.setForeground(QColor(themed(TEXTS[side], dark)))
    form.setBackground(QColor(themed(GROUNDS[side], dark)))
    return form


class FollowStream(QDialog):
    """The window of one stream.

    `filter_asked` carries a display filter, `packet_asked` a packet number.
    """

    filter_asked = Signal(str)
    packet_asked = Signal(int)

    def __init__(self, stream: Stream, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stream = stream
        self.setWindowTitle(f"Follow {stream.protocol} Stream ({stream.text})")
        self.text = StreamText()
        self.text.packet_asked.connect(self.packet_asked)
        self.direction = QComboBox()
        self.direction.setAccessibleName("Direction")
        self.form = QComboBox()
        self.form.setAccessibleName("Show data as")
        self.note = QLabel()
        self.note.setWordWrap(True)
        self._build()
        self._show()

    def _build(self) -> None:
        sizes = [sum(len(p.data) for p in self._stream.pieces if p.side == s) for s in (0, 1)]
        a, b = self._stream.ends
        self.direction.addItem(f"Entire conversation ({sum(sizes):,} bytes)", None)
        self.direction.addItem(f"{a} → {b} ({sizes[0]:,} bytes)", 0)
        self.direction.addItem(f"{b} → {a} ({sizes[1]:,} bytes)", 1)
        for form in Form:
            self.form.addItem(form.value, form)
        self.direction.currentIndexChanged.connect(self._show)
        self.form.currentIndexChanged.connect(self._show)
        choices = QHBoxLayout()
        choices.addWidget(self.direction, 1)
        choices.addWidget(QLabel("Show data as"))
        choices.addWidget(self.form)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.out = QPushButton("&Filter Out This Stream")
        self.out.clicked.connect(self._filter_out)
        self.save = QPushButton("&Save As…")
        self.save.clicked.connect(self._ask_save)
        for button in (self.out, self.save):
            button.setAutoDefault(False)
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.close)
        column = QVBoxLayout(self)
        column.addWidget(self.text, 1)
        column.addWidget(self.note)
        column.addLayout(choices)
        column.addWidget(buttons)
        open_at(self, 820, 560)

    def texts(self) -> list[SideText]:
        """Return the data of the stream as texts, in the form and direction that the user chose."""
        return list(
            side_texts(self._stream.pieces, self.form.currentData(), self.direction.currentData())
        )

    def _show(self) -> None:
        whole = self.text.show_texts(self.texts(), is_dark(self.palette()))
        self.note.setText(self._notes(whole))
        self.note.setVisible(bool(self.note.text()))

    def _notes(self, whole: bool) -> str:
        notes = []
        if not self._stream.pieces:
            notes.append("The captured packets of this stream have no data.")
        if self._stream.unread:
            packets = "packet" if self._stream.unread == 1 else "packets"
            notes.append(f"{self._stream.unread:,} {packets} could not be read from the capture.")
        missing = sum(piece.missing for piece in self._stream.pieces)
        if missing:
            are = "byte is" if missing == 1 else "bytes are"
            notes.append(f"{missing:,} {are} missing from the capture.")
        if not whole:
            notes.append(
                "Only the beginning of the stream is shown; Save As writes the whole stream."
            )
        return " ".join(notes)

    def _filter_out(self) -> None:
        self.filter_asked.emit(f"!({self._stream.text})")
        self.close()

    def _ask_save(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Save Stream As", "stream.txt")
        if not name:
            return
        try:
            write_text(Path(name), "".join(one.text for one in self.texts()))
        except BadInput as error:
            self.note.setText(str(error))
            self.note.show()


def ask_stream(window: QWidget, selection: Selection, tasks: Tasks, messages: Messages) -> None:
    """Open the stream of the selected packet, and apply the stream's filter, as Wireshark does."""
    row, recording = selection.row, selection.recording
    if row is None or row.packet is None or recording is None:
        return
    number = row.packet

    def work(progress: Progress) -> Stream | None:
        try:
            return recording.contents.stream(number, progress)
        except KeyError:
            return None

    def done(stream: Stream | None) -> None:
        if stream is None:
            messages.hint("Only TCP and UDP packets have a stream to follow.")
        else:
            _show(window, selection, stream)

    tasks.start("Following the stream", work, done)


def _show(window: QWidget, selection: Selection, stream: Stream) -> None:
    dialog = FollowStream(stream, window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.packet_asked.connect(lambda packet: selection.row_asked.emit(packet))
    dialog.filter_asked.connect(lambda text: selection.filter_asked.emit(text, True))
    selection.filter_asked.emit(stream.text, True)
    dialog.show()
