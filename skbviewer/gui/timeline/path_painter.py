# SPDX-License-Identifier: MIT
"""Paint a Layout.  One item paints all bars in pixels, so that zooming does not scale texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontInfo,
    QFontMetricsF,
    QPainter,
    QPalette,
    QPen,
    QTransform,
)
from PySide6.QtWidgets import QGraphicsObject, QStyleOptionGraphicsItem, QWidget

from ..base.theme import DROP_COLOURS, UNKNOWN_LAYER, WIRE_COLOURS, is_dark, text_on, themed
from .path_layout import Layout, WaitBar, lay_out

LABEL_FROM_PX = 40
GAP_PX = 1.0
TITLE_ROWS = 1.25
TEXT_PART = 0.68  # of a row's height, so that underscores stay inside their bar


def above_all(plate: QRectF, boxes: Iterable[QRectF]) -> QRectF:
    """Return the rectangle `plate`, moved up until it overlaps none of the `boxes`."""
    for box in sorted(boxes, key=QRectF.top, reverse=True):
        if box.intersects(plate):
            plate = plate.translated(0, box.top() - 3 - plate.bottom())
    return plate


def _bold(font: QFont) -> QFont:
    font = QFont(font)
    font.setBold(True)
    return font


class TimelineItem(QGraphicsObject):
    """Item coordinates: x in ns, y in rows.

    `tags` returns the boxes of notes, in pixels from the upper left corner of the view.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tags: Callable[[QPainter], Sequence[QRectF]] = lambda _painter: ()
        self.layout = lay_out(None)
        self.selected: int | None = None
        self._colours: dict[str, QColor] = {}
        self._palette = QPalette()
        self._dark = False
        self._view = QRectF()
        self._titled: list[tuple[QRectF, str]] = []  # boxes of titles, in pixels
        self._waited: list[QRectF] = []  # boxes of waits
        self._named: list[QRectF] = []  # names of bars
        self._corner = QPointF()  # of the view

    def texts(self) -> list[QRectF]:
        """Return the rectangles of titles and waits, in pixels from the corner of the view."""
        return [
            box.translated(-self._corner) for box in (*self._waited, *(b for b, _ in self._titled))
        ]

    def draw(self, layout: Layout) -> None:
        """Draw the bars, titles and waits of `layout`, a packet's path, from now on."""
        self.prepareGeometryChange()
        self.layout = layout
        self.selected = None
        self.update()

    def set_colours(self, colours: dict[str, QColor], palette: QPalette) -> None:
        """Set the palette, and the colours of the layers by name."""
        self._colours, self._palette, self._dark = colours, palette, is_dark(palette)
        self.update()

    def set_view(self, view: QRectF) -> None:
        """Set the visible part: x in ns, y in rows."""
        self.prepareGeometryChange()
        self._view = view
        self.update()

    def select(self, bar: int | None) -> None:
        """Highlight a bar; None highlights none."""
        self.selected = bar
        self.update()

    def _rects(self, scale: QTransform) -> npt.NDArray[np.float64]:
        """Return x, y, width, height of every bar in pixels, float64 of shape (n, 4).

        No bar is narrower than one pixel.
        """
        bars = self.layout.bars
        rects = np.empty((len(bars), 4))
        rects[:, 0] = bars["begin"] * scale.m11()
        rects[:, 1] = bars["y"] * scale.m22() + GAP_PX / 2
        rects[:, 2] = np.maximum((bars["end"] - bars["begin"]) * scale.m11() - GAP_PX / 2, 1.0)
        rects[:, 3] = abs(scale.m22()) - GAP_PX
        return rects

    def _paint_grounds(self, painter: QPainter, scale: QTransform, view: QRectF) -> None:
        """Paint the backgrounds of legs, and compute the boxes of their titles."""
        metrics = QFontMetricsF(_bold(painter.font()))
        background = self._palette.color(QPalette.ColorRole.AlternateBase)
        self._titled = []
        for title in self.layout.titles:
            top, bottom = title.y * scale.m22(), title.bottom * scale.m22()
            painter.fillRect(QRectF(view.left(), top, view.width(), bottom - top), background)
            box = QRectF(view.left() + 6, top, view.width() - 12, TITLE_ROWS * scale.m22())
            text = metrics.elidedText(title.text, Qt.TextElideMode.ElideRight, box.width())
            box.setWidth(metrics.horizontalAdvance(text) + 2)
            self._titled.append((box, text))

    def _paint_titles(self, painter: QPainter, font: QFont) -> None:
        """Paint the titles after the line of the wire time, which may cross them."""
        painter.setFont(_bold(font))
        painter.setPen(self._palette.color(QPalette.ColorRole.Text))
        for box, text in self._titled:
            painter.fillRect(box, self._palette.color(QPalette.ColorRole.AlternateBase))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)

    @staticmethod
    def _wait_box(wait: WaitBar, scale: QTransform, view: QRectF) -> QRectF:
        return QRectF(
            wait.begin * scale.m11(),
            wait.y * scale.m22() + 1,
            max((wait.end - wait.begin) * scale.m11(), 1.0),
            scale.m22() - 2,
        ).intersected(view)

    def _paint_waits(self, painter: QPainter) -> None:
        colour = self._palette.color(QPalette.ColorRole.PlaceholderText)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for wait, box in zip(self.layout.waits, self._waited, strict=True):
            if box.isEmpty():
                continue
            painter.fillRect(box, QBrush(colour, Qt.BrushStyle.BDiagPattern))
            painter.setPen(QPen(colour, 1))
            painter.drawRect(box)
            self._plate(painter, box.adjusted(4, 1, -3, -1), wait.text)

    def _paint_bars(self, painter: QPainter, scale: QTransform, view: QRectF) -> None:
        bars, rects = self.layout.bars, self._rects(scale)
        self._named = []
        seen = (rects[:, 0] <= view.right()) & (rects[:, 0] + rects[:, 2] >= view.left())
        seen &= (rects[:, 1] <= view.bottom()) & (rects[:, 1] + rects[:, 3] >= view.top())
        # Qt drops rectangles that reach far outside, so clip them close to the view
        left = np.maximum(rects[:, 0], view.left() - 4)
        rects[:, 2] = np.minimum(rects[:, 0] + rects[:, 2], view.right() + 4) - left
        rects[:, 0] = left
        painter.setPen(Qt.PenStyle.NoPen)
        for number, layer in enumerate(self.layout.layers):
            colour = self._colours.get(layer, QColor(UNKNOWN_LAYER))
            boxes = [QRectF(*rects[at]) for at in np.flatnonzero(seen & (bars["layer"] == number))]
            painter.setBrush(colour)
            painter.drawRects(boxes)
        self._paint_marks(painter, rects, seen)
        for at in np.flatnonzero(seen & (rects[:, 2] > LABEL_FROM_PX)):
            name = self.layout.layers[bars["layer"][at]]
            background = self._colours.get(name, QColor(UNKNOWN_LAYER))
            box, text = QRectF(*rects[at]), self.layout.labels[at]
            self._label(painter, box, text, text_on(background))
            self._named.append(self._text_box(painter, box, text))

    def _paint_marks(
        self, painter: QPainter, rects: npt.NDArray[np.float64], seen: npt.NDArray[np.bool_]
    ) -> None:
        """Hatch calls whose exit was not recorded; outline drops and the selected call."""
        bars = self.layout.bars
        for at in np.flatnonzero(seen & bars["open"]):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QBrush(QColor(255, 255, 255, 150), Qt.BrushStyle.Dense5Pattern))
            painter.drawRect(QRectF(*rects[at]))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(themed(DROP_COLOURS, self._dark), 2))
        painter.drawRects([QRectF(*rects[at]) for at in np.flatnonzero(seen & bars["drop"])])
        if self.selected is not None and seen[self.selected]:
            box = QRectF(*rects[self.selected])
            painter.setPen(QPen(self._palette.color(QPalette.ColorRole.Base), 4))
            painter.drawRect(box)
            painter.setPen(QPen(self._palette.color(QPalette.ColorRole.Text), 2))
            painter.drawRect(box)

    def _paint_wire(
        self, painter: QPainter, scale: QTransform, view: QRectF, tags: Iterable[QRectF]
    ) -> None:
        if self.layout.wire is None:
            return
        colour = themed(WIRE_COLOURS, self._dark)
        x = self.layout.wire * scale.m11()
        half = self.layout.wire_error * scale.m11()
        band = QColor(colour)
        band.setAlpha(36)
        area = QRectF(x - half, view.top(), 2 * half, view.height()).intersected(view)
        painter.fillRect(area, band)
        if view.left() <= x <= view.right():
            painter.setPen(QPen(colour, 1.5, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, view.top()), QPointF(x, view.bottom()))
            text = "on the wire"
            width = QFontMetricsF(painter.font()).horizontalAdvance(text) + 8
            place = x + 3 if x + width + 8 < view.right() else x - width - 3
            boxes = [box for box, _ in self._titled]
            boxes += [tag.translated(view.topLeft()) for tag in tags]
            lowest = QRectF(place, view.bottom() - 20, width, 17)
            plate = above_all(lowest, [*boxes, *self._named])
            if plate.top() < view.top():  # the names of boxes fill the view
                plate = above_all(lowest, boxes)
            self._plate(painter, plate, text, colour)

    def _plate(
        self, painter: QPainter, room: QRectF, text: str, colour: QColor | None = None
    ) -> None:
        """Paint text on a background on which it is readable, if it fits."""
        width = QFontMetricsF(painter.font()).horizontalAdvance(text) + 8
        if width > room.width() + 0.5:
            return
        plate = QRectF(room.left(), room.top(), width, room.height())
        painter.fillRect(plate, self._palette.color(QPalette.ColorRole.Base))
        painter.setPen(colour or self._palette.color(QPalette.ColorRole.Text))
        painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, text)

    @staticmethod
    def _text_box(painter: QPainter, box: QRectF, text: str) -> QRectF:
        """Return the part of a bar's box that its name covers."""
        width = QFontMetricsF(painter.font()).horizontalAdvance(text) + 8
        return QRectF(box.left(), box.top(), min(width, box.width()), box.height())

    def _label(self, painter: QPainter, box: QRectF, text: str, colour: QColor) -> None:
        inner = box.adjusted(4, 0, -3, 0)
        if inner.width() < LABEL_FROM_PX - 8:
            return
        metrics = QFontMetricsF(painter.font())
        painter.setPen(colour)
        short = metrics.elidedText(text, Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, short)

    # Qt's own names

    def boundingRect(self) -> QRectF:
        layout = self.layout
        span = max(layout.end - layout.begin, 1.0)
        whole = QRectF(layout.begin, 0, span, layout.rows + 1)
        return whole.united(self._view)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
    ) -> None:
        """Paint the visible part when Qt asks for it."""
        scale = painter.transform()
        painter.save()
        painter.setTransform(QTransform.fromTranslate(scale.dx(), scale.dy()))
        self.paint_scaled(painter, scale)
        painter.restore()

    def paint_scaled(self, painter: QPainter, scale: QTransform) -> None:
        """Paint the visible part; `scale` maps ns and rows to pixels.

        The painter's origin is at ns 0, row 0.
        """
        seen = self._view
        pixels = QRectF(
            seen.left() * scale.m11(),
            seen.top() * scale.m22(),
            seen.width() * scale.m11(),
            seen.height() * scale.m22(),
        )
        self._corner = pixels.topLeft()
        self._paint_grounds(painter, scale, pixels)
        self._waited = [self._wait_box(wait, scale, pixels) for wait in self.layout.waits]
        tags = self.tags(painter)  # in the default font
        usual, font = QFont(painter.font()), painter.font()
        font.setPixelSize(max(8, min(QFontInfo(font).pixelSize(), round(scale.m22() * TEXT_PART))))
        painter.setFont(font)
        self._paint_waits(painter)
        self._paint_bars(painter, scale, pixels)
        self._paint_wire(painter, scale, pixels, tags)
        self._paint_titles(painter, usual)
