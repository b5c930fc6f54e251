# SPDX-License-Identifier: MIT
"""The identity ladder: which packet lives could be which wire packet.

In: packets of one capture, footprints of one KBL.  Out: candidate pairs (packet, series)
after the ladder.  First rung: the key of RFC 791 (source, destination, identification, protocol).
It repeats in real traffic (identification 0 with DF, IPv6, wrap, fragments, retransmission), so
pairs climb on: ports, then TCP sequence, acknowledgement and flags or ICMP id and sequence, then
lengths, then what IPv6 has.  A pair that contradicts itself on a rung is none, even if it has no
rival.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import ColumnTable, Packets, Records, RecordTable, part, pick
from ..records.compiled import compiled
from .keys import distinct, equal_rows, hashed, hashed_rows, join
from .kinds import ENTRY, Index

Flags = npt.NDArray[np.bool_]

ADDRESS = ("saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo")
THESIS_KEY = ("ip_version", *ADDRESS, "ip_id", "protocol")
PORTS = ("sport", "dport")
SEQUENCE = ("seq", "ack", "tcp_flags")
LENGTH = ("tot_len", "frag_off")
RUNGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("ports", PORTS),
    ("sequence", SEQUENCE),
    ("length", LENGTH),
    ("IPv6", ("flow_label", "frag_id")),
)
TELLING = (*THESIS_KEY, *(name for _, rung in RUNGS for name in rung), "gso_size", "gso_segs")
FRAGMENT = 0x3FFF  # MF and offset of frag_off
NONE, SEVERAL = -1, -2
MANY = 64  # partners of a packet by its key; with more, only those near in time are candidates


Columns = Mapping[str, npt.NDArray[Any]]


class Candidates(NamedTuple):
    """Pairs by index, without repetition; `rung` is how far up each pair's packet had to climb.

    `strong`: its identification numbers the packets of a sender, so it hardly comes again within a
    life; `many`: packets whose key has so many partners that none is listed here.
    """

    packet: Index
    series: Index
    rung: npt.NDArray[np.int8]
    strong: Flags
    many: Index

    def only(self, chosen: Flags) -> Candidates:
        """The chosen pairs."""
        packet, series, rung, strong, many = self
        return Candidates(packet[chosen], series[chosen], rung[chosen], strong[chosen], many)


class Prints(NamedTuple):
    """What a KBL shows of its packets: rows that say that a series had a footprint."""

    rows: Records | ColumnTable  # the footprints themselves
    number: Index  # row
    series: Index
    record: Index  # the first one that says so

    def identity(self) -> Columns:
        """What they are known by."""
        return {name: self.rows[name][self.number] for name in TELLING}

    def of(self, index: Index) -> npt.NDArray[np.void]:
        """The footprints of these rows."""
        return pick(self.rows, self.number[index])


def footprints(records: Records, series: npt.NDArray[np.integer], tap: Index) -> Prints:
    """All footprints of all series but sniffers' copies (`tap`), each once, in time order."""
    rows: Records | ColumnTable
    if isinstance(records, RecordTable):
        rows, number = records.footprints, records.footprint
    else:
        rows, number = records, np.arange(len(records), dtype=np.int32)
    useful = (records["kind"] == ENTRY) & (rows["ip_version"] != 0)[number] & (series >= 0)
    if len(tap):
        sniffed = np.zeros(int(series.max(initial=0)) + 1, np.bool_)
        sniffed[tap] = True
        useful &= ~sniffed[series]
    index = np.flatnonzero(useful)
    said, owner = number[index].astype(np.int64), series[index].astype(np.int64)
    # Nearly every footprint is one series' only: sort no more than the others.
    least, most = np.full(len(rows), len(series)), np.full(len(rows), -1)
    np.minimum.at(least, said, owner)
    np.maximum.at(most, said, owner)
    first = np.zeros(len(rows), np.int64)
    first[said[::-1]] = index[::-1]
    single = np.flatnonzero((least == most) & (most >= 0))
    single = single[_differs(rows, single, least[single])]
    shared = np.flatnonzero((least < most)[said])
    shared = shared[distinct(said[shared], owner[shared])]
    record = np.sort(np.concatenate([first[single], index[shared]]), kind="stable")
    return _without_stale(
        Prints(rows, number[record].astype(np.int64), series[record].astype(np.int64), record)
    )


TCP = 6
SEGMENT = ("saddr_lo", "daddr_lo", "sport", "dport", "seq", "tot_len")


def _without_stale(prints: Prints) -> Prints:
    """A TCP segment sent again begins with the header it was sent with before, and gets a new one.

    So of one segment's identifications in one series only the last ever was on the wire.
    """
    rows, number = prints.rows, prints.number
    at = np.flatnonzero((rows["protocol"][number] == TCP) & (rows["seq"][number] >= 0))
    if not len(at):
        return prints
    key = hashed([prints.series[at], *(rows[name][number[at]] for name in SEGMENT)])
    order = np.argsort(key, kind="stable")  # in time order within a segment
    ends = np.r_[key[order][1:] != key[order][:-1], True]
    group = np.cumsum(np.r_[0, ends[:-1]])
    ip_id = rows["ip_id"][number[at]][order]
    keep = np.ones(len(number), np.bool_)
    keep[at[order[ip_id != ip_id[ends][group]]]] = False
    return Prints(rows, number[keep], prints.series[keep], prints.record[keep])


def _differs(rows: Records | ColumnTable, index: Index, series: Index) -> Flags:
    """Rows that are another packet than the row before, not just elsewhere or of another length."""
    change = np.ones(len(index), np.bool_)
    change[1:] = series[1:] != series[:-1]
    every = len(index) and index[-1] - index[0] + 1 == len(index)
    chosen = slice(int(index[0]), int(index[-1]) + 1) if every else index
    for name in TELLING:
        column = part(rows, name, chosen)
        change[1:] |= column[1:] != column[:-1]
    return change


def candidates(packets: Packets, prints: Prints) -> Candidates:
    """Candidate pairs of IP packets and series."""
    wire = np.flatnonzero(packets["ip_version"] != 0)
    every = len(wire) == len(packets)
    frames = wire_identity(packets, slice(None) if every else wire)
    kernel = prints.identity()
    weak_k, weak_w = np.flatnonzero(~is_strong(kernel)), np.flatnonzero(~is_strong(frames))
    start = np.zeros(len(wire), np.int8)
    weak = (_some(frames, weak_w), _some(kernel, weak_k))
    for level, column in enumerate(("sport", "seq")):
        crowd = _shared(_keys(weak[0], level), _keys(weak[1], level), prints.series[weak_k])
        tells = (weak[0][column] >= 0) & crowd
        start[weak_w] = np.where(tells, level + 1, start[weak_w])
    p, r, many = join(_joining_keys(frames), _joining_keys(kernel), MANY)
    # What has many partners by that, is joined by all that there is.
    left = np.flatnonzero(many)
    if len(left):
        p2, r2, many = join(full_keys(_some(frames, left)), full_keys(kernel), MANY)
        p, r = np.concatenate([p, left[p2]]), np.concatenate([r, r2])
        left = left[many]
    same = equal_rows((frames, p), (kernel, r), THESIS_KEY)
    p, r = p[same], r[same]
    packet, shown, rung = climb(packets, prints, wire[p], r, start[p])
    return _unique(packets, packet, prints.series[shown], rung, wire[left])


def full_keys(rows: Columns) -> npt.NDArray[np.uint64]:
    """Everything by which packets are known."""
    return _keys(rows, 3)


def _joining_keys(rows: Columns) -> npt.NDArray[np.uint64]:
    """The thesis key, and ports and counters too where its identification is none."""
    keys, weak = _keys(rows, 0), np.flatnonzero(~is_strong(rows))
    keys[weak] = _keys(_some(rows, weak), 2)
    return keys


def _keys(rows: Columns, level: int) -> npt.NDArray[np.uint64]:
    """The thesis key; with the columns of as many rungs as `level`."""
    more = (name for _, rung in RUNGS[:level] for name in rung)
    return hashed_rows(rows, (*THESIS_KEY, *more))


def wire_identity(packets: Packets, index: Index | slice) -> Columns:
    """What these packets are known by."""
    names = (name for name in TELLING if not name.startswith("gso"))
    return {name: part(packets, name, index) for name in names}


def _some(rows: Columns, chosen: Flags | Index) -> Columns:
    return {name: column[chosen] for name, column in rows.items()}


def is_strong(rows: Columns) -> Flags:
    """Rows whose identification numbers packets: not 0, and of IPv6 that of a fragment."""
    return np.asarray((rows["ip_id"] > 0) | (rows["frag_id"] > 0))


def _shared(left: npt.NDArray[np.uint64], right: npt.NDArray[np.uint64], owner: Index) -> Flags:
    """Which of `left` share their hash with another of them, or find several owners at `right`."""
    keys, back, count = np.unique(left, return_inverse=True, return_counts=True)
    at = np.searchsorted(keys, right)
    at[at == len(keys)] = 0
    found = keys[at] == right if len(keys) else np.zeros(len(right), np.bool_)
    pairs = distinct(at[found], owner[found])
    owners = np.bincount(at[found][pairs], minlength=len(keys))
    return np.asarray(((count > 1) | (owners > 1))[back.reshape(-1)], np.bool_)


def climb(
    packets: Packets, prints: Prints, packet: Index, shown: Index, rung: npt.NDArray[np.int8]
) -> tuple[Index, Index, npt.NDArray[np.int8]]:
    """The pairs (packet, row of prints) left after all rungs."""
    for level, (_, columns) in enumerate(RUNGS, start=1):
        crowded = _crowded(packet, prints.series[shown])
        wire = {name: packets[name][packet] for name in columns}
        kernel = {name: prints.rows[name][prints.number[shown]] for name in columns}
        same, known = _compare(wire, kernel, columns)
        known = np.where(same, known, 0)
        best = np.zeros(len(packets), np.int64)
        np.maximum.at(best, packet, known)
        agree = same & (known > 0) & (known == best[packet])
        keep = ~crowded | agree | (best[packet] == 0)
        if columns == LENGTH:
            same |= _cut_later(wire, kernel)
        keep &= same
        rung = np.where(crowded & agree, level, rung).astype(np.int8)
        packet, shown, rung = packet[keep], shown[keep], rung[keep]
    return packet, shown, rung


def _crowded(packet: Index, series: Index) -> Flags:
    """Pairs whose packet has several series, or whose series has several packets."""
    made = np.zeros(len(packet), np.bool_)
    of_packet = np.full(int(packet.max(initial=-1)) + 1, NONE, np.int32)
    of_series = np.full(int(series.max(initial=-1)) + 1, NONE, np.int32)
    _find_crowded(packet, series, of_packet, of_series, made)
    return made


@compiled
def _find_crowded(
    packet: Index,
    series: Index,
    of_packet: npt.NDArray[np.int32],
    of_series: npt.NDArray[np.int32],
    made: Flags,
) -> None:
    """Set `made`; `of_packet` becomes the only series of each packet, or SEVERAL."""
    for i in range(len(packet)):
        p, s = packet[i], series[i]
        if of_packet[p] != s:
            of_packet[p] = s if of_packet[p] == NONE else SEVERAL
        if of_series[s] != p:
            of_series[s] = p if of_series[s] == NONE else SEVERAL
    for i in range(len(packet)):
        made[i] = of_packet[packet[i]] == SEVERAL or of_series[series[i]] == SEVERAL


def _cut_later(wire: Columns, kernel: Columns) -> Flags:
    """Pairs of a whole packet in the kernel and a fragment of it on the wire."""
    whole = (kernel["frag_off"] < 0) | ((kernel["frag_off"] & FRAGMENT) == 0)
    part = (wire["frag_off"] >= 0) & ((wire["frag_off"] & FRAGMENT) != 0)
    return np.asarray(whole & part)


def _compare(wire: Columns, kernel: Columns, columns: tuple[str, ...]) -> tuple[Flags, Index]:
    """Pairs that agree in every column known on both sides, and how many those are."""
    count = len(wire[columns[0]])
    same, known = np.ones(count, np.bool_), np.zeros(count, np.int64)
    for column in columns:
        both = (wire[column] >= 0) & (kernel[column] >= 0)
        same &= ~both | (wire[column] == kernel[column])
        known += both
    return same, known


def _unique(
    packets: Packets, packet: Index, series: Index, rung: npt.NDArray[np.int8], many: Index
) -> Candidates:
    order = np.lexsort((rung, series, packet))
    packet, series, rung = packet[order], series[order], rung[order]
    first = np.ones(len(packet), np.bool_)
    first[1:] = (packet[1:] != packet[:-1]) | (series[1:] != series[:-1])
    packet = packet[first]
    return Candidates(
        packet, series[first], rung[first], is_strong(wire_identity(packets, packet)), many
    )
