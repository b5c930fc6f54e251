# SPDX-License-Identifier: MIT
"""A report with the pictures of its packets, which need Qt but no display."""

from __future__ import annotations

import math
from pathlib import Path

from PySide6.QtCore import QRectF, QSize

from skbviewer.export import Exportable, Request
from skbviewer.export.report import Facts, facts_of, write_page
from skbviewer.records import PacketPath

from ..base.theme import dark_palette, layer_colours, light_palette
from .path_picture import PathPicture
from .picture_files import ensure_application, svg_bytes

WIDTH, MARGIN = 1200, 8  # of a picture, pixels at DPI; it grows with the page


def write_html(recording: Exportable, request: Request, out: Path) -> None:
    """Read the facts that `request` asks for, and write a report of them to `out`.

    See facts_of() and write_page().
    """
    write_read(facts_of(recording, request), out)


def write_read(facts: Facts, out: Path) -> None:
    """Write to `out` a report of facts that facts_of() has read. Raises BadInput.

    Reading the facts takes most of the time, so a worker can read them in advance.
    """
    ensure_application()

    def paint(path: PacketPath, dark: bool) -> bytes:
        colours = layer_colours(facts.layers, dark)
        picture = PathPicture(path, colours, dark_palette() if dark else light_palette())
        area = QRectF(MARGIN, 0, WIDTH - 2 * MARGIN, picture.height)
        size = QSize(WIDTH, max(math.ceil(picture.height), 1))
        return svg_bytes(size, "", lambda painter: picture.paint(painter, area))

    write_page(facts, out, paint)
