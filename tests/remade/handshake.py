# SPDX-License-Identifier: MIT
"""Thesis, Tables 6-4 to 6-6: the three packets of a TCP handshake, seen at the client."""

from __future__ import annotations

from skbviewer.records import Leg, PacketRow
from skbviewer.session import Session

from .markdown import microseconds, table, time_of_day
from .recordings import sample

SYN = 3  # number of the first of the three packets in the bundled recording
NAMES = ("SYN", "SYN, ACK", "ACK")
THEIRS = {
    "identification": ("8586", "0", "8587"),
    "protocol": ("6", "6", "6"),
    "arrival in the capture": ("00:11:27.493006", "00:11:27.493050", "00:11:27.493650"),
    "entry": ("00:11:25.546465", "00:11:25.548464", "00:11:25.548585"),
    "exit": ("00:11:25.546682", "00:11:25.548577", "00:11:25.548765"),
    "functions": ("38", "22", "49"),
    "time in the kernel (us)": ("217", "113", "180"),
}


def handshake() -> str:
    """Return the thesis' rows beside those of the bundled recording."""
    return handshake_of(sample("handshake"), SYN)


def handshake_of(session: Session, syn: int) -> str:
    """Return the thesis' rows beside those of the packets `syn` and the two behind it."""
    ours = [_ours(session, syn, number) for number in range(syn, syn + len(NAMES))]
    rows = [(name, *theirs, *(column[name] for column in ours)) for name, theirs in THEIRS.items()]
    head = ("", *(f"thesis: {name}" for name in NAMES), *(f"here: {name}" for name in NAMES))
    return table(head, rows)


def _ours(session: Session, syn: int, number: int) -> dict[str, str]:
    path = session.paths.path(number)
    assert path.packet is not None
    return _of_leg(path.packet, at_client(session, syn, number))


def at_client(session: Session, syn: int, number: int) -> Leg:
    """Return the leg of a packet in the network namespace that sent the packet `syn`."""
    client = next(leg.netns for leg in session.paths.path(syn).legs if leg.kind == "tx")
    return next(leg for leg in session.paths.path(number).legs if leg.netns == client)


def _of_leg(packet: PacketRow, leg: Leg) -> dict[str, str]:
    assert leg.kernel_ns is not None
    return {
        "identification": str(packet.ip_id),
        "protocol": str(packet.protocol),
        "arrival in the capture": time_of_day(packet.ts_ns or 0),
        "entry": time_of_day(leg.begin_ns + leg.epoch_offset_ns),
        "exit": time_of_day(leg.end_ns + leg.epoch_offset_ns),
        "functions": str(leg.functions),
        "time in the kernel (us)": microseconds(leg.kernel_ns),
    }
