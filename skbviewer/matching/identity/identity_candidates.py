# SPDX-License-Identifier: MIT
"""Find the skb lifetimes that may be a captured packet, by the identity of the packet.

Input: the packets of one capture, and the footprints of one KBL.  Output: the pairs (packet,
series) that the identity ladder leaves.  The first rung is the key of RFC 791: source, destination,
identification, protocol.  In real traffic, the key of RFC 791 repeats (identification 0 with DF,
IPv6, wrap-around, fragments, retransmission).  Further rungs therefore compare more values: ports;
TCP sequence, acknowledgement and flags, or ICMP id and sequence; lengths; fields of IPv6.  A pair
is dropped if its values differ on a rung, even if the packet and the series have no other pair.  A
value that is unknown on one side does not count as different.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import ColumnTable, Packets, Records, RecordTable, part, scratch_of
from ...records.kernel_events import FOOTPRINT
from ...records.protocols import TCP
from ...records.types import Bools, Int32s, Int64s
from ..arrays.array_blocks import blocks
from ..arrays.hash_join import by_pair, column_hashes, distinct, join, key_counts, slots_for
from ..arrays.hash_join_loops import Hash
from ..arrays.record_column_blocks import rows_where
from ..record_kinds import EVENT
from .identity_candidate_loops import keep_last, note_owners, records_of_several
from .identity_columns import KNOWN, NONE, PORTS, THESIS_KEY, Footprints, Known
from .identity_ladder import alike, climb
from .identity_ladder_loops import FRAGMENT
from .packets_without_ip_id import (
    Unnumbered,
    is_numbered,
    joined_hashes,
    joining_keys,
    keys,
    meetings,
    without_sctp_ports,
)

Rung = npt.NDArray[np.int8]

DISTINGUISHING = (*KNOWN, "gso_size", "gso_segs")
STRONG = ("ip_id", "frag_id")
MANY = 64  # most partners of a packet by its key; with more, only those near in time are candidates

GSO_BY_FRAGS = 0xFFFF  # gso_size of an skb that is cut where its fragments end (SCTP)
MOST_HEADERS = 120  # bytes of a segment before its data
PULLED = 120  # most bytes of IP and TCP headers, which a function may have removed from the skb


class Candidates(NamedTuple):
    """Pairs (packet, series), each once; `rung` is the rung that decided each pair.

    By pair: `strong` is True if the packet has an identification with which its sender numbers
    packets, so that it hardly repeats within a lifetime.  By pair: `vague` is True if the packet or
    the series lacks a value that distinguishes such packets.  `many` are packets whose key is so
    frequent that none of their pairs is listed.
    """

    packet: Int64s
    series: Int64s
    rung: Rung
    strong: Bools
    many: Int64s
    vague: Bools

    def and_also(self, other: Candidates) -> Candidates:
        """Return the pairs of this object, followed by the pairs of `other`."""
        made: list[Any] = [np.concatenate([a, b]) for a, b in zip(self, other, strict=True)]
        return Candidates(*made)

    def only(self, chosen: Bools) -> Candidates:
        """Return the pairs that the flags `chosen` select."""
        packet, series, rung, strong, many, vague = self
        return Candidates(
            packet[chosen], series[chosen], rung[chosen], strong[chosen], many, vague[chosen]
        )


class Partly(NamedTuple):
    """Flags for packets and for footprints: the row lacks a value that would distinguish it."""

    packet: Bools
    shown: Bools

    @classmethod
    def of(cls, wire: Known, weak_w: Unnumbered, kernel: Known, weak_k: Unnumbered) -> Partly:
        """Return the flags for all packets and all footprints.

        `wire` and `kernel` are the packets and the footprints that are compared.  `weak_w` and
        `weak_k` are the packets and footprints that have no identification number.
        """
        made = cls(np.zeros(len(wire.rows), np.bool_), np.zeros(len(kernel.at), np.bool_))
        made.packet[wire.at[weak_w.lacking()]] = True
        made.shown[weak_k.lacking()] = True
        return made

    def lack_a_value(self, packet: Int64s, shown: Int64s) -> Bools:
        """Return for each pair whether its packet or its footprint lacks a distinguishing value.

        Pair i is `packet[i]` (a row of Packets) and `shown[i]` (a row of Footprints).
        """
        return np.asarray(self.packet[packet] | self.shown[shown])


def footprints(records: Records, series: npt.NDArray[np.integer], tap: Int64s) -> Footprints:
    """Return the footprints of each series, in order of time, without repetition.

    `series` is the series of each record.  Leaves out copies for sniffers: `tap` are their series.
    """
    rows: Records | ColumnTable
    if isinstance(records, RecordTable):
        rows, number = records.footprints, records.footprint
    else:
        rows, number = records, np.arange(len(records), dtype=np.int32)
    sniffed = np.zeros(int(series.max(initial=0)) + 1, np.bool_)
    sniffed[tap] = True
    rows = without_old_headers(rows)
    known = np.asarray(rows["ip_version"] != 0) & ~has_larger_header(rows)
    of, kind = np.asarray(series, np.int32), np.asarray(records["kind"], np.uint8)
    first, least, most = np.full((3, len(rows)), NONE, np.int32)
    count = int(note_owners(kind, number, of, known, sniffed, first, least, most))
    # Nearly every footprint belongs to a single series: only the others are sorted.
    single = np.flatnonzero((least == most) & (most >= 0))
    single = single[_differs(rows, single, least[single].astype(np.int64))]
    index = np.empty(count, np.int64)
    records_of_several(kind, number, of, sniffed, least < most, index)
    index = index[distinct(number[index].astype(np.int64), of[index].astype(np.int64))]
    shown = np.concatenate([first[single].astype(np.int64), index])
    by_event, owner = _shown_by_events(records, number, of, known & (least < 0))
    by_event, owner = by_event[~sniffed[owner]], owner[~sniffed[owner]]
    record, every = np.concatenate([shown, by_event]), np.concatenate([of[shown], owner])
    order = np.argsort(record, kind="stable")
    record, mine = record[order], every[order].astype(np.int64)
    return _without_stale(Footprints(rows, number[record].astype(np.int64), mine, record))


def _shown_by_events(
    records: Records, number: Int32s, of: Int32s, wanted: Bools
) -> tuple[Int64s, Int32s]:
    """Return FOOTPRINT records with headers that no call shows, and the series of each.

    The recorder writes the footprint of an event before the event; the returned series is the
    event's.  Footprints of events are needed because probes may have missed the calls with the same
    footprint.
    """

    def is_wanted(some: slice) -> Bools:
        event = (part(records, "kind", some) == EVENT) & (part(records, "event", some) == FOOTPRINT)
        return np.asarray(event & wanted[number[some]])

    shown = rows_where(records, is_wanted)
    shown = shown[shown + 1 < len(of)]
    same = (part(records, "kind", shown + 1) == EVENT) & (of[shown + 1] >= 0)
    for name in ("skb", "ts", "cpu"):
        same &= part(records, name, shown) == part(records, name, shown + 1)
    shown = shown[same]
    pairs = distinct(number[shown].astype(np.int64), of[shown + 1].astype(np.int64))
    return shown[pairs], of[shown[pairs] + 1]


def has_larger_header(rows: Records | ColumnTable) -> Bools:
    """Return for each row whether its header belongs to a larger packet than the skb holds.

    skb_segment() and ip_frag_next() begin each part with a copy of the whole packet's header, and
    correct this header when the part has its data.  So if the skb of a fragment has neither length
    nor protocol yet, its header is still the header of the fragment before it.
    """
    held, length, frag_off = rows["skb_len"], rows["tot_len"], rows["frag_off"]
    made = (held >= 0) & (held + PULLED < length)
    copied = (frag_off > 0) & (frag_off & FRAGMENT != 0) & (length < 0)
    return np.asarray(made | copied & (rows["ethertype"] <= 0))


def without_old_headers(rows: Records | ColumnTable) -> Records | ColumnTable:
    """Return the footprints; for skbs that GRO merged, the fields that GRO changes are unknown.

    An skb that GRO merged holds several TCP segments.  Until tcp_gro_complete() and
    inet_gro_complete() have run, the headers of such an skb are those of its first segment, so the
    length and the flags of the skb are not known.  Earlier versions of the recorder did not notice
    the changed headers if these were in a fragment of the skb.
    """
    size, held, length = (np.asarray(rows[n]) for n in ("gso_size", "skb_len", "tot_len"))
    old = (size > 0) & (size < GSO_BY_FRAGS) & (held > length) & (length > 0)
    old &= length <= size + MOST_HEADERS
    if not old.any():
        return rows
    changed = {name: np.where(old, NONE, rows[name]) for name in ("tot_len", "tcp_flags")}
    if isinstance(rows, ColumnTable):
        return rows.with_columns(changed)
    made = rows.copy()
    for name, values in changed.items():
        made[name] = values
    return made


SEGMENT = ("saddr_lo", "daddr_lo", "sport", "dport", "seq", "tot_len")


def _without_stale(prints: Footprints) -> Footprints:
    """Drop footprints whose identification was never on the wire.

    When TCP sends a segment again, the skb first has the header of the last transmission, and then
    gets a new header.  So if one series shows several identifications of a segment, only the last
    one was ever on the wire.
    """
    rows = prints.rows
    keep = np.ones(len(prints.number), np.bool_)
    at, keys, ids = [np.zeros(0, np.int64)], [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    for some in blocks(len(keep)):
        number, series = prints.number[some], prints.series[some]
        tcp = (part(rows, "protocol", number) == TCP) & (part(rows, "seq", number) >= 0)
        number, series = number[tcp], series[tcp]
        at.append(some.start + np.flatnonzero(tcp))
        keys.append(column_hashes([series, *(part(rows, name, number) for name in SEGMENT)]))
        ids.append(part(rows, "ip_id", number).astype(np.int64))
    key, every = np.concatenate(keys), np.concatenate(at)
    keep_last(key, np.concatenate(ids), every, slots_for(len(key)), keep)
    return Footprints(rows, prints.number[keep], prints.series[keep], prints.record[keep])


def _differs(rows: Records | ColumnTable, index: Int64s, series: Int64s) -> Bools:
    """Return for each row whether it shows a different packet than the row before it.

    Rows that differ only in their lengths show the same packet.
    """
    change = np.ones(len(index), np.bool_)
    change[1:] = series[1:] != series[:-1]
    every = len(index) and index[-1] - index[0] + 1 == len(index)
    chosen = slice(int(index[0]), int(index[-1]) + 1) if every else index
    for name in DISTINGUISHING:
        column = part(rows, name, chosen)
        change[1:] |= column[1:] != column[:-1]
    return change


def candidates(packets: Packets, prints: Footprints) -> Candidates:
    """Return candidate pairs of IP packets and series."""
    wire, kernel = Known(packets, np.flatnonzero(packets["ip_version"] != 0)), prints.known()
    keys_w, weak_w = joining_keys(wire)
    keys_k, weak_k = joining_keys(kernel)
    start = _start(wire, weak_w, kernel, weak_k, prints.series)
    for rows in (packets, prints.rows):
        scratch_of(rows).forget()
    p, r, many = join(keys_w, keys_k, MANY)
    # Packets that have many partners by their key are joined by all fields.
    left = np.flatnonzero(many)
    if len(left):
        asked = Known(packets, wire.at[left])
        p2, r2, many = join(full_keys(asked), full_keys(kernel), MANY)
        p3, r3 = _of_merged(asked, kernel)
        p, r = np.concatenate([p, left[p2], left[p3]]), np.concatenate([r, r2, r3])
        left = left[many]
    same = alike(wire, p, kernel, r, THESIS_KEY)
    p, r = p[same], r[same]
    p2, r2, crowd = _partly_known(wire, weak_w, kernel, weak_k, prints.series)
    if len(p2) or len(crowd):
        p, r, left = np.concatenate([p, p2]), np.concatenate([r, r2]), np.union1d(left, crowd)
    partly = Partly.of(wire, weak_w, kernel, weak_k)
    for rows in (packets, prints.rows):
        scratch_of(rows).forget()
    packet, shown, rung = climb(packets, prints, wire.at[p], r, start[p])
    return unique(packets, prints, packet, shown, rung, partly, wire.at[left])


def _start(
    wire: Known, weak_w: Unnumbered, kernel: Known, weak_k: Unnumbered, series: Int64s
) -> Rung:
    """Return for each packet the first rung on which it must differ from other packets."""
    start = np.zeros(len(wire.at), np.int8)
    sides = ((wire, weak_w), (kernel, weak_k))
    left, right = (without_sctp_ports(known.columns(weak.at)) for known, weak in sides)
    for level, column in enumerate(("sport", "seq")):
        crowd = _shared(keys(left, level), keys(right, level), series[weak_k.at])
        decides = (left[column] >= 0) & crowd
        start[weak_w.at] = np.where(decides, level + 1, start[weak_w.at])
    return start


def _partly_known(
    wire: Known, weak_w: Unnumbered, kernel: Known, weak_k: Unnumbered, series: Int64s
) -> tuple[Int64s, Int64s, Int64s]:
    """Return pairs of a packet and a footprint, at least one of which lacks a distinguishing value.

    The third array has the packets that are left out because more than MANY other packets have
    their hash.
    """
    none = np.zeros(0, np.int64)
    pairs, crowd = [(none, none)], [none]
    for met in meetings(wire, weak_w, kernel, weak_k, series):
        left, right = joined_hashes(wire, kernel, met)
        alike_few = key_counts(left) <= MANY
        few = np.flatnonzero(alike_few)
        i, j, many = join(left[few], right, MANY)
        mine, shown = met.packets[few[i]], met.prints[j]
        same = alike(wire, mine, kernel, shown, met.names)
        pairs.append((mine[same], shown[same]))
        crowd += [met.packets[few[many]], met.packets[~alike_few]]
    p, r = (np.concatenate(columns) for columns in zip(*pairs, strict=True))
    return p, r, np.unique(np.concatenate(crowd))


def _of_merged(wire: Known, kernel: Known) -> tuple[Int64s, Int64s]:
    """Return pairs of a packet and a footprint that have the same TCP sequence number.

    Only the footprints of GSO skbs whose length is unknown are paired.
    """
    merged = np.flatnonzero(
        (part(kernel.rows, "tot_len", kernel.at) < 0)
        & (part(kernel.rows, "gso_size", kernel.at) > 0)
    )
    names = (*THESIS_KEY, *PORTS, "seq", "ack")
    left, right = (
        column_hashes(known.columns(some, names).values())
        for known, some in ((wire, slice(None)), (kernel, merged))
    )
    packet, shown, _ = join(left, right, MANY)
    return packet, merged[shown]


def full_keys(known: Known) -> Hash:
    """Return a hash of all fields that identify each row."""
    made = np.empty(len(known.at), np.uint64)
    for some in blocks(len(made)):
        made[some] = keys(known.columns(some), 3)
    return made


def is_strong(packets: Packets, index: Int64s) -> Bools:
    """Return for each packet whether its sender numbers packets by their IP identification.

    `index` selects the packets; the result has a flag for each of these.
    """
    return is_numbered(Known(packets, index).columns(slice(None), STRONG))


def _shared(left: npt.NDArray[np.uint64], right: npt.NDArray[np.uint64], owner: Int64s) -> Bools:
    """Return for each hash of `left` whether it is ambiguous.

    A hash is ambiguous if it occurs several times in `left`, or has several owners in `right`.
    `owner` is the owner of each hash of `right`.
    """
    keys, back, count = np.unique(left, return_inverse=True, return_counts=True)
    at = np.searchsorted(keys, right)
    at[at == len(keys)] = 0
    found = keys[at] == right if len(keys) else np.zeros(len(right), np.bool_)
    pairs = distinct(at[found], owner[found])
    owners = np.bincount(at[found][pairs], minlength=len(keys))
    return np.asarray(((count > 1) | (owners > 1))[back.reshape(-1)], np.bool_)


def unique(
    packets: Packets,
    prints: Footprints,
    packet: Int64s,
    shown: Int64s,
    rung: Rung,
    partly: Partly,
    many: Int64s,
) -> Candidates:
    """Return the pairs (packet, row of `prints`) as candidates: each once, with the lowest rung.

    Pair i is `packet[i]` and `shown[i]`, a row of `prints`.  `partly` marks the packets and rows
    that lack a distinguishing value.  `many` are packets that are left out because too many others
    have their key.
    """
    series = prints.series[shown]
    order = by_pair(packet, series)
    packet, series, rung = packet[order], series[order], rung[order]
    new = np.ones(len(packet), np.bool_)
    new[1:] = (packet[1:] != packet[:-1]) | (series[1:] != series[:-1])
    first = np.flatnonzero(new)
    vague = partly.lack_a_value(packet, shown[order])
    if len(first):
        vague, rung = np.logical_and.reduceat(vague, first), np.minimum.reduceat(rung, first)
    packet, series = packet[first], series[first]
    return Candidates(packet, series, rung, is_strong(packets, packet), many, vague)
