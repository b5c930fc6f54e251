# SPDX-License-Identifier: MIT
"""Cut records into the lives of skbs: from birth to free at one address.

In: records of one KBL in time order, the log's tables.  Out: for each record
the life it belongs to, and for each life its parent.  Addresses are reused within microseconds (one
carried 17 packets in a short recording), so births, frees and clones cut, not time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..records import KernelLog, part
from .kinds import ENTRY, EVENT, SKB_IS_RET, Index, chosen, contexts
from .ordering import by_number, dense
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

    `birth` is the index of the record that tells of the clone (-1: none).  `met` is per record: the
    time (ns) when its function had the skb: a reader's entry may have waited for the packet.
    `told_by` is per record: see tellers.
    """

    of: Index
    parent: Index
    birth: Index
    tap: Flags
    met: Index
    told_by: Index


def cut(log: KernelLog) -> Lives:
    """Assign each record of `log` to a life; records without an skb get -1."""
    records = log.records
    skb = _effective_skb(log)
    maker = _makers(log)  # the child is handled inside already: it is born at the entry
    at = records["ts"][np.where(maker >= 0, maker, np.arange(len(records)))]
    inside = _born_inside(log, skb)
    kind, event = records["kind"], records["event"]
    told_by = tellers(log)
    late = (told_by >= 0) & chosen(event, MAYBE_FREED)
    item, is_child = _items(
        (skb != 0) & ~late,
        (kind == EVENT) & chosen(event, (CLONE, COPY, SEGMENT)),
    )
    address = np.where(is_child, records["data"][item], skb[item])
    found = (kind == ENTRY) & (records["skb"] == 0) & (skb != 0) & ~inside
    met = records["ts"].copy()
    met[found] = records["exit_ts"][found]  # it got the skb when it returned
    when = np.where(
        is_child | ((kind[item] == EVENT) & (event[item] == ALLOC)), at[item], met[item]
    )
    order = np.argsort(when, kind="stable")  # nearly in order already
    order = order[by_number(dense(address)[order])]
    item, is_child, address = item[order], is_child[order], address[order]
    life = np.cumsum(_starts(log, inside, item, is_child, address)) - 1
    of = np.full(len(records), -1, np.int64)
    of[item[~is_child]] = life[~is_child]
    of[late] = of[told_by[late]]
    count = int(life[-1]) + 1 if len(life) else 0
    birth = np.full(count, -1, np.int64)
    birth[life[is_child]] = item[is_child]
    parent = np.where(birth >= 0, of[birth], -1) if count else birth
    return Lives(of, parent, birth, _is_tap(log, maker, birth), met, told_by)


def _items(own: Flags, child: Flags) -> tuple[Index, Flags]:
    """Records of lives; births of clones, before the record of their own, are marked."""
    index = np.flatnonzero(own | child)
    times = own[index].astype(np.int64) + child[index]
    is_child = np.zeros(int(times.sum()), np.bool_)
    begin = np.cumsum(times) - times
    is_child[begin[child[index]]] = True
    return np.repeat(index, times), is_child


def _effective_skb(log: KernelLog) -> Index:
    """The skb of each record; an allocator's entry gets the skb that it returns."""
    records = log.records
    skb = records["skb"].copy()
    blank = np.flatnonzero((records["kind"] == ENTRY) & (skb == 0) & (records["exit_ts"] >= 0))
    blank = blank[(part(records, "flags", blank) & SKB_IS_RET) != 0]
    skb[blank] = part(records, "ret", blank)
    skb[(records["kind"] == EVENT) & chosen(records["event"], ABOUT_OTHERS)] = 0
    return np.asarray(skb, np.int64)


def _makers(log: KernelLog) -> Index:
    """For each birth event the index of the ENTRY of the function that tells of it, else -1."""
    records = log.records
    maker = np.full(len(records), -1, np.int64)
    where = contexts(records)
    span = np.int64(len(records) + 1)
    births = {p.id: p.event for p in log.probes.values() if p.event in BIRTHS}
    kind, func, event_of = records["kind"], records["func"], records["event"]
    entries = np.flatnonzero((kind == ENTRY) & chosen(func, list(births)))
    events = np.flatnonzero((kind == EVENT) & chosen(event_of, BIRTHS))
    for event in BIRTHS:
        ids = [id_ for id_, tells in births.items() if tells == event]
        entry, told = entries[chosen(func[entries], ids)], events[event_of[events] == event]
        if not len(entry) or not len(told):
            continue
        key = where[entry].astype(np.int64) * span + entry
        key.sort(kind="stable")
        place = where[told].astype(np.int64)
        found = np.searchsorted(key, place * span + told) - 1
        valid = (found >= 0) & (key[found] // span == place)
        maker[told[valid]] = key[found[valid]] % span
    return maker


def _starts(log: KernelLog, inside: Flags, item: Index, is_child: Flags, address: Index) -> Flags:
    """Which of the items, sorted by address and time, begin a new life."""
    if not len(item):
        return np.zeros(0, np.bool_)
    kind, event = log.records["kind"][item], log.records["event"][item]
    is_event = (kind == EVENT) & ~is_child
    birth = is_child | (is_event & (event == ALLOC))
    birth |= inside[item] & ~is_child
    free = is_event & (event == FREE)
    first = np.r_[True, address[1:] != address[:-1]]
    start = first.copy()
    start[1:] |= birth[1:] & ~birth[:-1]
    start[1:] |= free[:-1] & ~free[1:]
    if not np.any(birth) and not np.any(free):
        start |= _identity_changes(log, item, first)
    return np.asarray(start, np.bool_)


def _born_inside(log: KernelLog, skb: Index) -> Flags:
    """Which records enter a function that returns an skb born inside it (not just found)."""
    records = log.records
    giver = (records["kind"] == ENTRY) & (records["skb"] == 0) & (skb != 0)
    inside = np.zeros(len(records), np.bool_)
    births = np.flatnonzero((records["kind"] == EVENT) & chosen(records["event"], BIRTHS))
    givers = np.flatnonzero(giver)
    if not len(births) or not len(givers):
        return inside
    child = np.where(records["event"][births] == ALLOC, skb[births], records["data"][births])
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


def _identity_changes(log: KernelLog, item: Index, first: Flags) -> Flags:
    """In a log without life events: items whose thesis key differs from the one before."""
    change = np.zeros(len(item), np.bool_)
    known = np.flatnonzero(log.records["ip_version"][item] != 0)
    columns = ["saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo", "ip_id", "protocol"]
    key = log.records[columns][item[known]]
    if len(known) > 1:
        group = np.cumsum(first)[known]
        change[known[1:]] = (key[1:] != key[:-1]) & (group[1:] == group[:-1])
    return change


def _is_tap(log: KernelLog, maker: Index, birth: Index) -> Flags:
    """Which lives are copies made for a sniffer: by the caller of the function that cloned."""
    told = np.where(birth >= 0, maker[birth], -1)
    caller = np.where(told >= 0, log.records["caller"][told], 0)
    taps = [a for a, name in log.symbols.items() if name.split("+")[0] in TAP_CLONER]
    return np.isin(caller, np.array(taps, np.int64))
