# SPDX-License-Identifier: MIT
"""Copies of TCP segments in captures, and which of them recorded kernels sent and received."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...matching import EXACT, RX
from ...records.protocols import TCP
from ...records.types import Bools, Int64s
from .case import Case

KEY = ("ip_version", "saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo", "sport", "dport", "seq")


class Matches(NamedTuple):
    """Exact matches: packet, 0-based leg."""

    packet: Int64s
    leg: Int64s


def earlier_copies(case: Case, packets: Int64s) -> Int64s:
    """Return the nearest earlier packet with the same addresses, ports and sequence number.

    A number -n stands for row K<n>: no capture has that packet.  0 means that there is none.
    """
    columns = case.scope.columns
    count = columns.length("packet")
    row = np.asarray(columns.array("series", "kernel_only"), np.int64)
    lives = np.flatnonzero(row > 0)

    def both(name: str) -> Int64s:
        of_packets = np.asarray(columns.array("packet", name), np.int64)
        of_lives = np.asarray(columns.array("series", name), np.int64)[lives]
        return np.concatenate([of_packets, of_lives])

    keys = [both(name) for name in KEY]
    payload = np.asarray(columns.array("packet", "payload"), np.int64)
    length = np.r_[payload, np.full(len(lives), -1, np.int64)]
    number = np.r_[np.arange(1, count + 1), -row[lives]]
    at = np.r_[np.arange(count), _place_in_time(case, lives)]
    mine = np.flatnonzero((both("protocol") == TCP) & np.isin(keys[-1], keys[-1][packets - 1]))
    order = mine[np.lexsort((at[mine], *(key[mine] for key in keys)))]
    same = np.all([key[order][1:] == key[order][:-1] for key in keys], axis=0)
    earlier, later = number[order][:-1], number[order][1:]
    same &= (length[order][1:] == length[order][:-1]) | (earlier < 0)
    before = np.zeros(count + 1, np.int64)
    use = same & (later > 0)
    before[later[use]] = earlier[use]
    return np.asarray(before[packets], np.int64)


def _place_in_time(case: Case, lives: Int64s) -> Int64s:
    """Return for each skb lifetime the number of packets before its start, minus 0.5."""
    scope, columns = case.scope, case.scope.columns
    begin = np.asarray(columns.array("series", "begin_ns"), np.int64)[lives]
    source = np.asarray(columns.array("series", "source"), np.int64)[lives]
    ts = np.array(columns.array("packet", "ts"), np.int64)
    of = np.asarray(columns.array("packet", "source"), np.int64)
    for one in np.unique(of).tolist():
        ts[of == one] = scope.clock.to_session(one, ts[of == one])
    order = np.sort(ts)
    found = np.zeros(len(lives))
    for one in np.unique(source).tolist():
        mine = np.flatnonzero(source == one)
        found[mine] = np.searchsorted(order, scope.clock.to_session(one, begin[mine])) - 0.5
    return found  # type: ignore[return-value]


def exact_matches(case: Case) -> Matches:
    """Return all exact matches of captured packets with legs."""
    columns = case.scope.columns
    exact = np.asarray(columns.array("match", "verdict")) == EXACT
    packet = np.asarray(columns.array("match", "packet"), np.int64)[exact]
    return Matches(packet, np.asarray(columns.array("match", "leg"), np.int64)[exact] - 1)


def seen_packets(case: Case) -> tuple[Bools, Bools]:
    """Return two flags by packet number: a recorded kernel sent the packet, or received it."""
    found, columns = exact_matches(case), case.scope.columns
    kind = np.asarray(columns.array("leg", "kind"))[found.leg]
    sent, received = np.zeros((2, columns.length("packet") + 1), np.bool_)
    received[found.packet[kind == RX]] = True
    sent[found.packet[kind != RX]] = True
    return sent, received
