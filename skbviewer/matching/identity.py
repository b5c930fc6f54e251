# SPDX-License-Identifier: MIT
"""The identity ladder: which legs could be which wire packet.

In: packets of one capture, records and legs of one KBL.  Out: candidate pairs (packet, series)
after the ladder.  First rung: the key of RFC 791 (source, destination, identification, protocol).
It repeats in real traffic (identification 0 with DF, wrap, fragments, retransmission), so pairs
climb on: ports, then TCP sequence, acknowledgement and flags or ICMP id and sequence, then lengths.
A pair that contradicts itself on a rung is none, even if it has no rival.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import Packets, Records
from .pairing import ENTRY, Index

ADDRESS = ("saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo")
THESIS_KEY = ("ip_version", *ADDRESS, "ip_id", "protocol")
RUNGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("ports", ("sport", "dport")),
    ("sequence", ("seq", "ack", "tcp_flags")),
    ("length", ("tot_len", "frag_off")),
)


class Candidates(NamedTuple):
    """Pairs by index, without repetition; `rung` is how far up each pair's packet had to climb."""

    packet: Index
    series: Index
    rung: npt.NDArray[np.int8]


def candidates(packets: Packets, records: Records, series: Index, tap: Index) -> Candidates:
    """Candidate pairs of IP packets and series; sniffers' copies (`tap` series) are left out."""
    useful = records["kind"] == ENTRY
    useful &= (records["ip_version"] != 0) & (series >= 0)
    useful[useful] &= ~np.isin(series[useful], tap)
    prints = _distinct(records, series, np.flatnonzero(useful))
    wire = np.flatnonzero(packets["ip_version"] != 0)
    p, r = _join(_keys(packets[wire]), _keys(records[prints]))
    packet, record = wire[p], prints[r]
    rung = np.zeros(len(packet), np.int8)
    for level, (_, columns) in enumerate(RUNGS, start=1):
        crowded = _crowded(packet, series[record])
        same, known = _compare(packets[packet], records[record], columns)
        known = np.where(same, known, 0)
        best = np.zeros(len(packets), np.int64)
        np.maximum.at(best, packet, known)
        agree = same & (known > 0) & (known == best[packet])
        keep = ~crowded | agree | (best[packet] == 0)
        keep &= same | _may_differ(records[record], columns)
        rung = np.where(crowded & agree, level, rung).astype(np.int8)
        packet, record, rung = packet[keep], record[keep], rung[keep]
    return _unique(packet, series[record], rung)


def _distinct(records: Records, series: Index, index: Index) -> Index:
    """One record for each (series, footprint)."""
    columns = [*THESIS_KEY, *(c for _, rung in RUNGS for c in rung)]
    index = _changed(records, series, index, columns)
    key = np.stack([series[index], *(records[c][index].astype(np.int64) for c in columns)], axis=1)
    _, first = np.unique(key, axis=0, return_index=True)
    return np.asarray(index[np.sort(first)], np.int64)


def _changed(records: Records, series: Index, index: Index, columns: list[str]) -> Index:
    """Those whose footprint is not that of their series' record before: few, and fast to tell."""
    index = index[np.argsort(series[index], kind="stable")]
    owner = series[index]
    change = np.r_[True, owner[1:] != owner[:-1]][: len(index)]
    for column in columns:
        values = records[column][index]
        change[1:] |= values[1:] != values[:-1]
    return np.sort(index[change])


def _keys(rows: npt.NDArray[np.void]) -> Index:
    return np.stack([rows[c].astype(np.int64) for c in THESIS_KEY], axis=1)


def _join(left: Index, right: Index) -> tuple[Index, Index]:
    """All pairs of equal rows."""
    none = np.zeros(0, np.int64)
    if not len(left) or not len(right):
        return none, none
    _, dense = np.unique(np.concatenate([left, right]), axis=0, return_inverse=True)
    dense = dense.reshape(-1)
    a, b = dense[: len(left)], dense[len(left) :]
    order = np.argsort(b, kind="stable")
    low, high = np.searchsorted(b[order], a), np.searchsorted(b[order], a, "right")
    count = high - low
    pairs = np.repeat(np.arange(len(a)), count)
    offset = np.arange(len(pairs)) - np.repeat(np.cumsum(count) - count, count)
    return pairs, order[np.repeat(low, count) + offset]


def _crowded(packet: Index, series: Index) -> npt.NDArray[np.bool_]:
    """Pairs whose packet has several series, or whose series has several packets."""
    pairs = np.unique(np.stack([packet, series], axis=1), axis=0)
    per_packet = np.bincount(pairs[:, 0], minlength=int(packet.max(initial=0)) + 1)
    per_series = np.bincount(pairs[:, 1], minlength=int(series.max(initial=0)) + 1)
    return np.asarray((per_packet[packet] > 1) | (per_series[series] > 1))


def _may_differ(kernel: npt.NDArray[np.void], columns: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Footprints of skbs that may be packets with other values on the wire.

    Any skb may be cut into fragments, a GSO skb into segments; ports stay the same.
    """
    if "tot_len" in columns:
        return np.ones(len(kernel), np.bool_)
    return np.asarray((kernel["gso_segs"] > 1) & ("seq" in columns))


def _compare(
    wire: npt.NDArray[np.void], kernel: npt.NDArray[np.void], columns: tuple[str, ...]
) -> tuple[npt.NDArray[np.bool_], Index]:
    """Pairs that agree in every column known on both sides, and how many those are."""
    same = np.ones(len(wire), np.bool_)
    known = np.zeros(len(wire), np.int64)
    for column in columns:
        both = (wire[column] >= 0) & (kernel[column] >= 0)
        same &= ~both | (wire[column] == kernel[column])
        known += both
    return same, known


def _unique(packet: Index, series: Index, rung: npt.NDArray[np.int8]) -> Candidates:
    if not len(packet):
        return Candidates(packet, series, rung)
    order = np.lexsort((rung, series, packet))
    packet, series, rung = packet[order], series[order], rung[order]
    first = np.r_[True, (packet[1:] != packet[:-1]) | (series[1:] != series[:-1])]
    return Candidates(packet[first], series[first], rung[first])
