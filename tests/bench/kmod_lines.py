# SPDX-License-Identifier: MIT
"""The lines of the overhead table, and how a line is read from a guest's console."""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.bench.kmod_guest import INSTRUCTIONS_PER_S


class Line(NamedTuple):
    """What a guest is set up with; its init takes ``kind`` and ``functions`` like this."""

    name: str
    kind: str
    functions: str
    text: str


LISTS = ("50", "500", "all")
GROUPS = ("syscall", "syscalls", "irq", "softirq", "sched", "lock", "fault", "queue")
LINES = (
    Line("none", "none", "50", "no module"),
    Line("loaded", "loaded", "50", "module loaded"),
    Line("inactive", "inactive", "all", "all registered, inactive"),
    *(Line(f"floor-{n}", "floor", n, f"{n} armed, empty handlers") for n in LISTS),
    *(Line(f"memory-{n}", "memory", n, f"{n} active, to memory") for n in LISTS),
    *(Line(f"disk-{n}", "disk", n, f"{n} active, to disk") for n in LISTS),
    Line("default", "default", "500", "500, life and events, to disk"),
    *(Line(f"graph-{n}", "graph", n, f"function_graph, same {n}") for n in LISTS),
    Line("graph-net", "graph-net", "all", "function_graph, net functions"),
    Line("graph-everything", "graph-all", "all", "function_graph, all functions"),
)
# Not part of the table.
MORE = (
    *(Line(f"tmpfs-{n}", "tmpfs", n, f"{n} active, to tmpfs") for n in LISTS),
    *(
        Line(f"sniffed-{n}", "sniffed", n, f"{n} active, to memory, both ends sniffed")
        for n in LISTS
    ),
    *(
        Line(f"sniffed-one-{n}", "sniffed-one", n, f"{n} active, to memory, one end sniffed")
        for n in LISTS
    ),
    *(
        Line(f"events-{group}", f"events-{group}", "50", f"events of the group {group}, to memory")
        for group in GROUPS
    ),
    *(
        Line(f"{kind}-{n}", kind, n, f"{what}, {text}")
        for n, what in (("inner", "functions without an skb"), ("inner-50", "these and the 50"))
        for kind, text in (("floor", "empty handlers"), ("memory", "to memory"))
    ),
    Line("whole-none", "whole-none", "50", "no module, no GSO or GRO"),
    *(
        Line(f"whole-{kind}-{n}", f"whole-{kind}", n, f"{n} active, to memory, no GSO or GRO{text}")
        for n in LISTS
        for kind, text in (
            ("memory", ""),
            ("packets", ", 1 packet in 100"),
            ("connections", ", 1 connection in 100"),
        )
    ),
    Line("sniffed-none", "sniffed-none", "50", "no module, both ends sniffed"),
    Line("sniffed-one-none", "sniffed-one-none", "50", "no module, one end sniffed"),
)


class Measured(NamedTuple):
    """One guest run.  calls to missed are of the time of iperf; ``lost`` is of the whole run."""

    line: str
    bits_per_s: float
    bytes_sent: float
    rtt_us: float
    idle_ticks: int
    armed: int
    refused: int
    calls: int
    records: int
    record_bytes: int
    lost: int
    missed: int
    ping_calls: int
    outside: int = 0  # hits of functions without an skb that were outside of recorded calls

    def instructions_per_byte(self) -> float:
        """Return what all of the machine executes for one byte sent; it is never idle."""
        return INSTRUCTIONS_PER_S * 8 / self.bits_per_s


class BadConsole(RuntimeError):
    """The console lacks a line that init should have printed."""


def find(pattern: str, console: str) -> str:
    """Return the first group of the last match; raises BadConsole."""
    found = re.findall(pattern, console, re.MULTILINE)
    if not found:
        raise BadConsole(f"the guest did not say {pattern!r}")
    return str(found[-1])


def number(pattern: str, console: str) -> int:
    """Return a number; 0 if the console has none."""
    found = re.findall(pattern, console, re.MULTILINE)
    return int(found[-1]) if found else 0


def between(name: str, first: str, last: str, console: str) -> int:
    """Return how much a counter of the module grew between two marks, 0 without a module."""
    prefix = r"^BENCH probes {} .*\b{} (\d+)" if name in PROBES else r"^BENCH stat {} {} (\d+)$"
    return number(prefix.format(last, name), console) - number(prefix.format(first, name), console)


PROBES = ("hits", "armed", "errors")


def parse(name: str, console: str) -> Measured:
    """Return the figures of line ``name`` on the console. Raises BadConsole."""
    interval = r"^BENCH iperf \[ *\d+\] +0\.00-([\d.]+) +sec .* ([\d.]+) Kbits/sec .*sender"
    pattern = interval.replace("([\\d.]+) +sec", "[\\d.]+ +sec")
    bits = 1e3 * float(find(pattern, console))
    seconds = float(find(interval.replace("([\\d.]+) K", "[\\d.]+ K"), console))
    idle = [int(find(rf"^BENCH mark {m} .*idle (\d+)$", console)) for m in ("begin", "middle")]
    armed = number(r"^BENCH probes begin .*\barmed (\d+)", console)
    return Measured(
        line=name,
        bits_per_s=bits,
        bytes_sent=bits * seconds / 8,
        rtt_us=1e3 * float(find(r"^BENCH ping rtt [^=]*= [\d.]+/([\d.]+)/", console)),
        idle_ticks=idle[1] - idle[0],
        armed=armed or number(r"^BENCH armed (\d+)$", console),
        refused=number(r"^BENCH refused (\d+)$", console),
        calls=between("hits", "begin", "middle", console),
        records=between("written", "begin", "middle", console),
        record_bytes=between("bytes", "begin", "middle", console),
        lost=number(r"^BENCH stat end lost (\d+)$", console),
        missed=number(r"^BENCH stat end missed (\d+)$", console),
        ping_calls=between("hits", "middle", "end", console),
        outside=between("inner_outside", "begin", "middle", console),
    )
