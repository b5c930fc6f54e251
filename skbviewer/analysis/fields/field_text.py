# SPDX-License-Identifier: MIT
"""The values of a field as text, for columns of the packet list and for filters made from them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from ...records.types import Int64s
from ...store import Database, queries
from ..words.packet_info import address, mac
from .field_definition import Field, Kind, Values
from .field_source_tables import ADDRESS, CALL, DROP, LEG, PACKET, ROW, SERIES, Data, View

HEX = {
    "eth.type": 4, "vlan.etype": 4, "ip.id": 4, "tcp.flags": 3, "ip.flags": 2, "ip.checksum": 4,
    "tcp.checksum": 4, "udp.checksum": 4, "icmp.checksum": 4, "icmpv6.checksum": 4,
    "ip.dsfield": 2, "ipv6.tclass": 2, "ipv6.flow": 5,
}  # fmt: skip
THERE = "✓"
MAX_VALUES = 12  # most values to list for one row


def field_values(field: Field, data: Data, ids: Sequence[int]) -> list[str]:
    """Return the values of `field` in the rows `ids` (n = packet n, -n = row K<n>), as text.

    The text is "" if the row has no value.  If a row has several different values, such as those of
    its calls, commas separate them.
    """
    numbers = np.array(ids, np.int64)
    texts = [""] * len(numbers)
    for table in (PACKET, SERIES):
        mine = np.flatnonzero(numbers > 0 if table == PACKET else numbers < 0)
        if len(mine):
            rows = np.abs(numbers[mine]) - 1
            view = View(data, table, rows if table == PACKET else data.kernel_only_rows()[rows])
            for place, text in zip(mine.tolist(), _texts(field, view), strict=True):
                texts[place] = text
    return texts


def _texts(field: Field, view: View) -> list[str]:
    if field.table == ROW:
        return _listed(field, field.make(view), [[n] for n in range(view.size)])
    below, owners = _below(view, field.table)
    return _listed(field, field.make(below), owners)


def _listed(field: Field, found: list[Values], rows: list[list[int]]) -> list[str]:
    if field.kind is Kind.STRING:
        found = found[:1]  # the others are alternative texts of the same values
    known = [values.present() for values in found]
    texts = []
    for positions in rows:
        distinct: dict[str, None] = {}
        for position in positions:
            for values, there in zip(found, known, strict=True):
                if there[position]:
                    distinct.setdefault(text_of(field, values, position))
        shown = list(distinct)
        texts.append(", ".join(shown[:MAX_VALUES]) + (", …" if len(shown) > MAX_VALUES else ""))
    return texts


def _below(view: View, table: str) -> tuple[View, list[list[int]]]:
    """Return the rows of `table` (calls, legs or drops) that belong to the rows of `view`.

    The second result has a list for each row of `view`: the indices of the returned rows that
    belong to this row.
    """
    with view.data.connect() as db:
        legs = _legs(db, view)
        pairs = [(row, leg) for row, found in enumerate(legs) for leg in found]
        wanted = sorted({leg for _, leg in pairs})
        if table == LEG:
            inside = {leg: [leg] for leg in wanted}
        else:
            of = {CALL: queries.calls_in, ADDRESS: queries.addresses_in}.get(
                table, queries.drops_in
            )
            inside = {leg: of(db, leg) for leg in wanted}
    ids = sorted({number for found in inside.values() for number in found})
    place = {number: n for n, number in enumerate(ids)}
    owners: list[list[int]] = [[] for _ in range(view.size)]
    for row, leg in pairs:
        owners[row].extend(place[number] for number in inside[leg])
    rows: Int64s = np.array(ids, np.int64) - 1
    return View(view.data, "event" if table == DROP else table, rows), owners


def _legs(db: Database, view: View) -> list[list[int]]:
    if view.table == PACKET:
        return [[row.id for row in queries.legs_of_packet(db, n)] for n in view.number().tolist()]
    assert view.rows is not None
    return [[row.id for row in queries.legs_of_series(db, n + 1)] for n in view.rows.tolist()]


def text_of(field: Field, values: Values, position: int) -> str:
    """Return the value at index `position` of `values`, in the form that display filters use.

    `values` are values of `field`, and the value must be known.
    """
    value = values.low[position]
    match field.kind:
        case Kind.STRING:
            return (values.texts or ())[int(value)]
        case Kind.LABEL | Kind.PROTOCOL | Kind.BYTES:
            return THERE
        case Kind.BOOLEAN:
            return "True" if value else "False"
        case Kind.ETHER:
            return mac_text(int(value))
        case Kind.IPV4:
            return address(4, 0, int(value)) or ""
        case Kind.IPV6:
            high = 0 if values.high is None else int(values.high[position])
            return address(6, high, int(value)) or ""
        case Kind.DURATION:
            return seconds(int(value))
        case Kind.TIME:
            return moment(int(value))
        case Kind.FLOAT:
            return f"{float(value):.4g}"
        case Kind.KERNEL:
            return f"0x{int(value) & (1 << 64) - 1:x}"
    digits = HEX.get(field.name)
    return f"0x{int(value):0{digits}x}" if digits else str(int(value))


def mac_text(value: int) -> str:
    """Return a MAC address as "aa:bb:cc:dd:ee:ff", even if it is the broadcast address."""
    return "ff:ff:ff:ff:ff:ff" if value == (1 << 48) - 1 else mac(value)


def seconds(ns: int) -> str:
    """Return a time in ns as seconds with nine decimal places."""
    whole, rest = divmod(abs(ns), 10**9)
    return f"{'-' if ns < 0 else ''}{whole}.{rest:09d}"


def moment(ns: int) -> str:
    """Return a time in ns since the epoch as date and time in UTC, with nine decimal places."""
    whole, rest = divmod(ns, 10**9)
    try:
        return f"{datetime.fromtimestamp(whole, UTC):%Y-%m-%d %H:%M:%S}.{rest:09d}"
    except (OverflowError, ValueError, OSError):
        return seconds(ns)
