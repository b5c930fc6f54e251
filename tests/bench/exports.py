# SPDX-License-Identifier: MIT
"""How long calls take to write for Perfetto, and all tables as Parquet.

    .venv/bin/python -m tests.bench.exports [PACKETS [RUNS]]

Makes up a recording with 4 calls a packet in a temporary folder, and prints CPU seconds, user and
system, of whole processes: the fastest run of each, and what it is for a million calls.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from skbviewer.session import Session, import_files

from .generate import generate
from .load import compiled, run

PACKETS, RUNS, CALLS = 250_000, 3, 4  # calls of a packet
MILLION = 1_000_000
# The option, its output, and what is written of a session of many packets.
FORMATS = (
    ("--perfetto", "made.pftrace", ()),
    ("--parquet", "made.parquet", ("--no-payload",)),
    ("--jsonl", "made.jsonl", ("--no-payload",)),
)


def cost(session: Path, option: str, out: Path, words: tuple[str, ...], runs: int) -> float:
    """Return the CPU seconds of the fastest of some exports."""
    found = []
    for _ in range(runs):
        if out.is_dir():
            shutil.rmtree(out)
        program: list[str | Path] = [sys.executable, "-m", "skbviewer", "export", session]
        program += [option, out, *words]
        found.append(run(program, compiled(session.parent)).cpu)
    return min(found)


def main(packets: int, runs: int) -> None:
    """Make the recording and print a line for each format."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        made = generate(folder, packets, CALLS * packets)
        session = folder / "made.skbv"
        import_files([made.log, made.capture], session)
        opened = Session.open(session)
        calls = opened.export.field_data().columns.length("call")
        print(f"{packets:,} packets, {calls:,} calls; CPU seconds, and for a million calls:")
        for option, out, words in FORMATS:
            seconds = cost(session, option, folder / out, words, runs)
            print(f"  {option:<12} {seconds:7.2f}  {seconds / calls * MILLION:7.2f}", flush=True)


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*(given + [PACKETS, RUNS][len(given) :]))
