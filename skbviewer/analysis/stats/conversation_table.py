# SPDX-License-Identifier: MIT
"""Wireshark's Conversations and Endpoints, with the time in the kernel.

Input: the packet columns of a session, and the chosen packets.  Output: a row for each pair of
addresses (and ports), in either order, and a row for each address (and port).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ...matching import EXACT
from ...records import UNTIMED
from ...records.protocols import TCP, UDP
from ...records.types import LATEST_NS, Bools, Int64s
from ...store import Columns
from ..timeline.session_time import packet_times
from ..words.packet_info import address, mac
from .scope import Scope
from .table import Row

ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio (Knuth, TAOCP 6.4)


class Conversation(NamedTuple):
    """Packets between A and B; ports are None if this kind has none.

    begin_ns is the capture time, on the clock of the first capture.
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
    """Packets of one address (and port)."""

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


class _Kind(NamedTuple):
    """A kind of conversation: which packets have it, and what an endpoint of this kind is.

    `meant` returns for each packet whether it is of this kind.  `columns` identify an endpoint; {}
    stands for the side.  `text` returns address and port of an endpoint from these columns.
    """

    meant: Callable[[Columns], Bools]
    columns: tuple[str, ...]
    text: Callable[[Int64s], tuple[str, int | None]]


def _version(number: int) -> Callable[[Columns], Bools]:
    return lambda columns: np.asarray(columns.array("packet", "ip_version") == number)


def _protocol(number: int) -> Callable[[Columns], Bools]:
    def meant(columns: Columns) -> Bools:
        with_ports = np.asarray(columns.array("packet", "sport")) >= 0
        return np.asarray((columns.array("packet", "protocol") == number) & with_ports)

    return meant


def _ethernet(columns: Columns) -> Bools:
    return np.asarray(np.asarray(columns.array("packet", "eth_src")) >= 0)


def _ip_text(end: Int64s) -> tuple[str, int | None]:
    return address(int(end[0]), int(end[1]), int(end[2])) or "", None


def _port_text(end: Int64s) -> tuple[str, int | None]:
    return address(int(end[0]), int(end[1]), int(end[2])) or "", int(end[3])


_ADDRESS = ("ip_version", "{}addr_hi", "{}addr_lo")
KINDS: dict[str, _Kind] = {
    "Ethernet": _Kind(_ethernet, ("eth_{}",), lambda end: (mac(int(end[0])), None)),
    "IPv4": _Kind(_version(4), _ADDRESS, _ip_text),
    "IPv6": _Kind(_version(6), _ADDRESS, _ip_text),
    "TCP": _Kind(_protocol(TCP), (*_ADDRESS, "{}port"), _port_text),
    "UDP": _Kind(_protocol(UDP), (*_ADDRESS, "{}port"), _port_text),
}


def conversations(
    columns: Columns, kind: str, packets: Int64s | None = None, times: Int64s | None = None
) -> list[Conversation]:
    """Return the conversations of a kind of KINDS, largest first.

    `packets` are the numbers of the packets that are counted; None = all.  `times` are the times of
    all packets of the session by one clock (ns); without them, the captures' own times are used.
    Begin and duration are 0 if no packet of the conversation has a time.
    """
    rows, low, high, swapped = _ends(columns, kind, packets)
    group, first = _groups(np.concatenate([low, high], axis=1))
    size = len(first)
    length = _column(columns, "len", rows)
    ab = [_count(group[~swapped], size), _sum(group[~swapped], length[~swapped], size)]
    ba = [_count(group[swapped], size), _sum(group[swapped], length[swapped], size)]
    begin, end = _span(group, _column(columns, "ts", rows) if times is None else times[rows], size)
    kernel = _column(columns, "kernel_ns", rows)
    known = kernel >= 0
    spent, matched = _sum(group[known], kernel[known], size), _count(group[known], size)
    exact = _column(columns, "verdict", rows) == EXACT
    matched[group[exact & ~known]] = 0
    text = KINDS[kind].text
    found = [
        Conversation(
            *text(low[first[g]]),
            *text(high[first[g]]),
            packets=int(ab[0][g] + ba[0][g]),
            bytes=int(ab[1][g] + ba[1][g]),
            packets_ab=int(ab[0][g]),
            bytes_ab=int(ab[1][g]),
            packets_ba=int(ba[0][g]),
            bytes_ba=int(ba[1][g]),
            begin_ns=int(begin[g]),
            dur_ns=int(end[g] - begin[g]),
            kernel_ns=int(spent[g]) if matched[g] else None,
        )
        for g in range(size)
    ]
    return sorted(found, key=lambda row: (-row.bytes, row))


def endpoints(columns: Columns, kind: str, packets: Int64s | None = None) -> list[Endpoint]:
    """Return the endpoints of a kind of KINDS, largest first.

    `packets` are the numbers of the packets that are counted; None = all.
    """
    rows, low, high, swapped = _ends(columns, kind, packets)
    source = np.where(swapped[:, None], high, low)
    target = np.where(swapped[:, None], low, high)
    group, first = _groups(np.concatenate([source, target]))
    size, count = len(first), len(rows)
    both = np.concatenate([source, target])
    length = _column(columns, "len", rows)
    tx = [_count(group[:count], size), _sum(group[:count], length, size)]
    rx = [_count(group[count:], size), _sum(group[count:], length, size)]
    text = KINDS[kind].text
    found = [
        Endpoint(
            *text(both[first[g]]),
            packets=int(tx[0][g] + rx[0][g]),
            bytes=int(tx[1][g] + rx[1][g]),
            tx_packets=int(tx[0][g]),
            tx_bytes=int(tx[1][g]),
            rx_packets=int(rx[0][g]),
            rx_bytes=int(rx[1][g]),
        )
        for g in range(size)
    ]
    return sorted(found, key=lambda row: (-row.bytes, row))


def conversations_by_kind(scope: Scope) -> dict[str, list[Conversation]]:
    """Return the conversations of the chosen packets by kind, with all times on one clock.

    Raises Cancelled.
    """
    times, packets = _capture_times(scope), scope.packets
    return {
        kind: conversations(scope.columns, kind, packets, times) for kind in _counted_kinds(scope)
    }


def endpoints_by_kind(scope: Scope) -> dict[str, list[Endpoint]]:
    """Return the endpoints of the chosen packets by kind.  Raises Cancelled."""
    return {kind: endpoints(scope.columns, kind, scope.packets) for kind in _counted_kinds(scope)}


def _counted_kinds(scope: Scope) -> Iterator[str]:
    """Yield each kind of address; report progress before each."""
    for done, kind in enumerate(KINDS):
        scope.progress.report("Counting", done, len(KINDS))
        yield kind


def _capture_times(scope: Scope) -> Int64s | None:
    """Return the capture times of all packets by the first capture's clock (int64, ns).

    None means that the packets' own times are on that clock already.
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
    """Return the display filter for the packets of a conversation or an endpoint."""
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


def _ends(
    columns: Columns, kind: str, packets: Int64s | None
) -> tuple[Int64s, Int64s, Int64s, Bools]:
    """Return the chosen rows, the lower and the higher endpoint of each, and who sent.

    The last array is True if the higher endpoint sent the packet.
    """
    meant = KINDS[kind].meant(columns)
    if packets is not None:
        chosen = np.zeros(len(meant), np.bool_)
        chosen[packets - 1] = True
        meant = meant & chosen
    rows = np.flatnonzero(meant)
    names = KINDS[kind].columns
    sides = [
        np.stack([_column(columns, name.format(side), rows) for name in names], axis=1)
        for side in (("src", "dst") if kind == "Ethernet" else ("s", "d"))
    ]
    low, high = sides
    swapped = _greater(low, high)
    low, high = (
        np.where(swapped[:, None], high, low),
        np.where(swapped[:, None], low, high),
    )
    return rows, low, high, swapped


def _column(columns: Columns, name: str, rows: Int64s) -> Int64s:
    return np.asarray(columns.array("packet", name), np.int64)[rows]


def _greater(a: Int64s, b: Int64s) -> Bools:
    """Return for each row whether a > b, compared lexicographically."""
    greater = np.zeros(len(a), np.bool_)
    for column in reversed(range(a.shape[1])):
        greater = (a[:, column] > b[:, column]) | ((a[:, column] == b[:, column]) & greater)
    return greater


def _groups(rows: Int64s) -> tuple[Int64s, Int64s]:
    """Return the group of each row, and the first row of each group; equal rows form a group.

    Uses a 64-bit hash, and sorts the rows themselves if two different rows have equal hashes.
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


def _count(group: Int64s, size: int) -> Int64s:
    return np.bincount(group, minlength=size)


def _sum(group: Int64s, value: Int64s, size: int) -> Int64s:
    total = np.zeros(size, np.int64)
    np.add.at(total, group, value)
    return total


def _span(group: Int64s, ts: Int64s, size: int) -> tuple[Int64s, Int64s]:
    begin, end = np.full(size, LATEST_NS), np.zeros(size, np.int64)
    timed = ts != UNTIMED
    np.minimum.at(begin, group[timed], ts[timed])
    np.maximum.at(end, group[timed], ts[timed])
    return np.minimum(begin, end), end
