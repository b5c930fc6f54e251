# SPDX-License-Identifier: MIT
"""``python -m tests.instructions [--record FOLDER]``: make the tables of docs/instructions.md anew.

--record runs the guests of both kernels first, below FOLDER, and keeps what they counted.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.instructions import recorded
from tests.instructions.page import PAGE, with_tables


def record(folder: Path) -> None:
    """Run the guests and keep their files.  Imports the lab only here: tables need no guest."""
    from tests.instructions.guests import count
    from tests.lab.record import prepare

    for series in recorded.SERIES:
        run = count(prepare(folder / series, series))
        print(recorded.keep(run.out / recorded.LOG, run.files, series))


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="tests.instructions", description="Count instructions.")
    parser.add_argument("--record", type=Path, help="run the guests below this folder")
    args = parser.parse_args()
    if args.record:
        record(args.record.resolve())
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
