# SPDX-License-Identifier: MIT
"""Thesis, Tables 6-4 to 6-6 again, with the host's wall clock two seconds behind the sniffer's."""

from __future__ import annotations

import functools
import struct
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from skbviewer.session import Session, import_files

from .handshake import handshake_of
from .kept import CaptureClock, guest_files
from .markdown import SECOND, microseconds, table

NAME = "late-clock"
MICROSECONDS = bytes.fromhex("d4c3b2a1")  # a little-endian pcap
SHIFTS = {  # how far the host's wall clock is behind the capture's, and the shift of the capture; s
    f"{CaptureClock.BEHIND_S} s (as recorded)": 0,
    "0 s": -CaptureClock.BEHIND_S,
    "1 day": 86400 - CaptureClock.BEHIND_S,
    "-57 years": -CaptureClock.begin_s() + 3600,
}


class Matched(NamedTuple):
    """How the packets of a session match.  lifetimes: series of each packet's legs."""

    verdicts: Counter[str]
    lifetimes: list[list[int]]
    offset_ns: int
    residual_ns: int


def late_clock() -> str:
    """Return the thesis' rows beside ours."""
    return handshake_of(session(), _first_syn(session()))


def late_clock_shifts() -> str:
    """Return the matches of the recording with several clocks of the capture."""
    recorded = matched(session())
    rows = []
    for name, shift in SHIFTS.items():
        ours = matched(session(shift))
        same = sum(a == b for a, b in zip(ours.lifetimes, recorded.lifetimes, strict=True))
        off = ours.offset_ns - true_offset_ns(shift)
        rows.append((name, ours.verdicts["exact"], ours.verdicts["ambiguous"],
                     ours.verdicts["wire-only"], same, microseconds(off),
                     microseconds(ours.residual_ns)))  # fmt: skip
    head = ("the wall clock is behind by", "exact", "ambiguous", "wire-only",
            "same lifetimes as recorded", "fitted offset off by (us)", "residual (us)")  # fmt: skip
    return table(head, rows)


def true_offset_ns(shift_s: int) -> int:
    """Return the capture's clock minus the log's own, as the guest set it and `shift_s` moved it.

    The log itself says how far its clock is from the host's wall clock.
    """
    log = next(one for one in session(shift_s).info()["sources"] if one["kind"] == "kbl")
    wall = int(log["detail"]["epoch_offset_ns"])
    return wall + (CaptureClock.BEHIND_S + shift_s) * SECOND


def wall_clock_behind_us() -> tuple[float, float]:
    """Return bounds of how far the wall clock is behind the capture's, from all exact matches; us.

    A packet is captured after the kernel has begun to send it, and before the kernel begins to
    receive it.
    """
    least: list[float] = []
    most: list[float] = []
    for packet in session().packets.numbered(1, session().packets.count()):
        for leg in session().paths.path(packet.number).legs if packet.verdict == "exact" else ():
            behind = ((packet.ts_ns or 0) - leg.begin_ns - leg.epoch_offset_ns) / 1000
            (most if leg.kind == "tx" else least).append(behind)
    return max(least), min(most)


@functools.cache
def session(shift_s: int = 0) -> Session:
    """Return the recording as a session, its capture shifted by whole seconds."""
    folder = Path(tempfile.mkdtemp(prefix="remade-late-clock-"))
    capture = folder / f"{NAME}.pcap"
    capture.write_bytes(_shifted((guest_files() / f"{NAME}.pcap").read_bytes(), shift_s))
    import_files([guest_files() / f"{NAME}.kbl", capture], folder / f"{NAME}.skbv")
    return Session.open(folder / f"{NAME}.skbv")


def _shifted(pcap: bytes, shift_s: int) -> bytes:
    """Return a pcap of microseconds with other seconds."""
    data, at = bytearray(pcap), 24
    assert data[:4] == MICROSECONDS
    while at < len(data):
        second, _, length = struct.unpack_from("<III", data, at)
        struct.pack_into("<I", data, at, second + shift_s)
        at += 16 + length
    return bytes(data)


def _first_syn(session: Session) -> int:
    packets = session.packets.numbered(1, session.packets.count())
    return next(packet.number for packet in packets if "[SYN]" in packet.info)


def matched(session: Session) -> Matched:
    packets = session.packets.numbered(1, session.packets.count())
    paths = [session.paths.path(packet.number) for packet in packets]
    (fit,) = session.info()["clock"]
    (segment,) = fit["segments"]
    return Matched(
        Counter(packet.verdict for packet in packets),
        [[leg.series for leg in path.legs] for path in paths],
        segment["offset_ns"],
        segment["residual_ns"],
    )
