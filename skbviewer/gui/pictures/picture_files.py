# SPDX-License-Identifier: MIT
"""Write a picture as PNG or SVG.  The same picture always gives the same bytes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QRect, QSize
from PySide6.QtGui import QColor, QImage, QImageWriter, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication

from skbviewer import __version__
from skbviewer.analysis.timeline.shown_timeline_part import DPI, layout_units
from skbviewer.export.atomic_write import write_parts
from skbviewer.records import BadInput

Paint = Callable[[QPainter], None]


def ensure_application() -> None:
    """Create a QApplication if none exists yet.  It needs no display."""
    if QApplication.instance() is None:
        # Override the environment: Qt aborts the process if it cannot open a display.
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        ensure_application.app = QApplication(sys.argv[:1])  # type: ignore[attr-defined]  # kept
        QApplication.setStyle("Fusion")


def layout_size(size: tuple[int, int], dpi: int) -> QSize:
    """Return the size of a picture in units of its layout; `size` is its size in pixels."""
    return QSize(*layout_units(size, dpi))


def write_png(
    out: Path,
    size: tuple[int, int],
    dpi: int,
    background: QColor,
    texts: Mapping[str, str],
    paint: Paint,
) -> None:
    """Write a PNG of `size` pixels; `paint` draws it, in the units of layout_size().

    `texts` are the metadata of the file.  Raises BadInput.
    """
    image = QImage(QSize(*size), QImage.Format.Format_RGB32)
    image.fill(background)
    image.setDotsPerMeterX(round(dpi / 0.0254))
    image.setDotsPerMeterY(round(dpi / 0.0254))
    for key, value in (*texts.items(), ("Software", f"skbviewer {__version__}")):
        image.setText(key, value)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(dpi / DPI, dpi / DPI)
    paint(painter)
    painter.end()
    buffer = QBuffer()
    writer = QImageWriter(buffer, QByteArray(b"png"))
    if not writer.write(image):
        raise BadInput(out, None, f"cannot write: {writer.errorString()}")
    write_parts(out, [bytes(buffer.data().data())])


def write_svg(
    out: Path, size: tuple[int, int], dpi: int, background: QColor, title: str, paint: Paint
) -> None:
    """Write an SVG, which `paint` draws; on paper, the picture measures `size` / `dpi` inches.

    Raises BadInput.
    """
    units = layout_size(size, dpi)

    def whole(painter: QPainter) -> None:
        painter.fillRect(0, 0, units.width(), units.height(), background)
        paint(painter)

    write_parts(out, [svg_bytes(units, title, whole)])


def svg_bytes(units: QSize, title: str, paint: Paint) -> bytes:
    """Return an SVG with the size `units`, in pixels at DPI; `paint` draws it."""
    buffer = QBuffer()
    svg = QSvgGenerator()
    svg.setOutputDevice(buffer)
    svg.setResolution(DPI)
    svg.setSize(units)
    svg.setViewBox(QRect(0, 0, units.width(), units.height()))
    svg.setTitle(title)
    svg.setDescription(f"skbviewer {__version__}")
    painter = QPainter(svg)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    paint(painter)
    painter.end()
    return bytes(buffer.data().data())
