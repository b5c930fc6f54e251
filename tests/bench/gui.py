# SPDX-License-Identifier: MIT
"""How fast the window is on a large recording: ``make bench-gui``, or with --scale on a small one.

Generates a capture and a KBL of the same made-up traffic (nested, bursty calls), imports them, and
measures in a fresh process without a display, at 2560x1440.  Prints medians and 95th percentiles
of wall-clock and CPU time (child processes included); with --json also a file.  Existing files are
not made again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .generate import generate
from .gui_goals import GOALS

PACKETS, CALLS = 10_000_000, 20_000_000


class Sample(NamedTuple):
    """One run of an action: wall-clock seconds, and CPU seconds of all threads."""

    wall: float
    cpu: float


def prepare(out: Path, packets: int, calls: int) -> Path:
    """Return the session of the generated recording, made if it is not there yet."""
    folder = out / f"{packets}-{calls}"
    session = folder / "made.skbv"
    if session.exists():
        return session
    if not (folder / "made.pcap").exists():
        _timed("generate", lambda: generate(folder, packets, calls))
    command = [sys.executable, "-m", "skbviewer", "import", "-o", str(session)]
    files = [str(folder / "made.kbl"), str(folder / "made.pcap")]
    _timed("import", lambda: subprocess.run([*command, *files], check=False))
    if not session.exists():
        raise SystemExit("the import failed")
    return session


def _timed(what: str, do: object) -> None:
    begin = time.monotonic()
    do()  # type: ignore[operator]  # a lambda
    print(f"{what}: {time.monotonic() - begin:.1f} s", flush=True)


def measure(session: Path, size: tuple[int, int], runs: int) -> dict[str, list[Sample]]:
    """Return every number, from a process of its own."""
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "PYTHONUNBUFFERED": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # each start would compile 800 modules
    words = [str(session), *(str(n) for n in size), str(runs), repr(time.monotonic())]
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.gui_process", *words],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    return {name: [Sample(*one) for one in samples] for name, samples in found.items()}


def launches(session: Path, size: tuple[int, int], times: int) -> list[Sample]:
    """Launch to first rows, each in a process of its own."""
    return [measure(session, size, 0)["launch to first rows"][0] for _ in range(times)]


def lines(found: dict[str, list[Sample]]) -> list[str]:
    """Return the table that is printed."""
    head = f"{'':42}{'median':>10}{'95 %':>10}{'CPU':>10}{'goal':>10}  runs"
    printed = [head]
    for goal in GOALS:
        samples = found.get(goal.name, [])
        if not samples:
            continue
        wall, cpu = ([getattr(s, part) for s in samples] for part in ("wall", "cpu"))
        factor = 1.0 if goal.unit == "MiB" else 1e3
        values = [np.median(wall) * factor, np.percentile(wall, 95) * factor]
        texts = [f"{value:,.1f}" for value in values]
        texts.append("" if goal.unit == "MiB" else f"{np.median(cpu) * factor:,.1f}")
        texts.append(f"{goal.limit * factor:,.0f}" if goal.limit else "")
        columns = "".join(f"{text:>10}" for text in texts)
        printed.append(f"{goal.name + ', ' + goal.unit:42}{columns}  {len(samples)}")
    return printed


def main(argv: Sequence[str] | None = None) -> int:
    """Prepare, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.gui", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/bench-gui"))
    parser.add_argument("--scale", type=float, default=1.0, help="part of the full size")
    parser.add_argument("--size", default="2560x1440")
    parser.add_argument("--runs", type=int, default=60, help="repetitions of each")
    parser.add_argument("--session", type=Path, help="measure this one instead")
    parser.add_argument("--json", type=Path, help="write all samples here, too")
    given = parser.parse_args(argv)
    packets, calls = (max(1000, round(n * given.scale)) for n in (PACKETS, CALLS))
    session = given.session or prepare(given.out, packets, calls)
    width, height = (int(part) for part in given.size.split("x"))
    found = measure(session, (width, height), given.runs)
    found["launch to first rows"] += launches(session, (width, height), 4)
    print(f"{session}, {width}x{height}")
    print("\n".join(lines(found)))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
