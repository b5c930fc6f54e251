# SPDX-License-Identifier: MIT
"""The names in one KBL, from a log that was read or from a session."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ...records import KernelLog, resource
from ...records.kbl_layout import KBL_SYSCALL_32BIT

if TYPE_CHECKING:
    from ...store import Database

MASK64 = (1 << 64) - 1
IDLE = 0  # thread: the idle task
TRACER = "tracer"  # readers/tracers
INNER_FUNCTIONS = "inner_functions"  # a key that the import adds, for logs that have such
POINT = "point."  # readers/tracers
REASON = "drop_reason."  # docs/kbl-format.md, META
PROGRAMS_32 = {"x86_64": "i386"}  # tables of syscalls.json for 32-bit programs


class Names(NamedTuple):
    """The names in a KBL; symbols are by address (signed), and `meta` includes stext and arch."""

    symbols: Mapping[int, str]
    tasks: Mapping[int, str]
    devices: Mapping[tuple[int, int], str]
    meta: Mapping[str, str]

    @property
    def inner_functions(self) -> frozenset[str]:
        """Return the functions without an skb, whose calls are recorded only inside other calls."""
        return frozenset(self.meta.get(INNER_FUNCTIONS, "").split())

    @property
    def is_tracer(self) -> bool:
        """Return whether the log was written by another tracer."""
        return TRACER in self.meta

    def device(self, netns: int, ifindex: int) -> str:
        """Return the name of device `ifindex` in the namespace `netns`.

        Returns "if3" if the name of device 3 is unknown, and "" if there is no device.
        """
        found = self.devices.get((netns, ifindex))
        return found or (f"if{ifindex}" if ifindex > 0 else "")

    def task(self, pid: int, cpu: int) -> str:
        """Return the name of thread `pid`; "" if it is unknown.

        Thread 0 has a different name on each CPU, such as "swapper/1" on CPU 1.  So `cpu` is
        needed.
        """
        return task_name(self.tasks, pid, cpu)

    def symbol(self, address: int) -> str:
        """Return an address as "ip_rcv+0x4c"; as a number if it has no symbol; "" for address 0."""
        return self.symbols.get(address, f"0x{address & MASK64:x}" if address else "")

    def symbol_at_offset(self, offset: int) -> str:
        """Return an offset from _stext as "ip_rcv+0x4c"; "" for offset 0."""
        if self.is_tracer:
            return ""
        address = int(self.meta.get("stext", "0")) + offset & MASK64
        return self.symbol(address - (1 << 64) if address >> 63 else address) if offset else ""

    def drop_reason(self, number: int) -> str:
        """Return the kernel's name of a drop reason, or "reason 3" if it is unknown."""
        return self.meta.get(f"{REASON}{number}", f"reason {number}")

    def point(self, number: int) -> str:
        """Return the place where another tracer saw an skb, such as "net:netif_receive_skb"."""
        return self.meta.get(f"{POINT}{number}", f"probe {number}")

    def syscall(self, number: int) -> str:
        """Return the name of a system call, such as "sendto", or "syscall 44" if it is unknown.

        A number with KBL_SYSCALL_32BIT is a system call of a 32-bit program, such as "sendto
        (32-bit)".
        """
        machine, is_32bit = self.meta.get("arch", ""), number & KBL_SYSCALL_32BIT
        low = number & ~KBL_SYSCALL_32BIT
        table = _syscalls().get(PROGRAMS_32.get(machine, "") if is_32bit else machine, {})
        return table.get(str(low), f"syscall {low}") + (" (32-bit)" if is_32bit else "")


def task_name(tasks: Mapping[int, str], pid: int, cpu: int) -> str:
    """Return the name of a thread, like Names.task(); "" if it is unknown.

    `tasks` are names by thread id.  The name of thread 0 in `tasks` is its name on one CPU of the
    log.
    """
    name = tasks.get(pid, "")
    return f"{name.partition('/')[0]}/{cpu}" if pid == IDLE and "/" in name else name


@cache
def _syscalls() -> dict[str, dict[str, str]]:
    tables: dict[str, dict[str, str]] = json.loads(
        resource("syscalls.json").read_text(encoding="utf-8")
    )
    return tables


def names_of(db: Database, source: int) -> Names:
    """Return the names in the KBL `source` of a session."""
    from ...store import queries  # imports do not need it

    return Names(
        queries.symbols(db, source),
        queries.tasks(db, source),
        queries.devices(db, source),
        queries.meta(db, source),
    )


def names_in(log: KernelLog) -> Names:
    """Return the names in a KBL that was read."""
    return Names(log.symbols, log.tasks, log.devices, meta_of(log))


def meta_of(log: KernelLog) -> dict[str, str]:
    """Return the META values and header values of a KBL, as a session stores them."""
    inner = sorted({probe.name for probe in log.probes.values() if probe.inner})
    made = log.meta | {"stext": str(log.stext), "arch": log.arch}
    return made | ({INNER_FUNCTIONS: " ".join(inner)} if inner else {})
