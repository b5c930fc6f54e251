# SPDX-License-Identifier: MIT
"""What `make bench` measures in a process of its own: stages of an import, answers, correctness.

Prints one JSON object.  Times are seconds; of answers the median and the 95th percentile.
"""

from __future__ import annotations

import json
import random
import resource
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from skbviewer import readers
from skbviewer.matching import build_kernel_side, build_legs, build_series, match
from skbviewer.records import Capture, KernelLog, Silent
from skbviewer.session import Session
from skbviewer.session.memory_reuse import reused_memory

EXACT = 0
PAGE = 50
PIXELS = 2000
Ints = npt.NDArray[np.int64]


def cpu() -> float:
    """Return seconds of CPU so far, all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def stages(capture: Path, log: Path) -> dict[str, float]:
    """Return CPU seconds of reading and matching, nothing stored."""
    spent: dict[str, float] = {}

    def timed(name: str, do: Callable[[], Any]) -> Any:
        begin = cpu()
        made = do()
        spent[name] = cpu() - begin
        return made

    wire = timed("packets", lambda: readers.read(capture, Silent()))
    kernel = timed("records", lambda: readers.read(log, Silent()))
    assert isinstance(wire, Capture) and isinstance(kernel, KernelLog)
    series = timed("series", lambda: build_series(kernel))
    legs = timed("legs", lambda: build_legs(kernel, series))
    seen = timed("sightings", lambda: build_kernel_side(kernel, series, legs))
    timed("match", lambda: match(wire.packets, seen))
    return spent


def answers(path: Path, times: int) -> dict[str, tuple[float, float]]:
    """Return the times for which a user waits, on an open session."""
    dice = random.Random(1)
    found: dict[str, tuple[float, float]] = {}

    def measured(name: str, do: Callable[[], Any]) -> None:
        do()
        spans = []
        for _ in range(times):
            begin = time.perf_counter()
            do()
            spans.append(time.perf_counter() - begin)
        found[name] = (float(np.median(spans)), float(np.percentile(spans, 95)))

    session = Session.open(path)
    count = session.packets.count()

    def page() -> None:
        first = dice.randrange(1, max(2, count - PAGE))
        session.packets.rows(np.arange(first, min(first + PAGE, count + 1)))

    measured("path of a packet", lambda: session.paths.path(packet=dice.randrange(1, count + 1)))
    measured("page of 50 rows", page)
    begin = time.perf_counter()
    lanes = session.timeline.lanes("cpu")
    found["timeline, first time"] = (time.perf_counter() - begin,) * 2
    lasts = int(lanes.boxes.end.max(initial=1))

    def window() -> None:
        width = max(1, int(lasts * 10 ** dice.uniform(-6, 0)))
        first = dice.randrange(max(1, lasts - width + 1))
        lanes.bins(first, first + width, PIXELS)

    measured("timeline of 2,000 pixels", window)
    session.close()
    return found


def correctness(path: Path, truth_path: Path) -> dict[str, int]:
    """Return matches against the truth: packets right, wrong, undecided, left out though seen."""
    truth = np.load(truth_path)
    packet, verdict, skb, begin = _matches(path)
    life = truth["life"][packet - 1]
    mine = np.maximum(life, 0)
    # The records of TCP's original up to the clone are the beginning of the clone's series.
    address = (skb == truth["skb"][mine]) | (skb == truth["original"][mine])
    alive = (truth["born"][mine] <= begin) & (begin <= truth["freed"][mine])
    right = (life >= 0) & address & alive
    count = len(truth["life"])
    exact, wrong, open_ = (np.zeros(count, np.bool_) for _ in range(3))
    is_exact = verdict == EXACT
    exact[packet[is_exact] - 1] = True
    wrong[packet[is_exact & ~right] - 1] = True
    open_[packet[~is_exact] - 1] = True
    seen = truth["life"] >= 0
    return {
        "packets": count,
        "seen by the kernel": int(seen.sum()),
        "right": int((seen & exact & ~wrong).sum()),
        "wrong": int(wrong.sum()),
        "ambiguous": int((seen & open_ & ~exact).sum()),
        "left out": int((seen & ~exact & ~open_).sum()),
    }


def _matches(path: Path) -> tuple[Ints, Ints, Ints, Ints]:
    """Return packet, verdict, and skb and begin of the series, of every match."""
    with closing(sqlite3.connect(path)) as db:
        series = np.array(db.execute("SELECT id, skb, begin_ns FROM series").fetchall(), np.int64)
        legs = np.array(db.execute("SELECT id, series FROM leg").fetchall(), np.int64)
        rows = db.execute("SELECT packet, verdict, leg FROM match").fetchall()
    matches = np.array(rows, np.int64).reshape(-1, 3)
    series_of = _by_id(legs, 1)[matches[:, 2]]
    skb, begin = _by_id(series, 1)[series_of], _by_id(series, 2)[series_of]
    return matches[:, 0], matches[:, 1], skb, begin


def _by_id(rows: Ints, column: int) -> Ints:
    found = np.zeros(int(rows[:, 0].max(initial=0)) + 1, np.int64)
    found[rows[:, 0]] = rows[:, column]
    return found


def integrity(path: Path) -> str:
    """Return SQLite's verdict on the file: "ok" if it is whole."""
    with closing(sqlite3.connect(path)) as db:
        return str(db.execute("PRAGMA integrity_check").fetchone()[0])


def main(arguments: list[str]) -> None:
    """Run the part that the first argument names on the files in the other arguments."""
    part, *rest = arguments
    paths = [Path(text) for text in rest]
    if part == "stages":
        with reused_memory():  # as an import does it
            found: Any = [stages(paths[0], paths[1]) for _ in range(2)]
    elif part == "answers":
        found = answers(paths[0], 60)
    elif part == "correctness":
        found = correctness(paths[0], paths[1])
    else:
        found = integrity(paths[0])
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
