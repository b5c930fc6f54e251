# SPDX-License-Identifier: MIT
"""Light and dark themes: palettes, colours of layers and verdicts, Wireshark's row colours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPalette, QPen, QPixmap

from .recording_interface import LayerColours

UNKNOWN_LAYER = "#9a9a9a"
VERDICT_COLOURS = {
    "exact": ("#1a7f4b", "#4cc38a"),
    "ambiguous": ("#b26a00", "#f0b24b"),
    "wire-only": ("#6b7280", "#9aa4b2"),
    "sampled-out": ("#6b7280", "#9aa4b2"),
    "kernel-only": ("#2563a8", "#6fb1f0"),
}
WIRE_COLOURS = ("#c2185b", "#ff6fa5")
WAIT_COLOURS = ("#5b6570", "#a9b3bd")
DROP_COLOURS = ("#b00020", "#ff6b6b")


class RowColours(NamedTuple):
    """Background and text colour of a packet row."""

    background: QColor
    text: QColor


_CHIPS: dict[str, QIcon] = {}  # by colour; few, as there are few layers and verdicts


def is_dark(palette: QPalette) -> bool:
    """Return whether the palette's text is lighter than its background."""
    text = palette.color(QPalette.ColorRole.WindowText)
    return text.lightness() > palette.color(QPalette.ColorRole.Window).lightness()


def themed(pair: tuple[str, str], dark: bool) -> QColor:
    """Return the first colour of `pair` for light windows, the second for dark windows."""
    return QColor(pair[dark])


def layer_colours(layers: Iterable[LayerColours], dark: bool) -> dict[str, QColor]:
    """Return the colour of each layer by name, in the order of the layer table."""
    return {layer.name: QColor(layer.colour_dark if dark else layer.colour) for layer in layers}


def chip(colour: QColor) -> QIcon:
    """Return a small square of `colour` with a margin, visible in selected rows too."""
    if colour.name() not in _CHIPS:
        pixmap = QPixmap(32, 32)
        pixmap.fill(QColor(0, 0, 0, 0))
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(255, 255, 255, 130), 2))
        painter.setBrush(colour)
        painter.drawRoundedRect(6, 6, 20, 20, 5, 5)
        painter.end()
        _CHIPS[colour.name()] = QIcon(pixmap)
    return _CHIPS[colour.name()]


def text_on(background: QColor) -> QColor:
    """Return black or white, whichever is more readable on `background`."""
    luminance = 0.299 * background.red() + 0.587 * background.green() + 0.114 * background.blue()
    return QColor("#101418") if luminance > 140 else QColor("#ffffff")


def light_palette() -> QPalette:
    """Return the palette of the light theme."""
    return _palette("#f4f5f7", "#ffffff", "#f2f4f8", "#1b2126", "#2f6fd0", "#ffffff", "#7a828a")


def dark_palette() -> QPalette:
    """Return the palette of the dark theme."""
    return _palette("#23262b", "#1a1d21", "#202429", "#e3e6ea", "#3d7bd9", "#ffffff", "#868e97")


def outlined_palette(palette: QPalette) -> QPalette:
    """Return a palette like `palette` for boxes whose outlines must be visible on a dark window.

    Qt's style Fusion draws outlines darker than the role Window, so this role gets a lighter
    colour.  These boxes use the role Window for nothing else.
    """
    role = QPalette.ColorRole
    outlined = QPalette(palette)
    if palette.color(role.Window).lightness() < palette.color(role.WindowText).lightness():
        outlined.setColor(role.Window, palette.color(role.PlaceholderText))
    return outlined


def _palette(
    window: str, base: str, alternate: str, text: str, accent: str, on_accent: str, dim: str
) -> QPalette:
    role = QPalette.ColorRole
    palette = QPalette(QColor(window), QColor(window))
    for colour, roles in (
        (window, (role.Window, role.Button)),
        (base, (role.Base, role.ToolTipBase)),
        (alternate, (role.AlternateBase,)),
        (text, (role.WindowText, role.Text, role.ButtonText, role.ToolTipText)),
        (accent, (role.Highlight, role.Link, role.Accent)),
        (on_accent, (role.HighlightedText,)),
        (dim, (role.PlaceholderText,)),
    ):
        for each in roles:
            palette.setColor(each, QColor(colour))
    for each in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, each, QColor(dim))
    return palette


def arrow(palette: QPalette, down: bool = False) -> QIcon:
    """Return a triangle as an icon: it points right, or down if `down` is set.

    The triangle has the palette's text colour.
    """
    pixmap = QPixmap(32, 32)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(palette.color(QPalette.ColorRole.Text))
    right = [QPoint(10, 5), QPoint(25, 16), QPoint(10, 27)]
    painter.drawPolygon([QPoint(8, 12), QPoint(24, 12), QPoint(16, 21)] if down else right)
    painter.end()
    return QIcon(pixmap)
