# SPDX-License-Identifier: MIT
"""Queries of a session file for disassembly: the addresses of functions, and calls of no packet."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, func, select

from .sqlalchemy_tables import probe, record

CALL = 1  # kbl.h enum kbl_kind: entry


class ProbePlace(NamedTuple):
    """A probe that could be set; `address` is a signed 64-bit number."""

    name: str
    module: str
    address: int


def probe_places(db: Connection, source: int) -> list[ProbePlace]:
    """Return the addresses of a KBL's probed functions, without unknown ones.

    `source` is the id of the KBL.
    """
    wanted = select(probe.c.name, probe.c.module, probe.c.address)
    rows = db.execute(wanted.where(probe.c.source == source, probe.c.address != 0))
    return list(map(ProbePlace._make, rows))


def calls_of_no_packet(
    db: Connection, source: int, first: int, last: int
) -> list[tuple[int, int, int]]:
    """Return (caller, func, number): how many calls of no packet a KBL has, by caller and probe.

    `source` is the id of the KBL.  Callers are return addresses from `first` to `last`, signed.
    """
    c = record.c
    wanted = select(c.caller, c.func, func.count()).where(
        c.source == source, c.kind == CALL, c.caller.between(first, last)
    )
    rows = db.execute(wanted.group_by(c.caller, c.func))
    return [(caller, number, count) for caller, number, count in rows]
