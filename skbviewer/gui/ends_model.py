# SPDX-License-Identifier: MIT
"""Conversations or endpoints as a table: columns, texts, sorting, the filter of a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from skbviewer.analysis.stats import Conversation, Endpoint

from . import wording
from .packet_columns import LEFT, RIGHT

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_ROLE = Qt.ItemDataRole
Row = Conversation | Endpoint
Names = Callable[[str], str]  # returns the name of an address


class Column(NamedTuple):
    """Title, field of the row, how its value is written, and whether it is an address."""

    title: str
    field: str
    text: Callable[[Any], str] = lambda value: f"{value:,}"
    address: bool = False


def _plain(value: Any) -> str:
    return "" if value is None else str(value)


_ADDRESS_A = Column("Address A", "address_a", _plain, True)
_ADDRESS_B = Column("Address B", "address_b", _plain, True)
CONVERSATION = (
    _ADDRESS_A,
    Column("Port A", "port_a", _plain),
    _ADDRESS_B,
    Column("Port B", "port_b", _plain),
    Column("Packets", "packets"),
    Column("Bytes", "bytes"),
    Column("Packets A → B", "packets_ab"),
    Column("Bytes A → B", "bytes_ab"),
    Column("Packets B → A", "packets_ba"),
    Column("Bytes B → A", "bytes_ba"),
    Column("Begin (s)", "begin_ns", wording.seconds),
    Column("Duration (s)", "dur_ns", wording.seconds),
    Column("Time in kernel", "kernel_ns", wording.duration),
)
ENDPOINT = (
    Column("Address", "address", _plain, True),
    Column("Port", "port", _plain),
    Column("Packets", "packets"),
    Column("Bytes", "bytes"),
    Column("Packets sent", "tx_packets"),
    Column("Bytes sent", "tx_bytes"),
    Column("Packets received", "rx_packets"),
    Column("Bytes received", "rx_bytes"),
)
PORTS = ("port_a", "port_b", "port")
WORDS = {"Ethernet": "eth", "IPv4": "ip", "IPv6": "ipv6", "TCP": "tcp", "UDP": "udp"}


class EndsModel(QAbstractTableModel):
    """Rows of one kind ("TCP").  The Begin column counts from `first_ns`."""

    def __init__(
        self, kind: str, columns: tuple[Column, ...], first_ns: int, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.kind = kind
        with_ports = kind in ("TCP", "UDP")
        self.columns = tuple(c for c in columns if with_ports or c.field not in PORTS)
        self._first_ns = first_ns
        self._rows: list[Row] = []
        self._names: Names = lambda address: address

    def show(self, rows: Sequence[Row]) -> None:
        self.beginResetModel()
        self._rows = list(rows)
        self.endResetModel()

    def use_names(self, names: Names) -> None:
        """Show addresses by the names that `names` returns."""
        self._names = names
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, 0))

    def row(self, position: int) -> Row:
        return self._rows[position]

    def text(self, position: int, column: int) -> str:
        made = self.columns[column]
        value = getattr(self._rows[position], made.field)
        if made.field == "begin_ns":
            value -= self._first_ns
        return self._names(value) if made.address else made.text(value)

    def csv(self) -> str:
        """Return all rows as CSV with a header line."""
        lines = [[column.title for column in self.columns]]
        fields = [column.field for column in self.columns]
        lines += [[_plain(getattr(row, field)) for field in fields] for row in self._rows]
        return "\n".join(",".join(f'"{cell}"' for cell in line) for line in lines) + "\n"

    # Qt's own names

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        if not 0 <= column < len(self.columns):
            return
        field = self.columns[column].field
        self.layoutAboutToBeChanged.emit()
        self._rows.sort(
            key=lambda row: (
                (getattr(row, field) is not None, getattr(row, field) or 0)
                if not self.columns[column].address
                else (True, getattr(row, field))
            ),
            reverse=order is Qt.SortOrder.DescendingOrder,
        )
        self.layoutChanged.emit()

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = _ROLE.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == _ROLE.DisplayRole:
            return self.text(index.row(), index.column())
        if role == _ROLE.TextAlignmentRole:
            return LEFT if self.columns[index.column()].address else RIGHT
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = _ROLE.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        if role == _ROLE.TextAlignmentRole:
            return LEFT if self.columns[section].address else RIGHT
        return self.columns[section].title if role == _ROLE.DisplayRole else None


def filter_of(kind: str, row: Row) -> str:
    """Return the display filter for the packets of a row."""
    word = WORDS[kind]
    if isinstance(row, Endpoint):
        return _end(word, row.address, row.port)
    a, b = (row.address_a, row.port_a), (row.address_b, row.port_b)
    both = f"{_end(word, *a)} && {_end(word, *b)}"
    return both if a != b else _end(word, *a)


def _end(word: str, address: str, port: int | None) -> str:
    if address == "Broadcast":
        address = "ff:ff:ff:ff:ff:ff"
    if port is None:
        return f"{word}.addr == {address}"
    network = "ipv6" if ":" in address else "ip"
    return f"{network}.addr == {address} && {word}.port == {port}"
