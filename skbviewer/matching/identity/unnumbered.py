# SPDX-License-Identifier: MIT
"""Join packets and prints that have no identification number (IPv4 id 0, IPv6).

In: rows of packets and of prints.  Out: hashes of all values that distinguish such packets.  Rows
may lack some of these, because a capture was cut short or a header was not written yet: they are
joined to the rows with the same values in all fields that both have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.protocols import ICMP, ICMPV6, SCTP, TCP, UDP, UDPLITE
from ...records.types import Bools, Int64s
from ..arrays.array_blocks import blocks
from ..arrays.hash_join import Hash, among, hashed
from .identity_columns import ADDRESS, NONE, PORTS, RUNGS, SEQUENCE, THESIS_KEY, Columns, Known

BASE = ("ip_version", *ADDRESS, "ip_id")  # in every IP header
MORE = ("protocol", *PORTS, *SEQUENCE, "flow_label", "frag_id")
PROTOCOL, FLOW, NUMBERED = (1 << MORE.index(n) for n in ("protocol", "flow_label", "frag_id"))
LEVELS = 2  # rungs that are part of the key


class Unnumbered(NamedTuple):
    """Rows of a Known by their places in it, and which of them lack a distinguishing value.

    `thesis` are hashes of their thesis key.
    """

    at: Int64s
    lacks: Bools
    thesis: Hash

    def lacking(self) -> Int64s:
        return self.at[self.lacks]


class Meeting(NamedTuple):
    """Places of packets and of prints, and the columns that all of them know."""

    packets: Int64s
    prints: Int64s
    names: tuple[str, ...]


def keys(rows: Columns, level: int) -> Hash:
    """The thesis key; with the columns of as many rungs as `level`."""
    more = (name for _, rung in RUNGS[:level] for name in rung)
    rows = as_both_know(rows) if level else rows
    return hashed(rows[name] for name in (*THESIS_KEY, *more))


def as_both_know(rows: Columns) -> Columns:
    """Without the ports that the recorder does not read (kmod/kbl_l4.h)."""
    unread = rows["protocol"] == SCTP
    if not unread.any():
        return rows
    return {**rows, **{name: np.where(unread, NONE, rows[name]) for name in PORTS}}


def is_numbered(rows: Columns) -> Bools:
    """Rows whose identification numbers them: not 0, and of IPv6 that of a fragment."""
    return np.asarray((rows["ip_id"] > 0) | (rows["frag_id"] > 0))


def joining_keys(known: Known) -> tuple[Hash, Unnumbered]:
    """The thesis key, and ports and counters too where its identification is none, and where."""
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
    """Rows that do not know all that others of their protocol do."""
    protocol, no_port, no_seq = rows["protocol"], rows["sport"] < 0, rows["seq"] < 0
    tcp, icmp = protocol == TCP, (protocol == ICMP) | (protocol == ICMPV6)
    lacks = (protocol < 0) | no_port & (tcp | icmp | (protocol == UDP) | (protocol == UDPLITE))
    lacks |= no_seq & (tcp | icmp) | tcp & ((rows["ack"] < 0) | (rows["tcp_flags"] < 0))
    return np.asarray(lacks)


def meetings(
    packets: Known, unnumbered: Unnumbered, prints: Known, shown: Unnumbered, series: Int64s
) -> Iterator[Meeting]:
    """Who may meet whom though one of them lacks something; `series` is of each print.

    A print that lacks something says nothing where its life shows the same packet better.
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
    """Packets that lack nothing, and may meet some of these prints by hosts and protocol."""
    complete = ~unnumbered.lacks
    known = prints.columns(kernel, ("protocol",))["protocol"] >= 0
    found = complete & among(unnumbered.thesis, _hashed(prints, kernel[known], THESIS_KEY))
    if not known.all():
        found |= complete & among(
            _hashed(packets, unnumbered.at, BASE), _hashed(prints, kernel[~known], BASE)
        )
    return unnumbered.at[found]


def joined_hashes(packets: Known, prints: Known, meeting: Meeting) -> tuple[Hash, Hash]:
    """Hashes of what they may meet by."""
    names = meeting.names
    return _hashed(packets, meeting.packets, names), _hashed(prints, meeting.prints, names)


def _hashed(known: Known, at: Int64s, names: tuple[str, ...]) -> Hash:
    made = np.empty(len(at), np.uint64)
    for some in blocks(len(at)):
        made[some] = hashed(known.columns(at[some], names).values())
    return made


def _unnumbered(known: Known) -> Int64s:
    """Rows that IPv4 does not number."""
    parts = [np.zeros(0, np.int64)]
    for some in blocks(len(known.at)):
        parts.append(some.start + np.flatnonzero(known.columns(some, ("ip_id",))["ip_id"] <= 0))
    return np.concatenate(parts)


def _shown_no_better(prints: Known, shown: Unnumbered, series: Int64s) -> Int64s:
    """Prints that lack something, of lives that show no print of the same hosts that does not."""
    alone = shown.lacking()
    if not len(alone):
        return alone
    asked = np.zeros(int(series.max(initial=0)) + 1, np.bool_)
    asked[series[alone]] = True
    better = shown.at[~shown.lacks]
    better = better[asked[series[better]]]
    mine, others = (
        hashed([_hashed(prints, at, BASE).view(np.int64), series[at]]) for at in (alone, better)
    )
    return alone[~among(mine, others)]


def _by_what_both_know(
    packets: Known, wire: Int64s, prints: Known, kernel: Int64s
) -> Iterator[Meeting]:
    for a, mine in _patterns(packets, wire):
        for b, other in _patterns(prints, kernel):
            both = a & b
            # A flow label means IPv6.  Where the protocol is known, all headers before it are: a
            # packet without an identification is no fragment then.
            numbered = (a ^ b) & NUMBERED and (b if a & NUMBERED else a) & PROTOCOL
            if (a ^ b) & FLOW or numbered:
                continue
            names = tuple(name for bit, name in enumerate(MORE) if both >> bit & 1)
            yield Meeting(mine, other, (*BASE, *names))


def _patterns(known: Known, at: Int64s) -> list[tuple[int, Int64s]]:
    """Rows that know the same columns, bit by bit those of MORE."""
    pattern: npt.NDArray[np.uint8] = np.zeros(len(at), np.uint8)
    for some in blocks(len(at)):
        rows = known.columns(at[some], MORE)
        for bit, name in enumerate(MORE):
            pattern[some] |= (rows[name] >= 0).astype(np.uint8) << bit
    found = np.flatnonzero(np.bincount(pattern, minlength=1)).tolist()
    return [(number, at[pattern == number]) for number in found]
