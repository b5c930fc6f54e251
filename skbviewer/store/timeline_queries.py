# SPDX-License-Identifier: MIT
"""Queries for the timeline, which gets whole columns from whole_columns.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, select

from .queries import MISSED
from .sqlalchemy_tables import call, event, leg, loss, match, packet, probe, series, wait


class StoredLoss(NamedTuple):
    """Columns of `loss`."""

    ts: int
    dur: int
    cpu: int
    source: int
    data: int
    flags: int


class LegOfPacket(NamedTuple):
    """A match: the ids of a packet and of a leg, and the verdict."""

    packet: int
    leg: int
    verdict: int


class LegOfKernelOnly(NamedTuple):
    """A leg of a kernel-only row K<n>; `kernel_only` is n."""

    kernel_only: int
    leg: int


class CallOfLeg(NamedTuple):
    """A call, with the source of its leg."""

    id: int
    leg: int
    source: int
    func: int
    entry_ns: int
    dur_ns: int
    drop_reason: int
    marks: int


class WaitOfLeg(NamedTuple):
    """A time in which a leg was not busy, with the source of the leg."""

    leg: int
    source: int
    kind: int
    begin_ns: int
    end_ns: int


def functions(db: Connection) -> dict[int, dict[int, str]]:
    """Return the names of probed functions, by KBL (source id) and probe id."""
    found: dict[int, dict[int, str]] = {}
    for source, func, name in db.execute(select(probe.c.source, probe.c.func, probe.c.name)):
        found.setdefault(source, {})[func] = name
    return found


def gaps(db: Connection) -> list[StoredLoss]:
    """Return the losses of all KBLs, with times on the clock of the KBL.

    Missed hits are left out, because each is a single call at an unknown moment of a long time.
    """
    columns = (loss.c.ts, loss.c.dur, loss.c.cpu, loss.c.source, loss.c.data, loss.c.flags)
    wanted = select(*columns).where(loss.c.flags != MISSED)
    return list(map(StoredLoss._make, db.execute(wanted.order_by(loss.c.id))))


def legs_of_packets(db: Connection, numbers: Sequence[int]) -> list[LegOfPacket]:
    """Return the matches of the packets `numbers`; exact matches come first."""
    columns = match.c.packet, match.c.leg, match.c.verdict
    wanted = select(*columns).where(match.c.packet.in_(numbers))
    wanted = wanted.order_by(match.c.verdict, match.c.packet, match.c.leg)
    return list(map(LegOfPacket._make, db.execute(wanted)))


def legs_of_kernel_only(db: Connection, numbers: Sequence[int]) -> list[LegOfKernelOnly]:
    """Return the legs of kernel-only rows K<n>; `numbers` are the values of n."""
    joined = series.join(leg, leg.c.series == series.c.id)
    wanted = select(series.c.kernel_only, leg.c.id.label("leg")).select_from(joined)
    wanted = wanted.where(series.c.kernel_only.in_(numbers))
    wanted = wanted.order_by(series.c.kernel_only, leg.c.id)
    return list(map(LegOfKernelOnly._make, db.execute(wanted)))


def calls_of_legs(db: Connection, legs: Sequence[int]) -> list[CallOfLeg]:
    """Return the calls of the legs with the ids `legs`, in order of their ids."""
    columns = (call.c.id, call.c.leg, leg.c.source, call.c.func, call.c.entry_ns, call.c.dur_ns)
    wanted = select(*columns, call.c.drop_reason, call.c.marks).join(leg, leg.c.id == call.c.leg)
    wanted = wanted.where(call.c.leg.in_(legs)).order_by(call.c.id)
    return list(map(CallOfLeg._make, db.execute(wanted)))


def waits_of_legs(db: Connection, legs: Sequence[int]) -> list[WaitOfLeg]:
    """Return the times in which the legs with the ids `legs` were not busy, by leg and time."""
    columns = (wait.c.leg, leg.c.source, wait.c.kind, wait.c.begin_ns, wait.c.end_ns)
    wanted = select(*columns).join(leg, leg.c.id == wait.c.leg).where(wait.c.leg.in_(legs))
    wanted = wanted.order_by(wait.c.leg, wait.c.begin_ns)
    return list(map(WaitOfLeg._make, db.execute(wanted)))


def place_of_call(db: Connection, number: int) -> tuple[int, int, int] | None:
    """Return three ids for the call `number`: its leg, the leg's series, and the leg's first call.

    Returns None if there is no such call.
    """
    wanted = select(call.c.leg, leg.c.series).join(leg, leg.c.id == call.c.leg)
    found = db.execute(wanted.where(call.c.id == number)).first()
    if found is None:
        return None
    return found.leg, found.series, first_call(db, found.leg) or number


def packet_of_leg(db: Connection, number: int) -> int | None:
    """Return the packet with the best match for the leg with id `number`; None if there is none."""
    wanted = select(match.c.packet).where(match.c.leg == number)
    return db.execute(wanted.order_by(match.c.verdict, match.c.id)).scalar()


def series_of_leg(db: Connection, number: int) -> int | None:
    """Return the skb lifetime of the leg with id `number`; None if there is no such leg."""
    return db.execute(select(leg.c.series).where(leg.c.id == number)).scalar()


def leg_of_event(db: Connection, number: int) -> int | None:
    """Return the leg of the event with id `number`; -1 if it has no leg.

    Returns None if there is no such event.
    """
    return db.execute(select(event.c.leg).where(event.c.id == number)).scalar()


def time_of_call(db: Connection, number: int) -> tuple[int, int, int] | None:
    """Return source, entry and duration (ns) of the call with id `number`; None if there is none.

    The duration is -1 if the return of the call is not in the log.
    """
    wanted = select(leg.c.source, call.c.entry_ns, call.c.dur_ns)
    wanted = wanted.join(leg, leg.c.id == call.c.leg)
    found = db.execute(wanted.where(call.c.id == number)).first()
    return None if found is None else (found.source, found.entry_ns, found.dur_ns)


def time_of_packet(db: Connection, number: int) -> tuple[int, int, int] | None:
    """Return source, time and duration (always 0) of packet `number`; None if there is none."""
    wanted = select(packet.c.source, packet.c.ts).where(packet.c.id == number)
    found = db.execute(wanted).first()
    return None if found is None else (found.source, found.ts, 0)


def time_of_series(db: Connection, number: int) -> tuple[int, int, int] | None:
    """Return source, begin and duration (ns) of skb lifetime `number`; None if there is none."""
    wanted = select(series.c.source, series.c.begin_ns, series.c.end_ns)
    found = db.execute(wanted.where(series.c.id == number)).first()
    return None if found is None else (found.source, found.begin_ns, found.end_ns - found.begin_ns)


def first_call(db: Connection, number: int) -> int | None:
    """Return the id of the first call of the leg with id `number`; None if it has no call."""
    wanted = select(call.c.id).where(call.c.leg == number)
    return db.execute(wanted.order_by(call.c.id).limit(1)).scalar()
