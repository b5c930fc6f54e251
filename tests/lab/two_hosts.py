# SPDX-License-Identifier: MIT
"""Two guests at the ends of a cable, each with its own recorder and sniffer."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.lab import guest
from tests.lab.record import Built, run

ROLES = ("server", "client")
STEP = "two-hosts"
SAMPLED = ("sampled", "sample=50", "tcp=300", "udp=200")  # a step, and its words


def cable(role: str, ports: dict[str, int]) -> tuple[str, ...]:
    """Return QEMU's options for the cable: each end sends to where the other one listens."""
    here, there = ports[role], ports[ROLES[1 - ROLES.index(role)]]
    mac = f"02:00:00:00:09:0{2 if role == 'server' else 1}"
    ends = f"udp=127.0.0.1:{there},localaddr=127.0.0.1:{here}"
    return ("-netdev", f"socket,id=n0,{ends}", "-device", f"virtio-net-pci,netdev=n0,mac={mac}")


def free_ports(ends: Sequence[str] = ROLES) -> dict[str, int]:
    """Return a port for each end of a cable that nobody has now."""
    taken = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in ends]
    for one in taken:
        one.bind(("127.0.0.1", 0))
    ports = {role: int(one.getsockname()[1]) for role, one in zip(ends, taken, strict=True)}
    for one in taken:
        one.close()
    return ports


def record(built: Built, timeout_s: int) -> dict[str, Path]:
    """Run both; returns per role the folder with two-hosts.kbl and two-hosts.pcap.

    Raises guest.GuestFailed or RuntimeError.
    """
    return run_both(built, f"+{STEP}", (), timeout_s)


def record_sampled(built: Built, timeout_s: int) -> dict[str, Path]:
    """Let both record one connection in N; returns per role the folder with sampled.kbl and .pcap.

    Raises guest.GuestFailed or RuntimeError.
    """
    step, *words = SAMPLED
    return run_both(built, step, tuple(words), timeout_s)


def run_both(built: Built, step: str, words: tuple[str, ...], timeout_s: int) -> dict[str, Path]:
    """Run the step in two connected guests; returns per role the folder of its files.

    Raises guest.GuestFailed or RuntimeError.
    """
    ports = free_ports()

    def one(role: str) -> Path:
        how = guest.Run(
            (step,),
            (f"role={role}", *words),
            patched=True,  # two guests have two threads already
            timeout_s=timeout_s,
            devices=cable(role, ports),
        )
        return run(built, how, f"{step.removeprefix('+')}-{role}")

    with ThreadPoolExecutor(len(ROLES)) as pool:
        return dict(zip(ROLES, pool.map(one, ROLES), strict=True))
