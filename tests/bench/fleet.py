# SPDX-License-Identifier: MIT
"""``make bench-fleet``: a dataset of many generated recordings: how fast, how large, how right.

Makes pairs of a log and a capture (tests/bench/generate.py) of several hosts, adds them by two
workers in steps (STEPS), and asks five questions after each.  Each command is a whole process; its
CPU seconds include its workers, its memory is that of the largest of them.  A small pair that is
imported again and again beside the workers shows how fast the machine was during each step.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from .fleet_recordings import Fleet, make_fleet
from .load import Cost, Line, cost, run
from .machine_speed import MachineSpeed
from .worker_memory import WorkerMemory

PACKETS, RECORDS = 100_000, 900_000  # of a pair's capture and log; a call is one record
STEPS = (10, 50, 100, 200)  # pairs in the dataset when the questions are asked
WORKERS = 2
STARTS = 3  # runs that the mean cost of starting is of
BYTES, SECONDS, MIB, GROWTH = 12.0, 15.0, 2048.0, 0.10  # what is wanted
QUESTIONS = {
    "info": ("info",),
    "stats functions": ("stats", "{}", "functions"),
    "query: bytes by address": (
        "query", "{}",
        "SELECT saddr, daddr, count(*) AS packets, sum(len) AS bytes FROM packets GROUP BY ALL "
        "ORDER BY bytes DESC LIMIT 20",
    ),
    "packets --filter": (
        "packets", "{}",
        "--filter", "frame.number <= 500 && call(kbl.func == ip_rcv && kbl.dur > 4us)",
    ),
    "query: p99 by function, host and hour": (
        "query", "{}",
        # quantile_disc() would hold all values at once
        "WITH counted AS (SELECT function, host, entry_ns // 3600000000000 AS hour, dur_ns, "
        "count(*) AS n FROM calls WHERE dur_ns IS NOT NULL GROUP BY ALL), "
        "summed AS (SELECT *, sum(n) OVER (PARTITION BY function, host, hour ORDER BY dur_ns) "
        "AS upto, sum(n) OVER (PARTITION BY function, host, hour) AS calls FROM counted) "
        "SELECT function, host, hour, any_value(calls) AS calls, "
        "min(dur_ns) FILTER (upto * 100 >= calls * 99) AS p99_ns "
        "FROM summed GROUP BY ALL ORDER BY 1, 2, 3",
    ),
}  # fmt: skip


def command(folder: Path, *words: str) -> list[str | Path]:
    """Return the words of a command on a dataset."""
    rest = [str(folder) if word == "{}" else word for word in words[1:]] or [str(folder)]
    return [sys.executable, "-m", "skbviewer", "dataset", words[0], *rest]


def adding(folder: Path, files: Sequence[Path]) -> Cost:
    """Add files by two workers."""
    return run(command(folder, "add", "{}", *map(str, files), "--jobs", str(WORKERS)))


class Adding(NamedTuple):
    """One `dataset add`."""

    cost: Cost
    workers: tuple[float, ...]  # MiB that each worker had at most
    small: float  # CPU s that the import of the small pair took meanwhile

    @property
    def imports(self) -> float:
        """Return how many imports of the small pair would take the same CPU time."""
        return self.cost.cpu / self.small


def watched(folder: Path, fleet: Fleet, begin: int, end: int) -> Adding:
    """Add the pairs from `begin` to `end`, and watch the workers and the machine meanwhile."""
    speed = MachineSpeed(folder.with_name("small"), fleet.small)
    with WorkerMemory() as memory, speed:
        spent = adding(folder, fleet.files[2 * begin : 2 * end])
    return Adding(spent, tuple(memory.peaks.values()), speed.seconds)


def counts(folder: Path) -> dict[str, int]:
    """Return what `dataset info` counts."""
    done = subprocess.run(
        [*command(folder, "info"), "--json"], check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, int] = json.loads(done.stdout)
    return found


class Start(NamedTuple):
    """What an `add` costs that finds all its pairs in the dataset."""

    cpu: float
    imports: float


def starting(folder: Path, fleet: Fleet) -> Start:
    """Add two pairs again, several times; return the mean cost."""
    found = [watched(folder, fleet, 0, 2) for _ in range(STARTS)]
    return Start(fmean(each.cost.cpu for each in found), fmean(each.imports for each in found))


def steps(folder: Path, fleet: Fleet) -> Iterator[tuple[int, Adding]]:
    """Add the pairs in steps; yield their number when they are added."""
    done, of = 0, len(fleet.files) // 2
    for pairs in sorted({min(each, of) for each in (*STEPS, of)}):
        made = watched(folder, fleet, done, pairs)
        yield pairs - done, made
        done = pairs


def lines(folder: Path, fleet: Fleet) -> Iterator[Line]:
    """Add the recordings and measure; yield a line as soon as it is known."""
    each, pairs, spent, took = [], 0, 0.0, 0.0
    total = fleet.records + fleet.packets
    start = None
    for added, step in steps(folder, fleet):
        pairs, spent, took = pairs + added, spent + step.cost.cpu, took + step.cost.wall
        yield cost(f"add {added} pairs, then {pairs}", step.cost)
        memory = " ".join(f"{peak:.0f}" for peak in step.workers)
        yield Line(f"{pairs} pairs: MiB of each worker", memory)
        if start is None:
            start = starting(folder, fleet)
            text = f"{start.cpu:8.2f} s, {start.imports:.1f} small pairs"
            yield Line("CPU that starting takes", text)
        each.append((step.imports - start.imports) / added)
        yield Line(f"{pairs} pairs: CPU s of the small pair meanwhile", f"{step.small:8.3f}")
        yield Line(f"{pairs} pairs: small pairs that a pair takes", f"{each[-1]:8.2f}")
        seconds = (step.cost.cpu - start.cpu) / added
        yield Line(f"{pairs} pairs: CPU s a pair, of this step", f"{seconds:8.3f}")
        for name, words in QUESTIONS.items():
            yield _asked(f"{pairs} pairs: {name}", run(command(folder, *words)))
    growth = each[-1] / each[0] - 1
    name = "CPU a pair, in small pairs, last step to first"
    yield Line(name, f"{growth:+8.1%}", "<= 10%", growth <= GROWTH)
    yield Line("records a second of CPU", f"{total / spent:10.0f}")
    yield Line("records a second, two workers", f"{total / took:10.0f}")
    yield from _sums(folder, fleet, total)
    yield cost("add all again: nothing changes", adding(folder, fleet.files))
    yield from _sums(folder, fleet, total)


def _asked(name: str, spent: Cost) -> Line:
    good = spent.cpu <= SECONDS and spent.peak <= MIB
    return cost(name, spent)._replace(wanted=f"<= {SECONDS:g} s, {MIB:g} MiB", good=good)


def _sums(folder: Path, fleet: Fleet, total: int) -> Iterator[Line]:
    found = counts(folder)
    size = found["bytes"] / total
    right = (found["packets"], found["calls"], found["records"])
    wanted = (fleet.packets, fleet.calls, total)
    yield Line("bytes a record", f"{size:8.2f}", f"<= {BYTES:g}", size <= BYTES)
    yield Line("packets, calls and records", str(right), str(wanted), right == wanted)


def main() -> None:
    """Read the arguments, measure, print; exit with 1 if a figure is not as wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/fleet"))
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--packets", type=int, default=PACKETS, help="of a pair")
    parser.add_argument("--records", type=int, default=RECORDS, help="of a pair's log")
    args = parser.parse_args()
    shutil.rmtree(args.out, ignore_errors=True)
    args.out.mkdir(parents=True)
    # In a process of its own: the memory of this one counts in its children's peak.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        fleet = pool.apply(make_fleet, (args.out, args.pairs, args.packets, args.records))
    print(f"{args.pairs} pairs: {fleet.packets} packets, {fleet.records} records of logs")
    adding(args.out / "first", fleet.files[:4])  # the first run of all compiles, which takes long
    shutil.rmtree(args.out / "first")
    good = True
    for line in lines(args.out / "dataset", fleet):
        mark = "" if line.good else "  NOT AS WANTED"
        print(f"{line.name:<56} {line.value}  {line.wanted}{mark}", flush=True)
        good &= line.good
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
