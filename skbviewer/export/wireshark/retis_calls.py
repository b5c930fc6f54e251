# SPDX-License-Identifier: MIT
"""Calls of captured packets in a kernel log, as events of retis.

The event of a packet is a call of the leg that the packet matches exactly. The chosen call is the
last one that began before the packet passed the packet sockets or, if there is none, the leg's
first call.
"""

from __future__ import annotations

import numpy as np

from ...analysis.fields.field_source_tables import CALL, LEG, Data
from ...records.types import Int64s
from .retis_events import MASK64, Event

EXACT = 0  # verdict


class EventsOfPackets:
    """Makes the events of packets."""

    def __init__(self, data: Data) -> None:
        self._data, columns = data, data.columns
        exact = np.flatnonzero(columns.array("match", "verdict") == EXACT)
        packet = columns.take("match", "packet", exact).tolist()
        legs = columns.take("match", "leg", exact).tolist()
        self._legs: dict[int, int] = {}
        for number, leg in zip(packet, legs, strict=True):
            self._legs.setdefault(number, leg)  # of several logs, the first one
        of_leg = columns.array(CALL, "leg")
        self._order = np.argsort(of_leg, kind="stable")
        self._sorted = of_leg[self._order]

    def of(self, packet: int) -> Event:
        """Return the event of packet number `packet`; {} if no log shows a call with the packet."""
        leg = self._legs.get(packet)
        if leg is None:
            return {}
        bounds = np.searchsorted(self._sorted, [leg, leg + 1])
        calls = self._order[bounds[0] : bounds[1]]
        return self._event(leg, self._nearest(leg, calls)) if len(calls) else {}

    def _nearest(self, leg: int, calls: Int64s) -> int:
        begin = self._data.columns.take(CALL, "entry_ns", calls).astype(np.int64)
        wire = self._one(LEG, "wire_ns", leg - 1)
        before = np.flatnonzero(begin <= wire)
        chosen = before[np.argmax(begin[before])] if len(before) else np.argmin(begin)
        return int(calls[chosen])

    def _event(self, leg: int, call: int) -> Event:
        source = self._one(LEG, "source", leg - 1)
        series = self._one(LEG, "series", leg - 1) - 1
        names = self._data.names(source)
        cpu, pid, func, netns, ifindex = (
            self._one(CALL, key, call) for key in ("cpu", "pid", "func", "netns", "ifindex")
        )
        began = {"timestamp": self._one(CALL, "entry_ns", call), "smp_id": cpu}
        task = {"pid": pid, "comm": names.task(pid, cpu)}
        event: Event = {
            "common": began | ({"task": task} if pid >= 0 else {}),
            "kernel": {
                "symbol": self._data.functions(source).get(func, f"probe {func}"),
                "probe_type": "kprobe",
            },
            "skb-tracking": {
                "timestamp": self._one("series", "begin_ns", series),
                "skb": self._one(CALL, "skb", call) & MASK64,
            },
        }
        if netns > 0:
            event["netns"] = {"inum": netns}
        if ifindex > 0:
            event["dev"] = {"name": names.device(netns, ifindex), "ifindex": ifindex}
        return event

    def _one(self, table: str, column: str, row: int) -> int:
        return int(self._data.columns.part(table, column, row, 1)[0])
