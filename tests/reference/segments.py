# SPDX-License-Identifier: MIT
"""Dropped TCP segments that nobody lacks: docs/times.md, Drops.

Input: from the session, the TCP segments that a capture or a log holds, and the legs that surely
are theirs.  Output: whether a segment that was dropped in a leg had no data, or came before.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

TCP, FIN_OR_SYN, EXACT, RX = 6, 3, 0, 1
COPIES = 16
ENDS = "ip_version, saddr_hi, saddr_lo, daddr_hi, daddr_lo, sport, dport, seq"


class Segment(NamedTuple):
    """A segment of a capture, or of a row K<n> (`payload` -1)."""

    key: tuple[int, ...]
    payload: int
    flags: int
    is_captured: bool


class Segments:
    """All TCP segments of a session, in order of time."""

    def __init__(self, session: Path) -> None:
        db = sqlite3.connect(session)
        self._legs: dict[int, list[int]] = {}  # by packet
        self._packets: dict[int, list[int]] = {}  # by leg
        for packet, leg in db.execute("SELECT packet, leg FROM match WHERE verdict = ?", (EXACT,)):
            self._legs.setdefault(packet, []).append(leg)
            self._packets.setdefault(leg, []).append(packet)
        self._kind = dict(db.execute("SELECT id, kind FROM leg"))
        self._series = dict(db.execute("SELECT id, series FROM leg"))
        begins = dict(db.execute("SELECT id, begin_ns FROM leg"))
        wanted = f"SELECT id, payload, tcp_flags, {ENDS} FROM packet WHERE protocol = ?"  # noqa: S608
        self._order: list[tuple[int, Segment]] = []  # by packet; a row K<n> has 0
        lives = db.execute(
            f"SELECT begin_ns, {ENDS} FROM series WHERE protocol = ? AND kernel_only > 0"  # noqa: S608
            " ORDER BY begin_ns DESC", (TCP,)
        ).fetchall()  # fmt: skip
        for number, payload, flags, *key in db.execute(f"{wanted} ORDER BY id", (TCP,)):
            begin = min((begins[leg] for leg in self._legs.get(number, ())), default=None)
            while lives and begin is not None and lives[-1][0] < begin:
                self._order.append((0, Segment(tuple(lives.pop()[1:]), -1, -1, False)))
            self._order.append((number, Segment(tuple(key), payload, flags, True)))
        self._place = {number: at for at, (number, _) in enumerate(self._order) if number}
        db.close()

    def is_needless(self, leg: int, failed: Collection[int]) -> bool:
        """Return whether nobody lacks the segment dropped in `leg`; in `failed` none arrived."""
        number = min(self._packets.get(leg, [0]))
        if number not in self._place:
            return False
        at = self._place[number]
        segment = self._order[at][1]
        if segment.payload == 0 and segment.flags >= 0 and not segment.flags & FIN_OR_SYN:
            return True
        for _ in range(COPIES):
            earlier = self._earlier(at)
            if earlier is None or not self._order[earlier][0]:
                return False
            legs = self._legs.get(self._order[earlier][0], [])
            if any(self._kind[one] == RX for one in legs) and not set(legs) & set(failed):
                return True
            at = earlier
        return False

    def _skbs(self, packet: int) -> set[int]:
        return {self._series[leg] for leg in self._legs.get(packet, ())}

    def _earlier(self, at: int) -> int | None:
        segment = self._order[at][1]
        for before in range(at - 1, -1, -1):
            number, one = self._order[before]
            if one.key == segment.key and not self._skbs(number) & self._skbs(self._order[at][0]):
                return before if not number or one.payload == segment.payload else None
        return None
