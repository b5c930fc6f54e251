# SPDX-License-Identifier: MIT
"""Queries about the clocks of a session: fits, session time, and bounds between hosts."""

from __future__ import annotations

from sqlalchemy import Connection, select

from .query_rows import StoredBound, StoredClock, StoredOneWay, StoredTimebase
from .sqlalchemy_tables import clock, oneway, oneway_bound, packet, timebase


def clocks(db: Connection) -> list[StoredClock]:
    """Return the segments of all clock fits."""
    return list(map(StoredClock._make, db.execute(select(clock).order_by(clock.c.id))))


def interface_of(db: Connection, number: int) -> int:
    """Return the capture interface of the packet with id `number`."""
    return int(db.execute(select(packet.c.interface).where(packet.c.id == number)).scalar_one())


def timebases(db: Connection) -> list[StoredTimebase]:
    """Return the rows of table `timebase`, which map the clocks of all sources to session time."""
    rows = db.execute(select(timebase).order_by(timebase.c.id))
    return list(map(StoredTimebase._make, rows))


def oneways(db: Connection) -> list[StoredOneWay]:
    """Return for each pair of KBLs the bounds of their clocks' drift, and numbers of packets."""
    return list(map(StoredOneWay._make, db.execute(select(oneway).order_by(oneway.c.id))))


def oneway_bounds(db: Connection) -> list[StoredBound]:
    """Return for each pair of KBLs the bounds of the offset between their clocks over time."""
    rows = db.execute(select(oneway_bound).order_by(oneway_bound.c.id))
    return list(map(StoredBound._make, rows))
