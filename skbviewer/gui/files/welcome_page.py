# SPDX-License-Identifier: MIT
"""The page that is shown while no file is open: how to open files, and how to record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication, QIcon
from PySide6.QtWidgets import (
    QCommandLinkButton,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from skbviewer.records.resource_files import resource

from ..base.theme import arrow
from . import recent_files as recent

# README.md has the same commands; a test compares them.
RECORD_COMMANDS = """\
apt-get install -y make gcc libc6-dev linux-headers-$(uname -r) tcpdump </dev/null
make -C kmod
insmod kmod/kbl.ko
tcpdump -i eth0 -w my.pcap &
kmod/kblrecord -w my.kbl --duration 10
kill %1; rmmod kbl
skbviewer my.kbl my.pcap"""
_WIDTH = 720
_RECENT_SHOWN = 5


class Welcome(QScrollArea):
    """Emits `open_asked`, `bundled_asked`, and `files_asked` with a tuple of paths."""

    open_asked = Signal()
    bundled_asked = Signal()
    files_asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcome")
        self.setAccessibleName("First page")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self._links: list[QCommandLinkButton] = []
        page = QWidget()
        page.setMaximumWidth(_WIDTH)
        self._column = QVBoxLayout(page)
        self._column.setContentsMargins(24, 28, 24, 28)
        self._column.setSpacing(6)
        logo = QLabel()
        logo.setPixmap(QIcon(str(resource("icons/skbviewer.svg"))).pixmap(64, 64))
        self._column.addWidget(logo)
        self._heading("skbviewer", 2.0)
        self._text(
            "The path of every packet through the Linux kernel, next to the packet on the wire."
        )
        self.open_button = self._link("Open…", "A packet capture and a kernel log, together")
        self.open_button.clicked.connect(self.open_asked)
        self.bundled_button = self._link(
            "Open the bundled recording", "A TCP handshake, UDP, ping and ARP between two hosts"
        )
        self.bundled_button.clicked.connect(self.bundled_asked)
        self._heading("Open Recent", 1.2)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(0)
        self._column.addLayout(self._recent)
        self._record_your_own()
        self._column.addStretch(1)
        outer = QWidget()
        centred = QHBoxLayout(outer)
        centred.addStretch(1)
        centred.addWidget(page, 4)
        centred.addStretch(1)
        self.setWidget(outer)
        self.show_recent(recent.recent_files())

    def show_recent(self, entries: Sequence[tuple[Path, ...]]) -> None:
        """List `entries`, the latest first."""
        while (item := self._recent.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                old.deleteLater()
        if not entries:
            self._recent.addWidget(QLabel("Nothing opened yet."))
        for entry in entries[:_RECENT_SHOWN]:
            text = recent.label(entry)
            room = _WIDTH - 70
            short = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, room)
            button = QPushButton(short.replace("&", "&&"))  # no mnemonics
            button.setToolTip("\n".join(str(path) for path in entry))
            button.setAccessibleName(text)
            button.setFlat(True)
            button.setStyleSheet("text-align: left; padding: 4px;")
            button.clicked.connect(lambda _=False, entry=entry: self.files_asked.emit(entry))
            self._recent.addWidget(button)

    def _heading(self, text: str, size: float) -> None:
        label = QLabel(text)
        font = QFont(label.font())
        font.setPointSizeF(font.pointSizeF() * size)
        font.setBold(True)
        label.setFont(font)
        label.setContentsMargins(0, 10, 0, 2)
        self._column.addWidget(label)

    def _text(self, text: str) -> None:
        label = QLabel(text)
        label.setWordWrap(True)
        self._column.addWidget(label)

    def _link(self, title: str, description: str) -> QCommandLinkButton:
        button = QCommandLinkButton(title, description)
        button.setIcon(arrow(self.palette()))
        self._links.append(button)
        self._column.addWidget(button)
        return button

    def _record_your_own(self) -> None:
        self._heading("Record your own", 1.2)
        self._text(
            "Run these commands as root on the machine that you want to record (Linux 6.1 or "
            "6.12), in a clone of the repository. Use a machine that you can afford to reboot: a "
            "kernel module can crash it."
        )
        self.commands = QPlainTextEdit(RECORD_COMMANDS)
        self.commands.setReadOnly(True)
        self.commands.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.commands.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.commands.setAccessibleName("Commands that record packets and the kernel's functions")
        lines = RECORD_COMMANDS.count("\n") + 1
        self.commands.setFixedHeight(self.commands.fontMetrics().lineSpacing() * lines + 14)
        self._column.addWidget(self.commands)
        self.copy_button = QPushButton("Copy commands")
        self.copy_button.clicked.connect(self.copy_commands)
        self._column.addWidget(self.copy_button, 0, Qt.AlignmentFlag.AlignLeft)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            for link in self._links:
                link.setIcon(arrow(self.palette()))

    def copy_commands(self) -> None:
        """Copy the commands that record packets and the kernel."""
        QGuiApplication.clipboard().setText(RECORD_COMMANDS)
