# SPDX-License-Identifier: MIT
"""The kernel path of one packet as a tree: legs, their calls, and the events in these."""

from __future__ import annotations

from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush, QColor, QFont

from skbviewer.export import has_line
from skbviewer.records import OUTSIDE, Leg, PacketPath, PathCall, PathEvent, Wait

from ..base import wording
from ..base.theme import DROP_COLOURS, UNKNOWN_LAYER, WAIT_COLOURS, chip, themed
from .call_columns import CALL_COLUMNS, FUNCTION, LAYER

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_ROLE = Qt.ItemDataRole
_ROOT = 0
WITHIN = ("other packets", "interrupts", "switched out")  # may be inside a call
LONG_NS = 10_000  # shorter ones are not shown


class Node(NamedTuple):
    """A row of the tree.  `call` is -1 for a leg; `parent` and `children` are node numbers.

    `event` is the number of an event in that call; `wait` is the number of a wait before the next
    call.  Both numbers are -1 if the row is the call itself.
    """

    leg: int
    call: int
    parent: int
    row: int
    children: list[int]
    event: int = -1
    wait: int = -1
    detail: int = -1  # line of the event's wording.event_details()


def nodes_of(legs: tuple[Leg, ...], by_time: bool = False) -> list[Node]:
    """Return the nodes of the tree of calls in `legs`; node 0 is the invisible root.

    Calls are children of the call that contains them, or, with `by_time`, children of their leg in
    order of entry.
    """
    nodes = [Node(-1, -1, -1, 0, [])]
    for number, leg in enumerate(legs):
        (_add_in_order if by_time else _add_leg)(nodes, number, leg)
    return nodes


def _add_in_order(nodes: list[Node], leg_number: int, leg: Leg) -> None:
    """Add a leg's calls, waits and events in order of time.

    At equal times, waits come first and events last.
    """
    top = _append(nodes, leg_number, -1, _ROOT)
    rows = [(call.entry_ns, 1, number) for number, call in enumerate(leg.calls)]
    rows += [(wait.begin_ns, 0, number) for number, wait in enumerate(leg.waits) if _shown(wait)]
    rows += [(event.ts_ns, 2, number) for number, event in enumerate(leg.events) if has_line(event)]
    for _, kind, number in sorted(rows):
        if kind == 1:
            _append(nodes, leg_number, number, top)
        elif kind == 0:
            _append(nodes, leg_number, -1, top, wait=number)
        else:
            _append_with_details(nodes, leg_number, leg, number, top)


def _shown(wait: Wait) -> bool:
    """Return whether a wait gets a row.  Inside a call, only a long wait gets a row."""
    return wait.what not in (OUTSIDE, *WITHIN) or (wait.what in WITHIN and wait.dur_ns >= LONG_NS)


def _add_leg(nodes: list[Node], leg_number: int, leg: Leg) -> None:
    top = _append(nodes, leg_number, -1, _ROOT)
    of_call: list[int] = []
    events = [number for number, event in enumerate(leg.events) if has_line(event)]
    waits = [number for number, wait in enumerate(leg.waits) if _shown(wait)]
    for number, call in enumerate(leg.calls):
        while events and leg.events[events[0]].ts_ns < call.entry_ns:
            _append_event(nodes, leg_number, leg, events.pop(0), of_call, top)
        parent = of_call[call.parent] if 0 <= call.parent < number else top
        while waits and _end(leg.waits[waits[0]]) <= call.entry_ns:
            _append(nodes, leg_number, -1, parent, wait=waits.pop(0))
        of_call.append(_append(nodes, leg_number, number, parent))
    for number in events:
        _append_event(nodes, leg_number, leg, number, of_call, top)
    for number in waits:
        _append(nodes, leg_number, -1, top, wait=number)


def _end(wait: Wait) -> int:
    return wait.begin_ns + wait.dur_ns


def _append_event(
    nodes: list[Node], leg_number: int, leg: Leg, number: int, of_call: list[int], top: int
) -> None:
    call = leg.events[number].call
    parent = of_call[call] if 0 <= call < len(of_call) else top
    _append_with_details(nodes, leg_number, leg, number, parent)


def _append_with_details(
    nodes: list[Node], leg_number: int, leg: Leg, number: int, parent: int
) -> None:
    """Add an event and, below it, the details that another tracer recorded."""
    event = leg.events[number]
    own = _append(nodes, leg_number, event.call, parent, number)
    for line in range(len(wording.event_details(event))):
        nodes.append(Node(leg_number, event.call, own, line, [], number, -1, line))
        nodes[own].children.append(len(nodes) - 1)


def _append(
    nodes: list[Node], leg: int, call: int, parent: int, event: int = -1, wait: int = -1
) -> int:
    siblings = nodes[parent].children
    nodes.append(Node(leg, call, parent, len(siblings), [], event, wait))
    siblings.append(len(nodes) - 1)
    return len(nodes) - 1


class CallModel(QAbstractItemModel):
    """Shows one PacketPath, or nothing."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._legs: tuple[Leg, ...] = ()  # legs of the path, then of its branches
        self._own = 0  # legs of the path
        self._path: PacketPath | None = None
        self.by_time = False
        self._nodes = nodes_of(())
        self._place: dict[tuple[int, int], int] = {}
        self._colours: dict[str, QColor] = {}
        self._dark = False

    def show(self, path: PacketPath | None) -> None:
        """Show the calls of a path; None empties the tree."""
        self.beginResetModel()
        self._path = path
        self._legs = () if path is None else (*path.legs, *path.branches)
        self._own = 0 if path is None else len(path.legs)
        self._nodes = nodes_of(self._legs, self.by_time)
        self._place = {
            (node.leg, node.call): at
            for at, node in enumerate(self._nodes)
            if node.event < 0 and node.wait < 0
        }
        self.endResetModel()

    def set_colours(self, colours: dict[str, QColor], dark: bool) -> None:
        """Set the colours of the layers, by name; `dark` says whether the window is dark."""
        self.layoutAboutToBeChanged.emit()
        self._colours, self._dark = colours, dark
        self.layoutChanged.emit()

    def index_of(self, leg: int, call: int) -> QModelIndex:
        """Return the index of the row of a call; with a `call` of -1, of the leg's row.

        The index is invalid if there is no such row.
        """
        at = self._place.get((leg, call), _ROOT)
        return _NOWHERE if at == _ROOT else self.createIndex(self._nodes[at].row, 0, at)

    def wide(self) -> list[tuple[int, QModelIndex]]:
        """Return (row, parent) of the rows whose text spans all columns: legs, waits, events."""
        found = []
        for node in self._nodes[1:]:
            if node.call < 0 or node.event >= 0:
                above = node.parent
                row = self._nodes[above].row
                found.append(
                    (node.row, _NOWHERE if above == _ROOT else self.createIndex(row, 0, above))
                )
        return found

    def call_of_row(self, index: Index) -> PathCall | None:
        """Return the call of a row, or the call that contains an event; None for other rows."""
        node = self._nodes[index.internalId() if index.isValid() else _ROOT]
        return None if node.call < 0 else self._legs[node.leg].calls[node.call]

    def call_at(self, index: Index) -> tuple[int, int]:
        """Return (leg, call) of a row, both from 0, or of the call that contains an event.

        The call is -1 if the row is a leg.  Both numbers are -1 if the row is a branch.
        """
        node = self._nodes[index.internalId() if index.isValid() else _ROOT]
        return (node.leg, node.call) if node.leg < self._own else (-1, -1)

    def packet_at(self, index: Index) -> int:
        """Return the row of the packet list for a branch: n for packet n, -n for K<n>, or 0."""
        node = self._nodes[index.internalId() if index.isValid() else _ROOT]
        row = self._legs[node.leg].row if node.leg >= self._own else ""
        return -int(row[1:]) if row.startswith("K") else int(row or 0)

    def function_at(self, index: Index) -> str:
        """Return the function of a row; "" if it has none."""
        node = self._nodes[index.internalId() if index.isValid() else _ROOT]
        return self._legs[node.leg].calls[node.call].function if node.call >= 0 else ""

    def _title(self, leg: Leg) -> str:
        return wording.leg_title(leg, self._path and self._path.behind(leg))

    def _leg_data(self, leg: Leg, column: int, role: int) -> Any:
        if role == _ROLE.DisplayRole:
            return self._title(leg) if column == FUNCTION else None
        if role == _ROLE.ToolTipRole:
            verdict = wording.VERDICT.get(leg.match, leg.match)
            seen = wording.capture_text(leg, leg.zero_ns)
            lines = [self._title(leg), f"{verdict}: {leg.reason}"]
            lines += [f"Captured {seen}"] if seen else []
            lines += (
                ["Double-click to go to the packet of this row"] if leg.relation and leg.row else []
            )
            return "\n".join(lines)
        if role == _ROLE.FontRole:
            font = QFont()
            font.setBold(True)
            return font
        return None

    def _call_data(self, leg: Leg, call: PathCall, column: int, role: int) -> Any:
        if role == _ROLE.DisplayRole:
            return CALL_COLUMNS[column].value(leg, call)
        if role == _ROLE.DecorationRole and column == LAYER:
            return chip(self._colours.get(call.layer, QColor(UNKNOWN_LAYER)))
        if role == _ROLE.ToolTipRole:
            lines = [f"{what}: {value}" for what, value in wording.call_details(call, leg.zero_ns)]
            return "\n".join([call.function, *lines])
        if role == _ROLE.ForegroundRole and (call.dur_ns is None or call.note.startswith("drop")):
            return QBrush(themed(DROP_COLOURS, self._dark))
        return None

    def _wait_data(self, leg: Leg, wait: Wait, column: int, role: int) -> Any:
        if role in (_ROLE.DisplayRole, _ROLE.ToolTipRole):
            return wording.wait_title(wait, leg.zero_ns) if column == FUNCTION else None
        if role == _ROLE.FontRole:
            font = QFont()
            font.setItalic(True)
            return font
        if role == _ROLE.ForegroundRole:
            return QBrush(themed(WAIT_COLOURS, self._dark))
        return None

    def _event_data(self, leg: Leg, event: PathEvent, column: int, role: int) -> Any:
        if role == _ROLE.DisplayRole:
            return wording.event_title(event, leg.zero_ns) if column == FUNCTION else None
        if role == _ROLE.ToolTipRole:
            title = wording.event_title(event, leg.zero_ns)
            below = [*event.details, *(f"by {by}" for by in event.stack)]
            return "\n".join([title, *below])
        if role == _ROLE.FontRole:
            font = QFont()
            font.setItalic(True)
            return font
        if role == _ROLE.ForegroundRole and event.event == "drop":
            return QBrush(themed(DROP_COLOURS, self._dark))
        return None

    def _detail_data(self, event: PathEvent, line: int, column: int, role: int) -> Any:
        if role in (_ROLE.DisplayRole, _ROLE.ToolTipRole):
            return wording.event_details(event)[line] if column == FUNCTION else None
        return None

    # Qt's own names

    def index(self, row: int, column: int, parent: Index = _NOWHERE) -> QModelIndex:
        """Return the index of row number `row` inside the row `parent`, for Qt."""
        children = self._nodes[parent.internalId() if parent.isValid() else _ROOT].children
        inside = 0 <= row < len(children) and 0 <= column < len(CALL_COLUMNS)
        return self.createIndex(row, column, children[row]) if inside else QModelIndex()

    def parent(self, index: Index = _NOWHERE) -> QModelIndex:  # type: ignore[override]  # stub has QObject.parent() too
        """Return the index of the row that contains a row, for Qt."""
        above = self._nodes[index.internalId()].parent if index.isValid() else -1
        return (
            QModelIndex() if above <= _ROOT else self.createIndex(self._nodes[above].row, 0, above)
        )

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        if parent.column() > 0:
            return 0
        return len(self._nodes[parent.internalId() if parent.isValid() else _ROOT].children)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return len(CALL_COLUMNS)

    def data(self, index: Index, role: int = _ROLE.DisplayRole) -> Any:
        """Return a cell's text, colour, alignment or tooltip for Qt."""
        if not index.isValid():
            return None
        if role == _ROLE.TextAlignmentRole:
            return CALL_COLUMNS[index.column()].align
        node = self._nodes[index.internalId()]
        leg = self._legs[node.leg]
        if node.event >= 0:
            event = leg.events[node.event]
            if node.detail >= 0:
                return self._detail_data(event, node.detail, index.column(), role)
            return self._event_data(leg, event, index.column(), role)
        if node.wait >= 0:
            return self._wait_data(leg, leg.waits[node.wait], index.column(), role)
        if node.call < 0:
            return self._leg_data(leg, index.column(), role)
        return self._call_data(leg, leg.calls[node.call], index.column(), role)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = _ROLE.DisplayRole
    ) -> Any:
        """Return a column's title, alignment or tooltip for Qt."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(CALL_COLUMNS):
            return None
        if role == _ROLE.TextAlignmentRole:
            return CALL_COLUMNS[section].align
        if role == _ROLE.ToolTipRole:
            return CALL_COLUMNS[section].tip or None
        return CALL_COLUMNS[section].title if role == _ROLE.DisplayRole else None
