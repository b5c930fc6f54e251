# SPDX-License-Identifier: MIT
"""Times, shares and names in the sentences of a diagnosis."""

from __future__ import annotations

from ...records import counted

UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"))


def time(ns: int) -> str:
    """Return a time with three to four digits: "322.1 µs"."""
    for size, unit in UNITS:
        if abs(ns) >= size:
            value = ns / size
            return f"{value:.1f} {unit}" if abs(value) < 1000 else f"{value:.0f} {unit}"
    return f"{ns} ns"


def share(part: int, whole: int) -> str:
    """Return `part` / `whole` in per cent, as "12 %"; "0 %" if `whole` is 0."""
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


def packet(number: int) -> str:
    """Return "packet 12", or "packet K3" for a row K<n>."""
    return f"packet {number}" if number > 0 else f"packet K{-number}"


def packets(number: int) -> str:
    """Return a number of packets: "1 packet", "2 packets"."""
    return counted(number, "packet")


def packets_at_least(number: int, lossy: bool) -> str:
    """Return "2 packets", or "at least 2 packets" if `lossy` says that others may be unknown."""
    return f"at least {packets(number)}" if lossy else packets(number)


def were(number: int) -> str:
    """Return the verb that fits `number` things: "was" or "were"."""
    return "was" if number == 1 else "were"
