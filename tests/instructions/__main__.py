# SPDX-License-Identifier: MIT
"""``python -m tests.instructions``: make the tables of docs/instructions.md anew.

--record FOLDER runs the guests of both kernels first, below FOLDER, and keeps what they counted.
--record-few FOLDER runs one with few functions (few_functions.py) and keeps that; --record-touched
FOLDER runs those that count what each call accessed (touched_run.py).
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


def record_few(folder: Path) -> None:
    """Run the guest with few functions, and keep its files."""
    from tests.instructions import few_functions as few
    from tests.instructions.guests import count
    from tests.lab.record import prepare

    run = count(prepare(folder / few.SERIES, few.SERIES), few.WORDS)
    print(few.keep_few(run.out / recorded.LOG, run.files[recorded.Phase.DATAGRAMS - 1]))


def record_touched(folder: Path) -> None:
    """Run the guests that count what each call accessed, and keep their files."""
    from tests.instructions import touched_run as touched
    from tests.instructions.guests import count
    from tests.lab.record import prepare

    for series in recorded.SERIES:
        run = count(prepare(folder / series, series), step=touched.STEP)
        print(touched.keep_touched(run.out, run.files, series))


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="tests.instructions", description="Count instructions.")
    parser.add_argument("--record", type=Path, help="run the guests below this folder")
    parser.add_argument("--record-few", type=Path, help="run a guest with few functions below it")
    parser.add_argument("--record-touched", type=Path, help="run guests that count accesses")
    args = parser.parse_args()
    if args.record:
        record(args.record.resolve())
    if args.record_few:
        record_few(args.record_few.resolve())
    if args.record_touched:
        record_touched(args.record_touched.resolve())
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
