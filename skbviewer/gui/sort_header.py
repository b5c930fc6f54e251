# SPDX-License-Identifier: MIT
"""A table's header whose arrow, which tells the order, does not lie on a title at the right."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QStyleOptionHeader, QWidget

ARROW = 12  # pixels that a title needs beside it for the arrow
UNSORTED = QStyleOptionHeader.SortIndicator.None_
GAP = "\N{NO-BREAK SPACE}" * 2  # Qt lets the arrow overlap what stands at the right edge


class SortHeader(QHeaderView):
    """Horizontal; a click sorts.  Tables take the arrow away when they get a header: ask again."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setSectionsClickable(True)

    # Qt's own names

    def initStyleOptionForIndex(self, option: QStyleOptionHeader, logicalIndex: int) -> None:
        super().initStyleOptionForIndex(option, logicalIndex)
        right = option.textAlignment & Qt.AlignmentFlag.AlignRight
        if right and option.sortIndicator != UNSORTED:
            option.text += GAP
