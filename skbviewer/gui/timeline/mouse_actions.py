# SPDX-License-Identifier: MIT
"""Mouse actions on the timeline other than zooming: clicks, ranges, markers, tooltips."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QHelpEvent, QMouseEvent
from PySide6.QtWidgets import QToolTip

from .box_menu import box_menu
from .markers_and_range import snap
from .timeline_notes import Notes
from .timeline_plot import TimelinePlot

SNAP_PX = 8


class Mouse(QObject):
    """The mouse of a timeline.

    `pointer` is the position of the pointer in the scene; None while the pointer is elsewhere.
    """

    def __init__(self, view: TimelinePlot, notes: Notes) -> None:
        super().__init__(view)
        self._view, self._notes = view, notes
        self.pointer: QPointF | None = None
        view.box.range_dragged.connect(self._drag_range)
        view.plot.scene().sigMouseClicked.connect(self._click)
        view.plot.viewport().installEventFilter(self)
        view.plot.viewport().setMouseTracking(True)

    def frame_point(self, scene: QPointF) -> QPointF:
        """Return a position of the scene in pixels of the items' frame."""
        return QPointF(self._view.box.mapFromScene(scene))

    def ns_at(self, scene: QPointF) -> int:
        """Return the session time at a position of the scene, or at a box's edge close to it."""
        view = self._view
        at = view.box.mapSceneToView(scene)
        reach = SNAP_PX * view.box.viewPixelSize()[0]
        edges = view.mode.edges(at.y(), self.frame_point(scene).y())
        return round(snap(at.x(), edges, reach)) + view.mode.origin_ns

    def tip_at(self, scene: QPointF) -> str:
        """Return the tooltip at a position of the scene.

        In lanes, the details of a call may be added later, when they have been read.
        """
        note = self._view.marks.note_at(self.frame_point(scene))
        return note.place.note.text if note is not None else self._view.mode.tip_at(scene)

    def show_tip(self, text: str, place: QPointF) -> None:
        """Show `text` as a tooltip at a position of the scene."""
        viewport = self._view.plot.viewport()
        at = self._view.plot.mapFromScene(place)
        QToolTip.showText(viewport.mapToGlobal(at), text, viewport, QRect(at, QSize(1, 1)))

    def _drag_range(self, start: float, now: float, is_final: bool) -> None:
        view = self._view
        view.setFocus(Qt.FocusReason.MouseFocusReason)
        origin = view.mode.origin_ns
        low, high = sorted((round(start), round(now)))
        times = (low + origin, high + origin) if high > low else None
        if view.mode.is_relative:
            view.show_range(times)  # only to be measured: these are not session times
        else:
            # in one packet's path a range is only measured, so it sets no filter
            view.choose_range(times, is_final and view.mode.filters_by_range)

    def _click(self, event: Any) -> None:
        view, scene = self._view, event.scenePos()
        view.setFocus(Qt.FocusReason.MouseFocusReason)
        if event.button() == Qt.MouseButton.RightButton:
            self._right_click(scene)
        elif event.button() != Qt.MouseButton.LeftButton or event.double():
            return
        elif view.box.sceneBoundingRect().contains(scene):
            if view.state.range is not None:
                view.choose_range(None)
            view.mode.click(scene)

    def _right_click(self, scene: QPointF) -> None:
        """Open the menu of a box.

        A click on the active marker, or on no box, removes the active marker instead.
        """
        view = self._view
        menu = None if self._on_marker(scene) else box_menu(view, scene)
        if menu is None:
            view.set_marker(view.state.active, None)
        else:
            viewport = view.plot.viewport()
            menu.popup(viewport.mapToGlobal(view.plot.mapFromScene(scene)))

    def _on_marker(self, scene: QPointF) -> bool:
        view = self._view
        at = view.state.marker(view.state.active)
        if at is None:
            return False
        away = view.box.mapSceneToView(scene).x() - (at - view.mode.origin_ns)
        return bool(abs(away) <= SNAP_PX * view.box.viewPixelSize()[0])

    def _double_click(self, scene: QPointF) -> None:
        view = self._view
        if not view.box.sceneBoundingRect().contains(scene):
            view.fit()  # on the ruler
            return
        note = view.marks.note_at(self.frame_point(scene))
        if note is not None:
            self._notes.ask_change(note.place.note)
        else:
            view.set_marker(view.state.active, self.ns_at(scene))

    # Qt's own name

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        plot = self._view.plot
        if isinstance(event, QHelpEvent):
            scene = plot.mapToScene(event.pos())
            self.show_tip(self.tip_at(scene), scene)
            return True
        if event.type() == QEvent.Type.MouseMove and isinstance(event, QMouseEvent):
            self.pointer = plot.mapToScene(event.position().toPoint())
        elif event.type() == QEvent.Type.MouseButtonDblClick and isinstance(event, QMouseEvent):
            if event.button() == Qt.MouseButton.LeftButton:
                self._double_click(plot.mapToScene(event.position().toPoint()))
        elif event.type() == QEvent.Type.Leave:
            self.pointer = None
        return super().eventFilter(watched, event)
