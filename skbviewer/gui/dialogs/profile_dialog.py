# SPDX-License-Identifier: MIT
"""Edit > Configuration Profiles: choose, make or remove a profile."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from ..base.window_size import open_at
from . import settings_profiles
from .window_settings import WindowSettings

TEXT = (
    "A profile contains columns, panes, time format, coloring rules and filter buttons. Changes "
    "are saved in the current profile."
)


class ProfileDialog(QDialog):
    """The dialog of a window's profiles. `changed` is called after another profile was chosen."""

    def __init__(
        self, window: QWidget, settings: WindowSettings, changed: Callable[[], object]
    ) -> None:
        super().__init__(window)
        self._settings, self._changed = settings, changed
        self.setWindowTitle("Configuration Profiles")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        text = QLabel(TEXT)
        text.setWordWrap(True)
        self.list = QListWidget()
        self.list.setAccessibleName("Profiles")
        self.name = QLineEdit()
        self.name.setPlaceholderText("Name of a new profile")
        self.name.setAccessibleName("Name of a new profile")
        self.add, self.remove = QPushButton("&New"), QPushButton("&Remove")
        self.add.setToolTip("Make a profile from the current settings")
        for button in (self.add, self.remove):
            button.setAutoDefault(False)
        row = QHBoxLayout()
        for widget in (self.name, self.add, self.remove):
            row.addWidget(widget)
        standard = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(standard.Ok | standard.Cancel)
        buttons.accepted.connect(self._choose)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        for part in (text, self.list):
            column.addWidget(part)
        column.addLayout(row)
        column.addWidget(buttons)
        self._show()
        self.list.itemActivated.connect(lambda _: self._choose())
        self.list.currentTextChanged.connect(self._check)
        self.name.textChanged.connect(self._check)
        self.add.clicked.connect(self._add)
        self.remove.clicked.connect(self._remove)
        self._check()
        open_at(self, 420, 320)

    def _show(self) -> None:
        self.list.clear()
        self.list.addItems(settings_profiles.names())
        self.list.setCurrentRow(settings_profiles.names().index(settings_profiles.current()))

    def _check(self) -> None:
        item = self.list.currentItem()
        self.remove.setEnabled(item is not None and item.text() != settings_profiles.DEFAULT)
        self.add.setEnabled(settings_profiles.valid(self.name.text()))

    def _add(self) -> None:
        self._settings.keep()
        settings_profiles.save_profile(settings_profiles.current())
        settings_profiles.save_profile(self.name.text().strip())
        self.name.clear()
        self._show()
        self._changed()

    def _remove(self) -> None:
        settings_profiles.remove(self.list.currentItem().text())
        self._show()
        self._changed()

    def _choose(self) -> None:
        item = self.list.currentItem()
        if item is not None and item.text() != settings_profiles.current():
            self._settings.keep()
            settings_profiles.save_profile(settings_profiles.current())
            settings_profiles.switch(item.text())
            self._settings.use()
            self._changed()
        self.accept()
