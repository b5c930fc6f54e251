# SPDX-License-Identifier: MIT
"""``make bench-fleet``: a dataset of many generated recordings: how fast, how large, how right.

Makes pairs of a log and a capture (tests/bench/generate.py) of several hosts, adds the first half
and then the second half by two workers, and asks five questions.  Each command is a whole process;
its CPU seconds include its workers, its memory is that of the largest of them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from skbviewer.records.kbl_layout import KBL_FILE_HEADER

from .generate import calls_for, generate
from .load import Cost, Line, cost, run

PACKETS, RECORDS = 100_000, 1_000_000  # of a pair
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
    for number in range(pairs):
        made = generate(out / "one", packets, calls_for(records, packets), seed=number + 1)
        stem = out / f"pair{number:04}"
        files += [made.log.replace(stem.with_suffix(".kbl"))]
        files += [made.capture.replace(stem.with_suffix(".pcap"))]
        _name_host(files[-2], f"host{number % HOSTS:02}")
        calls = made.written.calls
        sums += (made.packets, calls, made.written.rows - calls)  # a call is one record
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


def lines(folder: Path, fleet: Fleet) -> list[Line]:
    """Add the recordings and measure."""
    half = len(fleet.files) // 4 * 2
    first = adding(folder, fleet.files[:half])
    second = adding(folder, fleet.files[half:])
    again = adding(folder, fleet.files)
    found = counts(folder)
    total = fleet.records + fleet.packets
    each = [first.cpu / half, second.cpu / (len(fleet.files) - half)]
    growth = each[1] / each[0] - 1
    peak = max(first.peak, second.peak)
    size = found["bytes"] / total
    right = (found["packets"], found["calls"], found["records"])
    wanted = (fleet.packets, fleet.calls, total)
    made = [
        cost("add, first half", first),
        cost("add, second half", second),
        cost("add all again: nothing changes", again),
        Line("records a second of CPU", f"{total / (first.cpu + second.cpu):10.0f}"),
        Line("records a second, two workers", f"{total / (first.wall + second.wall):10.0f}"),
        Line("bytes a record", f"{size:8.2f}", f"<= {BYTES:g}", size <= BYTES),
        Line("largest process, MiB", f"{peak:6.0f}"),
        Line("CPU a pair, second half to first", f"{growth:+8.1%}", "<= 10%", growth <= GROWTH),
        Line("packets, calls and records", str(right), str(wanted), right == wanted),
    ]  # fmt: skip
    for name, words in QUESTIONS.items():
        asked = run(command(folder, *words))
        good = asked.cpu <= SECONDS and asked.peak <= MIB
        made.append(cost(name, asked)._replace(wanted=f"<= {SECONDS:g} s, {MIB:g} MiB", good=good))
    return made


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
    fleet = make_fleet(args.out, args.pairs, args.packets, args.records)
    print(f"{args.pairs} pairs: {fleet.packets} packets, {fleet.records} records of logs")
    found = lines(args.out / "dataset", fleet)
    for line in found:
        mark = "" if line.good else "  NOT AS WANTED"
        print(f"{line.name:<38} {line.value}  {line.wanted}{mark}")
    raise SystemExit(0 if all(line.good for line in found) else 1)


if __name__ == "__main__":
    main()
