# SPDX-License-Identifier: MIT
"""The path of one packet over all recordings: exact pairs, joined by skb lifetimes.

Address translation changes a packet's headers, but the translating host's log shows one lifetime. A
path therefore leads through a host that changed the headers to hosts that see other headers.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..matching import EXACT, FAR, HostReason
from ..matching.hosts.packet_sightings import IN, OUT, UNKNOWN
from ..records.types import Int64s
from .same_packets_across_sessions import Across

STAGE = {OUT: 0, UNKNOWN: 1, IN: 2}  # order of sightings with one time to live
Member = tuple[str, int, str, str, int | None, int | None, int | None]


def members_of(found: Across, session: str, number: int) -> list[Member]:
    """Return a row of table `member` (see find_packet.py) for each packet of the path.

    The list ends with packets that may be the same as one of the path; they have no hop. The list
    is empty if no other recording has the packet.
    """
    own = [clock for clock, each in enumerate(found.recordings) if each[0] == session]
    start = np.flatnonzero((found.number == number) & np.isin(found.found.clock, own))
    if not len(start):
        return []
    rows, why = _joined(found, start)
    path = _in_order(found, rows[found.number[rows] > 0])
    if len(np.unique(found.found.clock[path])) == 1:
        path = path[:0]
    made = [_hop(found, path, at, why.get(int(path[at]), "")) for at in range(len(path))]
    return made + list(_others(found, rows))


def _joined(found: Across, start: Int64s) -> tuple[Int64s, dict[int, str]]:
    """Return all sightings that belong together with those in `start`, and the reasons.

    Sightings belong together if they are an exact pair or have the same lifetime, directly or
    through other sightings. The reasons are by sighting.
    """
    pairs = found.pairs
    exact = np.flatnonzero(pairs.verdict == EXACT)
    one, other = pairs.pairs.a[exact], pairs.pairs.b[exact]
    life = found.found.clock * (1 << 40) + found.found.appearance
    appearance = pairs.made.of
    rows, why = start, dict[int, str]()
    while True:
        mine = np.unique(appearance[np.flatnonzero(np.isin(life, life[rows]))])
        reached = np.isin(one, mine) | np.isin(other, mine)
        for pair in exact[reached]:
            for row in (int(pairs.a[pair]), int(pairs.b[pair])):
                why.setdefault(row, _word(int(pairs.reason[pair])))
        all_ = np.unique(np.r_[mine, one[reached], other[reached]])
        wider = np.flatnonzero(np.isin(appearance, all_) | np.isin(life, life[rows]))
        if len(wider) == len(rows):
            return wider, why
        rows = wider


def _word(reason: int) -> str:
    return HostReason(reason).name.lower().replace("_", "-")


def _in_order(found: Across, rows: Int64s) -> Int64s:
    """Return sightings (packets, lifetimes) in the path's order, in which time to live never grows.

    If the headers of two neighbouring packets do not show their order, clocks may show it.
    """
    seen = found.found.rows(rows)
    stage = np.array([STAGE[int(way)] for way in seen.way], np.int64)
    path = rows[np.lexsort((found.pairs.clocks.scale.low_ns[rows], stage, -seen.ttl))]
    for last in range(1, len(path)):
        for at in range(last, 0, -1):
            before, row = path[at - 1 : at + 1].tolist()
            if _is_order_known(found, before, row) or _transit(found, before, row)[1] >= 0:
                break
            path[at - 1 : at + 1] = row, before
    return path


def _is_order_known(found: Across, a: int, b: int) -> bool:
    """Return whether the headers of two sightings, or one host's clock, show their order."""
    seen = found.found.rows(np.array([a, b]))
    stages = {STAGE[int(way)] for way in seen.way}
    return len(set(seen.ttl.tolist())) + len(stages) > 2 or seen.clock[0] == seen.clock[1]


def _hop(found: Across, path: Int64s, at: int, why: str) -> Member:
    row = int(path[at])
    least, most = (None, None) if at == 0 else _time(found, int(path[at - 1]), row)
    session = found.recordings[int(found.found.clock[row])][0]
    return session, int(found.number[row]), "exact", why or "lifetime", at, least, most


def _time(found: Across, a: int, b: int) -> tuple[int | None, int | None]:
    """Return the least and the greatest time (ns) from sighting `a` to `b`; None if unbounded.

    The least time is negative only if nothing shows which sighting was first.
    """
    seen = found.found
    if seen.clock[a] == seen.clock[b]:
        least = int(seen.low_ns[b] - seen.high_ns[a])
        return max(least, 0), int(seen.high_ns[b] - seen.low_ns[a])
    low, high = _transit(found, a, b)
    if _is_order_known(found, a, b):
        low = max(low, 0)
    return None if low < -FAR // 2 else low, None if high > FAR // 2 else high


def _transit(found: Across, a: int, b: int) -> tuple[int, int]:
    (low,), (high,) = found.pairs.clocks.transit(np.array([a]), np.array([b]))
    return int(low), int(high)


def _others(found: Across, rows: Int64s) -> Iterable[Member]:
    """Yield the packets that may be the same as a packet of the path."""
    pairs = found.pairs
    inside = np.isin(pairs.a, rows), np.isin(pairs.b, rows)
    seen = set(rows.tolist())
    for pair in np.flatnonzero((pairs.verdict != EXACT) & (inside[0] ^ inside[1])):
        row = int(pairs.b[pair] if inside[0][pair] else pairs.a[pair])
        if row not in seen and found.number[row] > 0:
            seen.add(row)
            session = found.recordings[int(found.found.clock[row])][0]
            word = _word(int(pairs.reason[pair]))
            yield session, int(found.number[row]), "ambiguous", word, None, None, None
