# SPDX-License-Identifier: MIT
"""``make bench``: how fast and how right a large recording is read, against other programs.

Makes up a capture, a KBL and the truth about them (tests/bench/generate.py) and a trace.dat of as
many events as the KBL has records, then measures all programs one after the other, each as a whole
process.  Times are CPU seconds, user and system, the best of some runs: ratios of them depend
little on what else the machine does.  The others print text, skbviewer stores, indexes and matches.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .generate import Generated, calls_for, generate
from .trace_dat import write_trace

PACKETS, RECORDS = 1_000_000, 10_000_000
PRINTED = 0.05  # part of the packets whose records are printed
TUPLE = ("frame.number", "frame.time_epoch", "ip.src", "ip.dst", "ip.id", "ip.proto", "frame.len")
WORDS_TSHARK = ["tshark", "-n", "-T", "fields", *(w for f in TUPLE for w in ("-e", f)), "-r"]
WORDS_TCPDUMP = ["tcpdump", "-nn", "-r"]
WORDS_TRACE = ["trace-cmd", "report"]
MIB = 1 << 10  # ru_maxrss counts KiB
STORED = ("packets", "records", "series", "legs", "sightings", "match")


class Cost(NamedTuple):
    """What one run of a program took: CPU and wall-clock seconds, and MiB at its peak."""

    cpu: float
    wall: float
    peak: float


class Line(NamedTuple):
    """A figure. wanted: its goal, or ""; good: whether it meets the goal."""

    name: str
    value: str
    wanted: str = ""
    good: bool = True


def compiled(folder: Path) -> dict[str, str]:
    """Return the environment, in which Python keeps what it compiled in `folder`.

    An installed program was compiled when it was installed, whatever is set here.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(folder.absolute())}


def run(words: Sequence[str | Path], environment: dict[str, str] | None = None) -> Cost:
    """Run a program to its end, its output to nowhere.  Raises SystemExit if it fails."""
    begin = time.monotonic()
    with subprocess.Popen(
        words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}: {said.decode(errors='replace')}")
    wall = time.monotonic() - begin
    return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / MIB)


def best(
    words: Sequence[str | Path],
    runs: int,
    remove: Path | None = None,
    environment: dict[str, str] | None = None,
) -> Cost:
    """Return the run with the least CPU time; `remove` is what a run makes."""
    costs = []
    for _ in range(runs):
        if remove:
            remove.unlink(missing_ok=True)
        costs.append(run(words, environment))
    return min(costs)


def inside(part: str, *paths: Path) -> Any:
    """Return what tests/bench/load_inside.py finds, in a process of its own."""
    words = [sys.executable, "-m", "tests.bench.load_inside", part, *map(str, paths)]
    environment = compiled(paths[0].parent / "compiled") | {"OPENBLAS_NUM_THREADS": "1"}  # as ours
    done = subprocess.run(words, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def importing(session: Path, *inputs: Path) -> list[str | Path]:
    return [sys.executable, "-m", "skbviewer", "import", "-o", session, *inputs]


def dumping(log: Path) -> list[str | Path]:
    return [sys.executable, "-m", "skbviewer", "dump", log]


def cost(name: str, of: Cost) -> Line:
    """Return a line for a run, and print it at once, because all runs take minutes."""
    line = Line(name, f"{of.cpu:8.2f} s CPU  {of.wall:8.2f} s  {of.peak:6.0f} MiB")
    print(f"... {name}: {of.cpu:.2f} s CPU", file=sys.stderr, flush=True)
    return line


def ratio(name: str, theirs: float, ours: float, wanted: float = 0.0) -> Line:
    """Return a line that says how many times as many CPU seconds the other program needs."""
    value = theirs / ours
    return Line(name, f"{value:8.1f} times", f">= {wanted:g}" if wanted else "", value >= wanted)


class Input(NamedTuple):
    """The generated input: a recording, and a trace with as many events."""

    made: Generated
    trace: Path
    events: int


def speeds(recording: Input, part: Input, runs: int) -> tuple[list[Line], Cost]:
    """Return lines about each program on its own input, and ours on the same.

    The last line is the cost of `trace-cmd report`.
    """
    made, trace, _ = recording
    folder = made.capture.parent
    lines: list[Line] = []

    environment = compiled(folder / "compiled")
    run([sys.executable, "-m", "skbviewer", "import", "--help"], environment)

    def measured(name: str, words: Sequence[str | Path], session: Path | None = None) -> Cost:
        found = best(words, runs, session, environment)
        lines.append(cost(name, found))
        return found

    def ours(name: str, session: Path, *inputs: Path) -> Cost:
        return measured(f"skbviewer import, {name}", importing(session, *inputs), session)

    tshark = measured("tshark -T fields, the capture", [*WORDS_TSHARK, made.capture])
    tcpdump = measured("tcpdump -nn, the capture", [*WORDS_TCPDUMP, made.capture])
    capture = ours("the capture", folder / "capture.skbv", made.capture)
    report = measured("trace-cmd report, as many events", [*WORDS_TRACE, trace])
    log = ours("the KBL", folder / "kbl.skbv", made.log)
    whole = ours("both", folder / "both.skbv", made.log, made.capture)
    some = measured("trace-cmd report, some events", [*WORDS_TRACE, part.trace])
    printed = measured("skbviewer dump, as many", dumping(part.made.log))
    found = [
        *lines,
        ratio("faster than tshark", tshark.cpu, capture.cpu, 40),
        ratio("faster than tcpdump", tcpdump.cpu, capture.cpu, 5),
        ratio("faster than trace-cmd", report.cpu, log.cpu, 8),
        ratio("printed as fast as by trace-cmd", some.cpu, printed.cpu),
        Line("all of it", f"{whole.cpu:8.2f} s CPU", "<= 6", whole.cpu <= 6),
        Line("peak memory", f"{whole.peak:8.0f} MiB", "<= 1229", whole.peak <= 1.2 * 1024),
    ]
    return found, report


def parts(made: Generated, report: Cost, runs: int) -> list[Line]:
    """Return lines of the CPU seconds before anything is stored.

    `trace-cmd report` stores nothing either.
    """
    found = [inside("stages", made.capture, made.log) for _ in range(runs)]
    spent, again = min(found, key=lambda turns: sum(turns[0].values()))
    total, warm = sum(spent.values()), sum(again.values())
    lines = [
        Line(f"of it {name}", f"{spent[name]:8.2f} s CPU  {again[name]:8.2f} s again")
        for name in STORED
    ]
    lines.append(ratio("KBL read faster than trace-cmd", report.cpu, spent["records"]))
    value = f"{total:8.2f} s CPU  {warm:8.2f} s again"
    return [*lines, Line("read and matched", value, "<= 2.5", total <= 2.5)]


def results(made: Generated) -> list[Line]:
    """Return whether the session is sound and right, and how fast it answers."""
    session = made.capture.parent / "both.skbv"
    said = inside("integrity", session)
    lines = [Line("integrity check", f"{said:>8}", "ok", said == "ok")]
    found = inside("correctness", session, made.truth)
    share = found["right"] / max(1, found["seen by the kernel"])
    lines += [Line(name, f"{found[name]:8,}") for name in ("packets", "seen by the kernel")]
    lines += [
        Line("matched right", f"{100 * share:8.4f} %", ">= 99.99", share >= 0.9999),
        Line("matched wrong", f"{found['wrong']:8,}", "0", not found["wrong"]),
        Line("ambiguous", f"{found['ambiguous']:8,}"),
        Line("left out", f"{found['left out']:8,}", "0", not found["left out"]),
    ]
    limits = {"path of a packet": 5e-3, "page of 50 rows": 2e-3, "timeline of 2,000 pixels": 20e-3}
    for name, (median, high) in inside("answers", session).items():
        limit = limits.get(name, 0.0)
        value = f"{1e3 * median:8.2f} ms  ({1e3 * high:.2f} at 95 %)"
        lines.append(
            Line(name, value, f"<= {1e3 * limit:g}" if limit else "", median <= (limit or 1e9))
        )
    return lines


def table(lines: Sequence[Line]) -> str:
    """Return the lines as text; lines that miss their goal are marked."""
    return "\n".join(
        f"{line.name:34} {line.value:46} {line.wanted:>9}{'' if line.good else '  MISSED'}".rstrip()
        for line in lines
    )


def _printed(lines: list[Line]) -> list[Line]:
    print(table(lines), flush=True)
    return lines


def _make(folder: Path, packets: int, records: int) -> Input:
    made = generate(folder, packets, calls_for(records, packets))
    trace = folder / "made.dat"
    return Input(made, trace, write_trace(trace, made.written.rows))


def main(argv: Sequence[str] | None = None) -> int:
    """Make the data, measure, print; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.load", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/bench-load"))
    parser.add_argument("--scale", type=float, default=1.0, help="part of the full size")
    parser.add_argument("--runs", type=int, default=3, help="of each program; the best counts")
    parser.add_argument("--json", type=Path, help="write the lines here, too")
    given = parser.parse_args(argv)
    packets, records = (max(1000, round(n * given.scale)) for n in (PACKETS, RECORDS))
    missing = [name for name in ("tshark", "tcpdump", "trace-cmd") if not shutil.which(name)]
    if missing:
        raise SystemExit(f"missing: {', '.join(missing)} (see tests/bench/load-packages.txt)")
    # In a process of its own: the memory of this one counts in its children's peak.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        whole = pool.apply(_make, (given.out, packets, records))
        few = max(1000, round(packets * PRINTED))
        some = pool.apply(_make, (given.out / "some", few, few * records // packets))
    made = whole.made
    print(f"{made.packets:,} packets, {made.written.rows:,} records, {whole.events:,} trace events")
    lines, report = speeds(whole, some, given.runs)
    lines = _printed(lines) + _printed(parts(made, report, given.runs)) + _printed(results(made))
    if given.json:
        given.json.write_text(json.dumps([line._asdict() for line in lines], indent=1))
    return 0 if all(line.good for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
