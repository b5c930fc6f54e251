# SPDX-License-Identifier: MIT
"""The pane of a packet's own content: its headers as a tree, its bytes beside or below."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from skbviewer.analysis.detail import Node
from skbviewer.records import PacketPath

from .detail_tree import DetailTree
from .hex_view import HexView
from .selection import Selection

NO_PACKET = "Select a packet to see its headers and bytes."
NOT_CAPTURED = "No capture holds this packet: the kernel alone tells of it."
MOVED = "The capture file has moved or changed since it was imported; its bytes cannot be shown."
NO_BYTES = "Nothing of this packet was captured."


class PacketDetail(QWidget):
    """Follows `selection`; a line lights its bytes, a byte goes to its line."""

    def __init__(self, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
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
        self.tree.filter_asked.connect(selection.filter_asked)
        self.bytes.byte_chosen.connect(self.tree.choose_byte)
        selection.path_changed.connect(self.show_path)
        self.show_path(None)

    def show_path(self, path: PacketPath | None) -> None:
        """Show the packet of `path`."""
        row, recording = self._selection.row, self._selection.recording
        if path is None or row is None or recording is None:
            self._show((), b"", NO_PACKET)
        elif row.packet is None:
            self._show((), b"", NOT_CAPTURED)
        else:
            data = recording.packet_bytes(row.packet)
            nodes = recording.detail(row.packet)
            self._show(nodes, data or b"", MOVED if data is None else NO_BYTES)

    def _show(self, nodes: tuple[Node, ...], data: bytes, empty: str) -> None:
        self.tree.show_nodes(nodes)
        self.tree.setVisible(bool(nodes))
        self.bytes.show_bytes(data, empty)

    def _light(self, node: Node) -> None:
        self.bytes.light(node.offset, node.length)

    # Qt's own names

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width() > 2 * self.bytes.sizeHint().width()
        self.parts.setOrientation(Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical)
