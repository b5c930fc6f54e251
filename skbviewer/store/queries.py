# SPDX-License-Identifier: MIT
"""Queries of a session file: functions that return plain rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from sqlalchemy import (
    LABEL_STYLE_TABLENAME_PLUS_COL,
    BindParameter,
    CompoundSelect,
    Connection,
    Select,
    bindparam,
    func,
    literal,
    select,
    union_all,
)

from ..records import NO_DELTA
from ..records.kernel_events import DROP
from ..records.types import Int64s
from ..records.view_rows import RELATIONS
from .query_rows import (
    StoredAddress,
    StoredCall,
    StoredChange,
    StoredDrop,
    StoredEvent,
    StoredFrame,
    StoredLeg,
    StoredMoment,
    StoredPacket,
    StoredProbe,
    StoredSeries,
    StoredSource,
    StoredSyscall,
    StoredWait,
)
from .schema import SECTIONS
from .sqlalchemy_tables import (
    address,
    call,
    change,
    device,
    drop,
    event,
    event_name,
    frame,
    leg,
    loss,
    match,
    merge,
    metadata,
    moment,
    packet,
    probe,
    series,
    source,
    symbol,
    syscall,
    task,
    wait,
)
from .sqlalchemy_tables import (
    meta as meta_table,
)
from .table_declarations import Table

MOST_KEYS = 500  # in one query

MISSED = 2  # kbl.h enum kbl_lost


def count(db: Connection, table: Table) -> int:
    """Return the number of rows of `table`, which is its highest id."""
    last = func.max(metadata.tables[table.name].c.id)
    return int(db.execute(select(func.coalesce(last, 0))).scalar_one())


_SOURCES = select(source).order_by(source.c.id)


def sources(db: Connection) -> list[StoredSource]:
    """Return the input files in import order."""
    return list(map(StoredSource._make, db.execute(_SOURCES)))


_PACKETS = select(packet).where(packet.c.id.between(bindparam("first"), bindparam("last")))
_PACKETS = _PACKETS.order_by(packet.c.id)


def packets(db: Connection, first: int, number: int) -> list[StoredPacket]:
    """Return the rows of table `packet` with ids first .. first + number - 1."""
    wanted = {"first": first, "last": first + number - 1}
    return list(map(StoredPacket._make, db.execute(_PACKETS, wanted)))


def all_kernel_only_count(db: Connection) -> int:
    """Return the number of kernel-only rows (K<n>)."""
    last = select(func.coalesce(func.max(series.c.kernel_only), 0))
    return max(int(db.execute(last).scalar_one()), 0)


def kernel_only_count(db: Connection) -> int:
    """Return the number of kernel-only rows (K<n>) that have a network identity.

    The rows without an identity have higher n.
    """
    low, high = 0, all_kernel_only_count(db)
    while low < high:
        middle = (low + high + 1) // 2
        wanted = select(series.c.identity).where(series.c.kernel_only == middle)
        if int(db.execute(wanted).scalar_one()) >= 0:
            low = middle
        else:
            high = middle - 1
    return low


def kernel_only(db: Connection, first: int, number: int) -> list[StoredSeries]:
    """Return `number` rows of table `series`: those listed as K<n>, from n = `first` on."""
    wanted = series.c.kernel_only.between(first, first + number - 1)
    rows = db.execute(select(series).where(wanted).order_by(series.c.kernel_only))
    return list(map(StoredSeries._make, rows))


_DELTA_NS = func.nullif(match.c.delta_ns, NO_DELTA).label("delta_ns")
_LEGS_OF_PACKET = (
    select(leg, match.c.verdict, match.c.rung, match.c.confidence, _DELTA_NS)
    .select_from(match.join(leg, leg.c.id == match.c.leg))
    .where(match.c.packet == bindparam("number"))
    .order_by(leg.c.source, leg.c.begin_ns)
)


def legs_of_packet(db: Connection, number: int) -> list[StoredLeg]:
    """Return the legs that match packet `number`, each with its match, by source and time."""
    return [StoredLeg(*row) for row in db.execute(_LEGS_OF_PACKET, {"number": number})]


_MOMENTS = select(moment).where(moment.c.packet == bindparam("number"))


def moments(db: Connection, number: int) -> list[StoredMoment]:
    """Return where and when packet `number` was captured: a row for each log that shows it."""
    return list(map(StoredMoment._make, db.execute(_MOMENTS, {"number": number})))


_LEGS_OF_SERIES = select(leg).where(leg.c.series == bindparam("number")).order_by(leg.c.begin_ns)


def legs_of_series(db: Connection, number: int) -> list[StoredLeg]:
    """Return the legs of the skb lifetime with id `number`, in order of time."""
    return [StoredLeg(*row) for row in db.execute(_LEGS_OF_SERIES, {"number": number})]


def _related_legs() -> CompoundSelect[Any]:
    own: BindParameter[Any] = bindparam("own", expanding=True)
    up = (
        select(series.c.parent).where(series.c.id.in_(own), series.c.parent > 0).cte(recursive=True)
    )
    above = select(series.c.parent).where(series.c.id == up.c.parent, series.c.parent > 0)
    up = up.union(above)  # terminates even if a damaged file makes a series its own ancestor
    onward = select(merge.c.target).where(merge.c.series.in_(own)).cte(recursive=True)
    onward = onward.union(select(merge.c.target).where(merge.c.series == onward.c.target))
    wanted = (
        select(up.c.parent),
        select(onward.c.target),
        select(series.c.id).where(series.c.parent.in_(own), series.c.tap == 0),
        select(merge.c.series).where(merge.c.target.in_(own)),
    )
    parts = [
        select(leg, literal(word).label("relation"), literal(rank).label("rank")).where(
            leg.c.series.in_(chosen), leg.c.series.not_in(own)
        )
        for rank, (word, chosen) in enumerate(zip(RELATIONS, wanted, strict=True))
    ]
    return union_all(*parts).order_by("rank", "begin_ns").limit(bindparam("most"))


_RELATED_LEGS = _related_legs()


def related_legs(db: Connection, own: Sequence[int], most: int) -> list[StoredLeg]:
    """Return the legs of other lifetimes that are related to the lifetimes with the ids `own`.

    Related are ancestors, clones, lifetimes into which one of `own` was merged, and lifetimes that
    were merged into one of `own`.  Returns at most `most` legs, each with its `relation`; sorted by
    relation, then by time.  Copies for sniffers are left out.
    """
    rows = db.execute(_RELATED_LEGS, {"own": list(own), "most": most})
    return [StoredLeg(*columns)._replace(relation=relation) for *columns, relation, _ in rows]


_CALLS_OF_LEG = (
    select(call, probe.c.name.label("function"), probe.c.arg.label("takes"))
    .select_from(
        call.join(leg, leg.c.id == call.c.leg).outerjoin(
            probe, (probe.c.source == leg.c.source) & (probe.c.func == call.c.func)
        )
    )
    .where(call.c.leg == bindparam("number"))
    .order_by(call.c.id)
)


def calls_of_leg(db: Connection, number: int) -> list[StoredCall]:
    """Return the calls of the leg with id `number`, in order of entry."""
    return list(map(StoredCall._make, db.execute(_CALLS_OF_LEG, {"number": number})))


_VERDICTS_OF_SERIES = select(
    series.c.id, series.c.verdict, series.c.rung, series.c.kernel_only
).where(series.c.id.in_(bindparam("numbers", expanding=True)))
_PACKETS_OF_SERIES = (
    select(leg.c.series, func.min(match.c.packet).label("packet"))
    .select_from(match.join(leg, leg.c.id == match.c.leg))
    .where(leg.c.series.in_(bindparam("numbers", expanding=True)), match.c.verdict == 0)
    .group_by(leg.c.series)
)


def verdicts_of_series(
    db: Connection, numbers: Sequence[int]
) -> dict[int, tuple[int, int, int, int]]:
    """Return (verdict, rung, row, packet) for each of these ids of series.

    The row is n if the series is listed as K<n>, otherwise -1.  The packet is the first one that
    matches the series exactly, or -1.
    """
    wanted = {"numbers": list(numbers)}
    packets = {row.series: row.packet for row in db.execute(_PACKETS_OF_SERIES, wanted)}
    rows = db.execute(_VERDICTS_OF_SERIES, wanted)
    return {id_: (*verdict, packets.get(id_, -1)) for id_, *verdict in rows}


_WAITS_OF_LEG = select(wait).where(wait.c.leg == bindparam("number")).order_by(wait.c.begin_ns)


def waits_of_leg(db: Connection, number: int) -> list[StoredWait]:
    """Return the times when the leg with id `number` was not busy, in order of time."""
    return list(map(StoredWait._make, db.execute(_WAITS_OF_LEG, {"number": number})))


def losses(db: Connection, source: int) -> list[tuple[int, int]]:
    """Return (begin_ns, end_ns) of each loss of the KBL with id `source`, on any CPU.

    Losses that stand for missed hits are left out.
    """
    wanted = (loss.c.source == source) & (loss.c.flags != MISSED)
    rows = db.execute(select(loss.c.ts, loss.c.dur).where(wanted))
    return [(row.ts - max(row.dur, 0), row.ts) for row in rows]


def calls_in(db: Connection, number: int) -> list[int]:
    """Return the ids of the calls of the leg with id `number`."""
    wanted = select(call.c.id).where(call.c.leg == number).order_by(call.c.id)
    return [int(row[0]) for row in db.execute(wanted)]


def addresses_in(db: Connection, number: int) -> list[int]:
    """Return the ids of the addresses of the series to which the leg with id `number` belongs."""
    of = select(leg.c.series).where(leg.c.id == number).scalar_subquery()
    wanted = select(address.c.id).join(leg, leg.c.id == address.c.leg).where(leg.c.series == of)
    return [int(row[0]) for row in db.execute(wanted.order_by(address.c.id))]


def addresses_of_leg(db: Connection, number: int) -> list[StoredAddress]:
    """Return the addresses of the leg with id `number` that no earlier leg of its lifetime had."""
    rows = db.execute(select(address).where(address.c.leg == number).order_by(address.c.id))
    return list(map(StoredAddress._make, rows))


def drops_in(db: Connection, number: int) -> list[int]:
    """Return the ids of the drops among the events of the leg with id `number`."""
    wanted = select(event.c.id).where(event.c.leg == number, event.c.event == DROP)
    return [int(row[0]) for row in db.execute(wanted.order_by(event.c.id))]


def _events_of_leg() -> Select[Any]:
    joined = event
    for beside in (drop, change, syscall, event_name):
        joined = joined.outerjoin(beside, beside.c.event == event.c.id)  # type: ignore[assignment]
    statement = select(event, drop, change, syscall, event_name).select_from(joined)
    statement = statement.where(event.c.leg == bindparam("number")).order_by(event.c.id)
    return statement.set_label_style(LABEL_STYLE_TABLENAME_PLUS_COL)


_EVENTS_OF_LEG = _events_of_leg()


# Where the columns of each table begin in a row of _EVENTS_OF_LEG; each has its id first.
_WIDTHS = [len(table.c) for table in (event, drop, change, syscall, event_name)]
_DROP, _CHANGE, _SYSCALL, _NAME, _END = accumulate(_WIDTHS)


def _event(row: Sequence[Any]) -> StoredEvent:
    """Return an event from its own columns and its details' columns (None without details)."""
    details = (
        None if row[_DROP] is None else StoredDrop._make(row[_DROP:_CHANGE]),
        None if row[_CHANGE] is None else StoredChange._make(row[_CHANGE:_SYSCALL]),
        None if row[_SYSCALL] is None else StoredSyscall._make(row[_SYSCALL:_NAME]),
        row[_END - 1] or "",
    )
    return StoredEvent._make((*row[:_DROP], *details))


def events_of_leg(db: Connection, number: int) -> list[StoredEvent]:
    """Return the events of the leg with id `number` in order of time, with their details."""
    return [_event(tuple(row)) for row in db.execute(_EVENTS_OF_LEG, {"number": number})]


_FRAMES_OF_LEG = (
    select(frame.c.event, frame.c.address)
    .select_from(frame.join(event, event.c.id == frame.c.event))
    .where(event.c.leg == bindparam("number"))
    .order_by(frame.c.id)
)


def frames_of_leg(db: Connection, number: int) -> list[StoredFrame]:
    """Return the stack frames of the drops in the leg with id `number`, innermost frame first."""
    return list(map(StoredFrame._make, db.execute(_FRAMES_OF_LEG, {"number": number})))


def stacks(db: Connection) -> Int64s:
    """Return the frames of all stacks as rows (event, address), innermost frame first."""
    rows = db.execute(select(frame.c.event, frame.c.address).order_by(frame.c.id)).all()
    return np.array([tuple(row) for row in rows], np.int64).reshape(-1, 2)


def devices_of_events(db: Connection) -> list[tuple[int, int, int, int]]:
    """Return (event, netns, ifindex, state) of each event that has a row in table `change`."""
    wanted = select(change.c.event, change.c.netns, change.c.ifindex, change.c.state)
    return [(row[0], row[1], row[2], row[3]) for row in db.execute(wanted)]


def meta(db: Connection, source_id: int) -> dict[str, str]:
    """Return the META values of a KBL by key, except the JSON sections of points."""
    wanted = select(meta_table.c.key, meta_table.c.value).where(
        meta_table.c.source == source_id, ~meta_table.c.key.startswith(SECTIONS)
    )
    return {row.key: row.value for row in db.execute(wanted)}


def sections(db: Connection, source_id: int, numbers: Collection[int]) -> dict[int, str]:
    """Return the JSON sections of points whose numbers are in `numbers`, by number."""
    keys, found = [f"{SECTIONS}{number}" for number in numbers], dict[int, str]()
    for at in range(0, len(keys), MOST_KEYS):
        wanted = select(meta_table.c.key, meta_table.c.value).where(
            meta_table.c.source == source_id, meta_table.c.key.in_(keys[at : at + MOST_KEYS])
        )
        found |= {int(row.key.removeprefix(SECTIONS)): row.value for row in db.execute(wanted)}
    return found


def functions(db: Connection, source_id: int) -> dict[int, str]:
    """Return the names of a KBL's probed functions by probe id."""
    wanted = select(probe.c.func, probe.c.name).where(probe.c.source == source_id)
    return {row.func: row.name for row in db.execute(wanted)}


def armed_functions(db: Connection, source_id: int) -> frozenset[str]:
    """Return the names of the functions on which a KBL's recorder could set a probe."""
    there = (probe.c.source == source_id) & (probe.c.address != 0) & (probe.c.error == 0)
    return frozenset(row.name for row in db.execute(select(probe.c.name).where(there)))


def probe_names(db: Connection) -> list[StoredProbe]:
    """Return the names of all probes."""
    rows = db.execute(select(probe.c.source, probe.c.func, probe.c.name))
    return list(map(StoredProbe._make, rows))


def symbols(db: Connection, source_id: int) -> dict[int, str]:
    """Return the names of a KBL's text symbols by address."""
    wanted = select(symbol.c.address, symbol.c.name).where(symbol.c.source == source_id)
    return {row.address: row.name for row in db.execute(wanted)}


def tasks(db: Connection, source_id: int) -> dict[int, str]:
    """Return the names of a KBL's threads by thread id."""
    wanted = select(task.c.pid, task.c.comm).where(task.c.source == source_id)
    return {row.pid: row.comm for row in db.execute(wanted)}


def devices(db: Connection, source_id: int) -> dict[tuple[int, int], str]:
    """Return the names of a KBL's devices by (netns, ifindex)."""
    wanted = select(device.c.netns, device.c.ifindex, device.c.name)
    found = db.execute(wanted.where(device.c.source == source_id))
    return {(netns, ifindex): name for netns, ifindex, name in found}
