# SPDX-License-Identifier: MIT
"""Everything that is asked of a session file, as named functions returning plain rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    LABEL_STYLE_TABLENAME_PLUS_COL,
    Connection,
    Row,
    Select,
    Table,
    func,
    literal,
    select,
    union_all,
)

from .schema import (
    call,
    change,
    clock,
    device,
    drop,
    event,
    event_name,
    frame,
    leg,
    match,
    oneway,
    packet,
    probe,
    series,
    source,
    symbol,
    syscall,
    task,
    timebase,
)
from .schema import (
    meta as meta_table,
)

KBL_EV_DROP = 7  # kbl.h
Rows = Sequence[Row[Any]]


def _all(db: Connection, statement: Select[Any]) -> Rows:
    return db.execute(statement).all()


def count(db: Connection, table: Table) -> int:
    """Rows of a table with dense ids."""
    return int(db.execute(select(func.coalesce(func.max(table.c.id), 0))).scalar_one())


def sources(db: Connection) -> Rows:
    return db.execute(select(source).order_by(source.c.id)).all()


def packets(db: Connection, first: int, number: int) -> Rows:
    """Packets with ids first .. first + number - 1."""
    wanted = packet.c.id.between(first, first + number - 1)
    return db.execute(select(packet).where(wanted).order_by(packet.c.id)).all()


def first_packet_ts(db: Connection) -> int | None:
    """Capture time of packet 1."""
    return db.execute(select(packet.c.ts).where(packet.c.id == 1)).scalar()


def verdicts(db: Connection) -> Rows:
    """(ip_version, ethertype, verdict, count) over all packets."""
    keys = (packet.c.ip_version, packet.c.ethertype, packet.c.verdict)
    return db.execute(select(*keys, func.count()).group_by(*keys)).all()


def all_kernel_only_count(db: Connection) -> int:
    """How many rows K<n> there are."""
    last = select(func.coalesce(func.max(series.c.kernel_only), 0))
    return max(int(db.execute(last).scalar_one()), 0)


def kernel_only_count(db: Connection) -> int:
    """How many rows K<n> have a network identity: K1 to that one, the others are behind them."""
    low, high = 0, all_kernel_only_count(db)
    while low < high:
        middle = (low + high + 1) // 2
        wanted = select(series.c.identity).where(series.c.kernel_only == middle)
        if int(db.execute(wanted).scalar_one()) > 0:
            low = middle
        else:
            high = middle - 1
    return low


def kernel_only(db: Connection, first: int, number: int) -> Rows:
    """Series numbered K<first> ..."""
    wanted = series.c.kernel_only.between(first, first + number - 1)
    return _all(db, select(series).where(wanted).order_by(series.c.kernel_only))


def legs_of_packet(db: Connection, number: int) -> Rows:
    """The legs matched to a packet with (verdict, rung, confidence, delta_ns), by time."""
    extra = (match.c.verdict, match.c.rung, match.c.confidence, match.c.delta_ns)
    joined = match.join(leg, leg.c.id == match.c.leg)
    statement = select(leg, *extra).select_from(joined).where(match.c.packet == number)
    return db.execute(statement.order_by(leg.c.begin_ns)).all()


def legs_of_series(db: Connection, number: int) -> Rows:
    return db.execute(select(leg).where(leg.c.series == number).order_by(leg.c.begin_ns)).all()


def related_legs(db: Connection, own: Sequence[int], most: int) -> Rows:
    """Legs of the series that `own` come from and of those that came from `own`, by time.

    At most `most`, each with its `relation`; sniffers' copies are left out.
    """
    up = (
        select(series.c.parent).where(series.c.id.in_(own), series.c.parent > 0).cte(recursive=True)
    )
    above = select(series.c.parent).where(series.c.id == up.c.parent, series.c.parent > 0)
    up = up.union(above)  # ends also where garbage is its own ancestor
    wanted = {
        "parent": leg.c.series.in_(select(up.c.parent)),
        "clone": leg.c.series.in_(
            select(series.c.id).where(series.c.parent.in_(own), series.c.tap == 0)
        ),
    }
    parts = [
        select(leg, literal(word).label("relation")).where(chosen, leg.c.series.not_in(own))
        for word, chosen in wanted.items()
    ]
    return db.execute(union_all(*parts).order_by("begin_ns").limit(most)).all()


def calls_of_leg(db: Connection, number: int) -> Rows:
    """Calls of a leg in order of entry, with the probe's name."""
    joined = call.join(leg, leg.c.id == call.c.leg).outerjoin(
        probe, (probe.c.source == leg.c.source) & (probe.c.func == call.c.func)
    )
    statement = select(call, probe.c.name.label("function")).select_from(joined)
    return db.execute(statement.where(call.c.leg == number).order_by(call.c.id)).all()


def calls_in(db: Connection, number: int) -> list[int]:
    """The ids of the calls of a leg."""
    wanted = select(call.c.id).where(call.c.leg == number).order_by(call.c.id)
    return [int(row[0]) for row in db.execute(wanted)]


def drops_in(db: Connection, number: int) -> list[int]:
    """The ids of the events of a leg that are drops."""
    wanted = select(event.c.id).where(event.c.leg == number, event.c.event == KBL_EV_DROP)
    return [int(row[0]) for row in db.execute(wanted.order_by(event.c.id))]


def events_of_leg(db: Connection, number: int) -> Rows:
    """Events of a leg in order of time, with what is told beside them: <table>_<column>."""
    joined = event
    for beside in (drop, change, syscall, event_name):
        joined = joined.outerjoin(beside, beside.c.event == event.c.id)  # type: ignore[assignment]
    statement = select(event, drop, change, syscall, event_name).select_from(joined)
    statement = statement.where(event.c.leg == number).order_by(event.c.id)
    return db.execute(statement.set_label_style(LABEL_STYLE_TABLENAME_PLUS_COL)).all()


def frames_of_leg(db: Connection, number: int) -> Rows:
    """(event, address) of the stacks of a leg's drops, innermost first."""
    joined = frame.join(event, event.c.id == frame.c.event)
    statement = select(frame.c.event, frame.c.address).select_from(joined)
    return _all(db, statement.where(event.c.leg == number).order_by(frame.c.id))


def event_counts(db: Connection) -> dict[int, int]:
    """How many events there are of each kind."""
    found = db.execute(select(event.c.event, func.count()).group_by(event.c.event))
    return {row[0]: int(row[1]) for row in found}


def meta(db: Connection, source_id: int) -> dict[str, str]:
    wanted = select(meta_table.c.key, meta_table.c.value).where(meta_table.c.source == source_id)
    return {row.key: row.value for row in db.execute(wanted)}


def functions(db: Connection, source_id: int) -> dict[int, str]:
    """Names of a KBL's probed functions by probe id."""
    wanted = select(probe.c.func, probe.c.name).where(probe.c.source == source_id)
    return {row.func: row.name for row in db.execute(wanted)}


def probe_names(db: Connection) -> Rows:
    """(source, func, name) of all probes."""
    return _all(db, select(probe.c.source, probe.c.func, probe.c.name))


def symbols(db: Connection, source_id: int) -> dict[int, str]:
    wanted = select(symbol.c.address, symbol.c.name).where(symbol.c.source == source_id)
    return {row.address: row.name for row in db.execute(wanted)}


def tasks(db: Connection, source_id: int) -> dict[int, str]:
    wanted = select(task.c.pid, task.c.comm).where(task.c.source == source_id)
    return {row.pid: row.comm for row in db.execute(wanted)}


def devices(db: Connection, source_id: int) -> dict[tuple[int, int], str]:
    wanted = select(device.c.netns, device.c.ifindex, device.c.name)
    found = db.execute(wanted.where(device.c.source == source_id))
    return {(netns, ifindex): name for netns, ifindex, name in found}


def clocks(db: Connection) -> Rows:
    return db.execute(select(clock).order_by(clock.c.id)).all()


def timebases(db: Connection) -> Rows:
    return db.execute(select(timebase).order_by(timebase.c.id)).all()


def oneways(db: Connection) -> Rows:
    return db.execute(select(oneway).order_by(oneway.c.id)).all()
