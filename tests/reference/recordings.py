# SPDX-License-Identifier: MIT
"""``python -m tests.reference.recordings FOLDER...``: compare each recording of the zoo in there.

FOLDER is one such as build/truth/recordings/6.12-less16 (tests/truth/record.py).  Prints a line for
each recording: cells, how many differ, unknown time, lost records.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

from skbviewer.session import Session, import_files

from .whole_session import Compared, compared, unknown_share

MOST_S = 1800  # that a recording takes


class Line(NamedTuple):
    """What is printed of one recording, and how many cells it is of."""

    text: str
    cells: int
    differ: int


def main() -> int:
    """Return the exit code: 1 if anything differs, 2 if there is nothing to compare."""
    parser = argparse.ArgumentParser(prog="tests.reference.recordings", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--paths", type=int, default=4, help="packets whose paths are compared")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    found = sorted(one.parent for folder in args.folder for one in folder.glob("*/recording.json"))
    cells = differ = 0
    # A process each, made when all modules are loaded: one application of Qt, and no memory left.
    how = multiprocessing.get_context("fork")
    with how.Pool(args.jobs, maxtasksperchild=1) as pool:
        lines = pool.imap_unordered(partial(_line, args.paths), found, 1)
        for _ in found:
            line = lines.next(MOST_S)  # a process that was killed gives none
            print(line.text, flush=True)
            cells, differ = cells + line.cells, differ + line.differ
    print(f"{len(found)} recordings, {cells} cells, {differ} differ")
    return min(differ, 1) if cells else 2


def _line(paths: int, folder: Path) -> Line:
    """Compare one recording."""
    gc.disable()
    log, captures = folder / "log.kbl", sorted(folder.glob("*.pcap*"))
    with tempfile.TemporaryDirectory() as place:
        session = Path(place) / "a.skbv"
        try:
            import_files([*captures, log], session)
            found = compared(log, session, Path(place), paths)
        except Exception as error:  # noqa: BLE001  # the others are compared nevertheless
            return Line(f"{folder.parent.name}/{folder.name}: {error!r}", 0, 1)
        lost = _lost(session)
    cells = found.outputs + found.tables.cells
    return Line(_text(folder, found, lost), cells, len(found.lines))


def _lost(session: Path) -> int:
    opened = Session.open(session)
    lost = int(opened.info()["lost_records"])
    opened.close()
    return lost


def _text(folder: Path, found: Compared, lost: int) -> str:
    cells = found.outputs + found.tables.cells
    rest = "".join(f"\n    {line}" for line in found.lines[:4])
    return (
        f"{folder.parent.name}/{folder.name}: {cells} cells, {len(found.lines)} differ; "
        f"{unknown_share(found.tables):.2f} % unknown; {lost} records lost{rest}"
    )


if __name__ == "__main__":
    sys.exit(main())
