# SPDX-License-Identifier: MIT
"""``python -m tests.reference LOG.kbl [CAPTURE.pcap ...]``: import them, and compare.

The session's tables first, then what commands write and what the window's models show.
"""

from __future__ import annotations

import argparse
import gc
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtWidgets import QApplication

from .clocks import of_clocks
from .compare import NO_TIME, RANK, Cell, Found, Made, compare, make
from .outputs import of_info, of_paths, of_statistics, of_tables, of_timeline
from .profiles import of_profiles
from .window_texts import WindowTexts

SHOWN = 20  # differences
PATHS = 100  # packets, and packet lives, whose paths are compared


def main() -> int:
    """Return the exit code: 1 if anything differs, 2 if there is nothing to compare."""
    parser = argparse.ArgumentParser(prog="tests.reference", description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("capture", type=Path, nargs="*")
    parser.add_argument("--paths", type=int, default=PATHS, help="packets whose paths are compared")
    parser.add_argument("--session", type=Path, help="keep it here; one that is here is compared")
    parser.add_argument("--shown", type=int, default=SHOWN, help="differences that are printed")
    args = parser.parse_args()
    gc.disable()  # millions of objects that live until the end
    with tempfile.TemporaryDirectory() as folder:
        session = args.session or Path(folder) / "a.skbv"
        if not session.exists() and (complaint := _import(session, [*args.capture, args.log])):
            print(f"{args.log}: the import made no session: {complaint}")
            return 2
        db = sqlite3.connect(session)
        db.row_factory = sqlite3.Row
        made = make(db, args.log)
        db.close()
        found = compare(session, args.log, made)
        outputs = list(_outputs(session, made, Path(folder), args.paths))
    lines = [
        f"{what}: {shown}, should be {should}" for what, shown, should in outputs if shown != should
    ]
    print(f"{args.log}: outputs: {len(outputs)} cells, {len(lines)} differ")
    found.lines.extend(lines)
    for line in found.lines[: args.shown]:
        print(line)
    shares = ", ".join(f"{name} {_share(found, (name,)):.2f} %" for name in RANK if found.ns[name])
    print(f"{args.log}: of {found.ns['kernel']} ns: {shares}")
    unknown = _share(found, NO_TIME)
    print(f"{args.log}: {found.cells} cells, {len(found.lines)} differ; {unknown:.2f} % unknown")
    return min(len(found.lines), 1)


def _import(session: Path, files: list[Path]) -> str:
    """Make a session; what the command complained of if it made none."""
    command = [sys.executable, "-m", "skbviewer", "import", "-o", str(session), *map(str, files)]
    done = subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True)
    return "" if session.exists() else f"{done.stderr.strip()} ({done.returncode})"


def _share(found: Found, names: tuple[str, ...]) -> float:
    """Return what part of the time of all packets is in these, in percent."""
    return 100 * sum(found.ns[name] for name in names) / max(found.ns["kernel"], 1)


def _outputs(session: Path, made: Made, folder: Path, paths: int) -> Iterator[Cell]:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication([])
    yield from of_info(session, made)
    yield from of_statistics(session, made)
    yield from of_tables(session, made)
    yield from of_paths(session, made, paths)
    yield from of_timeline(session, made, folder)
    yield from of_profiles(session, made, folder, paths)
    yield from of_clocks(session, made)
    texts = WindowTexts(session, made)
    yield from texts.of_list()
    yield from texts.of_status()
    yield from texts.of_timeline()
    yield from texts.of_paths(paths)
    app.quit()


if __name__ == "__main__":
    sys.exit(main())
