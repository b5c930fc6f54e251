# SPDX-License-Identifier: MIT
"""What each record tells of an skb's life, and when: its item, or the two of a clone's birth.

In: records of one KBL in time order.  Out: bits for each record, the items that stand at another
time than their record, and who told what.  A birth is told when the function that gives the skb
returns, but the skb is there from its entry on; a reader's function waits for the skb it returns;
and of two CPUs one may be given memory that the other is still giving back.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import KernelLog, Records, part, room_of
from ..records.compiled import compiled
from .kinds import ENTRY, EVENT, SKB_IS_RET, Index
from .met import Met
from .numbering import Numbering, longer
from .ordering import Small, blocks
from .record_rows import Rows, passing
from .tellers import Makers, Tellers

ALLOC, CLONE, COPY, SEGMENT, FREE = 1, 2, 3, 4, 5  # kbl.h enum kbl_event
MAYBE_FREED = (9, 10, 11, 15, 36)  # told at exit: by then the skb may be another's already
ABOUT_OTHERS = (8, 20, 34)  # TASK, XMIT, FOOTPRINT: no events of a life
IS_LATE, IS_ABOUT_OTHERS = np.zeros((2, 256), np.bool_)
IS_LATE[list(MAYBE_FREED)] = IS_ABOUT_OTHERS[list(ABOUT_OTHERS)] = True

OWN, CHILD, BORN, FREED, GIVEN, OWN_MOVED, CHILD_MOVED, INSIDE = (1 << n for n in range(8))
NEVER = (1 << 63) - 1

Bytes = npt.NDArray[np.uint8]


class Moved(NamedTuple):
    """Items that stand at another time than their record, sorted by `when` (ns) and `item`.

    `item` is 2 x record, + 1 if it is of the record's own skb; `place` numbers the address.
    """

    when: Index
    item: Index
    place: Small
    born: Bytes


class Items(NamedTuple):
    """`what`: bits of each record's items; `told_by`: the ENTRY of the call that told it, or -1.

    OWN is an item of the record's own skb, which its call returned if GIVEN; CHILD the birth of a
    clone, before it; BORN, FREED, OWN_MOVED and CHILD_MOVED are said of them.  `late` are events
    told too late to be sure of the skb: they belong where their tellers do.  `children` tell of
    clones, inside the calls `makers` (or -1).  `tells`: whether there is any birth or free.
    """

    what: Bytes
    told_by: Small
    moved: Moved
    addresses: Numbering
    late: Index
    children: Small
    makers: Small
    met: Met
    tells: bool


class Skbs(NamedTuple):
    """Of some records their bits, and the addresses of their own skb and of a clone, 0 = none."""

    what: Bytes
    own: Index
    child: Index


def skbs(rows: Rows) -> Skbs:
    """What these records say of themselves."""
    count = rows.end - rows.first
    what, own, child = np.empty(count, np.uint8), *np.empty((2, count), np.int64)
    kind, event, flags, skb, ret, data, exit_ts = rows.columns(
        "kind event flags skb ret data exit_ts"
    )
    _say(kind, event, flags, skb, ret, data, exit_ts, what, own, child)
    return Skbs(what, own, child)


@compiled
def _say(
    kind: Bytes,
    event: Bytes,
    flags: Bytes,
    skb: Index,
    ret: Index,
    data: Index,
    exit_ts: Index,
    what: Bytes,
    own: Index,
    child: Index,
) -> None:
    for i in range(len(kind)):
        bits, mine, other = 0, skb[i], np.int64(0)
        if kind[i] == ENTRY:
            if mine == 0 and exit_ts[i] >= 0 and flags[i] & SKB_IS_RET and ret[i] != 0:
                bits, mine = GIVEN, ret[i]
        elif kind[i] == EVENT:
            if IS_ABOUT_OTHERS[event[i]]:
                mine = np.int64(0)
            elif event[i] == ALLOC:
                bits = BORN
            elif event[i] == FREE:
                bits = FREED
            elif CLONE <= event[i] <= SEGMENT:
                bits, other = (CHILD if data[i] != 0 else 0), data[i]
        what[i] = bits | (OWN if mine != 0 else 0)
        own[i], child[i] = mine, other


def items(log: KernelLog) -> Items:
    """The items of all records."""
    records = log.records
    what, told_by = _born_inside(records), room_of(records).full(len(records), np.int32, -1)
    tellers, looker = Tellers(log), _Looker()
    none = np.zeros(0, np.int64)
    late, children, makers, waited = [none], [none], [none], [none]
    for some in passing(records):
        rows = Rows(records, some)
        told = tellers.tell(rows, told_by[some])
        said = skbs(rows)
        said.what[:] |= what[some]
        late.append(np.flatnonzero(IS_LATE[rows["event"]] & (told_by[some] >= 0)))
        said.what[late[-1]] = 0
        late[-1] += some.start
        looker.look(rows, said, told)
        what[some] = said.what
        child = np.flatnonzero(said.what & CHILD)
        children.append(child + some.start)
        makers.append(told.maker[child].astype(np.int64))
        waited.append(np.flatnonzero((said.what & (GIVEN | INSIDE)) == GIVEN) + some.start)
    moved = _sorted([*looker.moved, _freed_meanwhile(records, what, looker)])
    waits = np.concatenate(waited).astype(np.int32)
    return Items(
        what,
        told_by,
        moved,
        looker.addresses,
        np.concatenate(late),
        np.concatenate(children).astype(np.int32),
        np.concatenate(makers).astype(np.int32),
        Met(records, waits, part(records, "exit_ts", waits)),
        looker.tells,
    )


def _sorted(parts: Iterable[Moved]) -> Moved:
    every = Moved._make(np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((every.item, every.when))
    return Moved._make(column[order] for column in every)


def _born_inside(records: Records) -> Bytes:
    """INSIDE for calls that return an skb born in them, in the same context, not just found."""
    what = room_of(records).full(len(records), np.uint8, 0)
    contexts, addresses, pairs = Numbering(), Numbering(), Numbering()
    following = np.zeros(0, np.int64)
    for some in passing(records, backwards=True):
        rows = Rows(records, some)
        said = skbs(rows)
        few = np.flatnonzero(said.what & (GIVEN | BORN | CHILD))
        given = (said.what[few] & GIVEN) != 0
        skb = np.where((said.what[few] & CHILD) != 0, said.child[few], said.own[few])
        place = addresses.of(skb).astype(np.int64) + 1  # 0: a broken log's birth of none
        pair = pairs.of((place << 32) | (contexts.of(rows.contexts()[few]) + 1))
        following = longer(following, pairs.count, NEVER)
        inside = np.zeros(len(few), np.bool_)
        _look_inside(given, pair, rows["ts"][few], rows["exit_ts"][few], following, inside)
        what[some.start + few[inside]] = INSIDE
    return what


@compiled
def _look_inside(
    given: npt.NDArray[np.bool_],
    pair: Small,
    ts: Index,
    exit_ts: Index,
    following: Index,
    inside: npt.NDArray[np.bool_],
) -> None:
    """Backwards; `following` is the time of the next birth of each pair (skb, context)."""
    for i in range(len(pair) - 1, -1, -1):
        if given[i]:
            inside[i] = following[pair[i]] <= exit_ts[i]
        else:
            following[pair[i]] = ts[i]


class _Looker:
    """Looks at records in order; `moved` are items that stand at another time than their record."""

    def __init__(self) -> None:
        self.addresses, self.tells = Numbering(), False
        self.moved: list[Moved] = []
        self.struck: list[Index] = [np.zeros(0, np.int64)]  # FREE of what calls are yet to return
        self._freed = np.zeros(0, np.int32)  # of each address the last FREE,
        self._freed_ns, self._latest, self._open = np.zeros((3, 0), np.int64)

    def look(self, rows: Rows, said: Skbs, told: Makers) -> None:
        """Set OWN_MOVED and CHILD_MOVED of these records."""
        own, child = self.addresses.of(said.own), self.addresses.of(said.child)
        size = self.addresses.count
        self._freed = longer(self._freed, size, -1)
        self._freed_ns = longer(self._freed_ns, size, 0)
        self._latest = longer(self._latest, size, -NEVER)
        self._open = longer(self._open, size, -NEVER)
        count = rows.end - rows.first
        item, place = np.empty(2 * count, np.int64), np.empty(2 * count, np.int32)
        when, born = np.empty(2 * count, np.int64), np.empty(2 * count, np.uint8)
        sizes, struck = np.zeros(2, np.int64), np.empty(count, np.int64)
        ts, exit_ts = rows.columns("ts exit_ts")
        _look(
            rows.first, ts, exit_ts, said.what, own, child, told.maker, told.entered,
            self._freed, self._freed_ns, self._latest, self._open,
            when, item, place, born, struck, sizes,
        )  # fmt: skip
        some = slice(int(sizes[0]))
        self.moved.append(Moved._make(c[some].copy() for c in (when, item, place, born)))
        self.struck.append(struck[: sizes[1]].copy())
        self.tells |= bool((said.what & (BORN | CHILD | FREED | INSIDE)).any())


@compiled
def _look(
    first: int,
    ts: Index,
    exit_ts: Index,
    what: Bytes,
    own: Small,
    child: Small,
    maker: Small,
    entered: Index,
    freed: Small,
    freed_ns: Index,
    latest: Index,
    open_until: Index,
    moved_when: Index,
    moved_item: Index,
    moved_place: Small,
    moved_born: Bytes,
    struck: Index,
    sizes: Index,
) -> None:
    """When each item happened: keep those of another time than their record.

    A birth is as early as the function that made the skb was entered, but not before the memory was
    free; it needs to be moved only if other items of the address came since.
    """
    for i in range(len(ts)):
        for mine in range(2):
            if what[i] & (OWN if mine else CHILD) == 0:
                continue
            place, when = own[i] if mine else child[i], ts[i]
            born = mine == 0 or what[i] & (BORN | INSIDE) != 0
            if mine == 0 or what[i] & BORN != 0:
                begin = maker[i] if maker[i] >= 0 else first + i
                when = entered[i]
                if freed[place] > begin:
                    when = max(when, freed_ns[place] + 1)
            elif what[i] & (GIVEN | INSIDE) == GIVEN:
                when = exit_ts[i]
            if when < latest[place] or when > ts[i] or (not born and when != ts[i]):
                what[i] |= OWN_MOVED if mine else CHILD_MOVED
                at = sizes[0]
                moved_when[at], moved_item[at] = when, 2 * (first + i) + mine
                moved_place[at], moved_born[at] = place, born
                sizes[0] += 1
            latest[place] = max(latest[place], when)
            if what[i] & INSIDE and mine:
                open_until[place] = max(open_until[place], exit_ts[i])
            if mine and what[i] & FREED:
                freed[place], freed_ns[place] = first + i, ts[i]
                if ts[i] <= open_until[place]:
                    struck[sizes[1]] = first + i
                    sizes[1] += 1
                    latest[place] = max(latest[place], ts[i] + 1)


def _freed_meanwhile(records: Records, what: Bytes, looker: _Looker) -> Moved:
    """Calls that return an skb whose memory another CPU frees after they are entered: later then.

    Sets OWN_MOVED.
    """
    free = np.concatenate(looker.struck)
    if not len(free):
        return Moved(free, free, free.astype(np.int32), free.astype(np.uint8))
    parts = [np.flatnonzero(what[some] & INSIDE) + some.start for some in blocks(len(what))]
    given = np.concatenate(parts)
    given = given[np.isin(part(records, "ret", given), part(records, "skb", free))]
    skbs = np.concatenate([part(records, "skb", free), part(records, "ret", given)])
    rank = np.unique(skbs, return_inverse=True)[1].reshape(-1) * (len(free) + 1)
    place, mine = rank[: len(free)] + np.arange(len(free)), rank[len(free) :]
    order = np.argsort(place, kind="stable")
    ts = part(records, "ts", free)
    until = np.searchsorted(ts, part(records, "exit_ts", given), "right")
    last = order[np.maximum(np.searchsorted(place[order], mine + until) - 1, 0)]
    since = (place[last] >= mine) & (place[last] < mine + until) & (free[last] > given)
    given, when = given[since], ts[last[since]] + 1
    what[given] |= OWN_MOVED
    address = looker.addresses.of(np.ascontiguousarray(part(records, "ret", given)))
    return Moved(when, 2 * given + 1, address, np.ones(len(given), np.uint8))
