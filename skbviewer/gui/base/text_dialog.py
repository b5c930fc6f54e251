# SPDX-License-Identifier: MIT
"""Ask for a text of several lines; Tab leaves the input field, Ctrl+Enter accepts the text."""

from __future__ import annotations

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QInputDialog, QPlainTextEdit, QWidget


def ask_text(parent: QWidget, title: str, label: str, text: str) -> str | None:
    """Return the edited `text` without surrounding white space; None if the user cancelled."""
    dialog = QInputDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setOption(QInputDialog.InputDialogOption.UsePlainTextEditForTextInput)
    dialog.setLabelText(label)
    dialog.setTextValue(text)
    dialog.resize(440, 220)
    edit = dialog.findChild(QPlainTextEdit)
    assert edit is not None
    edit.setTabChangesFocus(True)
    edit.setAccessibleName(label)
    edit.setToolTip("Ctrl+Enter accepts the text")
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        shortcut = QShortcut(
            QKeySequence(QKeyCombination(Qt.KeyboardModifier.ControlModifier, key)), dialog
        )
        shortcut.activated.connect(dialog.accept)
    chosen = dialog.exec()
    dialog.deleteLater()
    return dialog.textValue().strip() if chosen else None
