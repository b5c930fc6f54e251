# SPDX-License-Identifier: MIT
"""Queries of a session file about machine code of functions, and about calls without a packet."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, func, inspect, select

from ..records import FunctionCode
from .sqlalchemy_tables import code, probe, record

CALL, RETURN = 1, 2  # kbl.h enum kbl_kind: entry, exit


class ProbePlace(NamedTuple):
    """A probe that could be set; `address` is a signed 64-bit number."""

    name: str
    module: str
    address: int


def probe_places(db: Connection, source: int) -> list[ProbePlace]:
    """Return the probed functions of a KBL whose addresses are known.

    `source` is the id of the KBL.
    """
    wanted = select(probe.c.name, probe.c.module, probe.c.address)
    rows = db.execute(wanted.where(probe.c.source == source, probe.c.address != 0))
    return list(map(ProbePlace._make, rows))


def code_at(db: Connection, source: int, address: int) -> FunctionCode | None:
    """Return the machine code of the function at `address` from a KBL; None if the KBL has none.

    `source` is the id of the KBL; `address` is a signed 64-bit number.
    """
    if not inspect(db).has_table(code.name):
        return None
    wanted = select(code.c.ended, code.c.data)
    row = db.execute(wanted.where(code.c.source == source, code.c.address == address)).first()
    return None if row is None else FunctionCode(address % (1 << 64), bool(row.ended), row.data)


def calls_of_no_packet(
    db: Connection, source: int, first: int, last: int
) -> list[tuple[int, int, int]]:
    """Return (caller, func, number): counts of a KBL's calls of no packet, by caller and probe.

    `source` is the id of the KBL.  Only callers (return addresses, signed) from `first` to `last`
    are counted.
    """
    c = record.c
    wanted = select(c.caller, c.func, func.count()).where(
        c.source == source, c.kind == CALL, c.caller.between(first, last)
    )
    rows = db.execute(wanted.group_by(c.caller, c.func))
    return [(caller, number, count) for caller, number, count in rows]


def times_of_no_packet(db: Connection, source: int) -> list[tuple[int, int, int, int, int, int]]:
    """Return (entry, exit, func, context, cpu, pid) of completed calls that belong to no packet.

    `source` is the id of the KBL.  Times are in ns; if the entry is not in the log, it is -1.
    """
    c = record.c
    of_log = (c.source == source) & c.kind.in_((CALL, RETURN))
    wanted = select(c.kind, c.ts, c.exit_ts, c.func, c.context, c.cpu, c.pid).where(of_log)
    return [
        (-1, ts, *rest) if kind == RETURN else (ts, exit_ts, *rest)
        for kind, ts, exit_ts, *rest in db.execute(wanted)
        if kind == RETURN or exit_ts >= 0
    ]
