# SPDX-License-Identifier: MIT
"""The recorded runs of the scenario "instructions", by kernel, and what each of their counts is."""

from __future__ import annotations

import functools
import tarfile
import tempfile
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from tests.instructions.counts import Counts, read
from tests.kept_archives import unpack
from tests.lab.columns import Large, load

FOLDER = Path(__file__).resolve().parent / "recorded"
SERIES = ("6.1", "6.12")
LOG = "instructions.kbl"


class Phase(IntEnum):
    """The number in a count's file name; see tests/lab/scenarios/instructions.sh."""

    BARE_ONCE = 1
    BARE_TWICE = 2
    PROBED_ONCE = 3
    PROBED_TWICE = 4
    BARE_DATAGRAMS = 5
    DATAGRAMS = 6
    TRAFFIC = 7


class Recorded(NamedTuple):
    """One kernel's run."""

    kbl: Path
    log: Large
    counts: dict[Phase, Counts]


@functools.cache
def recorded(series: str) -> Recorded:
    """Return the run of a kernel that is kept in the repository."""
    folder = Path(tempfile.mkdtemp(prefix="instructions-"))
    unpack(FOLDER / f"{series}.tar.xz", folder)
    return of_folder(folder)


def of_folder(folder: Path) -> Recorded:
    """Return the run whose files are in `folder`."""
    counts = {phase: read(folder / f"counts.{phase.value}") for phase in Phase}
    return Recorded(folder / LOG, load(folder / LOG), counts)


def keep(log: Path, counts: list[Path], series: str) -> Path:
    """Keep a run in the repository; returns the archive."""
    archive = FOLDER / f"{series}.tar.xz"
    FOLDER.mkdir(exist_ok=True)
    with tarfile.open(archive, "w:xz") as tar:
        for path in (log, *counts):
            tar.add(path, path.name)
    return archive
