# SPDX-License-Identifier: MIT
"""Flows: packets with the same addresses, ports and direction, counted block by block.

Input: the packet columns of a session.  There are far fewer flows than packets, so conversations
and endpoints of all kinds are counted from flows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ...records import Progress
from ...records.types import LATEST_NS, Int64s
from ...store import Columns
from ...store.whole_columns import Array
from ..number_sets import flags_of
from .flow_loops import BEGIN, SUMS, count_flows, place_hashes

ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio (Knuth, TAOCP 6.4)
DLT_EN10MB = 1
MACS = ("eth_src", "eth_dst")
KEY = (
    *MACS, "ip_version", "protocol",
    "saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo", "sport", "dport",
)  # fmt: skip
COUNTED = ("len", "ts", "kernel_ns", "verdict")
DENSE = 16  # all packets are read to count one of so many
SLOTS = 1 << 16  # of the first hash table


class Flows(NamedTuple):
    """Flows, in the order of their first packets; all arrays are by flow.

    `key` has the columns of KEY; MACS are -1 without an Ethernet header.  `begin_ns` and `end_ns`
    are those of packets with a time: LATEST_NS and 0 if there are none.  `known` packets have a
    time in kernel, `kernel_ns` altogether; `unknown` ones were matched, but have none.
    """

    key: Mapping[str, Int64s]
    packets: Int64s
    bytes: Int64s
    known: Int64s
    kernel_ns: Int64s
    unknown: Int64s
    begin_ns: Int64s
    end_ns: Int64s


def flows_of(
    columns: Columns,
    packets: Int64s | None = None,
    times: Int64s | None = None,
    progress: Progress | None = None,
) -> Flows:
    """Return the flows of the packets with the numbers `packets`; None = all.

    `times` are the times of all packets of the session (ns); without them, the captures' own times
    are used.  Raises Cancelled.
    """
    table = _Table()
    for rows, block in _blocks(columns, packets):
        if progress is not None:
            progress.report("Counting", int(rows[0]) if len(rows) else 0, columns.length("packet"))
        ts = block["ts"] if times is None else times[rows]
        table.add(block, ts)
    return table.flows()


def _blocks(columns: Columns, packets: Int64s | None) -> Iterator[tuple[Int64s, dict[str, Array]]]:
    """Yield the chosen packets (0-based rows) and their columns, block by block."""
    names, count = (*KEY, *COUNTED, "linktype"), columns.length("packet")
    if packets is not None and len(packets) * DENSE < count:
        rows = np.asarray(packets, np.int64) - 1
        yield rows, {name: columns.take("packet", name, rows) for name in names}
        return
    chosen = None if packets is None else flags_of(packets - 1, count)
    for first, values in columns.pieces("packet", *names):
        last = first + len(values[0])
        if chosen is None:
            yield np.arange(first, last), dict(zip(names, values, strict=True))
        else:
            mine = np.flatnonzero(chosen[first:last])
            taken = (one[mine] for one in values)
            yield mine + first, dict(zip(names, taken, strict=True))


class _Table:
    """A hash table of flows, and their sums."""

    def __init__(self) -> None:
        self._slots = np.full(SLOTS, -1, np.int64)
        self._keys = np.zeros((SLOTS // 2, len(KEY)), np.int64)
        self._hashes = np.zeros(SLOTS // 2, np.uint64)
        self._sums = _sums(SLOTS // 2)
        self._count = np.zeros(1, np.int64)

    def add(self, block: Mapping[str, Array], ts: Array) -> None:
        """Count a block of packets, whose capture times are `ts`, ns."""
        keys = np.empty((len(ts), len(KEY)), np.int64)
        for at, name in enumerate(KEY):
            keys[:, at] = block[name]
        # Like the filter `eth`: 802.11 and cooked captures have addresses, but no Ethernet header.
        keys[block["linktype"] != DLT_EN10MB, : len(MACS)] = -1
        values = np.empty((len(ts), 4), np.int64)
        for at, column in enumerate((block["len"], ts, block["kernel_ns"], block["verdict"])):
            values[:, at] = column
        done = np.int64(0)
        while True:
            given = self._slots, self._keys, self._hashes, self._sums, self._count
            done = count_flows(keys, values, done, ODD, *given)
            if done == len(keys):
                break
            self._grow()

    def _grow(self) -> None:
        size, count = 4 * len(self._slots), int(self._count[0])
        keys, hashes, sums = self._keys, self._hashes, self._sums
        self._slots = np.full(size, -1, np.int64)
        self._keys = np.zeros((size // 2, len(KEY)), np.int64)
        self._hashes, self._sums = np.zeros(size // 2, np.uint64), _sums(size // 2)
        self._keys[:count], self._hashes[:count] = keys[:count], hashes[:count]
        self._sums[:count] = sums[:count]
        place_hashes(self._hashes[:count], self._slots)

    def flows(self) -> Flows:
        """Return the flows that were counted."""
        count = int(self._count[0])
        key = {name: self._keys[:count, at].copy() for at, name in enumerate(KEY)}
        return Flows(key, *self._sums[:count].T.copy())


def _sums(size: int) -> Int64s:
    made = np.zeros((size, SUMS), np.int64)
    made[:, BEGIN] = LATEST_NS
    return made
