# SPDX-License-Identifier: MIT
"""Small recorded runs whose counts say which cache lines each call accessed, of all functions.

``python -m tests.instructions --record-touched FOLDER`` makes them, one for each kernel: ARP, a TCP
connection and two pings, with a capture.
"""

from __future__ import annotations

import functools
import json
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.instructions.counts import TIMES, Counts, read
from tests.instructions.recorded import FOLDER, SERIES
from tests.kept_archives import unpack
from tests.lab.columns import Large, load

KERNEL = SERIES[-1]  # the one that other tests show
STEP = "touched"
LOG, CAPTURE, COUNTS = "touched.kbl", "touched.pcap", "counts.1"
FAULTS, PAGE_FAULT = "faults.json", "asm_exc_page_fault"


class Faults(NamedTuple):
    """Page faults of a program: what it measured, and what the plugin counted meanwhile.

    `first` and `again` are sums of the instructions for `pages` touches: of new pages, and of the
    same pages again.  `counted` has the columns TIMES of counts.py by the entry of an exception.
    """

    pages: int
    first: int
    again: int
    counted: dict[str, list[int]]


class Touched(NamedTuple):
    """The log and the capture, the plugin's file with its path, and a program's page faults."""

    kbl: Path
    pcap: Path
    log: Large
    counts: Counts
    counts_path: Path
    faults: Faults


def archive_of(series: str) -> Path:
    """Return where the run of a kernel is kept in the repository."""
    return FOLDER / f"touched-{series}.tar.xz"


@functools.cache
def touched(series: str = KERNEL) -> Touched:
    """Return the run that is kept in the repository."""
    folder = Path(tempfile.mkdtemp(prefix="touched-"))
    unpack(archive_of(series), folder)
    kbl, counts = folder / LOG, folder / COUNTS
    faults = Faults(*json.loads((folder / FAULTS).read_text()))
    return Touched(kbl, folder / CAPTURE, load(kbl), read(counts), counts, faults)


def keep_touched(out: Path, counts: list[Path], series: str) -> Path:
    """Keep the files of a guest in the repository; returns the archive."""
    pages, first, again = map(int, (out / "faults").read_text().split())
    faults = Faults(pages, first, again, durations(counts[1]))
    (out / FAULTS).write_text(json.dumps(faults) + "\n")
    with tarfile.open(archive_of(series), "w:xz", preset=9) as archive:
        for path in (out / LOG, out / CAPTURE, out / FAULTS, counts[0]):
            path.chmod(0o644)
            archive.add(path, path.name)
    return archive_of(series)


def durations(counts: Path) -> dict[str, list[int]]:
    """Return the columns TIMES of each exception in a file of the plugin."""
    rows = read(counts).exceptions
    return {row["name"].decode(): [int(row[name]) for name in TIMES] for row in rows}
