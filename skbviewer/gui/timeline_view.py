# SPDX-License-Identifier: MIT
"""The latency timeline of one packet: a lane per leg, a bar per call by depth."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QPalette
from PySide6.QtWidgets import QGridLayout, QScrollBar, QToolTip, QWidget

from skbviewer.records import PacketPath

from . import wording
from .legend import Legend
from .timeline_axes import ZOOM_STEP, TimeAxis, TimeBox
from .timeline_item import TimelineItem
from .timeline_layout import bar_at, lay_out, wait_at

MIN_SPAN_NS = 20
ROW_PX = (16, 22)
_PAD = 0.02


class TimelineView(QWidget):
    """Emits `call_chosen` with (leg, call) of a clicked bar, (-1, -1) for a click beside all."""

    call_chosen = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("timeline")
        self.setAccessibleName("Latency timeline of the selected packet")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._path: PacketPath | None = None
        self._colours: dict[str, QColor] = {}
        self.box = TimeBox()
        self.axis = TimeAxis()
        self.item = TimelineItem()
        self.plot = pg.PlotWidget(viewBox=self.box, axisItems={"top": self.axis})
        self.legend = Legend()
        self.bar = QScrollBar(Qt.Orientation.Vertical)
        self._build()

    def _build(self) -> None:
        plot = self.plot.getPlotItem()
        for side, shown in (("left", False), ("bottom", False), ("right", False), ("top", True)):
            plot.showAxis(side, shown)
        plot.hideButtons()
        plot.setContentsMargins(0, 0, 0, 0)
        self.box.addItem(self.item, ignoreBounds=True)
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plot.setFrameShape(self.plot.Shape.NoFrame)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(0)
        grid.addWidget(self.legend, 0, 0, 1, 2)
        grid.addWidget(self.plot, 1, 0)
        grid.addWidget(self.bar, 1, 1)
        self.box.sigRangeChanged.connect(self._tell_item)
        self.box.sigResized.connect(self._fit_rows)
        self.box.lanes_scrolled.connect(lambda steps: self.bar.setValue(self.bar.value() + steps))
        self.bar.valueChanged.connect(self._fit_rows)
        self.plot.scene().sigMouseClicked.connect(self._click)
        self.plot.viewport().installEventFilter(self)
        self._paint_palette()

    def show_path(self, path: PacketPath | None) -> None:
        """Draw `path` from its first entry to its end; None draws nothing."""
        self._path = path
        self.item.draw(lay_out(path))
        self.legend.show_layers(self.item.layout.layers, self._colours)
        self.bar.setValue(0)
        self.axis.setStyle(showValues=bool(self.item.layout.labels))
        self.fit()

    def show_call(self, leg: int, call: int) -> None:
        """Mark one call and bring it into view; a call of -1 marks none."""
        bars = self.item.layout.bars
        hits = ((bars["leg"] == leg) & (bars["call"] == call)).nonzero()[0]
        self.item.select(int(hits[0]) if len(hits) else None)
        if len(hits):
            self._bring_into_view(bars[hits[0]])

    def set_colours(self, colours: dict[str, QColor]) -> None:
        """Colour by layer name; also after the palette changed."""
        self._colours = colours
        self.legend.show_layers(self.item.layout.layers, colours)
        self._paint_palette()

    def fit(self) -> None:
        """Show the whole path."""
        layout = self.item.layout
        pad = (layout.end - layout.begin) * _PAD
        self.box.setLimits(
            xMin=layout.begin - 20 * pad, xMax=layout.end + 20 * pad, minXRange=MIN_SPAN_NS
        )
        self.box.setXRange(layout.begin - pad, layout.end + pad)
        self._fit_rows()

    def _bring_into_view(self, bar: object) -> None:
        begin, end, y = (float(bar[name]) for name in ("begin", "end", "y"))  # type: ignore[index]  # a numpy row
        low, high = self.box.viewRange()[0]
        if end < low or begin > high:
            half = max((high - low) / 2, (end - begin) * 0.6)
            self.box.setXRange((begin + end) / 2 - half, (begin + end) / 2 + half)
        top, bottom = self.box.viewRange()[1]
        if y < top or y + 1 > bottom:
            self.bar.setValue(int(y - (bottom - top) / 2))

    def _fit_rows(self) -> None:
        """Rows as high as there is room for, within ROW_PX; what is left over scrolls."""
        height = max(self.box.height(), 1.0)
        rows = self.item.layout.rows
        row_px = min(max(height / rows, ROW_PX[0]), ROW_PX[1])
        shown = height / row_px
        self.bar.setRange(0, max(0, round(rows - shown + 0.49)))
        self.bar.setPageStep(max(1, int(shown)))
        self.bar.setVisible(self.bar.maximum() > 0)
        self.box.setYRange(self.bar.value(), self.bar.value() + shown)

    def _tell_item(self) -> None:
        self.item.set_view(self.box.viewRect())

    def _paint_palette(self) -> None:
        palette = self.palette()
        self.plot.setBackground(palette.color(QPalette.ColorRole.Base))
        self.axis.setTextPen(palette.color(QPalette.ColorRole.Text))
        self.axis.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
        self.item.set_colours(self._colours, palette)

    def bar_under(self, scene: QPointF) -> int | None:
        """The bar drawn at a scene position."""
        at = self.box.mapSceneToView(scene)
        return bar_at(self.item.layout, at.x(), at.y(), 2 * self.box.viewPixelSize()[0])

    def _click(self, event: pg.GraphicsScene) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if event.button() != Qt.MouseButton.LeftButton:
            return
        at = self.bar_under(event.scenePos())
        if at is None:
            self.call_chosen.emit(-1, -1)
            return
        bar = self.item.layout.bars[at]
        self.call_chosen.emit(int(bar["leg"]), int(bar["call"]))
        if event.double():
            span = max(float(bar["end"] - bar["begin"]), MIN_SPAN_NS)
            self.box.setXRange(bar["begin"] - span * 0.05, bar["end"] + span * 0.05)

    def tip_at(self, scene: QPointF) -> str:
        """What there is to tell at a scene position: of a call, or of a wait."""
        at = self.box.mapSceneToView(scene)
        wait = wait_at(self.item.layout, at.x(), at.y(), 2 * self.box.viewPixelSize()[0])
        return self.tip_of(self.bar_under(scene)) if wait is None else f"Waited, {wait.text}"

    def tip_of(self, at: int | None) -> str:
        """All that is known of bar `at`, as rich text; "" for None."""
        if at is None or self._path is None:
            return ""
        bar = self.item.layout.bars[at]
        call = self._path.legs[int(bar["leg"])].calls[int(bar["call"])]
        details = wording.call_details(call, self.item.layout.origin_ns)
        rows = "".join(
            f"<tr><td>{what}&nbsp;&nbsp;</td><td>{value}</td></tr>" for what, value in details
        )
        return f"<b>{call.function}</b><table>{rows}</table>"

    # Qt's own names

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            place = event.pos()
            text = self.tip_at(self.plot.mapToScene(place))
            area = QRect(place, QSize(1, 1))
            QToolTip.showText(event.globalPos(), text, self.plot.viewport(), area)
            return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        action = {
            Qt.Key.Key_W: lambda: self.box.zoom(ZOOM_STEP),
            Qt.Key.Key_S: lambda: self.box.zoom(1 / ZOOM_STEP),
            Qt.Key.Key_A: lambda: self.box.pan(-0.15),
            Qt.Key.Key_D: lambda: self.box.pan(0.15),
            Qt.Key.Key_F: self.fit,
        }.get(Qt.Key(event.key()))
        if action is None or event.modifiers():
            super().keyPressEvent(event)
        else:
            action()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange:
            self._paint_palette()
        super().changeEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(640, 360)
