# SPDX-License-Identifier: MIT
"""The context menu of a box in the timeline: filter, select, source, machine code, copy."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from skbviewer.analysis.display_filter import expression_for

from .timeline_plot import TimelinePlot


def box_menu(view: TimelinePlot, scene: QPointF) -> QMenu | None:
    """Return the context menu of the call at a position of the scene; None if no call is there."""
    function = view.mode.function_at(scene)
    if not function:
        return None
    menu = QMenu(view)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    wanted = expression_for("kbl.func", function)
    for text, apply in (("&Apply as Filter", True), ("&Prepare as Filter", False)):
        action = menu.addAction(f"{text}: {wanted}")
        action.triggered.connect(lambda _=False, on=apply: view.filter_asked.emit(wanted, on))
    menu.addSeparator()
    menu.addAction("&Select the Call and Its Packet").triggered.connect(
        lambda: view.mode.click(scene)
    )
    menu.addAction("Show S&ource").triggered.connect(lambda: view.source_asked.emit(function))
    menu.addAction("&Disassemble This Function").triggered.connect(
        lambda: view.code_asked.emit(function)
    )
    menu.addAction("&Copy Function Name").triggered.connect(
        lambda: QGuiApplication.clipboard().setText(function)
    )
    return menu
