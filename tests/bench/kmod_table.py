# SPDX-License-Identifier: MIT
"""Summarise all runs: relative speeds, and instructions per call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tests.bench.kmod_lines import LINES, MORE, Measured

HEAD = ("", "Mbit/s", "rel.", "RTT us", "rel.", "armed", "calls/MB", "records/s", "B/call",
        "instr/call", "over floor", "lost", "missed")  # fmt: skip


class Cost(NamedTuple):
    """Instructions that a call costs beyond those it takes without probes; None: not known."""

    total: float | None
    over_floor: float | None


def calls_per_byte(line: str, runs: Mapping[str, Measured]) -> float | None:
    """Return how many calls of the line's functions a byte takes, whether they are recorded or not.

    A line which does not count them (empty handlers, ftrace) takes them from one that does and
    has the same functions.
    """
    functions = line.partition("-")[2]
    for name in (line, f"disk-{functions}", f"memory-{functions}", f"tmpfs-{functions}"):
        if name in runs and runs[name].calls + runs[name].outside:
            return (runs[name].calls + runs[name].outside) / runs[name].bytes_sent
    return None


def cost(line: str, runs: Mapping[str, Measured]) -> Cost:
    """Return the instructions a call costs in this line, over nothing and over the floor."""
    calls = calls_per_byte(line, runs)
    if calls is None or "none" not in runs or line == "inactive":
        return Cost(None, None)
    here = runs[line].instructions_per_byte()
    total = (here - runs["none"].instructions_per_byte()) / calls
    floor = runs.get(f"floor-{line.partition('-')[2]}")
    over = (here - floor.instructions_per_byte()) / calls if floor else None
    return Cost(total, None if line.startswith("floor") else over)


def text(value: float | None, digits: int = 0) -> str:
    """Return a number, or nothing."""
    return "" if value is None else f"{value:,.{digits}f}"


def row(line: str, title: str, runs: Mapping[str, Measured]) -> list[str]:
    """Return the cells of a line."""
    run, base, price = runs[line], runs.get("none"), cost(line, runs)
    relative = run.bits_per_s / base.bits_per_s if base else None
    slower = run.rtt_us / base.rtt_us if base else None
    seconds = run.bytes_sent * 8 / run.bits_per_s
    return [
        title,
        text(run.bits_per_s / 1e6, 1),
        text(relative, 3),
        text(run.rtt_us),
        text(slower, 2),
        text(run.armed or None),
        text(run.calls / run.bytes_sent * 1e6 if run.calls else None),
        text(run.records / seconds if run.records else None),
        text(run.record_bytes / run.calls if run.calls else None, 1),
        text(price.total),
        text(price.over_floor),
        text(run.lost if run.calls else None),
        text(run.missed if run.armed else None),
    ]


def table(release: str, runs: Mapping[str, Measured]) -> str:
    """Return the table of one kernel as Markdown."""
    rows = [row(line.name, line.text, runs) for line in (*LINES, *MORE) if line.name in runs]
    cells = [[release, *HEAD[1:]], *rows]
    widths = [max(len(r[i]) for r in cells) for i in range(len(HEAD))]
    lines = []
    for r in cells:
        first, *rest = zip(r, widths, strict=True)
        words = [first[0].ljust(first[1]), *(c.rjust(w) for c, w in rest)]
        lines.append(f"| {' | '.join(words)} |")
    rule = ["-" * widths[0], *(f"{'-' * (w - 1)}:" for w in widths[1:])]
    return "\n".join([lines[0], f"| {' | '.join(rule)} |", *lines[1:]])
