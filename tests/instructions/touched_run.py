# SPDX-License-Identifier: MIT
"""A small recorded run whose count says which cache lines each call accessed, of all functions.

``python -m tests.instructions --record-touched FOLDER`` makes it: ARP, a TCP connection and two
pings, with a capture.
"""

from __future__ import annotations

import functools
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.instructions.counts import Counts, read
from tests.instructions.recorded import FOLDER
from tests.kept_archives import unpack
from tests.lab.columns import Large, load

SERIES = "6.12"
STEP = "touched"
ARCHIVE = FOLDER / f"touched-{SERIES}.tar.xz"
LOG, CAPTURE, COUNTS = "touched.kbl", "touched.pcap", "counts.1"


class Touched(NamedTuple):
    """The log and the capture, and the plugin's file with its path."""

    kbl: Path
    pcap: Path
    log: Large
    counts: Counts
    counts_path: Path


@functools.cache
def touched() -> Touched:
    """Return the run that is kept in the repository."""
    folder = Path(tempfile.mkdtemp(prefix="touched-"))
    unpack(ARCHIVE, folder)
    kbl, counts = folder / LOG, folder / COUNTS
    return Touched(kbl, folder / CAPTURE, load(kbl), read(counts), counts)


def keep_touched(out: Path, counts: Path) -> Path:
    """Keep the files of a guest in the repository; returns the archive."""
    with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
        for path in (out / LOG, out / CAPTURE, counts):
            path.chmod(0o644)
            archive.add(path, path.name)
    return ARCHIVE
