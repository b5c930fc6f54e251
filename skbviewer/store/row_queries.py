# SPDX-License-Identifier: MIT
"""Rows of the packet list by their numbers, in any order, a page at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.sql.selectable import ScalarSelect

from .schema import leg, match, packet, series

Rows = Sequence[Any]


def _listed(numbers: Iterable[int]) -> ScalarSelect[Any]:
    """The numbers as one value, so that the statement is the same for any page."""
    each = func.json_each(json.dumps([int(n) for n in numbers])).table_valued("value")
    return select(each.c.value).scalar_subquery()


def packets(db: Connection, numbers: Iterable[int]) -> dict[int, Any]:
    """Rows of `packet` by number."""
    found = db.execute(select(packet).where(packet.c.id.in_(_listed(numbers))))
    return {row.id: row for row in found}


def kernel_only(db: Connection, numbers: Iterable[int]) -> dict[int, Any]:
    """Rows of `series` by the n of K<n>."""
    found = db.execute(select(series).where(series.c.kernel_only.in_(_listed(numbers))))
    return {row.kernel_only: row for row in found}


def tells_of_packets(db: Connection, numbers: Iterable[int]) -> Rows:
    """(packet, source, pid, drop_reason) of the matched legs, by time."""
    told = (match.c.packet.label("row"), leg.c.source, leg.c.pid, leg.c.drop_reason)
    joined = match.join(leg, leg.c.id == match.c.leg)
    wanted = select(*told).select_from(joined).where(match.c.packet.in_(_listed(numbers)))
    return db.execute(wanted.order_by(leg.c.begin_ns)).all()


def tells_of_series(db: Connection, numbers: Iterable[int]) -> Rows:
    """(series, source, pid, drop_reason) of the legs of packet lives, by time."""
    told = (leg.c.series.label("row"), leg.c.source, leg.c.pid, leg.c.drop_reason)
    wanted = select(*told).where(leg.c.series.in_(_listed(numbers)))
    return db.execute(wanted.order_by(leg.c.begin_ns)).all()
