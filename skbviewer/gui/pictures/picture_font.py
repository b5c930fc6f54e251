# SPDX-License-Identifier: MIT
"""The font of exported pictures: bundled, so that pictures are the same on every machine."""

from __future__ import annotations

from functools import cache

from PySide6.QtGui import QFont, QFontDatabase

from skbviewer.records.resource_files import resource

FILES = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")
FAMILY = "DejaVu Sans"


@cache
def _load() -> None:
    for name in FILES:
        if QFontDatabase.addApplicationFont(str(resource(f"fonts/{name}"))) < 0:
            raise RuntimeError(f"cannot load the bundled font {name}")


def export_font(pixels: int, bold: bool = False) -> QFont:
    """Return the bundled font in a size of `pixels` pixels.  Needs a QGuiApplication."""
    _load()
    font = QFont(FAMILY)
    font.setPixelSize(pixels)
    font.setBold(bold)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    font.setStyleStrategy(QFont.StyleStrategy.NoSubpixelAntialias)
    return font
