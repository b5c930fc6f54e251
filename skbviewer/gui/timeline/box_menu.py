# SPDX-License-Identifier: MIT
"""The context menu of a box in the timeline: filter, select, source, copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from skbviewer.analysis.display_filter import expression_for

if TYPE_CHECKING:
    from .timeline_view import TimelineView


def function_at(view: TimelineView, scene: QPointF) -> str:
    """Return the function of the single call painted at a scene position, "" if none."""
    if view.mode is view.path_mode:
        bar = view.bar_under(scene)
        path = view.path
        if bar is None or path is None:
            return ""
        found = view.item.layout.bars[bar]
        return path.legs[int(found["leg"])].calls[int(found["call"])].function
    place, timeline = view.mouse.frame_point(scene), view.lanes.timeline
    hit = view.lanes.bin_at(place.x(), place.y())
    if hit is None or timeline is None or hit["count"] != 1:
        return ""
    is_call = timeline.lane_of(int(hit["row"])).what == "calls"
    return timeline.names[int(hit["name"])] if is_call else ""


def box_menu(view: TimelineView, scene: QPointF) -> QMenu | None:
    """Return the menu of the call at a scene position; None if there is none."""
    function = function_at(view, scene)
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
    menu.addAction("&Copy Function Name").triggered.connect(
        lambda: QGuiApplication.clipboard().setText(function)
    )
    return menu
