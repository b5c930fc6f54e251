# SPDX-License-Identifier: MIT
"""A tree of fields and their bytes.

A click on a line highlights the line's bytes, and a click on a byte selects the byte's line.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from skbviewer.analysis.dissect import Node

from .header_tree import DetailTree
from .hex_view import HexView


class TreeAndBytes(QWidget):
    """The tree above the bytes, or next to them if there is enough space."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tree = DetailTree()
        self.bytes = HexView()
        self.parts = QSplitter(Qt.Orientation.Vertical)
        self.parts.addWidget(self.tree)
        self.parts.addWidget(self.bytes)
        self.parts.setStretchFactor(0, 3)
        self.parts.setStretchFactor(1, 2)
        self.parts.setChildrenCollapsible(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.parts)
        self.setFocusProxy(self.tree)
        self.tree.node_chosen.connect(self._light)
        self.bytes.byte_chosen.connect(self.tree.choose_byte)

    def show_nodes(self, nodes: Sequence[Node], data: bytes, empty: str) -> None:
        """Show the headers `nodes` and the bytes `data`; without data, show the text `empty`."""
        self.tree.show_nodes(nodes)
        self.tree.setVisible(bool(nodes))
        self.bytes.show_bytes(data, empty)

    def _light(self, node: Node) -> None:
        self.bytes.light(node.offset, node.length)

    # Qt's own names

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.bytes.follow_text_size()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width() > 2 * self.bytes.sizeHint().width()
        self.parts.setOrientation(Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical)
