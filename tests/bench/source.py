# SPDX-License-Identifier: MIT
"""``python -m tests.bench.source [--line plain idle ...]``: what probes in the source cost.

Two small kernels of the same source and configuration, one plain, one with probes, and the
same functions recorded in both.  docs/overhead.md describes the method and the results.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests.bench import kmod_guest
from tests.bench.kmod_lines import Measured, parse
from tests.bench.kmod_lists import MANY
from tests.lab import debs, small_kernel
from tests.lab.record import KMOD, TOP

FOLDERS = {False: "plain", True: "instrumented"}
HEAD = ("", "Mbit/s", "rel.", "RTT us", "rel.", "armed", "calls/MB", "B/call", "instr/call",
        "lost", "missed")  # fmt: skip
# What these events need, no site passes; here only calls count.
WITHOUT = {"drop", "nf_hook", "sock_enqueue"}
SOURCE = "backend=source"


class Line(NamedTuple):
    """probes: of which kernel.  kind, functions, module: as the guest's init takes them."""

    name: str
    text: str
    probes: bool
    kind: str
    functions: str = "500"
    module: str = ""


LINES = (
    Line("plain", "plain kernel", False, "none"),
    Line("idle", "with probes, idle", True, "none"),
    Line("loaded", "with probes, module loaded", True, "loaded"),
    Line("kretprobe-floor-500", "kretprobes, 500, empty handlers", False, "floor"),
    Line("source-floor-500", "probes, 500, empty handlers", True, "floor", "500", SOURCE),
    Line("kretprobe-500", "kretprobes, 500 active", False, "memory"),
    Line("source-500", "probes, 500 active", True, "memory", "500", SOURCE),
    Line("source-floor-all", "probes, all, empty handlers", True, "floor", "all", SOURCE),
    Line("source-all", "probes, all active", True, "memory", "all", SOURCE),
    Line("kretprobe-all", "kretprobes, all active", False, "memory", "all"),
)


def functions(folder: Path, kernels: dict[bool, debs.Kernel]) -> list[str]:
    """Return lines of a probe list: functions that both kernels have, with probes in one.

    Functions of the recorder's own list come first.  The carriers are those that the probes pass to
    the recorder.
    """
    rows = small_kernel.manifest(folder / FOLDERS[True])
    count = Counter(row["function"] for row in rows)
    both = small_kernel.symbols(kernels[False]) & small_kernel.symbols(kernels[True])
    once = {r["function"]: r for r in rows if count[r["function"]] == 1 and r["function"] in both}
    lines = {}
    for name, *words in map(str.split, (KMOD / "probes-6.1.txt").read_text().splitlines()):
        if name in once:
            kept = [w for w in words if w not in WITHOUT and ("@" not in w or w.endswith("@ret"))]
            lines[name] = " ".join((name, *small_kernel.carriers(once[name]), *kept))
    for name in sorted(set(once) - set(lines)):
        if any(carrier.startswith("skb@") for carrier in once[name]["carriers"]):
            lines[name] = " ".join((name, *small_kernel.carriers(once[name])))
    return list(lines.values())


def guests(folder: Path) -> dict[bool, kmod_guest.Guest]:
    """Build both kernels, and for each what its guest needs, below ``folder``."""
    kernels = {p: small_kernel.build(folder / name, p).kernel for p, name in FOLDERS.items()}
    lines = functions(folder, kernels)
    lists = {"500": lines[:MANY], "all": lines}
    for name, some in lists.items():
        (folder / f"list-{name}").write_text("".join(f"{line}\n" for line in some))
    paths = {name: folder / f"list-{name}" for name in lists}
    made = {}
    for probes, kernel in kernels.items():
        own = folder / f"guest-{FOLDERS[probes]}"
        own.mkdir(exist_ok=True)
        module = kmod_guest.build_module(kernel, own)
        packed = kmod_guest.pack(kernel, module, paths, own, modules=())
        made[probes] = kmod_guest.Guest(kernel, packed, own)
    return made


def cells(line: Line, runs: dict[str, Measured]) -> list[str]:
    """Return a row of the table. Relative figures compare with the plain kernel."""
    run, plain = runs[line.name], runs["plain"]
    counted = runs.get(line.name.replace("-floor", ""))
    calls = counted.calls / counted.bytes_sent if counted and counted.calls else 0.0
    more = run.instructions_per_byte() - plain.instructions_per_byte()
    return [
        line.text,
        f"{run.bits_per_s / 1e6:.1f}",
        f"{run.bits_per_s / plain.bits_per_s:.3f}",
        f"{run.rtt_us:.0f}",
        f"{run.rtt_us / plain.rtt_us:.2f}",
        f"{run.armed:,}" if run.armed else "",
        f"{run.calls / run.bytes_sent * 1e6:,.0f}" if run.calls else "",
        f"{run.record_bytes / run.calls:.1f}" if run.calls else "",
        f"{more / calls:,.0f}" if calls else "",
        str(run.lost) if run.calls else "",
        str(run.missed) if run.armed else "",
    ]


def table(runs: dict[str, Measured]) -> str:
    """Return the table as Markdown."""
    rows = [list(HEAD), *(cells(line, runs) for line in LINES if line.name in runs)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    lines = [
        " | ".join(
            [
                row[0].ljust(widths[0]),
                *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in rows
    ]
    rule = " | ".join(["-" * widths[0], *(f"{'-' * (width - 1)}:" for width in widths[1:])])
    return "\n".join(f"| {line} |" for line in (lines[0], rule, *lines[1:]))


def main() -> int:
    """Measure the lines asked for, keep them, print the table of all."""
    parser = argparse.ArgumentParser(prog="tests.bench.source", description=__doc__)
    parser.add_argument("--line", nargs="*", default=[line.name for line in LINES])
    parser.add_argument("--seconds", type=int, default=2, help="of the guest's time, for iperf")
    parser.add_argument("--pings", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=TOP / "build/bench/source")
    args = parser.parse_args()
    folder = args.out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    made, kept = guests(folder), folder / "source.json"
    runs = {}
    if kept.exists():
        runs = {name: Measured(**run) for name, run in json.loads(kept.read_text()).items()}
    for line in (line for line in LINES if line.name in args.line):
        boot = kmod_guest.Boot(line.kind, line.functions, args.seconds, args.pings, line.module)
        start = time.monotonic()
        runs[line.name] = parse(line.name, kmod_guest.run(made[line.probes], boot, line.name))
        kept.write_text(json.dumps({name: run._asdict() for name, run in runs.items()}, indent=1))
        took = time.monotonic() - start
        print(f"{line.name}: {runs[line.name].bits_per_s / 1e6:.1f} Mbit/s, {took:.0f} s",
              file=sys.stderr, flush=True)  # fmt: skip
    print(table(runs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
