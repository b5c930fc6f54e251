# SPDX-License-Identifier: MIT
"""``make bench-fleet``: a dataset of many generated recordings: how fast, how large, how right.

Makes pairs of a log and a capture (tests/bench/generate.py) of several hosts, adds them by two
workers in steps (STEPS), and asks five questions after each.  Each command is a whole process; its
CPU seconds include its workers, its memory is that of the largest of them.
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
from typing import NamedTuple

import numpy as np

from skbviewer.records.kbl_layout import KBL_FILE_HEADER

from .generate import EVENTS_A_PACKET, generate
from .load import Cost, Line, cost, run
from .worker_memory import WorkerMemory

PACKETS, RECORDS = 100_000, 900_000  # of a pair's capture and log; a call is one record
STEPS = (10, 50, 100, 200)  # pairs in the dataset when the questions are asked
HOSTS = 20
WORKERS = 2
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
        "SELECT function, host, entry_ns // 3600000000000 AS hour, count(*) AS calls, "
        "quantile_disc(dur_ns, 0.99) AS p99_ns FROM calls GROUP BY ALL ORDER BY 1, 2, 3",
    ),
}  # fmt: skip


class Fleet(NamedTuple):
    """The generated files, and how many packets, calls and records of logs are in them."""

    files: tuple[Path, ...]
    packets: int
    calls: int
    records: int


def make_fleet(out: Path, pairs: int, packets: int, records: int) -> Fleet:
    """Write `pairs` logs with their captures; hosts are named in turn."""
    files: list[Path] = []
    sums = np.zeros(3, np.int64)
    calls = max(packets, round(records - EVENTS_A_PACKET * packets))
    for number in range(pairs):
        made = generate(out / "one", packets, calls, seed=number + 1)
        stem = out / f"pair{number:04}"
        files += [made.log.replace(stem.with_suffix(".kbl"))]
        files += [made.capture.replace(stem.with_suffix(".pcap"))]
        _name_host(files[-2], f"host{number % HOSTS:02}")
        sums += (made.packets, made.written.calls, made.written.rows - made.written.calls)
    shutil.rmtree(out / "one")
    return Fleet(tuple(files), *map(int, sums))


def _name_host(log: Path, host: str) -> None:
    with log.open("r+b") as file:
        header = np.frombuffer(file.read(KBL_FILE_HEADER.itemsize), KBL_FILE_HEADER).copy()
        header["hostname"] = host
        file.seek(0)
        file.write(header.tobytes())


def command(folder: Path, *words: str) -> list[str | Path]:
    """Return the words of a command on a dataset."""
    rest = [str(folder) if word == "{}" else word for word in words[1:]] or [str(folder)]
    return [sys.executable, "-m", "skbviewer", "dataset", words[0], *rest]


def adding(folder: Path, files: Sequence[Path]) -> Cost:
    """Add files by two workers."""
    return run(command(folder, "add", "{}", *map(str, files), "--jobs", str(WORKERS)))


def counts(folder: Path) -> dict[str, int]:
    """Return what `dataset info` counts."""
    done = subprocess.run(
        [*command(folder, "info"), "--json"], check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, int] = json.loads(done.stdout)
    return found


class Step(NamedTuple):
    """Pairs that one `dataset add` added."""

    pairs: int
    cost: Cost
    workers: tuple[float, ...]  # MiB that each worker had at most


def steps(folder: Path, files: Sequence[Path]) -> Iterator[Step]:
    """Add the pairs in steps; yield each when it is done."""
    done = 0
    for pairs in sorted({min(each, len(files) // 2) for each in (*STEPS, len(files) // 2)}):
        with WorkerMemory() as memory:
            spent = adding(folder, files[2 * done : 2 * pairs])
        yield Step(pairs - done, spent, tuple(memory.peaks.values()))
        done = pairs


def lines(folder: Path, fleet: Fleet) -> Iterator[Line]:
    """Add the recordings and measure; yield a line as soon as it is known."""
    each, pairs, spent, took = [], 0, 0.0, 0.0
    total = fleet.records + fleet.packets
    start = None
    for step in steps(folder, fleet.files):
        pairs, spent, took = pairs + step.pairs, spent + step.cost.cpu, took + step.cost.wall
        yield cost(f"add {step.pairs} pairs, then {pairs}", step.cost)
        memory = " ".join(f"{peak:.0f}" for peak in step.workers)
        yield Line(f"{pairs} pairs: MiB of each worker", memory)
        if start is None:
            start = adding(folder, fleet.files[:4])
            yield cost("add two pairs again: starting", start)
        each.append((step.cost.cpu - start.cpu) / step.pairs)
        yield Line(f"{pairs} pairs: CPU s a pair, of this step", f"{each[-1]:8.3f}")
        for name, words in QUESTIONS.items():
            yield _asked(f"{pairs} pairs: {name}", run(command(folder, *words)))
    growth = each[-1] / each[0] - 1
    yield Line("CPU a pair, last step to first", f"{growth:+8.1%}", "<= 10%", growth <= GROWTH)
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
