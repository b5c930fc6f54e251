# SPDX-License-Identifier: MIT
"""The pane of packet details: the headers as a tree, and the bytes."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from skbviewer.records import PacketPath

from ..packets.selection import Selection
from .tree_and_bytes import TreeAndBytes

NO_PACKET = "Select a packet to see its headers and bytes."
NOT_CAPTURED = "Only the kernel log contains this packet; no capture does."
MOVED = (
    "The capture file was moved or changed after the import, so the packet's bytes cannot be "
    "shown. If the file was moved, use File > Locate Moved Files."
)
NO_BYTES = "No bytes of this packet were captured."


class PacketDetail(TreeAndBytes):
    """Follows `selection`."""

    def __init__(self, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self.tree.filter_asked.connect(selection.filter_asked)
        self.tree.packet_asked.connect(selection.row_asked)
        selection.path_changed.connect(self.show_path)
        self.show_path(None)

    def show_path(self, path: PacketPath | None) -> None:
        """Show headers and bytes of the packet whose path is `path`; None empties the pane."""
        row, recording = self._selection.row, self._selection.recording
        if path is None or row is None or recording is None:
            self.show_nodes((), b"", NO_PACKET)
        elif row.packet is None:
            self.show_nodes((), b"", NOT_CAPTURED)
        else:
            data = recording.contents.packet_bytes(row.packet)
            nodes = recording.contents.detail(row.packet)
            self.show_nodes(nodes, data or b"", MOVED if data is None else NO_BYTES)
