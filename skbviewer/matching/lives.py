# SPDX-License-Identifier: MIT
"""Cut records into the lives of skbs: from birth to free at one address.

In: records of one KBL in time order, the log's tables.  Out: for each record
the life it belongs to, and for each life its parent.  Addresses are reused within microseconds (one
carried 17 packets in a short recording), so births, frees and clones cut, not time.  Lives are cut
block by block of time, knowing how each address stood before: what is sorted stays in the
processor's cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import KernelLog, part
from .kinds import ENTRY, EVENT, SKB_IS_RET, Index, chosen, contexts
from .ordering import BLOCK, Small, blocks, by_number, dense
from .phases import TAP_CLONER
from .tellers import tellers

ALLOC, CLONE, COPY, SEGMENT, FREE = 1, 2, 3, 4, 5  # kbl.h enum kbl_event
TASK, XMIT, FOOTPRINT = 8, 20, 34
BIRTHS = (ALLOC, CLONE, COPY, SEGMENT)
# No events of a life: told for the records around, or when the skb may be another's already.
MAYBE_FREED = (9, 10, 11, 15, 36)  # GRO_MERGE, COALESCE, MORPH, SOCK_ENQUEUE, NF_HOOK
ABOUT_OTHERS = (TASK, XMIT, FOOTPRINT)

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Lives:
    """`of`: life of each record or -1; `parent`, `birth`, `tap` are per life.

    Lives are numbered by their first record.  `birth` is the index of the record that tells of the
    clone (-1: none).  `met` is per record: the time (ns) when its function had the skb: a reader's
    entry may have waited for the packet.  `told_by` is per record: see tellers.
    """

    of: Small
    parent: Index
    birth: Index
    tap: Flags
    met: Index
    told_by: Small


def cut(log: KernelLog) -> Lives:
    """Assign each record of `log` to a life; records without an skb get -1."""
    records = log.records
    skb = _effective_skb(log)
    maker = _makers(log)  # the child is handled inside already: it is born at the entry
    found = (records["kind"] == ENTRY) & (records["skb"] == 0) & (skb != 0)
    inside = _born_inside(log, skb, found, maker)
    met = records["ts"]
    if (found := found & ~inside).any():
        met = met.copy()
        met[found] = records["exit_ts"][found]  # it got the skb when it returned
    kind, event = records["kind"], records["event"]
    told_by = tellers(log)
    late = (told_by >= 0) & chosen(event, MAYBE_FREED)
    item, is_child = _items(
        (skb != 0) & ~late,
        (kind == EVENT) & chosen(event, (CLONE, COPY, SEGMENT)),
    )
    born = is_child | ((kind[item] == EVENT) & (event[item] == ALLOC))
    address = skb[item]
    address[is_child] = part(records, "data", item[is_child])
    when = _when(log, skb, met, maker, inside, _Items(item, is_child, born, address))
    del skb
    order = np.argsort(when, kind="stable").astype(np.int32)  # nearly in order already
    item, is_child, address = item[order], is_child[order], address[order]
    del order, when
    place = dense(address)
    del address
    life = _Cutter(log, item, place, is_child, inside).lives()
    of = np.full(len(records), -1, np.int32)
    of[item[~is_child]] = life[~is_child]
    rows = np.flatnonzero(late)
    of[rows] = of[told_by[rows]]
    count = int(life.max(initial=-1)) + 1
    birth = np.full(count, -1, np.int64)
    birth[life[is_child]] = item[is_child]
    parent = np.where(birth >= 0, of[birth], -1) if count else birth
    return Lives(of, parent.astype(np.int64), birth, _is_tap(log, maker, birth), met, told_by)


class _Items(NamedTuple):
    """Records of lives; a clone's birth stands before the record of its own that tells of it."""

    record: Small
    is_child: Flags
    born: Flags  # tells of a birth
    address: Index  # of the skb that it is a record of


def _when(
    log: KernelLog, skb: Index, met: Index, maker: Small, inside: Flags, items: _Items
) -> Index:
    """When each item happened to its skb: births at the entry of the function that tells of them.

    But not before the skb that had the memory is gone: another CPU may free it while the function
    that gets it next runs already.
    """
    records, item = log.records, items.record
    when = met[item]
    births = np.flatnonzero(items.born)
    told = maker[item[births]]
    begin = np.where(told >= 0, told, item[births])
    when[births] = records["ts"][begin]
    entered = np.flatnonzero(inside[item] & ~items.is_child)
    until = np.searchsorted(records["ts"], part(records, "exit_ts", item[entered]), "right")
    rows = np.concatenate([births, entered])
    begin, end = np.r_[begin, item[entered]], np.r_[item[births], until]
    freed = _freed_since(log, skb, items.address[rows], begin, end)
    when[rows] = np.maximum(when[rows], freed + 1)
    return when


def _freed_since(log: KernelLog, skb: Index, address: Index, begin: Index, end: Index) -> Index:
    """When each address was freed last between two records, ns; -1: it was not."""
    records = log.records
    found = np.full(len(address), -1, np.int64)
    free = np.flatnonzero((records["kind"] == EVENT) & (records["event"] == FREE))
    some = np.flatnonzero(np.searchsorted(free, end) > np.searchsorted(free, begin))
    free = free[np.isin(skb[free], address[some])]
    if not len(free):
        return found
    place = dense(np.concatenate([skb[free], address[some]])).astype(np.int64) * (len(skb) + 1)
    key, mine = np.sort(place[: len(free)] + free), place[len(free) :]
    last = np.append(key, -1)[np.searchsorted(key, mine + end[some]) - 1] - mine  # -1: the appended
    some, last = some[last > begin[some]], last[last > begin[some]]
    found[some] = records["ts"][last]
    return found


def _items(own: Flags, child: Flags) -> tuple[Small, Flags]:
    """Records of lives; births of clones, before the record of their own, are marked."""
    item = np.flatnonzero(own | child).astype(np.int32)
    at = np.flatnonzero(child[item])
    twice = own[item[at]]
    is_child = np.zeros(len(item) + np.count_nonzero(twice), np.bool_)
    is_child[at + np.cumsum(twice) - twice] = True
    return np.insert(item, at[twice], item[at[twice]]), is_child


def _effective_skb(log: KernelLog) -> Index:
    """The skb of each record; an allocator's entry gets the skb that it returns."""
    records = log.records
    skb = records["skb"].copy()
    blank = np.flatnonzero((records["kind"] == ENTRY) & (skb == 0) & (records["exit_ts"] >= 0))
    blank = blank[(part(records, "flags", blank) & SKB_IS_RET) != 0]
    skb[blank] = part(records, "ret", blank)
    skb[(records["kind"] == EVENT) & chosen(records["event"], ABOUT_OTHERS)] = 0
    return np.asarray(skb, np.int64)


def _makers(log: KernelLog) -> Small:
    """For each birth event the index of the ENTRY of the function that tells of it, else -1."""
    records = log.records
    maker = np.full(len(records), -1, np.int32)
    where = contexts(records)
    bits = len(records).bit_length()
    births = {p.id: p.event for p in log.probes.values() if p.event in BIRTHS}
    kind, event_of = records["kind"], records["event"]
    entries = np.flatnonzero((kind == ENTRY) & chosen(records["func"], list(births)))
    events = np.flatnonzero((kind == EVENT) & chosen(event_of, BIRTHS))
    for event in BIRTHS:
        ids = [id_ for id_, tells in births.items() if tells == event]
        entry = entries[chosen(part(records, "func", entries), ids)]
        told = events[event_of[events] == event]
        if not len(entry) or not len(told):
            continue
        key = (where[entry].astype(np.int64) << bits) | entry
        key.sort(kind="stable")
        place = where[told].astype(np.int64) << bits
        found = np.searchsorted(key, place | told) - 1
        valid = (found >= 0) & (key[found] >= place)
        maker[told[valid]] = key[found[valid]] & ((1 << bits) - 1)
    return maker


class _Cutter:
    """Numbers the lives of items in order of time, each at a `place` (the address, numbered)."""

    def __init__(
        self, log: KernelLog, item: Small, place: Small, is_child: Flags, inside: Flags
    ) -> None:
        self._log, self._item, self._place = log, item, place
        kind, event = log.records["kind"][item], log.records["event"][item]
        is_event = (kind == EVENT) & ~is_child
        self._birth = is_child | (is_event & (event == ALLOC)) | (inside[item] & ~is_child)
        self._free = is_event & (event == FREE)
        places = int(place.max(initial=-1)) + 1
        self._last = np.full(places, -1, np.int32)  # what was at each place: which life,
        self._was_birth, self._was_free = np.zeros((2, places), np.bool_)  # and whether only then
        self._count = 0

    def lives(self) -> Small:
        """The life of each item; without events of lives an identity that changes cuts as well."""
        life = np.empty(len(self._item), np.int32)
        tells = bool(self._birth.any() or self._free.any())
        for rows in blocks(len(life), BLOCK if tells else max(len(life), 1)):
            life[rows] = self._block(rows, tells)
        return life

    def _block(self, rows: slice, tells: bool) -> Small:
        order = by_number(self._place[rows])
        place, birth, free = (a[rows][order] for a in (self._place, self._birth, self._free))
        first = np.r_[True, place[1:] != place[:-1]]
        head, tail = np.flatnonzero(first), np.flatnonzero(np.r_[first[1:], True])
        at = place[head]
        start = np.zeros(len(order), np.bool_)
        start[1:] = (birth[1:] & ~birth[:-1]) | (free[:-1] & ~free[1:])
        start[head] = (birth[head] & ~self._was_birth[at]) | (self._was_free[at] & ~free[head])
        start[head] |= self._last[at] < 0
        if not tells:
            start |= _identity_changes(self._log, self._item[rows][order], first)
        number = np.zeros(len(order), np.int32)  # by time
        number[order] = start
        number = (np.cumsum(number, dtype=np.int32) + np.int32(self._count - 1))[order]
        self._count += int(np.count_nonzero(start))
        number[head] = np.where(start[head], number[head], self._last[at])
        begin = np.flatnonzero(first | start)
        number = np.repeat(number[begin], np.diff(begin, append=len(order)))
        self._last[at] = number[tail]
        self._was_birth[at], self._was_free[at] = birth[tail], free[tail]
        life = np.empty(len(order), np.int32)
        life[order] = number
        return life


def _born_inside(log: KernelLog, skb: Index, giver: Flags, maker: Small) -> Flags:
    """Which of the records `giver` enter a function whose skb is born inside it, not just found."""
    records = log.records
    inside = np.zeros(len(records), np.bool_)
    births = np.flatnonzero((records["kind"] == EVENT) & chosen(records["event"], BIRTHS))
    child = part(records, "data", births)
    own = part(records, "event", births) == ALLOC
    child[own] = skb[births[own]]
    # Most often the function that gives the skb is the one that tells of the birth.
    by = maker[births]
    told = giver[by] & (by >= 0) & (skb[by] == child)
    told[told] = part(records, "ts", births[told]) <= part(records, "exit_ts", by[told])
    inside[by[told]] = True
    givers = np.flatnonzero(giver & ~inside)
    mine = np.isin(child, np.unique(skb[givers]))
    births, child = births[mine], child[mine]
    if not len(births) or not len(givers):
        return inside
    both = np.concatenate([births, givers])
    where = contexts(records)[both].astype(np.int64)
    address = dense(np.concatenate([child, skb[givers]]))
    place = dense(where * (int(address.max()) + 1) + address)
    span = len(records) + 1
    order = place.astype(np.int64) * span + both
    born, mine = np.sort(order[: len(births)]), order[len(births) :]
    following = np.append(born, np.iinfo(np.int64).max)[np.searchsorted(born, mine)]
    event = following - (mine - givers)  # of another place: beyond the records
    near = event < len(records)  # the birth may be told just after the exit, at its time
    leave = part(records, "exit_ts", givers[near])
    inside[givers[near]] = part(records, "ts", event[near]) <= leave
    return inside


def _identity_changes(log: KernelLog, item: Small, first: Flags) -> Flags:
    """In a log without life events: items whose thesis key differs from the one before."""
    change = np.zeros(len(item), np.bool_)
    known = np.flatnonzero(part(log.records, "ip_version", item) != 0)
    columns = ["saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo", "ip_id", "protocol"]
    key = log.records[columns][item[known]]
    if len(known) > 1:
        group = np.cumsum(first)[known]
        change[known[1:]] = (key[1:] != key[:-1]) & (group[1:] == group[:-1])
    return change


def _is_tap(log: KernelLog, maker: Small, birth: Index) -> Flags:
    """Which lives are copies made for a sniffer: by the caller of the function that cloned."""
    told = np.where(birth >= 0, maker[birth], -1)
    caller = np.where(told >= 0, part(log.records, "caller", told), 0)
    taps = [a for a, name in log.symbols.items() if name.split("+")[0] in TAP_CLONER]
    return np.isin(caller, np.array(taps, np.int64))
