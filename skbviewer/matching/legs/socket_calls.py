# SPDX-License-Identifier: MIT
"""Find packets for calls that have a socket but no packet (tcp_sendmsg, tcp_ack).

Input: a KBL, its series and legs, and the nesting of its calls.  Output: pairs (entry, leg).  A
call that has only a socket belongs to a packet if the packet's skb->sk was that socket at some
time, and if a call of the packet is inside or around it in the same thread.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import KernelLog, Records, part, scratch_of
from ...records.types import Bools, Int64s
from ..arrays.record_column_blocks import record_blocks, rows_where
from ..lifetimes.call_nesting import Nesting
from ..lifetimes.skb_lifetimes import SeriesTable
from ..record_kinds import ENTRY, SOCK
from .leg_cutting import LegTable

Numbers = npt.NDArray[np.integer]


class Joined(NamedTuple):
    """Pairs of a call (its ENTRY) and a leg to which it belongs: sorted, each pair once."""

    entry: Int64s
    leg: Int64s


def join(log: KernelLog, series: SeriesTable, legs: LegTable, nesting: Nesting) -> Joined:
    """Return the calls of `log` that have a socket but no packet, each with its legs."""
    records = log.records
    is_sock = _sock_calls(records, legs)
    calls = rows_where(records, lambda some: is_sock[some])
    none = np.zeros(0, np.int64)
    if not len(calls):
        return Joined(none, none)
    owners = _Owners(log, series, _socks(records, calls))
    pairs: list[tuple[Numbers, Numbers]] = [(none, none)]
    packet = rows_where(
        records, lambda some: owners.had_any_socket(series.of[some]) & (legs.of[some] >= 0)
    )
    packet = packet[part(records, "kind", packet) == ENTRY]
    outer: list[tuple[Numbers, Numbers]] = [(none, none)]
    for some in record_blocks(records, len(packet)):
        for position, call in nesting.calls_around(
            packet[some]
        ):  # a packet's call inside a socket's
            mine = packet[some][position]
            right = is_sock[call] & owners.had_socket(series.of[mine], part(records, "sk", call))
            outer.append((call[right], legs.of[mine[right]]))
    pairs.append(_first_legs(legs, *(np.concatenate(one) for one in zip(*outer, strict=True))))
    for some in record_blocks(records, len(calls)):
        for position, call in nesting.calls_around(
            calls[some]
        ):  # a socket's call inside a packet's
            mine = calls[some][position]
            right = legs.of[call] >= 0
            right &= owners.had_socket(series.of[call], part(records, "sk", mine))
            pairs.append((mine[right], legs.of[call[right]]))
    entry, leg = (np.concatenate(one) for one in zip(*pairs, strict=True))
    both = np.unique(np.stack([entry, leg], axis=1).astype(np.int64), axis=0)
    return Joined(both[:, 0], both[:, 1])


def _sock_calls(records: Records, legs: LegTable) -> Bools:
    """Return for each record whether it is a call with a socket but without a packet."""
    made = scratch_of(records).take(len(records), np.bool_)
    for some in record_blocks(records):
        is_sock = (part(records, "flags", some) & SOCK) != 0
        made[some] = is_sock & (part(records, "kind", some) == ENTRY) & (legs.of[some] < 0)
    return made


def _socks(records: Records, calls: Int64s) -> Int64s:
    """Return the distinct sockets of the records with row numbers `calls`, sorted."""
    parts = [
        np.unique(part(records, "sk", calls[some])) for some in record_blocks(records, len(calls))
    ]
    return np.unique(np.concatenate(parts))


def _first_legs(legs: LegTable, entry: Numbers, leg: Numbers) -> tuple[Numbers, Numbers]:
    """Keep only the first leg for each pair of a call and a series.

    Later legs of the series passed other stacks.
    """
    series = legs.rows["series"][leg]
    order = np.lexsort((leg, series, entry))  # legs are numbered by series and time
    entry, leg, series = entry[order], leg[order], series[order]
    first = np.r_[True, (np.diff(entry) != 0) | (np.diff(series) != 0)][: len(entry)]
    return entry[first], leg[first]


class _Owners:
    """Which sockets, of a given set of sockets, each series had."""

    def __init__(self, log: KernelLog, series: SeriesTable, socks: Int64s) -> None:
        records = log.records
        self._socks = socks
        self._series = np.zeros(len(series.parent) + 1, np.bool_)
        known = []
        for some in record_blocks(records):
            has = np.flatnonzero((series.of[some] >= 0) & (part(records, "skb", some) != 0))
            has = has[np.isin(part(records, "sk", some)[has], socks)]
            owner = series.of[some][has]
            known.append(np.unique(self._key(owner, part(records, "sk", some)[has])))
            self._series[owner] = True
        self._known = np.unique(np.concatenate(known))

    def _key(self, series: Numbers, sock: Int64s) -> Int64s:
        found = np.minimum(np.searchsorted(self._socks, sock), len(self._socks) - 1)
        known = self._socks[found] == sock
        return np.where(known, series * np.int64(len(self._socks)) + found, -1)

    def had_any_socket(self, series: Numbers) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return for each of `series` whether it had any of the sockets; False for -1."""
        return self._series[series] & (series >= 0)

    def had_socket(
        self, series: Numbers, sock: Int64s
    ) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return for each i whether series[i] had the socket sock[i]."""
        key = self._key(series, sock)
        return np.isin(key, self._known) & (key >= 0)
