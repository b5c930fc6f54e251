# SPDX-License-Identifier: MIT
"""python -m tests.truth.unknown_time FOLDER...: how much of the packets' time has no name.

FOLDER holds recordings of the zoo, as build/truth/recordings/6.12-counted does.  Prints for each
recording the time in kernel of all packets (ns), how much of it is unknown (%), and the number of
lost records; the largest share comes first.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from multiprocessing import Pool
from pathlib import Path

from skbviewer.session import Session, import_files


def unknown(recording: Path) -> tuple[float, int, int, str]:
    """Return the unknown share (%), the time in kernel (ns), lost records and the name."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "s.skbv"
        import_files([recording / "log.kbl", *sorted(recording.glob("*.pcap*"))], out)
        db = sqlite3.connect(out)
        some, whole = db.execute(
            "SELECT total(unknown_ns), total(kernel_ns) FROM packets"
        ).fetchone()
        db.close()
        session = Session(out)
        lost = int(session.info()["lost_records"])
        session.close()
    return 100 * some / whole if whole else 0.0, int(whole), lost, recording.name


def main(folders: list[Path]) -> None:
    """Print a line for each recording in these folders."""
    recordings = [one.parent for folder in folders for one in folder.glob("*/recording.json")]
    with Pool() as pool:
        for share, whole, lost, name in sorted(pool.map(unknown, recordings, 1), reverse=True):
            print(f"{share:9.5f} % of {whole:14} ns, {lost:6} records lost: {name}")


if __name__ == "__main__":
    main([Path(folder) for folder in sys.argv[1:]])
