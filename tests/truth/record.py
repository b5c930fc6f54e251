# SPDX-License-Identifier: MIT
"""``python -m tests.truth.record``: record the zoo in guests, with a witness.

A recording that is whole is not made again.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

from tests.lab import debs
from tests.truth import guests, layout
from tests.truth.report import write
from tests.truth.scenarios import ZOO, Scenario, named

PER_BOOT = 12


def settle(left: Path, scenario: Scenario, series: str, release: str) -> bool:
    """Put what a guest left of a scenario in its place at once; False if that is not whole."""
    found = left / scenario.name
    if not (found / "whole").exists() or not (found / "stats.without").exists():
        return False
    write(found, scenario, release)
    target = layout.place(series, scenario.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    found.rename(target)
    return True


def record(series: str, wanted: list[Scenario]) -> list[Scenario]:
    """Record these scenarios in one guest; returns those that failed."""
    kit = guests.kit(series)
    began = time.monotonic()
    left, console = guests.boot(kit, wanted)
    failed = [s for s in wanted if not settle(left, s, series, kit.kernel.release)]
    took = time.monotonic() - began
    print(f"{series}: {len(wanted) - len(failed)} recorded in {took:.0f} s", flush=True)
    if failed:
        print(f"FAILED: {' '.join(s.name for s in failed)}\n{console[-4000:]}", flush=True)
    return failed


def missing(series: str, names: list[str], again: bool) -> list[Scenario]:
    """Return the scenarios to record, in the table's order."""
    asked = [named(name) for name in names] or list(ZOO)
    return [s for s in asked if again or not layout.is_whole(layout.place(series, s.name))]


def main() -> int:
    """Record what is missing; returns 1 if a scenario failed."""
    parser = argparse.ArgumentParser(prog="tests.truth.record", description=__doc__)
    parser.add_argument("--series", nargs="+", choices=debs.METAS, default=list(debs.METAS))
    parser.add_argument("--scenario", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--again", action="store_true", help="also what is recorded already")
    args = parser.parse_args()
    failed = 0
    for series in args.series:
        wanted = missing(series, args.scenario, args.again)
        for first in range(0, len(wanted), PER_BOOT):
            failed += len(record(series, wanted[first : first + PER_BOOT]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
