# SPDX-License-Identifier: MIT
"""Small stories of packets in a kernel, written as a .kbl file and read back by the reader.

Times are ns of the KBL's clock.  Records may be added in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from skbviewer import readers
from skbviewer.records import Capture, KernelLog, Packets, Silent
from skbviewer.records.kbl_layout import KBL_FLAG_SKB_IS_RET, KBL_FLAG_SOCK, KblEvent
from tests.readers import build
from tests.readers.build_kbl import STEXT, Ipv4, KblBuilder, SkbInfo
from tests.readers.rewrite import version3

EVENTS = {
    "__alloc_skb": KblEvent.ALLOC,
    "skb_clone": KblEvent.CLONE,
    "kfree_skbmem": KblEvent.FREE,
    "kfree_skb_reason": KblEvent.DROP,
}
TASK, SOFTIRQ, HARDIRQ = 0, 1, 2
HOST, OTHER = SkbInfo(ifindex=2, netns=100), SkbInfo(ifindex=3, netns=200)  # ends of a veth pair
NO_ARGUMENT = 0xFF  # struct kbl_probe.arg
LOOPBACK = SkbInfo(ifindex=1, netns=100)


HOUR = 3_600_000_000_000


class Story:
    """Collects calls and events; `log` gives what the reader makes of them.

    They are written in both versions of the file; `version` says which one is read back.
    """

    version = 2

    def __init__(self) -> None:
        self.kbl = KblBuilder()
        self._functions: dict[str, int] = {}
        self._records: list[tuple[int, Callable[[], None]]] = []

    def function(self, name: str) -> int:
        """Return the probe id of a function."""
        if name not in self._functions:
            self._functions[name] = self.kbl.probe(name, EVENTS.get(name, 0))
        return self._functions[name]

    def enter(self, ts: int, name: str, skb: int, cpu: int = 0, **rest: Any) -> None:
        func = self.function(name)
        self._records.append((ts, lambda: self.kbl.entry(ts, cpu, func, skb, **rest)))

    def leave(self, ts: int, name: str, skb: int, cpu: int = 0, **rest: Any) -> None:
        func = self.function(name)
        self._records.append((ts, lambda: self.kbl.exit(ts, cpu, func, skb, **rest)))

    def sock_call(
        self, name: str, begin: int, end: int, sock: int, cpu: int = 0, pid: int = 1, **rest: Any
    ) -> None:
        """Entry and exit of a function that has a socket, but no packet."""
        self.enter(begin, name, sock, cpu, pid=pid, flags=KBL_FLAG_SOCK, **rest)
        self.leave(end, name, sock, cpu, pid=pid, flags=KBL_FLAG_SOCK, **rest)

    def event(
        self, ts: int, event: int, skb: int, data: int = 0, cpu: int = 0, **rest: Any
    ) -> None:
        self._records.append((ts, lambda: self.kbl.event(ts, cpu, event, skb, data, **rest)))

    def thread(self, ts: int, pid: int, name: str, cpu: int = 0) -> None:
        """Let the log know a thread's name."""
        self._records.append((ts, lambda: self.kbl.task(ts, cpu, pid, pid, name)))

    def lost(self, ts: int, count: int, begin: int, cpu: int = 0) -> None:
        """`count` records of a CPU lost between `begin` and `ts`."""
        self._records.append((ts, lambda: self.kbl.lost(ts, cpu, begin, count)))

    def missed(self, ts: int, count: int, begin: int, name: str, known: bool = True) -> None:
        """Hits of a function missed between `begin` and `ts`; or the log has but their number."""
        func = self.function(name)
        row = self.kbl.probes[func]
        row["missed"] = row.get("missed", 0) + count
        if known:
            self._records.append((ts, lambda: self.kbl.lost(ts, 0, begin, count, func)))

    def call(
        self,
        name: str,
        begin: int,
        end: int,
        skb: int,
        cpu: int = 0,
        pid: int = 1,
        context: int = 0,
        **rest: Any,
    ) -> None:
        """Entry and exit; `rest` goes with the entry."""
        self.enter(begin, name, skb, cpu, pid=pid, context=context, **rest)
        self.leave(end, name, skb, cpu, pid=pid, context=context)

    def giver(self, name: str, begin: int, end: int, skb: int, **rest: Any) -> None:
        """A call that takes no skb and returns one."""
        self.kbl.probes[self.function(name)] |= {"arg": NO_ARGUMENT, "ret": 1}
        self.enter(begin, name, 0, **rest)
        self.leave(end, name, skb, flags=KBL_FLAG_SKB_IS_RET, **rest)

    def alloc(self, ts: int, skb: int, **rest: Any) -> None:
        """__alloc_skb, 10 ns long."""
        self.giver("__alloc_skb", ts, ts + 10, skb, **rest)
        self.event(ts + 9, KblEvent.ALLOC, skb, 256, **rest)

    def free(self, ts: int, skb: int, **rest: Any) -> None:
        """kfree_skbmem, 10 ns long."""
        self.call("kfree_skbmem", ts, ts + 10, skb, **rest)
        self.event(ts + 1, KblEvent.FREE, skb, **rest)

    def clone(self, ts: int, skb: int, new: int, by: str = "", **rest: Any) -> None:
        """skb_clone, 10 ns long, called by the function `by`."""
        caller = self.inside(by) if by else 0
        self.call("skb_clone", ts, ts + 10, skb, caller=caller, **rest)
        self.event(ts + 9, KblEvent.CLONE, skb, new, **rest)

    def inside(self, name: str) -> int:
        """Return an address in a function."""
        return STEXT + 0x10000 + self.function(name) * 0x1000 + 0x20

    def lasting(self, offset: int | None) -> None:
        """Let the log begin before all packets and end after them; its wall clock is `offset`."""
        if offset is not None:
            self.kbl.clock(0, offset)
        for ts in (0, HOUR):
            self.call("net_rx_action", ts, ts + 1, 0)

    def log(self, folder: Path) -> KernelLog:
        for _, add in sorted(self._records, key=lambda record: record[0]):
            add()
        made = self.kbl if self.version == 2 else version3(self.kbl)
        log = readers.read(made.write(folder / "story.kbl"), Silent())
        assert isinstance(log, KernelLog)
        return log


def find(log: KernelLog, name: str) -> list[int]:
    """Return indexes of the records of a function's calls."""
    ids = [p.id for p in log.probes.values() if p.name == name]
    records = log.records
    return np.flatnonzero(np.isin(records["func"], ids) & (records["kind"] == 1)).tolist()


def of_packets(log: KernelLog) -> npt.NDArray[np.int64]:
    """Return indexes of all records but those of threads and footprints.

    Only version 3 has these.
    """
    beside = np.isin(log.records["event"], (KblEvent.TASK, KblEvent.FOOTPRINT))
    return np.flatnonzero(~beside)


def capture(
    folder: Path,
    packets: Sequence[build.Packet],
    name: str = "story.pcap",
    snaplen: int = 262144,
) -> Capture:
    """Return these Ethernet frames as the reader returns them."""
    made = readers.read(build.write_pcap(folder / name, packets, snaplen=snaplen), Silent())
    assert isinstance(made, Capture)
    return made


def wire(folder: Path, packets: Sequence[build.Packet], snaplen: int = 262144) -> Packets:
    return capture(folder, packets, snaplen=snaplen).packets


def udp4(ip_id: int, sport: int = 1000, dport: int = 2000, size: int = 10, **rest: Any) -> Ipv4:
    """Return the kernel's facts about a UDP packet from 10.0.0.1 to 10.0.0.2."""
    return Ipv4("10.0.0.1", "10.0.0.2", ip_id, 17, sport, dport, tot_len=28 + size, **rest)


def udp4_frame(
    ip_id: int, sport: int = 1000, dport: int = 2000, size: int = 10, frag_off: int = 0x4000
) -> bytes:
    """Return the packet of udp4() on the wire."""
    payload = build.udp(sport, dport, bytes(size))
    return build.ethernet(build.ipv4("10.0.0.1", "10.0.0.2", 17, payload, ip_id, frag_off))


def tcp4(ip_id: int, seq: int = 1, ack: int = 1, flags: int = 0x10, **rest: Any) -> Ipv4:
    """Return the kernel's facts about a TCP packet from 10.0.0.1 to 10.0.0.2, ports 1000 and 80."""
    return Ipv4("10.0.0.1", "10.0.0.2", ip_id, 6, 1000, 80, seq, ack, flags, 40, **rest)


def tcp4_frame(ip_id: int, seq: int = 1, ack: int = 1, flags: int = 0x10) -> bytes:
    """Return the packet of tcp4() on the wire."""
    segment = build.tcp(1000, 80, seq, ack, flags)
    return build.ethernet(build.ipv4("10.0.0.1", "10.0.0.2", 6, segment, ip_id))
