# SPDX-License-Identifier: MIT
"""Two bars above the content: a message, and the progress of long work."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from .theme import is_dark

_ROLE = QPalette.ColorRole
BAR_STEPS = 1000
PALETTE_CHANGES = (QEvent.Type.PaletteChange, QEvent.Type.ApplicationPaletteChange)
TELL_AFTER_S = 1.0  # no remaining time is estimated before that
Link = tuple[str, Callable[[], object]]  # a button's text, and what it does
_COLOURS = {  # background and text, each for light and dark themes
    "error": (("#fde7e9", "#5a0d16"), ("#4d1a20", "#ffd9dd")),
    "hint": (("#fff4d6", "#4a3800"), ("#3f3617", "#f3e6bd")),
}


class Banner(QFrame):
    """One message that stays until it is closed or replaced.  Hidden while empty."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self.setAutoFillBackground(True)
        self._kind = ""
        self._colouring = False
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.button = QPushButton()
        self.button.clicked.connect(lambda: self._do())
        self._do: Callable[[], object] = self.clear
        close = QPushButton("✕")
        close.setFlat(True)
        close.setFixedWidth(28)
        close.setAccessibleName("Close this message")
        close.clicked.connect(lambda: self.clear())  # clicked passes a bool
        self.close_button = close
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 4, 4, 4)
        line.addWidget(self._text, 1)
        line.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        for button in (self.button, close):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click does not move the focus
        self.hide()

    @property
    def text(self) -> str:
        """Return the text of the message that is shown."""
        return self._text.text()

    def show_text(self, text: str, kind: str, link: Link | None = None) -> None:
        """Show `text`; `kind` is "error" or "hint".

        `link` is the title and the action of a button.
        """
        self._kind = kind
        self._colour()
        self._text.setText(text)
        self.button.setVisible(link is not None)
        if link is not None:
            self.button.setText(link[0])
            self._do = link[1]
        self.show()

    def _colour(self) -> None:
        """Set the colours of background and text for the present theme."""
        background, foreground = _COLOURS[self._kind][is_dark(QGuiApplication.palette())]
        palette = QPalette()
        for role in (_ROLE.Window, _ROLE.Button):
            palette.setColor(role, QColor(background))
        for role in (_ROLE.WindowText, _ROLE.ButtonText, _ROLE.Text):
            palette.setColor(role, QColor(foreground))
        self._colouring = True
        self.setPalette(palette)
        self._colouring = False

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in PALETTE_CHANGES and self._kind and not self._colouring:
            self._colour()

    def clear(self, about: str = "") -> None:
        """Remove the message from the banner if it begins with `about`."""
        if self.text.startswith(about):
            self._text.clear()
            self.hide()


def left_text(elapsed_s: float, done: int, total: int) -> str:
    """Return the remaining time of the work, such as ", about 12 s left"; "" if it is unknown."""
    if elapsed_s < TELL_AFTER_S or not 0 < done <= total:
        return ""
    left = round(elapsed_s * (total - done) / done)
    words = f"{left} s" if left < 90 else f"{round(left / 60)} min"
    return f", about {words} left"


class WorkBar(QFrame):
    """Progress and remaining time of the running work, and a button that cancels it.

    The bar is hidden while no work runs.

    Work is shown only if it takes longer than `delay_ms`.
    """

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None, delay_ms: int = 0) -> None:
        super().__init__(parent)
        self._what = ""
        self._since = 0.0
        self._delay = QTimer(self, interval=delay_ms, singleShot=True)
        self._delay.timeout.connect(self.show)
        self._text = QLabel()
        self.bar = QProgressBar()
        self.bar.setTextVisible(True)
        self.bar.setAccessibleName("Progress")
        self.button = QPushButton("Cancel")
        self.button.clicked.connect(self.cancelled)
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 6, 8, 6)
        line.addWidget(self._text)
        line.addWidget(self.bar, 1)
        line.addWidget(self.button)
        self.hide()

    def begin(self, title: str) -> None:
        """Show that the work `title` has begun."""
        self._text.setText(title)
        self.bar.setRange(0, 0)
        self._what = ""
        if self._delay.interval():
            self._delay.start()
        else:
            self.show()

    def end(self) -> None:
        """Hide the bar: no work is running."""
        self._delay.stop()
        self.hide()

    def show_progress(self, what: str, done: int, total: int) -> None:
        """Show that `done` of `total` units of `what` are done; a `total` of 0 means unknown.

        Before the first unit is done, the bar shows no percentage: some stages consist of one unit,
        and 0 % would look like a standstill.
        """
        if what != self._what:
            self._what, self._since = what, time.monotonic()
        left = left_text(time.monotonic() - self._since, done, total)
        self._text.setText(f"{what}{left}")
        self.bar.setRange(0, BAR_STEPS if total and done else 0)
        self.bar.setValue(done * BAR_STEPS // total if total else 0)
