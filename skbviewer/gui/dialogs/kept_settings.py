# SPDX-License-Identifier: MIT
"""The part of a window that the settings keep: panes, columns, times, colours, filter buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings

from ..packets import column_state
from ..packets.colour_rules import stored
from ..packets.time_column import Precision, TimeFormat

if TYPE_CHECKING:
    from ..window.main_window import MainWindow


def use(window: MainWindow) -> None:
    """Apply the settings.  What they do not contain gets its default."""
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
    """Set the Time column by the names of TimeFormat and Precision."""
    table = window.workspace.table
    if form in TimeFormat.__members__:
        table.set_time_format(TimeFormat[form])
    if precision in Precision.__members__:
        table.set_precision(Precision[precision])


def keep(window: MainWindow) -> None:
    """Save the settings that are not saved as soon as they change."""
    settings, table = QSettings(), window.workspace.table
    settings.setValue("panes", window.workspace.layout_to_keep())
    settings.setValue("columns", column_state.write(table.columns_state()))
    settings.setValue("time", table.packets.time_format.name)
    settings.setValue("precision", table.packets.precision.name)
