# SPDX-License-Identifier: MIT
"""Edit > Preferences.  A change applies at once."""

from __future__ import annotations

from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QSpinBox,
    QWidget,
)

from ..base.appearance import LARGEST, SMALLEST, STEP, Appearance, Theme
from ..packets.packet_table import PacketTable
from ..packets.time_column import Precision, TimeFormat
from ..timeline.time_axis import DRAG, drag_moves


class _Steps(QSpinBox):
    """Steps of text size, shown as percent of the default size.  They cannot be typed."""

    def __init__(self) -> None:
        super().__init__()
        self.lineEdit().setReadOnly(True)

    def textFromValue(self, val: int) -> str:
        return f"{STEP**val:.0%}"

    def valueFromText(self, text: str) -> int:
        return next(n for n in range(SMALLEST, LARGEST + 1) if self.textFromValue(n) == text)

    def validate(self, input: str, pos: int) -> tuple[QValidator.State, str, int]:
        return QValidator.State.Acceptable, input, pos


class Preferences(QDialog):
    """The preferences of one window."""

    def __init__(self, window: QWidget, appearance: Appearance, table: PacketTable) -> None:
        super().__init__(window)
        self._appearance, self._table = appearance, table
        self.setWindowTitle("Preferences")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.form = QFormLayout(self)
        self.form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._add_appearance()
        self._add_times()
        self._add_timeline()
        self.summary = QCheckBox("Show a summary line after each import")
        self.summary.setChecked(QSettings().value("import_summary", "true") != "false")
        self.summary.toggled.connect(
            lambda on: QSettings().setValue("import_summary", "true" if on else "false")
        )
        self.form.addRow("", self.summary)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        self.form.addRow(buttons)

    def _row(self, title: str, widget: QWidget) -> None:
        self.form.addRow(title, widget)
        widget.setAccessibleName(title.replace("&", "").rstrip(":"))

    def _add_appearance(self) -> None:
        appearance = self._appearance
        self.theme, self.text = QComboBox(), _Steps()
        for theme in Theme:
            self.theme.addItem(theme.value)
        self.theme.setCurrentText(appearance.theme.value)
        self.theme.currentTextChanged.connect(lambda text: appearance.set_theme(Theme(text)))
        self.text.setRange(SMALLEST, LARGEST)
        self.text.setToolTip(
            f"In steps of {STEP - 1:.0%}; Ctrl++ and Ctrl+- also change the text size"
        )
        self.text.setValue(appearance.zoom)
        self.text.valueChanged.connect(lambda value: appearance.zoom_by(value - appearance.zoom))
        self._row("&Colors:", self.theme)
        self._row("Text si&ze:", self.text)

    def _add_times(self) -> None:
        table = self._table
        self.times, self.digits = QComboBox(), QComboBox()
        for form in TimeFormat:
            self.times.addItem(form.value)
        for precision in Precision:
            self.digits.addItem(precision.value)
        self.times.setCurrentText(table.packets.time_format.value)
        self.digits.setCurrentText(table.packets.precision.value)
        self.times.currentTextChanged.connect(lambda text: table.set_time_format(TimeFormat(text)))
        self.digits.currentTextChanged.connect(lambda text: table.set_precision(Precision(text)))
        self._row("&Time column:", self.times)
        self._row("&Precision:", self.digits)

    def _add_timeline(self) -> None:
        self.drag = QComboBox()
        self.drag.addItems(["Selects a range; Shift+drag moves", "Moves; Shift+drag selects"])
        self.drag.setCurrentIndex(int(drag_moves()))
        self.drag.currentIndexChanged.connect(
            lambda at: QSettings().setValue(DRAG, "moves" if at else "selects")
        )
        self._row("&Dragging the timeline:", self.drag)
