# SPDX-License-Identifier: MIT
"""``python -m tests.truth.record``: record the zoo in guests, with a witness.

A recording that is whole is not made again.  With --counted a guest has one CPU, whose clock
advances a nanosecond an instruction: no pause of the host is in its times.  Such recordings lie in
folders of their own, such as 6.12-counted.  So do short ones: with --less 8, an eighth is sent.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

from tests.truth import guests, layout
from tests.truth.capture_files import read_capture
from tests.truth.report import write
from tests.truth.scenarios import COMPILED_IN, ZOO, Scenario, named

PER_BOOT = 12


def has_packets(left: Path) -> bool:
    """Say whether each sniffer of a scenario captured a packet: one may have begun too late."""
    captures = [*left.glob("*.pcap"), *left.glob("*.pcapng")]
    return bool(captures) and all(path.stat().st_size and read_capture(path) for path in captures)


def settle(left: Path, scenario: Scenario, series: str, release: str) -> bool:
    """Put what a guest left of a scenario in its place at once; False if that is not whole."""
    found, target = left / scenario.name, layout.place(series, scenario.name)
    if (found / "whole").exists():
        if not has_packets(found):
            return False
        write(found, scenario, release)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        found.rename(target)
        return True
    counts = found / "stats.without"
    if not counts.exists() or not layout.is_whole(target):
        return False
    shutil.copy(counts, target)
    write(target, scenario, release)
    return True


def record(series: str, wanted: list[Scenario], how: guests.How) -> list[Scenario]:
    """Record these scenarios in one guest; returns those that failed."""
    kit = guests.kit(series)
    began = time.monotonic()
    left, console = guests.boot(kit, wanted, how)
    folder = layout.series_folder(series, how.counted, how.less)
    failed = [s for s in wanted if not settle(left, s, folder, kit.kernel.release)]
    took = time.monotonic() - began
    print(f"{series}: {len(wanted) - len(failed)} recorded in {took:.0f} s", flush=True)
    if failed:
        print(f"FAILED: {' '.join(s.name for s in failed)}\n{console[-4000:]}", flush=True)
    return failed


def missing(series: str, names: list[str], again: bool, only: str = "both") -> list[Scenario]:
    """Return the scenarios to record, in the table's order."""
    found = []
    compiled_in = series.startswith(guests.COMPILED_IN)
    every = [one for one in ZOO if not compiled_in or one.name in COMPILED_IN]
    for scenario in [named(name) for name in names] or every:
        place = layout.place(series, scenario.name)
        whole = layout.is_whole(place)
        counted = whole and "without" in layout.read(place)["missed"]
        if again or not (counted if only == "without" else whole):
            found.append(scenario)
    return found


def boots(wanted: list[Scenario]) -> list[list[Scenario]]:
    """Divide scenarios among guests: one thread emulates the guests of those that are `patched`."""
    groups = [[one for one in wanted if one.patched == patched] for patched in (False, True)]
    return [some[n : n + PER_BOOT] for some in groups for n in range(0, len(some), PER_BOOT)]


def divisor(text: str) -> int:
    """Return the number of an option.  Raises ValueError if nothing can be divided by it."""
    if (number := int(text)) < 1:
        raise ValueError(text)
    return number


def main() -> int:
    """Record what is missing; returns 1 if a scenario failed."""
    parser = argparse.ArgumentParser(prog="tests.truth.record", description=__doc__)
    parser.add_argument("--series", nargs="+", choices=guests.SERIES,
                        default=list(guests.SERIES))  # fmt: skip
    parser.add_argument("--scenario", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--again", action="store_true", help="also what is recorded already")
    parser.add_argument("--only", choices=("with", "without"), default="both",
                        help="with the witness, or without it for the counts alone")  # fmt: skip
    parser.add_argument("--counted", action="store_true", help="the clock counts instructions")
    parser.add_argument("--less", type=divisor, default=1, metavar="N", help="send an Nth")
    args = parser.parse_args()
    how, failed = guests.How(args.only, args.counted, args.less), 0
    for series in args.series:
        folder = layout.series_folder(series, how.counted, how.less)
        wanted = missing(folder, args.scenario, args.again, args.only)
        for some in boots(wanted):
            failed += len(record(series, some, how))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
