# SPDX-License-Identifier: MIT
"""The part of the export dialog about packets: their bytes, pseudonyms, and kind of blocks.

Each choice is an option of `skbviewer export`; it is enabled only for formats with this option.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from skbviewer.export import Request
from skbviewer.export.pseudonyms import key_of, random_key

from ..base.recording_interface import Recording

ALL = "all bytes"
OTHER_FORMAT = "The chosen format does not have this option."
NO_LOG = "None of the open logs can contain bytes of packets: only retis logs can."
NOTHING_HIDDEN = "There are no further packets: the captures contain every packet in the logs."
KERNEL_ONLY_TIP = (
    "Also writes the rows K<n> whose bytes are in a retis log, with a comment that no capture "
    "contains them"
)
RETIS_TIP = (
    "Write the same pcapng blocks and options as `retis pcap`, instead of skbviewer's fields"
)
KEY_TIP = "File with a key of at least 16 bytes; exports with the same key have the same pseudonyms"


class PacketOptions(QWidget):
    """The choices about the packets that an export writes."""

    changed = Signal()

    def __init__(self, recording: Recording, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._no_lost = _why_nothing_is_added(recording)
        self.snaplen = QSpinBox()
        self.headers = QCheckBox("&Headers only")
        self.pseudonyms = QCheckBox("&Pseudonyms for addresses and host names")
        self.key, self.choose_key = QLineEdit(), QPushButton("Key &file…")
        self.kernel_only = QCheckBox("Also write packets that &no capture contains")
        self.retis = QCheckBox("Blocks as &retis pcap writes them")
        self._build()
        self._link()

    def _build(self) -> None:
        self.snaplen.setRange(0, 0x7FFFFFFF)
        self.snaplen.setSpecialValueText(ALL)
        self.snaplen.setPrefix("at most ")
        self.snaplen.setSuffix(" bytes")
        self.snaplen.setMinimumWidth(190)
        self.key.setPlaceholderText("Default: a new random key, which is not saved")
        self.key.setToolTip(KEY_TIP)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        each = QLabel("of &each packet")
        each.setBuddy(self.snaplen)
        for widgets in (
            (self.snaplen, each, self.headers),
            (self.pseudonyms,),
            (self.key, self.choose_key),
            (self.kernel_only, self.retis),
        ):
            row = QHBoxLayout()
            for widget in widgets:
                row.addWidget(widget, int(widget is self.key))
            if self.key not in widgets:
                row.addStretch(1)
            column.addLayout(row)

    def _link(self) -> None:
        self.snaplen.valueChanged.connect(self.changed)
        self.key.textChanged.connect(self.changed)
        self.choose_key.clicked.connect(self._ask_key)
        self.pseudonyms.toggled.connect(self._allow_key)
        for box in (self.headers, self.pseudonyms, self.kernel_only, self.retis):
            box.toggled.connect(self.changed)

    def allow(self, options: frozenset[str]) -> None:
        """Enable the choices that a format has; `options` are the names of its options."""
        for option, widget, tip in (
            ("snaplen", self.snaplen, ""),
            ("payload", self.headers, ""),
            ("pseudonyms", self.pseudonyms, ""),
            ("kernel_only", self.kernel_only, KERNEL_ONLY_TIP),
            ("retis", self.retis, RETIS_TIP),
        ):
            why = "" if option in options else OTHER_FORMAT
            if option == "kernel_only":
                why = why or self._no_lost
            widget.setEnabled(not why)
            widget.setToolTip(why or tip)
        self._allow_key()

    def _allow_key(self) -> None:
        for widget in (self.key, self.choose_key):
            widget.setEnabled(_is_on(self.pseudonyms))

    def _ask_key(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Key of the pseudonyms", self.key.text())
        if name:
            self.key.setText(name)

    def words(self) -> list[str]:
        """Return the command-line options that stand for the user's choices."""
        made = []
        if self.snaplen.isEnabled() and self.snaplen.value():
            made += ["--snaplen", str(self.snaplen.value())]
        if _is_on(self.headers):
            made.append("--no-payload")
        if _is_on(self.pseudonyms):
            key = self._key_file()
            made += ["--pseudonym-key", key] if key else ["--pseudonyms"]
        made += ["--kernel-only"] * _is_on(self.kernel_only)
        return made + ["--retis"] * _is_on(self.retis)

    def applied(self, request: Request) -> Request:
        """Return `request` with the user's choices. Raises BadInput if a key cannot be read."""
        key = b""
        if _is_on(self.pseudonyms):
            key = key_of(Path(self._key_file())) if self._key_file() else random_key()
        return request._replace(
            snaplen=self.snaplen.value() if self.snaplen.isEnabled() else 0,
            payload=not _is_on(self.headers),
            pseudonym_key=key,
            kernel_only=_is_on(self.kernel_only),
            retis=_is_on(self.retis),
        )

    def _key_file(self) -> str:
        return self.key.text().strip()


def _is_on(box: QCheckBox) -> bool:
    return box.isEnabled() and box.checkState() is Qt.CheckState.Checked


def _why_nothing_is_added(recording: Recording) -> str:
    """Return why no log can add bytes of packets that the captures lack; "" if a log may do so."""
    if not any(source.kind.has_points for source in recording.sources()):
        return NO_LOG
    return "" if recording.packets.all_kernel_only_count() else NOTHING_HIDDEN
