# SPDX-License-Identifier: MIT
"""Queries for the rows of the packet list: by number, in any order, a page at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, case, func, select
from sqlalchemy.sql.selectable import ScalarSelect

from ..records.kernel_events import DROP
from .query_rows import StoredPacket, StoredSeries
from .sqlalchemy_tables import address, event, leg, match, packet, series

other = leg.alias("other")  # all legs of the series to which a leg belongs


def _listed() -> ScalarSelect[Any]:
    """Return a subquery with numbers in one JSON parameter, so one statement serves all pages."""
    each = func.json_each(bindparam("numbers")).table_valued("value")
    return select(each.c.value).scalar_subquery()


def _numbers(numbers: Iterable[int]) -> dict[str, str]:
    return {"numbers": json.dumps([int(n) for n in numbers])}


_PACKETS = select(packet).where(packet.c.id.in_(_listed()))
_KERNEL_ONLY = select(series).where(series.c.kernel_only.in_(_listed()))
_IN_LEG = event.c.leg == leg.c.id
_FIRST_DROP = select(event.c.data).where(_IN_LEG, event.c.event == DROP).order_by(event.c.id)
_OF_LEG = (
    leg.c.id.label("leg"),
    leg.c.source,
    leg.c.begin_ns,
    leg.c.pid,
    leg.c.drop_reason,
    leg.c.reader_ns,
    case((leg.c.drop_reason >= 0, _FIRST_DROP.limit(1).scalar_subquery())).label("drop"),
)
_SUMMARIES_OF_PACKETS = (
    select(match.c.packet.label("row"), *_OF_LEG)
    .select_from(match.join(leg, leg.c.id == match.c.leg))
    .where(match.c.packet.in_(_listed()))
    .order_by(leg.c.begin_ns)
)
_ADDRESSES_OF_PACKETS = (
    select(match.c.packet.label("row"), address)
    .select_from(
        match.join(leg, leg.c.id == match.c.leg)
        .join(other, other.c.series == leg.c.series)
        .join(address, address.c.leg == other.c.id)
    )
    .where(match.c.packet.in_(_listed()), match.c.verdict == 0)
    .order_by(address.c.id)
    .distinct()
)
_SUMMARIES_OF_SERIES = (
    select(leg.c.series.label("row"), *_OF_LEG)
    .where(leg.c.series.in_(_listed()))
    .order_by(leg.c.begin_ns)
)


# Named tuples, because SQLAlchemy's rows are three times as slow to read.


class LegSummary(NamedTuple):
    """The facts about a leg that the packet list shows.

    `row` is the id of a packet or of a series.
    """

    row: int
    leg: int
    source: int
    begin_ns: int
    pid: int
    drop_reason: int
    reader_ns: int
    drop: int | None  # data of its first event that is a drop


class AddressOfRow(NamedTuple):
    """A row of `address`; `row` is the packet that had the addresses."""

    row: int
    id: int
    leg: int
    ip_version: int
    saddr_hi: int
    saddr_lo: int
    daddr_hi: int
    daddr_lo: int


def packets(db: Connection, numbers: Iterable[int]) -> dict[int, StoredPacket]:
    """Return the rows of table `packet` with the ids `numbers`, by id."""
    found = map(StoredPacket._make, db.execute(_PACKETS, _numbers(numbers)))
    return {row.id: row for row in found}


def kernel_only(db: Connection, numbers: Iterable[int]) -> dict[int, StoredSeries]:
    """Return the rows of table `series` that are listed as K<n>, by n; `numbers` are these n."""
    found = map(StoredSeries._make, db.execute(_KERNEL_ONLY, _numbers(numbers)))
    return {row.kernel_only: row for row in found}


def addresses_of_packets(db: Connection, numbers: Iterable[int]) -> list[AddressOfRow]:
    """Return the addresses that exactly matched packets had in the kernel.

    `numbers` are the ids of packets.

    The addresses are in order of time; `row` is the packet that had them.
    """
    return list(map(AddressOfRow._make, db.execute(_ADDRESSES_OF_PACKETS, _numbers(numbers))))


def summaries_of_packets(db: Connection, numbers: Iterable[int]) -> list[LegSummary]:
    """Return the legs that match the packets `numbers`, by source and in order of time.

    In the result, `row` is the packet.
    """
    return list(map(LegSummary._make, db.execute(_SUMMARIES_OF_PACKETS, _numbers(numbers))))


def summaries_of_series(db: Connection, numbers: Iterable[int]) -> list[LegSummary]:
    """Return the legs of the skb lifetimes with ids `numbers`, in order of time.

    In the result, `row` is the series.
    """
    return list(map(LegSummary._make, db.execute(_SUMMARIES_OF_SERIES, _numbers(numbers))))
