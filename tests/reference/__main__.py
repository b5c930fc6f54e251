# SPDX-License-Identifier: MIT
"""``python -m tests.reference LOG.kbl [CAPTURE.pcap ...]``: import them, and compare.

The session's tables first, then what commands write and what the window's models show.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtWidgets import QApplication

from .compare import Cell, compare, make
from .outputs import of_info, of_paths, of_statistics, of_timeline
from .window_texts import WindowTexts

SHOWN = 20  # differences
PATHS = 100  # packets, and packet lives, whose paths are compared


def main() -> int:
    """The exit code: 1 if anything differs."""
    log, *captures = (Path(name) for name in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        session = Path(folder) / "a.skbv"
        files = map(str, (*captures, log))
        command = [sys.executable, "-m", "skbviewer", "import", "-o", str(session), *files]
        subprocess.run(command, check=False, stderr=subprocess.DEVNULL)
        found = compare(session, log)
        outputs = list(_outputs(session, log, Path(folder)))
    lines = [
        f"{what}: {told}, should be {should}" for what, told, should in outputs if told != should
    ]
    print(f"{log}: outputs: {len(outputs)} cells, {len(lines)} differ")
    found.lines.extend(lines)
    for line in found.lines[:SHOWN]:
        print(line)
    ns = found.ns
    unknown = ns["outside probed functions"] + ns["records were lost meanwhile"]
    share = 100 * unknown / ns["kernel"] if ns["kernel"] else 0
    print(f"{log}: {found.cells} cells, {len(found.lines)} differ; {share:.2f} % unknown")
    return min(len(found.lines), 1)


def _outputs(session: Path, log: Path, folder: Path) -> Iterator[Cell]:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication([])
    db = sqlite3.connect(session)
    db.row_factory = sqlite3.Row
    made = make(db, log)
    db.close()
    yield from of_info(session, made)
    yield from of_statistics(session, made)
    yield from of_paths(session, made, PATHS)
    yield from of_timeline(session, made, folder)
    texts = WindowTexts(session, made)
    yield from texts.of_list()
    yield from texts.of_status()
    yield from texts.of_paths(PATHS)
    app.quit()


if __name__ == "__main__":
    sys.exit(main())
