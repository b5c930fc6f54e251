# SPDX-License-Identifier: MIT
"""The headers of a packet as a tree.  Each line has its bytes and a display filter."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QFont, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QMenu, QTreeWidget, QTreeWidgetItem, QWidget

from skbviewer.analysis.dissect import Node

from .call_tree import AiryRows

NODE = Qt.ItemDataRole.UserRole
Item = QTreeWidgetItem


class DetailTree(QTreeWidget):
    """The tree of headers. `node_chosen` carries the Node of the current line.

    `filter_asked` carries a filter, and whether to apply it. When a line that names a packet is
    double-clicked or activated by Return, `packet_asked` carries that packet.
    """

    node_chosen = Signal(object)
    filter_asked = Signal(str, bool)
    packet_asked = Signal(object)  # its number

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setItemDelegate(AiryRows(self))
        self.setAccessibleName("Packet details")
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._ask)
        self.currentItemChanged.connect(self._report)
        self._open: set[str] = set()  # titles of headers that the user opened
        self.itemActivated.connect(self._follow)
        self.itemExpanded.connect(lambda item: self._open.add(_title(item)))
        self.itemCollapsed.connect(lambda item: self._open.discard(_title(item)))

    def show_nodes(self, nodes: Sequence[Node]) -> None:
        """Show these headers.  Headers that the user expanded stay expanded."""
        opened = set(self._open)
        self.clear()
        for node in nodes:
            item = _item(node)
            self.addTopLevelItem(item)
            self._reopen(item, opened)
        self._open = opened

    def node(self, item: Item | None) -> Node | None:
        """Return the node of a line."""
        return None if item is None else item.data(0, NODE)

    def choose_byte(self, byte: int) -> None:
        """Go to the innermost header or field that contains a byte."""
        items = [self.topLevelItem(n) for n in range(self.topLevelItemCount())]
        found: Item | None = None
        while items:
            holding = [i for i in items if i is not None and _holds(i.data(0, NODE), byte)]
            if not holding:
                break
            inner = holding[0] if found else min(holding, key=lambda i: i.data(0, NODE).length)
            found, items = inner, [inner.child(n) for n in range(inner.childCount())]
        if found is not None:
            self.setCurrentItem(found)
            self.scrollToItem(found)

    def _reopen(self, item: Item, opened: set[str]) -> None:
        item.setExpanded(_title(item) in opened)
        for child in filter(None, map(item.child, range(item.childCount()))):
            self._reopen(child, opened)

    def _report(self, item: Item | None) -> None:
        node = self.node(item)
        if node is not None:
            self.node_chosen.emit(node)

    def _follow(self, item: Item) -> None:
        node = self.node(item)
        if node is not None and node.packet:
            self.packet_asked.emit(node.packet)

    def _ask(self, place: QPoint) -> None:
        menu = self.menu(self.itemAt(place))
        if menu is not None:
            menu.exec(self.viewport().mapToGlobal(place))

    def menu(self, item: Item | None) -> QMenu | None:
        """Return the context menu of a line; None if `item` is None."""
        node = self.node(item)
        if node is None:
            return None
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        wanted = f"{node.field} == {node.value}"
        for text, apply in (("&Apply as Filter", True), ("&Prepare as Filter", False)):
            action = menu.addAction(f"{text}: {wanted}" if node.field else text)
            action.setEnabled(bool(node.field))
            action.triggered.connect(lambda _=False, on=apply: self.filter_asked.emit(wanted, on))
        if node.packet:
            go = menu.addAction(f"&Go to Packet {node.packet}")
            go.triggered.connect(lambda: self.packet_asked.emit(node.packet))
        menu.addSeparator()
        menu.addAction("&Copy").triggered.connect(lambda: _copy(node.text))
        menu.addAction("Copy &Value").triggered.connect(lambda: _copy(node.value or node.text))
        menu.addSeparator()
        menu.addAction("&Expand All").triggered.connect(self.expandAll)
        menu.addAction("C&ollapse All").triggered.connect(self.collapseAll)
        return menu

    # Qt's own names

    def keyPressEvent(self, event: QKeyEvent) -> None:
        node = self.node(self.currentItem())
        if event.matches(QKeySequence.StandardKey.Copy) and node is not None:
            _copy(node.text)
        else:
            super().keyPressEvent(event)


def _item(node: Node) -> Item:
    item = Item([node.text])
    item.setData(0, NODE, node)
    item.setToolTip(0, f"{node.text}\n{node.field}".strip())
    if node.text.startswith("["):
        font = QFont()
        font.setItalic(True)
        item.setFont(0, font)
    item.addChildren([_item(child) for child in node.children])
    return item


def _title(item: Item) -> str:
    """Return a key for a header or field, which is the same key in every packet."""
    node: Node = item.data(0, NODE)
    return node.field or node.text.split(",")[0].split(":")[0].split(" (")[0]


def _holds(node: Node, byte: int) -> bool:
    return node.offset <= byte < node.offset + node.length


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
