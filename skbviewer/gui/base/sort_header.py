# SPDX-License-Identifier: MIT
"""A table header whose sort arrow does not cover right-aligned titles."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QStyleOptionHeader, QWidget

ARROW = 12  # pixels for the arrow next to a title
UNSORTED = QStyleOptionHeader.SortIndicator.None_
GAP = "\N{NO-BREAK SPACE}" * 2  # Qt paints the arrow over text at the right edge


class SortHeader(QHeaderView):
    """A horizontal header; a click sorts.

    Tables hide the sort arrow when they get a header, so it must be shown again.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setSectionsClickable(True)

    # Qt's own names

    def initStyleOptionForIndex(self, option: QStyleOptionHeader, logicalIndex: int) -> None:
        super().initStyleOptionForIndex(option, logicalIndex)
        right = option.textAlignment & Qt.AlignmentFlag.AlignRight
        if right and option.sortIndicator != UNSORTED:
            option.text += GAP
