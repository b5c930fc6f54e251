# SPDX-License-Identifier: MIT
"""What of a window is kept in the settings: panes, columns, times, colours, filter buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings

from . import column_state
from .colour_rules import stored
from .packet_times import Precision, TimeFormat

if TYPE_CHECKING:
    from .main_window import MainWindow


def use(window: MainWindow) -> None:
    """Have everything as it is kept; what is not kept as it is at first."""
    settings, table = QSettings(), window.workspace.table
    window.workspace.restore_layout(settings.value("panes"))
    columns = str(settings.value("columns", ""))
    table.restore_columns(column_state.read(columns) if columns else column_state.DEFAULT)
    times = (settings.value("time", "FIRST"), settings.value("precision", "NANOSECONDS"))
    use_times(window, *map(str, times))
    window.workspace.tree.use_settings()
    window.workspace.filter_bar.show_buttons()
    window.colouring.change(stored())


def use_times(window: MainWindow, form: str, precision: str) -> None:
    """Have the Time column like that, by the names of TimeFormat and Precision."""
    table = window.workspace.table
    if form in TimeFormat.__members__:
        table.set_time_format(TimeFormat[form])
    if precision in Precision.__members__:
        table.set_precision(Precision[precision])


def keep(window: MainWindow) -> None:
    """Keep what is not kept as soon as it changes."""
    settings, table = QSettings(), window.workspace.table
    settings.setValue("panes", window.workspace.layout_to_keep())
    settings.setValue("columns", column_state.write(table.columns_state()))
    settings.setValue("time", table.packets.time_format.name)
    settings.setValue("precision", table.packets.precision.name)
