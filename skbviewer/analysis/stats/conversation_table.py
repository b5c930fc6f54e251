# SPDX-License-Identifier: MIT
"""Wireshark's Conversations and Endpoints, with the time in kernel.

Input: the columns of a session's packets, and the chosen packets.  Output: a row for each pair of
addresses (and ports) in either order, or a row for each address (and port).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import starmap
from typing import NamedTuple

import numpy as np

from ...records import UNTIMED
from ...records.protocols import TCP, UDP
from ...records.types import LATEST_NS, Bools, Int64s
from ...store import Columns
from ..scope import Scope
from ..streams.packet_flows import ODD, Flows, flows_of
from ..timeline.packet_session_times import packet_times
from ..words.packet_info import address, mac
from .rows_from_columns import ColumnRows, Numbers, RowColumn, Texts, joined
from .statistic_types import Row


class Conversation(NamedTuple):
    """The packets between A and B; ports are None for kinds of conversations without ports.

    `begin_ns` is the capture time of the first packet, on the clock of the first capture.
    """

    address_a: str
    port_a: int | None
    address_b: str
    port_b: int | None
    packets: int
    bytes: int  # on the wire
    packets_ab: int  # from A to B
    bytes_ab: int
    packets_ba: int
    bytes_ba: int
    begin_ns: int
    dur_ns: int  # from the first to the last packet
    # Sum over exactly matched packets; None if there are none, or if records of one may be lost.
    kernel_ns: int | None


class Endpoint(NamedTuple):
    """The packets that one address (and port) sent and received."""

    address: str
    port: int | None
    packets: int
    bytes: int
    tx_packets: int
    tx_bytes: int
    rx_packets: int
    rx_bytes: int


# Titles of the window's columns.
CONVERSATION_TITLES = {
    "address_a": "Address A",
    "port_a": "Port A",
    "address_b": "Address B",
    "port_b": "Port B",
    "packets_ab": "Packets A → B",
    "bytes_ab": "Bytes A → B",
    "packets_ba": "Packets B → A",
    "bytes_ba": "Bytes B → A",
    "begin_ns": "Begin (s)",
    "dur_ns": "Duration (s)",
    "kernel_ns": "Time in kernel (µs)",
}
ENDPOINT_TITLES = {
    "tx_packets": "Packets sent",
    "tx_bytes": "Bytes sent",
    "rx_packets": "Packets received",
    "rx_bytes": "Bytes received",
}
WORDS = {"Ethernet": "eth", "IPv4": "ip", "IPv6": "ipv6", "TCP": "tcp", "UDP": "udp"}


Key = Mapping[str, Int64s]  # columns of flows


class _Kind(NamedTuple):
    """A kind of conversation: which flows belong to it, and what identifies an endpoint.

    meant(key) returns for each flow whether it is a conversation of this kind.  `columns` identify
    an endpoint; in their names, {} stands for source or destination. text(values) returns an
    address, given as its columns, as text.  If endpoints have ports, the port is the last column.
    """

    meant: Callable[[Key], Bools]
    columns: tuple[str, ...]
    text: Callable[[list[int]], str]
    has_port: bool = False


def _version(number: int) -> Callable[[Key], Bools]:
    return lambda key: np.asarray(key["ip_version"] == number)


def _protocol(number: int) -> Callable[[Key], Bools]:
    return lambda key: np.asarray((key["protocol"] == number) & (key["sport"] >= 0))


def _ethernet(key: Key) -> Bools:
    return np.asarray((key["eth_src"] >= 0) & (key["eth_dst"] >= 0))


def _mac_text(end: list[int]) -> str:
    return mac(end[0])


def _ip_text(end: list[int]) -> str:
    return address(*end) or ""


_ADDRESS = ("ip_version", "{}addr_hi", "{}addr_lo")
KINDS: dict[str, _Kind] = {
    "Ethernet": _Kind(_ethernet, ("eth_{}",), _mac_text),
    "IPv4": _Kind(_version(4), _ADDRESS, _ip_text),
    "IPv6": _Kind(_version(6), _ADDRESS, _ip_text),
    "TCP": _Kind(_protocol(TCP), (*_ADDRESS, "{}port"), _ip_text, has_port=True),
    "UDP": _Kind(_protocol(UDP), (*_ADDRESS, "{}port"), _ip_text, has_port=True),
}


def conversations(
    columns: Columns, kind: str, packets: Int64s | None = None, times: Int64s | None = None
) -> list[Conversation]:
    """Return the conversations of one kind (a key of KINDS), the largest first.

    `packets` are the numbers of the packets to count; None = all packets.  `times` are the times
    (ns) of all packets in the session, on one clock.  Without `times`, the times in the captures
    are used.  A conversation's start and duration are 0 if none of its packets has a time.
    """
    return list(starmap(Conversation, conversations_of(flows_of(columns, packets, times), kind)))


def conversations_of(flows: Flows, kind: str) -> ColumnRows:
    """Return the conversations of one kind (a key of KINDS), the largest first.

    Each row has the fields of Conversation.
    """
    rows, low, high, swapped = _ends(flows, kind)
    group, first = _groups(np.concatenate([low, high], axis=1))
    size, ways = len(first), (np.flatnonzero(~swapped), np.flatnonzero(swapped))

    def sums(of: Int64s, mine: Int64s | slice = slice(None)) -> Int64s:
        return _sum(group[mine], of[rows][mine], size)

    ab, ba = ((sums(flows.packets, way), sums(flows.bytes, way)) for way in ways)
    begin, end = np.full(size, LATEST_NS), np.zeros(size, np.int64)
    np.minimum.at(begin, group, flows.begin_ns[rows])
    np.maximum.at(end, group, flows.end_ns[rows])
    begin = np.minimum(begin, end)
    spent = sums(flows.kernel_ns)
    known = (sums(flows.known) > 0) & (sums(flows.unknown) == 0)
    a, b = _named(kind, low[first]), _named(kind, high[first])
    numbers = (ab[0] + ba[0], ab[1] + ba[1], *ab, *ba, begin, end - begin)
    order = np.lexsort((*reversed(numbers), b.port, b.rank, a.port, a.rank, -numbers[1]))
    columns = [Numbers(column[order]) for column in numbers]
    kernel = Numbers(spent[order], known[order])
    return ColumnRows([*a.columns(order), *b.columns(order), *columns, kernel])


def endpoints(columns: Columns, kind: str, packets: Int64s | None = None) -> list[Endpoint]:
    """Return the endpoints of one kind (a key of KINDS), the largest first.

    `packets` are the numbers of the packets to count; None = all packets.
    """
    return list(starmap(Endpoint, endpoints_of(flows_of(columns, packets), kind)))


def endpoints_of(flows: Flows, kind: str) -> ColumnRows:
    """Return the endpoints of one kind (a key of KINDS), the largest first.

    Each row has the fields of Endpoint.
    """
    rows, low, high, swapped = _ends(flows, kind)
    source = np.where(swapped[:, None], high, low)
    target = np.where(swapped[:, None], low, high)
    both = np.concatenate([source, target])
    group, first = _groups(both)
    size, of = len(first), (flows.packets[rows], flows.bytes[rows])
    tx, rx = (
        [_sum(mine, values, size) for values in of]
        for mine in (group[: len(rows)], group[len(rows) :])
    )
    end = _named(kind, both[first])
    numbers = (tx[0] + rx[0], tx[1] + rx[1], *tx, *rx)
    order = np.lexsort((*reversed(numbers), end.port, end.rank, -numbers[1]))
    return ColumnRows([*end.columns(order), *(Numbers(column[order]) for column in numbers)])


class _Named(NamedTuple):
    """Endpoints: their addresses as indices of `texts`, the rank of each text, and their ports.

    All ports are -1 if endpoints of this kind have no ports.
    """

    address: Int64s
    texts: tuple[str, ...]
    rank: Int64s
    port: Int64s

    def columns(self, order: Int64s) -> tuple[RowColumn, RowColumn]:
        """Return columns with addresses and ports, in the order of the indices `order`."""
        port = self.port[order]
        known = None if len(port) and port[0] >= 0 else np.zeros(len(port), np.bool_)
        return Texts(self.address[order].astype(np.int32), self.texts), Numbers(port, known)


def _named(kind: str, ends: Int64s) -> _Named:
    """Return endpoints with their addresses as texts; each address is made a text only once."""
    of = KINDS[kind]
    columns = ends[:, :-1] if of.has_port else ends
    group, first = _groups(columns)
    texts = [of.text(one) for one in columns[first].tolist()]
    rank = {text: at for at, text in enumerate(sorted(set(texts)))}
    ranks = np.array([rank[text] for text in texts], np.int64)
    port = ends[:, -1] if of.has_port else np.full(len(ends), -1, np.int64)
    return _Named(group, tuple(texts), ranks[group], port)


def conversations_by_kind(scope: Scope) -> dict[str, list[Conversation]]:
    """Return the conversations of the chosen packets, by kind; all times are on one clock.

    Raises Cancelled.
    """
    return {kind: list(starmap(Conversation, rows)) for kind, rows in _conversations(scope)}


def endpoints_by_kind(scope: Scope) -> dict[str, list[Endpoint]]:
    """Return the endpoints of the chosen packets by kind.  Raises Cancelled."""
    return {kind: list(starmap(Endpoint, rows)) for kind, rows in _endpoints(scope)}


def conversation_rows(scope: Scope) -> ColumnRows:
    """Return the conversations of the chosen packets, of all kinds.

    A row has the kind, then the fields of Conversation.

    All times are on one clock.  Raises Cancelled.
    """
    return _with_kinds(_conversations(scope))


def endpoint_rows(scope: Scope) -> ColumnRows:
    """Return the endpoints of the chosen packets, of all kinds.

    A row has the kind, then the fields of Endpoint.

    Raises Cancelled.
    """
    return _with_kinds(_endpoints(scope))


def _conversations(scope: Scope) -> list[tuple[str, ColumnRows]]:
    flows = _flows(scope, _capture_times(scope))
    return [(kind, conversations_of(flows, kind)) for kind in KINDS]


def _endpoints(scope: Scope) -> list[tuple[str, ColumnRows]]:
    flows = _flows(scope, None)
    return [(kind, endpoints_of(flows, kind)) for kind in KINDS]


def _flows(scope: Scope, times: Int64s | None) -> Flows:
    def made() -> Flows:
        return flows_of(scope.columns, _chosen(scope), times, scope.progress)

    return made() if times is not None else scope.once_made("flows", made)


def _with_kinds(found: list[tuple[str, ColumnRows]]) -> ColumnRows:
    """Return the rows of all kinds together, with the kind in front of each row."""
    code = np.repeat(np.arange(len(found), dtype=np.int32), [len(rows) for _, rows in found])
    columns = zip(*(rows.columns for _, rows in found), strict=True)
    return ColumnRows([Texts(code, tuple(kind for kind, _ in found)), *map(joined, columns)])


def _chosen(scope: Scope) -> Int64s | None:
    return scope.packets if scope.is_chosen else None


def _capture_times(scope: Scope) -> Int64s | None:
    """Return the capture times of all packets on the clock of the first capture (int64, ns).

    Returns None if the times in the captures are already on the clock of the first capture.
    """
    columns, clock, captures = scope.columns, scope.clock, scope.captures
    if not captures or (len(captures) < 2 and not clock.interfaces(captures[0])):
        return None
    ts = np.asarray(columns.array("packet", "ts")).astype(np.int64)
    source = np.asarray(columns.array("packet", "source"))
    for one in captures[0 if clock.interfaces(captures[0]) else 1 :]:
        mine = np.flatnonzero((source == one) & (ts != UNTIMED))
        at = packet_times(columns, clock, one, mine, ts[mine])
        ts[mine] = clock.to_source(captures[0], at)
    return ts


def ends_filter(row: Row) -> str:
    """Return the display filter that selects the packets of a conversation or of an endpoint."""
    word = WORDS[row["kind"]]
    if "address" in row:
        return _end_filter(word, row["address"], row["port"])
    a, b = (row["address_a"], row["port_a"]), (row["address_b"], row["port_b"])
    both = f"{_end_filter(word, *a)} && {_end_filter(word, *b)}"
    return both if a != b else _end_filter(word, *a)


def _end_filter(word: str, address: str, port: int | None) -> str:
    if address == "Broadcast":
        address = "ff:ff:ff:ff:ff:ff"
    if port is None:
        return f"{word}.addr == {address}"
    network = "ipv6" if ":" in address else "ip"
    return f"{network}.addr == {address} && {word}.port == {port}"


def _ends(flows: Flows, kind: str) -> tuple[Int64s, Int64s, Int64s, Bools]:
    """Return the flows of a kind, the lower and the higher endpoint of each, and which one sent.

    The last array is True where the higher endpoint sent the packets.
    """
    rows = np.flatnonzero(KINDS[kind].meant(flows.key))
    names = KINDS[kind].columns
    sides = [
        np.stack([flows.key[name.format(side)][rows] for name in names], axis=1)
        for side in (("src", "dst") if kind == "Ethernet" else ("s", "d"))
    ]
    low, high = sides
    swapped = _greater(low, high)
    low, high = (
        np.where(swapped[:, None], high, low),
        np.where(swapped[:, None], low, high),
    )
    return rows, low, high, swapped


def _greater(a: Int64s, b: Int64s) -> Bools:
    """Return for each row whether `a` > `b`, compared column by column from the left."""
    greater = np.zeros(len(a), np.bool_)
    for column in reversed(range(a.shape[1])):
        greater = (a[:, column] > b[:, column]) | ((a[:, column] == b[:, column]) & greater)
    return greater


def _groups(rows: Int64s) -> tuple[Int64s, Int64s]:
    """Return the group of each row, and each group's first row; a group has equal rows.

    This uses a 64-bit hash.  If two different rows have the same hash, the rows themselves are
    sorted.
    """
    key = np.zeros(len(rows), np.uint64)
    for column in range(rows.shape[1]):
        key = (key ^ rows[:, column].astype(np.uint64)) * ODD
        key ^= key >> np.uint64(29)
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    if np.array_equal(rows, rows[first[group]] if len(first) else rows):
        return group, first
    _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return group.reshape(-1), first


def _sum(group: Int64s, value: Int64s, size: int) -> Int64s:
    total = np.zeros(size, np.int64)
    np.add.at(total, group, value)
    return total
