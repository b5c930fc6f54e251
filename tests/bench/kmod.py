# SPDX-License-Identifier: MIT
"""``python -m tests.bench.kmod [--kernel 6.12] [--line disk-50 ...]``: what recording costs.

One guest run a line, on a CPU that counts instructions; lines not run again are taken from the
last time.  docs/overhead.md describes what is measured.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
import time
from pathlib import Path

from tests.bench import kmod_guest
from tests.bench.kmod_lines import LINES, MORE, Line, Measured, parse
from tests.bench.kmod_table import table
from tests.lab.debs import METAS

Results = dict[str, dict[str, Measured]]


def load(path: Path) -> Results:
    """Return the runs of earlier times, by release and line."""
    if not path.exists():
        return {}
    kept = json.loads(path.read_text())
    return {r: {n: Measured(**run) for n, run in runs.items()} for r, runs in kept.items()}


def save(path: Path, results: Results) -> None:
    """Write all runs."""
    kept = {r: {n: run._asdict() for n, run in runs.items()} for r, runs in results.items()}
    path.write_text(json.dumps(kept, indent=1) + "\n")


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(prog="tests.bench.kmod", description=__doc__)
    parser.add_argument("--kernel", nargs="*", default=list(METAS), choices=list(METAS))
    parser.add_argument("--line", nargs="*", default=[line.name for line in LINES],
                        help="names or globs of lines, such as none floor-50 'disk-*'")  # fmt: skip
    parser.add_argument("--seconds", type=int, default=2, help="of the guest's time, for iperf")
    parser.add_argument("--pings", type=int, default=1000)
    parser.add_argument("--module", default="", help="more module parameters, joined by commas")
    parser.add_argument("--cpu", default=kmod_guest.CPU, help="of QEMU, such as max,-erms,-fsrm")
    parser.add_argument("--source", type=Path, default=kmod_guest.KMOD, help="a copy of kmod/")
    parser.add_argument("--again", action="store_true", help="boot what was built the last time")
    parser.add_argument("--out", type=Path, default=kmod_guest.TOP / "build/bench")
    return parser.parse_args()


def chosen(globs: list[str]) -> list[Line]:
    """Return the lines that a glob names."""
    return [x for x in (*LINES, *MORE) if any(fnmatch.fnmatch(x.name, glob) for glob in globs)]


def keep(path: Path, machine: str, run: Measured) -> dict[str, Measured]:
    """Add a run to the file, which another process may have added to; returns the machine's."""
    results = load(path)
    runs = results.setdefault(machine, {})
    runs[run.line] = run
    save(path, results)
    return runs


def measure(series: str, args: argparse.Namespace, kept: Path) -> None:
    """Run the chosen lines on one kernel; the file ``kept`` grows by each."""
    folder = args.out.resolve() / series
    folder.mkdir(parents=True, exist_ok=True)
    guest = (
        kmod_guest.built(series, folder)
        if args.again
        else kmod_guest.build(series, folder, args.source)
    )
    plain = args.cpu == kmod_guest.CPU
    machine = guest.kernel.release + ("" if plain else f" {args.cpu}")
    runs = load(kept).get(machine, {})
    for line in chosen(args.line):
        boot = kmod_guest.Boot(
            line.kind, line.functions, args.seconds, args.pings, args.module, args.cpu
        )
        start = time.monotonic()
        run = parse(line.name, kmod_guest.run(guest, boot, line.name))
        runs = keep(kept, machine, run)
        took = time.monotonic() - start
        print(f"{series} {line.name}: {run.bits_per_s / 1e6:.1f} Mbit/s, {took:.0f} s",
              file=sys.stderr, flush=True)  # fmt: skip
    print(f"\n{table(machine, runs)}\n", flush=True)


def main() -> int:
    """Measure, print a table a kernel, keep all in kmod.json."""
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    kept = args.out / "kmod.json"
    for series in args.kernel:
        measure(series, args, kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
