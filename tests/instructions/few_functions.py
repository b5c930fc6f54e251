# SPDX-License-Identifier: MIT
"""A small recorded run with the machine code of few functions, and their executed blocks.

``python -m tests.instructions --record-few FOLDER`` makes it.  The plugin's file has all marks of
the datagrams, but only the blocks of the functions whose code the log has, to be small.
"""

from __future__ import annotations

import functools
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from skbviewer.records import kbl_layout as layout
from tests.instructions.counts import HEAD_2, Counts, read
from tests.instructions.recorded import FOLDER, LOG, Phase
from tests.kept_archives import unpack
from tests.lab.columns import Large, load
from tests.lab.kbl_check import Type

SERIES = "6.12"
WORDS = ("functions=few.txt",)  # the list of functions in the guest
ARCHIVE = FOLDER / f"few-{SERIES}.tar.xz"
COUNTS = f"counts.{Phase.DATAGRAMS.value}"


class Few(NamedTuple):
    """The log, and the plugin's file with its path."""

    kbl: Path
    log: Large
    counts: Counts
    counts_path: Path


@functools.cache
def few() -> Few:
    """Return the run that is kept in the repository."""
    folder = Path(tempfile.mkdtemp(prefix="few-functions-"))
    unpack(ARCHIVE, folder)
    counts = folder / COUNTS
    return Few(folder / LOG, load(folder / LOG), read(counts), counts)


def keep_few(kbl: Path, counts: Path) -> Path:
    """Keep a run in the repository, with fewer blocks; returns the archive."""
    with tempfile.TemporaryDirectory() as folder:
        short = Path(folder) / COUNTS
        short.write_bytes(_of_recorded_code(read(counts), load(kbl)))
        with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
            archive.add(kbl, LOG)
            archive.add(short, COUNTS)
    return ARCHIVE


def _of_recorded_code(counts: Counts, log: Large) -> bytes:
    """Return the plugin's file without accesses, and without blocks outside recorded code."""
    inside = np.zeros(len(counts.blocks), np.bool_)
    for code in np.frombuffer(log.kbl.tables[Type.CODE], layout.KBL_CODE):
        begin, end = code["addr"], code["addr"] + code["size"]
        inside |= (counts.blocks["start"] < end) & (counts.blocks["after"] > begin)
    head = np.array([counts.head], counts.head.dtype)
    head["nr_blocks"], head["nr_accesses"] = np.count_nonzero(inside), 0
    parts = [head, counts.marks, counts.blocks[inside]]
    if head.dtype == HEAD_2:
        head["nr_touches"] = 0
        parts.append(counts.exceptions)
    return b"".join(part.tobytes() for part in parts)
