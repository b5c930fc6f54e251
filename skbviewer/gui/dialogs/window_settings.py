# SPDX-License-Identifier: MIT
"""The part of a window that the settings keep: panes, columns, times, colours, filter buttons."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from PySide6.QtCore import QByteArray, QSettings

from ..filters.filter_bar import FilterBar
from ..packet_panes.call_tree import CallTree
from ..packets import column_state
from ..packets.colour_rules import stored_rules
from ..packets.packet_table import PacketTable
from ..packets.time_column import Precision, TimeFormat
from .colouring_rules import Colouring


class Panes(Protocol):
    """The panes of a window, whose layout the settings keep."""

    def restore_layout(self, layout: QByteArray | None) -> None:
        """Restore the panes' positions from layout_to_keep(); None means the default ones."""

    def layout_to_keep(self) -> QByteArray | None:
        """Return the panes' positions, for restore_layout(); None means the default ones."""


class WindowSettings(NamedTuple):
    """The parts of one window whose settings are kept."""

    panes: Panes
    table: PacketTable
    tree: CallTree
    filter_bar: FilterBar
    colouring: Colouring

    def use(self) -> None:
        """Apply the settings.

        Parts of the window that the settings do not contain get their defaults.
        """
        settings = QSettings()
        self.panes.restore_layout(settings.value("panes"))
        columns = str(settings.value("columns", ""))
        self.table.restore_columns(column_state.read(columns) if columns else column_state.DEFAULT)
        times = (settings.value("time", "FIRST"), settings.value("precision", "NANOSECONDS"))
        use_times(self.table, *map(str, times))
        self.tree.use_settings()
        self.filter_bar.show_buttons()
        self.colouring.change(stored_rules())

    def keep(self) -> None:
        """Save those settings of the window that are not saved as soon as they change."""
        settings, table = QSettings(), self.table
        settings.setValue("panes", self.panes.layout_to_keep())
        settings.setValue("columns", column_state.write(table.columns_state()))
        settings.setValue("time", table.packets.time_format.name)
        settings.setValue("precision", table.packets.precision.name)


def use_times(table: PacketTable, form: str, precision: str) -> None:
    """Set format and precision of the Time column.

    `form` is the name of a TimeFormat, `precision` the name of a Precision.
    """
    if form in TimeFormat.__members__:
        table.set_time_format(TimeFormat[form])
    if precision in Precision.__members__:
        table.set_precision(Precision[precision])
