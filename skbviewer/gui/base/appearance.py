# SPDX-License-Identifier: MIT
"""The theme (dark, light or the system's) and the text size, which the settings keep."""

from __future__ import annotations

from enum import Enum

from PySide6.QtCore import QObject, QSettings, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication

from .theme import dark_palette, light_palette, outlined_palette

STEP = 1.1
SMALLEST, LARGEST = -5, 12  # steps


class Theme(Enum):
    """The themes; each value is its name in the menu."""

    SYSTEM = "Follow the System"
    LIGHT = "Light"
    DARK = "Dark"


class Appearance(QObject):
    """Theme and text size of the application."""

    def __init__(self, app: QApplication, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app = app
        self._usual = QFont(app.font())
        settings = QSettings()
        names = {theme.name: theme for theme in Theme}
        self.theme = names.get(str(settings.value("theme")), Theme.SYSTEM)
        self.zoom = _number(settings.value("zoom", 0))
        app.styleHints().colorSchemeChanged.connect(lambda _: self._paint())
        self._paint()
        self._size()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme and save it in the settings."""
        self.theme = theme
        QSettings().setValue("theme", theme.name)
        self._paint()

    def zoom_by(self, steps: int) -> None:
        """Make all text larger by `steps` (negative: smaller); 0 restores the default size."""
        self.zoom = max(SMALLEST, min(self.zoom + steps, LARGEST)) if steps else 0
        QSettings().setValue("zoom", self.zoom)
        self._size()

    def dark(self) -> bool:
        """Return whether the theme that is shown now is dark."""
        if self.theme is Theme.SYSTEM:
            return self._app.styleHints().colorScheme() is Qt.ColorScheme.Dark
        return self.theme is Theme.DARK

    def _paint(self) -> None:
        palette = dark_palette() if self.dark() else light_palette()
        if self._app.palette() != palette:
            self._app.setPalette(palette)
            outlined = outlined_palette(palette)
            for kind in ("QCheckBox", "QRadioButton"):
                self._app.setPalette(outlined, kind)  # type: ignore[arg-type]  # as setFont below

    def _size(self) -> None:
        font = QFont(self._usual)
        font.setPointSizeF(self._usual.pointSizeF() * STEP**self.zoom)
        if self._app.font() != font:
            self._app.setFont(font)
            # dock titles have their own font; the stub asks for bytes, which PySide rejects
            self._app.setFont(font, "QDockWidgetTitle")  # type: ignore[arg-type]


def _number(value: object) -> int:
    try:
        return max(SMALLEST, min(int(str(value)), LARGEST))
    except ValueError:  # the settings file was edited by hand
        return 0
