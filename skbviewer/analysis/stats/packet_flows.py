# SPDX-License-Identifier: MIT
"""Flows: packets with the same addresses, ports and direction, counted block by block.

Input: the packet columns of a session.  There are far fewer flows than packets, so conversations
and endpoints of all kinds are counted from flows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ...matching import EXACT
from ...records import UNTIMED, Progress
from ...records.compiled import compiled
from ...records.types import LATEST_NS, Int64s, UInt64s
from ...store import Columns
from ...store.whole_columns import Array
from ..number_sets import flags_of

ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio (Knuth, TAOCP 6.4)
KEY = (
    "eth_src", "eth_dst", "ip_version", "protocol",
    "saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo", "sport", "dport",
)  # fmt: skip
COUNTED = ("len", "ts", "kernel_ns", "verdict")
DENSE = 16  # all packets are read to count one of so many
SLOTS = 1 << 16  # of the first hash table
# Sums by flow: packets, bytes, times in kernel that are known, their sum, exact matches whose time
# is unknown, first and last capture time.
PACKETS, BYTES, KNOWN, KERNEL, UNKNOWN, BEGIN, END = range(7)


class Flows(NamedTuple):
    """Flows, in the order of their first packets; all arrays are by flow.

    `key` has the columns of KEY.  `begin_ns` and `end_ns` are those of packets with a time:
    LATEST_NS and 0 if there are none.  `known` packets have a time in kernel, `kernel_ns`
    altogether; `unknown` ones were matched, but have none.
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
    names, count = (*KEY, *COUNTED), columns.length("packet")
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
    made = np.zeros((size, 7), np.int64)
    made[:, BEGIN] = LATEST_NS
    return made


@compiled
def place_hashes(hashes: UInt64s, slots: Int64s) -> None:
    """Write the number of each flow into a free place of the hash table `slots` (-1 = free)."""
    last = np.uint64(len(slots) - 1)
    for flow in range(len(hashes)):
        place = np.int64((hashes[flow] ^ (hashes[flow] >> np.uint64(32))) & last)
        while slots[place] >= 0:
            place = (place + 1) & (len(slots) - 1)
        slots[place] = flow


@compiled
def count_flows(
    keys: Int64s,
    values: Int64s,
    first: np.int64,
    odd: np.uint64,
    slots: Int64s,
    kept: Int64s,
    hashes: UInt64s,
    sums: Int64s,
    count: Int64s,
) -> np.int64:
    """Add the packets from row `first` on to the sums of their flows.

    A row of `keys` identifies the packet's flow.  A row of `values` is its bytes, capture time (ns,
    UNTIMED if unknown), time in kernel (ns, negative if unknown) and verdict.  `slots` is a hash
    table of flows, -1 = free; its length is a power of two.  `odd` is a factor of the hash.  By
    flow, `kept` is the key, `hashes` the hash, and `sums` the sums in the order PACKETS to END.
    count[0] is the number of flows.  Returns the first packet that was not counted, because the
    table is half full.
    """
    last = np.uint64(len(slots) - 1)
    for row in range(first, len(keys)):
        hash_ = np.uint64(0)
        for at in range(keys.shape[1]):
            hash_ = (hash_ ^ np.uint64(keys[row, at])) * odd
            hash_ ^= hash_ >> np.uint64(29)
        place = np.int64((hash_ ^ (hash_ >> np.uint64(32))) & last)
        flow = slots[place]
        while flow >= 0:
            if hashes[flow] == hash_:
                equal = True
                for at in range(keys.shape[1]):
                    if kept[flow, at] != keys[row, at]:
                        equal = False
                if equal:
                    break
            place = (place + 1) & (len(slots) - 1)
            flow = slots[place]
        if flow < 0:
            if count[0] == len(kept):
                return np.int64(row)
            flow = count[0]
            count[0] += 1
            slots[place], hashes[flow] = flow, hash_
            for at in range(keys.shape[1]):
                kept[flow, at] = keys[row, at]
        sums[flow, PACKETS] += 1
        sums[flow, BYTES] += values[row, 0]
        if values[row, 2] >= 0:
            sums[flow, KNOWN] += 1
            sums[flow, KERNEL] += values[row, 2]
        elif values[row, 3] == EXACT:
            sums[flow, UNKNOWN] += 1
        time = values[row, 1]
        if time != UNTIMED:
            sums[flow, BEGIN] = min(sums[flow, BEGIN], time)
            sums[flow, END] = max(sums[flow, END], time)
    return np.int64(len(keys))
