# SPDX-License-Identifier: MIT
"""The identity ladder: which legs could be which wire packet.

In: packets of one capture, records and legs of one KBL.  Out: candidate pairs (packet, series)
after the ladder.  First rung: the key of RFC 791 (source, destination, identification, protocol).
It repeats in real traffic (identification 0 with DF, wrap, fragments, retransmission), so pairs
climb on: ports, then TCP sequence, acknowledgement and flags or ICMP id and sequence, then lengths.
A pair that contradicts itself on a rung is none, even if it has no rival.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import Packets, Records, RecordTable, part
from .ordering import by_number, fits
from .pairing import ENTRY, Index

ADDRESS = ("saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo")
THESIS_KEY = ("ip_version", *ADDRESS, "ip_id", "protocol")
RUNGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("ports", ("sport", "dport")),
    ("sequence", ("seq", "ack", "tcp_flags")),
    ("length", ("tot_len", "frag_off")),
)


MIXING = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))

Columns = dict[str, npt.NDArray[Any]]


class Candidates(NamedTuple):
    """Pairs by index, without repetition; `rung` is how far up each pair's packet had to climb."""

    packet: Index
    series: Index
    rung: npt.NDArray[np.int8]


def candidates(packets: Packets, records: Records, series: Index, tap: Index) -> Candidates:
    """Candidate pairs of IP packets and series; sniffers' copies (`tap` series) are left out."""
    copied = np.zeros(int(series.max(initial=-1)) + 2, np.bool_)
    copied[tap[tap < len(copied)]] = True
    useful = (records["kind"] == ENTRY) & (series >= 0) & ~copied[series]
    useful &= records["ip_version"] != 0
    prints = _distinct(records, series, np.flatnonzero(useful))
    wire = np.flatnonzero(packets["ip_version"] != 0)
    p, r = _join(_columns(packets, wire, THESIS_KEY), _columns(records, prints, THESIS_KEY))
    packet, record = _in_order(wire[p], prints[r], series)
    rung = np.zeros(len(packet), np.int8)
    for level, (_, columns) in enumerate(RUNGS, start=1):
        crowded = _crowded(packet, series[record])
        kernel = _columns(records, record, (*columns, "gso_segs"))
        same, known = _compare(_columns(packets, packet, columns), kernel, columns)
        known = np.where(same, known, 0)
        best = np.zeros(len(packets), np.int64)
        np.maximum.at(best, packet, known)
        agree = same & (known > 0) & (known == best[packet])
        keep = ~crowded | agree | (best[packet] == 0)
        keep &= same | _may_differ(kernel, columns)
        rung = np.where(crowded & agree, level, rung).astype(np.int8)
        packet, record, rung = packet[keep], record[keep], rung[keep]
    return _unique(packet, series[record], rung)


def _columns(rows: Packets | Records, index: Index, names: tuple[str, ...]) -> Columns:
    """Some columns of some rows."""
    return {name: part(rows, name, index) for name in names}


def _distinct(records: Records, series: Index, index: Index) -> Index:
    """One record for each (series, footprint), of those in a row: few of them are repeated."""
    columns = (*THESIS_KEY, *(c for _, rung in RUNGS for c in rung))
    index = index[by_number(series[index])]
    if isinstance(records, RecordTable):
        index = index[_changed(series[index], {"footprint": records.footprint[index]})]
    return np.sort(index[_changed(series[index], _columns(records, index, columns))])


def _changed(owner: Index, columns: Columns) -> npt.NDArray[np.bool_]:
    """Which rows differ from the one before in their owner or any column."""
    change = np.r_[True, owner[1:] != owner[:-1]][: len(owner)]
    for values in columns.values():
        change[1:] |= values[1:] != values[:-1]
    return np.asarray(change)


def _join(left: Columns, right: Columns) -> tuple[Index, Index]:
    """All pairs of equal rows, by the left one."""
    a, b = _mixed(left), _mixed(right)
    order_a, order_b = np.argsort(a), np.argsort(b, kind="stable")
    sorted_a, sorted_b = a[order_a], b[order_b]
    low, high = np.zeros(len(a), np.int64), np.zeros(len(a), np.int64)
    low[order_a] = np.searchsorted(sorted_b, sorted_a)
    high[order_a] = np.searchsorted(sorted_b, sorted_a, "right")
    count = high - low
    pairs = np.repeat(np.arange(len(a)), count)
    offset = np.arange(len(pairs)) - np.repeat(np.cumsum(count) - count, count)
    others = order_b[np.repeat(low, count) + offset]
    equal = np.ones(len(pairs), np.bool_)
    for name, values in left.items():  # equal numbers may come of different rows
        equal &= values[pairs] == right[name][others]
    return pairs[equal], others[equal]


def _mixed(columns: Columns) -> npt.NDArray[np.uint64]:
    """A number of each row by which rows differ (SplitMix64's finalizer over the columns)."""
    mixed = np.zeros(len(next(iter(columns.values()))), np.uint64)
    for values in columns.values():
        mixed ^= values.astype(np.int64).view(np.uint64)
        for shift, factor in MIXING:
            mixed ^= mixed >> np.uint64(shift)
            mixed *= np.uint64(factor)
    return mixed


def _in_order(packet: Index, record: Index, series: Index) -> tuple[Index, Index]:
    """Pairs by (packet, series, record)."""
    owner = series[record]
    if fits(int(packet.max(initial=0)) + 1, int(owner.max(initial=0)) + 1):
        key = packet * (int(owner.max(initial=0)) + 1) + owner
        order = np.argsort(key, kind="stable")  # nearly in order, by packet and record
    else:
        order = np.lexsort((owner, packet))
    return packet[order], record[order]


def _first_of_pair(packet: Index, series: Index) -> npt.NDArray[np.bool_]:
    """Of pairs in order which are not as the one before."""
    change = (packet[1:] != packet[:-1]) | (series[1:] != series[:-1])
    return np.asarray(np.r_[True, change][: len(packet)])


def _crowded(packet: Index, series: Index) -> npt.NDArray[np.bool_]:
    """Pairs, in order, whose packet has several series, or whose series has several packets."""
    first = _first_of_pair(packet, series)
    per_packet = np.bincount(packet[first], minlength=1)
    per_series = np.bincount(series[first], minlength=1)
    return np.asarray((per_packet[packet] > 1) | (per_series[series] > 1))


def _may_differ(kernel: Columns, columns: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Footprints of skbs that may be packets with other values on the wire.

    Any skb may be cut into fragments, a GSO skb into segments; ports stay the same.
    """
    if "tot_len" in columns:
        return np.ones(len(kernel["gso_segs"]), np.bool_)
    return np.asarray((kernel["gso_segs"] > 1) & ("seq" in columns))


def _compare(
    wire: Columns, kernel: Columns, columns: tuple[str, ...]
) -> tuple[npt.NDArray[np.bool_], Index]:
    """Pairs that agree in every column known on both sides, and how many those are."""
    same = np.ones(len(wire[columns[0]]), np.bool_)
    known = np.zeros(len(same), np.int64)
    for column in columns:
        both = (wire[column] >= 0) & (kernel[column] >= 0)
        same &= ~both | (wire[column] == kernel[column])
        known += both
    return same, known


def _unique(packet: Index, series: Index, rung: npt.NDArray[np.int8]) -> Candidates:
    """Each pair, of those in order, with its lowest rung."""
    if not len(packet):
        return Candidates(packet, series, rung)
    first = np.flatnonzero(_first_of_pair(packet, series))
    return Candidates(packet[first], series[first], np.minimum.reduceat(rung, first))
