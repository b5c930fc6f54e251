# SPDX-License-Identifier: MIT
"""Flows, which are packets with the same addresses, ports and direction, counted in blocks.

Input: the columns of a session's packets.  There are far fewer flows than packets, so all tables of
conversations and endpoints are computed from flows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from ...records import Progress
from ...records.types import LATEST_NS, Int64s, UInt64s
from ...store import Columns
from ..parallel_blocks import each_made
from ..row_number_sets import flags_of
from .packet_flow_loops import BEGIN, SUMS, count_flows, hash_keys, place_hashes

ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio (Knuth, TAOCP 6.4)
DLT_EN10MB = 1
MACS = ("eth_src", "eth_dst")
KEY = (
    *MACS, "ip_version", "protocol",
    "saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo", "sport", "dport",
)  # fmt: skip
COUNTED = ("len", "ts", "kernel_ns", "verdict")
BLOCK = 1 << 17  # packets; near() does not keep so many neighbouring values in memory
SLOTS = 1 << 16  # of the first hash table


class Flows(NamedTuple):
    """Flows in the order of their first packets; each array has an element for each flow.

    `key` has the columns KEY; the columns MACS are -1 if the packets have no Ethernet header.
    `begin_ns` and `end_ns` are the first and last time of the flow's packets.  If no packet of a
    flow has a time, `begin_ns` is LATEST_NS and `end_ns` is 0.  `known` is the number of packets
    with a time in kernel, and `kernel_ns` is the sum of their times.  `unknown` is the number of
    packets that match exactly, but have no time in kernel.
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
    """Return the flows of `packets` (numbers of packets); None means all packets.

    `times` are the times (ns) of all packets in the session.  If `times` is None, the times in the
    captures are used.  Raises Cancelled.
    """
    table, done = _Table(), 0
    total = columns.length("packet") if packets is None else len(packets)
    for block in each_made(partial(_read, columns, times), _blocks(columns, packets)):
        if progress is not None:
            progress.report("Counting", done, total)
        table.add(block)
        done += len(block.hashes)
    return table.flows()


def _blocks(columns: Columns, packets: Int64s | None) -> Iterator[Int64s]:
    """Yield the 0-based rows of `packets`, block by block."""
    count = columns.length("packet")
    chosen = None if packets is None else flags_of(packets - 1, count)
    for first in range(0, count, BLOCK):
        last = min(first + BLOCK, count)
        if chosen is None:
            yield np.arange(first, last)
        elif chosen[first:last].any():
            yield np.flatnonzero(chosen[first:last]) + first


class _Block(NamedTuple):
    """A block of packets: keys, hashes of the keys, and the values to count; see count_flows()."""

    keys: Int64s
    hashes: UInt64s
    values: Int64s


def _read(columns: Columns, times: Int64s | None, rows: Int64s) -> _Block:
    """Return the keys, hashes and values of the packets `rows` (0-based)."""
    keys, values = (np.empty((size, len(rows)), np.int64) for size in (len(KEY), len(COUNTED)))
    for made, names in ((keys, KEY), (values, COUNTED)):
        for at, name in enumerate(names):
            made[at] = columns.near("packet", name, rows)
    if times is not None:
        values[COUNTED.index("ts")] = times[rows]
    # Like the filter `eth`: 802.11 and cooked captures have addresses, but no Ethernet header.
    keys[: len(MACS), columns.near("packet", "linktype", rows) != DLT_EN10MB] = -1
    hashes = np.empty(len(rows), np.uint64)
    hash_keys(keys, ODD, hashes)
    return _Block(keys, hashes, values)


class _Table:
    """A hash table of flows, with the sums of each flow."""

    def __init__(self) -> None:
        self._slots = np.full(SLOTS, -1, np.int64)
        self._keys, self._sums = _flows(SLOTS // 2)
        self._hashes = np.zeros(SLOTS // 2, np.uint64)
        self._count = np.zeros(1, np.int64)

    def add(self, block: _Block) -> None:
        """Add the packets of a block to the sums of their flows."""
        done = np.int64(0)
        while True:
            given = self._slots, self._keys, self._hashes, self._sums, self._count
            done = count_flows(block.keys, block.hashes, block.values, done, *given)
            if done == len(block.hashes):
                break
            self._grow()

    def _grow(self) -> None:
        size, count = 4 * len(self._slots), int(self._count[0])
        keys, hashes, sums = self._keys, self._hashes, self._sums
        self._slots = np.full(size, -1, np.int64)
        self._keys, self._sums = _flows(size // 2)
        self._hashes = np.zeros(size // 2, np.uint64)
        self._keys[:count], self._hashes[:count] = keys[:count], hashes[:count]
        self._sums[:count] = sums[:count]
        place_hashes(self._hashes[:count], self._slots)

    def flows(self) -> Flows:
        """Return the flows that were counted so far."""
        count = int(self._count[0])
        key = {name: self._keys[:count, at].copy() for at, name in enumerate(KEY)}
        return Flows(key, *self._sums[:count].T.copy())


def _flows(size: int) -> tuple[Int64s, Int64s]:
    """Return memory for keys and sums of flows; key and sums of a flow are next to each other."""
    made = np.zeros((size, len(KEY) + SUMS), np.int64)
    keys, sums = made[:, : len(KEY)], made[:, len(KEY) :]
    sums[:, BEGIN] = LATEST_NS
    return keys, sums
