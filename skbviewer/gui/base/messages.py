# SPDX-License-Identifier: MIT
"""Lines for the user: in the banner until they are closed, or in the status bar for a while."""

from __future__ import annotations

from PySide6.QtWidgets import QStatusBar

from .message_and_progress_bars import Banner, Link

SHORT_MS, LONG_MS = 5000, 8000


class Messages:
    """Shows lines in one window."""

    def __init__(self, banner: Banner, status_bar: QStatusBar) -> None:
        self._banner, self._status_bar = banner, status_bar

    @property
    def is_shown(self) -> bool:
        """Return whether the banner shows an error or a hint."""
        return self._banner.isVisible()

    def error(self, text: str, link: Link | None = None) -> None:
        """Show an error in the banner; `link` adds a button: its title and its action."""
        self._banner.show_text(text, "error", link)

    def hint(self, text: str, link: Link | None = None) -> None:
        """Show a hint in the banner; `link` adds a button: its title and its action."""
        self._banner.show_text(text, "hint", link)

    def clear(self, about: str = "") -> None:
        """Remove the error, the hint or the text in the status bar if it begins with `about`."""
        self._banner.clear(about)
        if self._status_bar.currentMessage().startswith(about):
            self._status_bar.clearMessage()

    def say(self, text: str, for_ms: int = SHORT_MS) -> None:
        """Show a line in the status bar for `for_ms` milliseconds."""
        self._status_bar.showMessage(text, for_ms)

    def say_written(self, name: object) -> None:
        """Report in the status bar that an export wrote the file `name`."""
        self.say(f"Wrote {name}", LONG_MS)
