# SPDX-License-Identifier: MIT
"""Rows of the packet list by their numbers, in any order, a page at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, func, select
from sqlalchemy.sql.selectable import ScalarSelect

from .schema import leg, match, packet, series

Rows = Sequence[Any]


def _listed() -> ScalarSelect[Any]:
    """The numbers as one value, so that the statement is the same for any page."""
    each = func.json_each(bindparam("numbers")).table_valued("value")
    return select(each.c.value).scalar_subquery()


def _numbers(numbers: Iterable[int]) -> dict[str, str]:
    return {"numbers": json.dumps([int(n) for n in numbers])}


_PACKETS = select(packet).where(packet.c.id.in_(_listed()))
_KERNEL_ONLY = select(series).where(series.c.kernel_only.in_(_listed()))
_OF_LEG = (leg.c.source, leg.c.pid, leg.c.drop_reason)
_TELLS_OF_PACKETS = (
    select(match.c.packet.label("row"), *_OF_LEG)
    .select_from(match.join(leg, leg.c.id == match.c.leg))
    .where(match.c.packet.in_(_listed()))
    .order_by(leg.c.begin_ns)
)
_TELLS_OF_SERIES = (
    select(leg.c.series.label("row"), *_OF_LEG)
    .where(leg.c.series.in_(_listed()))
    .order_by(leg.c.begin_ns)
)


def packets(db: Connection, numbers: Iterable[int]) -> dict[int, Any]:
    """Rows of `packet` by number."""
    found = db.execute(_PACKETS, _numbers(numbers))
    return {row.id: row for row in found}


def kernel_only(db: Connection, numbers: Iterable[int]) -> dict[int, Any]:
    """Rows of `series` by the n of K<n>."""
    found = db.execute(_KERNEL_ONLY, _numbers(numbers))
    return {row.kernel_only: row for row in found}


def tells_of_packets(db: Connection, numbers: Iterable[int]) -> Rows:
    """(packet, source, pid, drop_reason) of the matched legs, by time."""
    return db.execute(_TELLS_OF_PACKETS, _numbers(numbers)).all()


def tells_of_series(db: Connection, numbers: Iterable[int]) -> Rows:
    """(series, source, pid, drop_reason) of the legs of packet lives, by time."""
    return db.execute(_TELLS_OF_SERIES, _numbers(numbers)).all()
