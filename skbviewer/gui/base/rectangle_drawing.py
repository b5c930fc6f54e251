# SPDX-License-Identifier: MIT
"""Draw many rectangles with one call of QPainter, from a numpy array.

Only this module uses pyqtgraph's PrimitiveArray, which is not part of its public interface.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from pyqtgraph.Qt import internals
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

Rects = npt.NDArray[np.float64]  # float64, shape (n, 4): x, y, width, height


def draw_rects(painter: QPainter, rects: Rects) -> None:
    """Draw all `rects` with the painter's pen and brush."""
    if not len(rects):
        return
    array = internals.PrimitiveArray(QRectF, 4)
    array.resize(len(rects))
    array.ndarray()[:] = rects
    painter.drawRects(*array.drawargs())
