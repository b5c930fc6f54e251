# SPDX-License-Identifier: MIT
"""Join packets with footprints if they have no identification number (IPv4 id 0, IPv6).

Input: rows of packets and of footprints.  Output: hashes of all values that distinguish packets
without an identification number.  Rows may lack some of these values, because a capture truncated
the packet, or a header was not written yet.  A row that lacks a value is joined to rows with equal
values in all columns that both have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.protocols import ICMP, ICMPV6, SCTP, TCP, UDP, UDPLITE
from ...records.types import Bools, Int64s
from ..arrays.array_blocks import blocks
from ..arrays.hash_join import column_hashes, is_in
from ..arrays.hash_join_loops import Hash
from .identity_columns import ADDRESS, NONE, PORTS, RUNGS, SEQUENCE, THESIS_KEY, Columns, Known

BASE = ("ip_version", *ADDRESS, "ip_id")  # in every IP header
MORE = ("protocol", *PORTS, *SEQUENCE, "flow_label", "frag_id")
PROTOCOL, FLOW, NUMBERED = (1 << MORE.index(n) for n in ("protocol", "flow_label", "frag_id"))
LEVELS = 2  # number of rungs that are part of the key


class Unnumbered(NamedTuple):
    """The rows of packets or footprints that have no identification number.

    `at` are indices of a Known; `lacks` is True if the row lacks a distinguishing value; `thesis`
    is a hash of the row's THESIS_KEY.
    """

    at: Int64s
    lacks: Bools
    thesis: Hash

    def lacking(self) -> Int64s:
        """Return the rows that lack a distinguishing value."""
        return self.at[self.lacks]


class Meeting(NamedTuple):
    """Packets and footprints (indices) that can be compared: all have the columns `names`."""

    packets: Int64s
    prints: Int64s
    names: tuple[str, ...]


def keys(rows: Columns, level: int) -> Hash:
    """Return a hash of each row's THESIS_KEY and its columns of the first `level` rungs."""
    more = (name for _, rung in RUNGS[:level] for name in rung)
    rows = without_sctp_ports(rows) if level else rows
    return column_hashes(rows[name] for name in (*THESIS_KEY, *more))


def without_sctp_ports(rows: Columns) -> Columns:
    """Return the columns with the ports of SCTP set to NONE.

    The recorder does not read the ports of SCTP (kmod/kbl_l4.h), so only packets of captures have
    them.
    """
    unread = rows["protocol"] == SCTP
    if not unread.any():
        return rows
    return {**rows, **{name: np.where(unread, NONE, rows[name]) for name in PORTS}}


def is_numbered(rows: Columns) -> Bools:
    """Return for each row whether its identification (in IPv6: of a fragment) is not 0."""
    return np.asarray((rows["ip_id"] > 0) | (rows["frag_id"] > 0))


def joining_keys(known: Known) -> tuple[Hash, Unnumbered]:
    """Return a hash for each row, and the rows that have no identification number.

    The hash is made of THESIS_KEY; for rows without a number, it includes the columns of the first
    LEVELS rungs.
    """
    made = np.empty(len(known.at), np.uint64)
    at, lacks, thesis = [np.zeros(0, np.int64)], [np.zeros(0, np.bool_)], [made[:0]]
    for some in blocks(len(made)):
        rows = known.columns(some, (*THESIS_KEY, "frag_id"))
        made[some] = keys(rows, 0)
        numbered = is_numbered(rows) & (rows["protocol"] >= 0)
        at.append(some.start + np.flatnonzero(~numbered))
        thesis.append(made[at[-1]])
        rows = known.columns(at[-1])
        made[at[-1]] = keys(rows, LEVELS)
        lacks.append(_lacks(rows))
    return made, Unnumbered(np.concatenate(at), np.concatenate(lacks), np.concatenate(thesis))


def _lacks(rows: Columns) -> Bools:
    """Return for each row whether it lacks a field that other rows of its protocol have."""
    protocol, no_port, no_seq = rows["protocol"], rows["sport"] < 0, rows["seq"] < 0
    tcp, icmp = protocol == TCP, (protocol == ICMP) | (protocol == ICMPV6)
    lacks = (protocol < 0) | no_port & (tcp | icmp | (protocol == UDP) | (protocol == UDPLITE))
    lacks |= no_seq & (tcp | icmp) | tcp & ((rows["ack"] < 0) | (rows["tcp_flags"] < 0))
    return np.asarray(lacks)


def meetings(
    packets: Known, unnumbered: Unnumbered, prints: Known, shown: Unnumbered, series: Int64s
) -> Iterator[Meeting]:
    """Yield groups of packets and footprints that may be joined although one side lacks a field.

    `unnumbered` and `shown` say which packets and footprints lack a field; `series` is the series
    of each footprint.  A footprint that lacks a field is left out if its lifetime has a more
    complete one of the same packet.
    """
    mine = unnumbered.lacking()
    if len(mine):
        yield from _by_what_both_know(packets, mine, prints, _unnumbered(prints))
    alone = _shown_no_better(prints, shown, series)
    if len(alone):
        likely = _of_these_hosts(packets, unnumbered, prints, alone)
        yield from _by_what_both_know(packets, likely, prints, alone)


def _of_these_hosts(
    packets: Known, unnumbered: Unnumbered, prints: Known, kernel: Int64s
) -> Int64s:
    """Return packets that lack no field, and whose hosts and protocol a footprint has."""
    complete = ~unnumbered.lacks
    known = prints.columns(kernel, ("protocol",))["protocol"] >= 0
    found = complete & is_in(unnumbered.thesis, _hashed(prints, kernel[known], THESIS_KEY))
    if not known.all():
        found |= complete & is_in(
            _hashed(packets, unnumbered.at, BASE), _hashed(prints, kernel[~known], BASE)
        )
    return unnumbered.at[found]


def joined_hashes(packets: Known, prints: Known, meeting: Meeting) -> tuple[Hash, Hash]:
    """Return hashes of the packets and of the footprints of `meeting`, made from its columns."""
    names = meeting.names
    return _hashed(packets, meeting.packets, names), _hashed(prints, meeting.prints, names)


def _hashed(known: Known, at: Int64s, names: tuple[str, ...]) -> Hash:
    made = np.empty(len(at), np.uint64)
    for some in blocks(len(at)):
        made[some] = column_hashes(known.columns(at[some], names).values())
    return made


def _unnumbered(known: Known) -> Int64s:
    """Return the rows without an IPv4 identification number."""
    parts = [np.zeros(0, np.int64)]
    for some in blocks(len(known.at)):
        parts.append(some.start + np.flatnonzero(known.columns(some, ("ip_id",))["ip_id"] <= 0))
    return np.concatenate(parts)


def _shown_no_better(prints: Known, shown: Unnumbered, series: Int64s) -> Int64s:
    """Return incomplete footprints whose lifetime has no complete footprint with the same hosts."""
    alone = shown.lacking()
    if not len(alone):
        return alone
    asked = np.zeros(int(series.max(initial=0)) + 1, np.bool_)
    asked[series[alone]] = True
    better = shown.at[~shown.lacks]
    better = better[asked[series[better]]]
    mine, others = (
        column_hashes([_hashed(prints, at, BASE).view(np.int64), series[at]])
        for at in (alone, better)
    )
    return alone[~is_in(mine, others)]


def _by_what_both_know(
    packets: Known, wire: Int64s, prints: Known, kernel: Int64s
) -> Iterator[Meeting]:
    for a, mine in _patterns(packets, wire):
        for b, other in _patterns(prints, kernel):
            both = a & b
            # A flow label means IPv6.  If the protocol is known, so are all headers before it:
            # then a packet without an identification is not a fragment.
            numbered = (a ^ b) & NUMBERED and (b if a & NUMBERED else a) & PROTOCOL
            if (a ^ b) & FLOW or numbered:
                continue
            names = tuple(name for bit, name in enumerate(MORE) if both >> bit & 1)
            yield Meeting(mine, other, (*BASE, *names))


def _patterns(known: Known, at: Int64s) -> list[tuple[int, Int64s]]:
    """Group the rows `at` by the columns that they have.

    Returns (bits of MORE, rows) for each group of rows.
    """
    pattern: npt.NDArray[np.uint8] = np.zeros(len(at), np.uint8)
    for some in blocks(len(at)):
        rows = known.columns(at[some], MORE)
        for bit, name in enumerate(MORE):
            pattern[some] |= (rows[name] >= 0).astype(np.uint8) << bit
    found = np.flatnonzero(np.bincount(pattern, minlength=1)).tolist()
    return [(number, at[pattern == number]) for number in found]
