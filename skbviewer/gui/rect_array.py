# SPDX-License-Identifier: MIT
"""Many rectangles in one call of QPainter, straight from a numpy array.

The one place that uses pyqtgraph's PrimitiveArray, which is no part of its public interface.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from pyqtgraph.Qt import internals
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

Rects = npt.NDArray[np.float64]  # rows of x, y, width, height


def draw_rects(painter: QPainter, rects: Rects) -> None:
    """Draw all `rects` with the painter's pen and brush."""
    if not len(rects):
        return
    array = internals.PrimitiveArray(QRectF, 4)
    array.resize(len(rects))
    array.ndarray()[:] = rects
    painter.drawRects(*array.drawargs())
