# SPDX-License-Identifier: MIT
"""Compute `stats conversations` and `stats endpoints`: sums of packets by their ends.

In: a session, of which only addresses, ports and lengths of captured packets are taken (tshark has
these too), and the time in kernel of each packet, of a log.  Out: rows of the tables.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any, NamedTuple

from .rows import Cells

PORTS = {6: "TCP", 17: "UDP"}
LOW = (1 << 64) - 1
EXACT = 0
End = tuple[str, int | None]


class Captured(NamedTuple):
    """A packet in one kind of conversation."""

    kind: str
    source: End
    destination: End
    size: int
    number: int


def captured(session: Path) -> list[Captured]:
    """Return all packets, in each kind in which they count."""
    db = sqlite3.connect(session)
    db.row_factory = sqlite3.Row
    rows = db.execute("SELECT * FROM packet ORDER BY id").fetchall()
    db.close()
    return [
        Captured(kind, source, destination, row["len"], row["id"])
        for row in rows
        for kind, source, destination in _ends(row)
    ]


def _ends(row: sqlite3.Row) -> Iterator[tuple[str, End, End]]:
    if row["linktype"] == 1 and min(row["eth_src"], row["eth_dst"]) >= 0:
        yield "Ethernet", (_mac(row["eth_src"]), None), (_mac(row["eth_dst"]), None)
    if row["ip_version"] not in (4, 6):
        return
    source, destination = (_address(row, side) for side in "sd")
    yield f"IPv{row['ip_version']}", (source, None), (destination, None)
    if row["protocol"] in PORTS and row["sport"] >= 0:
        yield PORTS[row["protocol"]], (source, row["sport"]), (destination, row["dport"])


def _mac(number: int) -> str:
    text = number.to_bytes(6, "big").hex(":")
    return "Broadcast" if text == "ff:ff:ff:ff:ff:ff" else text


def _address(row: Mapping[str, Any] | sqlite3.Row, side: str) -> str:
    high, low = row[f"{side}addr_hi"] & LOW, row[f"{side}addr_lo"] & LOW
    if row["ip_version"] == 4:
        return str(IPv4Address(low & 0xFFFFFFFF))
    return str(IPv6Address(high << 64 | low))


def conversations(packets: list[Captured], kernel: Mapping[int, int | None]) -> list[Cells]:
    """Return `stats conversations` without begin and duration, each with A and B in some order.

    `kernel` are the times in kernel of the packets that match exactly, None = unknown.
    """
    of: dict[tuple[str, frozenset[End]], list[Captured]] = {}
    for one in packets:
        of.setdefault((one.kind, frozenset((one.source, one.destination))), []).append(one)
    made = []
    for (kind, ends), mine in of.items():
        a, b = sorted([*ends] * (3 - len(ends)), key=str)[:2]
        times = [kernel[one.number] for one in mine if one.number in kernel]
        known = [ns for ns in times if ns is not None]
        cells: Cells = {"kind": kind, "ends": (a, b)}
        for name, value in _counts(mine).items():
            cells[name] = value
        cells["ways"] = {
            end: tuple(_counts([one for one in mine if one.source == end]).values())
            for end in (a, b)
        }
        cells["kernel_ns"] = sum(known) if times and len(known) == len(times) else None
        made.append(cells)
    return made


def endpoints(packets: list[Captured]) -> list[Cells]:
    """Return `stats endpoints`."""
    sent: dict[tuple[str, End], list[Captured]] = {}
    received: dict[tuple[str, End], list[Captured]] = {}
    for one in packets:
        sent.setdefault((one.kind, one.source), []).append(one)
        received.setdefault((one.kind, one.destination), []).append(one)
    made = []
    for kind, end in dict.fromkeys([*sent, *received]):
        tx, rx = (_counts(of.get((kind, end), [])) for of in (sent, received))
        cells: Cells = {"kind": kind, "address": end[0], "port": end[1]}
        cells |= {name: tx[name] + rx[name] for name in tx}
        cells |= {f"tx_{name}": value for name, value in tx.items()}
        made.append(cells | {f"rx_{name}": value for name, value in rx.items()})
    return made


def _counts(packets: list[Captured]) -> dict[str, int]:
    return {"packets": len(packets), "bytes": sum(one.size for one in packets)}


def shown_conversation(row: dict[str, Any]) -> Cells:
    """Return a printed row with its ends in the order of conversations()."""
    a, b = ((row[f"address_{end}"], row[f"port_{end}"]) for end in "ab")
    ways = {
        a: (row["packets_ab"], row["bytes_ab"]),
        b: (row["packets_ba"], row["bytes_ba"]),
    }
    if a == b:
        ways = {a: (row["packets"], row["bytes"])}
    first, last = sorted((a, b), key=str)
    return row | {"ends": (first, last), "ways": ways}
