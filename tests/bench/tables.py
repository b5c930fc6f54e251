# SPDX-License-Identifier: MIT
"""``python -m tests.bench.tables SESSION [TABLE...]``: time and memory of tables, without a window.

Computes each table, and the diagnosis, for all packets and then for a thousandth of them, in one
process, and prints seconds by the clock, seconds of CPU, and the peak of the process's memory.  TCP
streams are analysed first, as the window does in the background.  Results that the import stored
are read only with --stored.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from skbviewer.analysis.fields.tcp_analysis import analysis_of
from skbviewer.analysis.stats import STATISTICS, Chosen
from skbviewer.records.types import Int64s
from skbviewer.session import Session
from skbviewer.session.kernel import session_statistics

from .gui_goals import DIAGNOSIS

PARTS = 1000  # a part of the packets is so small, as in gui_windows.py
PEAK = Path("/proc/self/clear_refs"), "5"  # proc(5): forgets the peak


def measure(name: str, do: Callable[[], object]) -> str:
    """Return a line about do()."""
    PEAK[0].write_text(PEAK[1])
    begin = time.monotonic(), _cpu()
    do()
    wall, cpu = time.monotonic() - begin[0], _cpu() - begin[1]
    return f"{name:24}{wall:8.2f} s{cpu:8.2f} s CPU{_peak_mib():8} MiB"


def _nothing(*_: object) -> None:
    """Take the place of Statistics.stored()."""


def compute(session: Session, name: str, packets: Int64s | None = None) -> None:
    """Compute the table `name`, or the diagnosis, of `packets`; None = all."""
    if name == DIAGNOSIS:
        session.stats.diagnosis(Chosen(packets))
    else:
        session.stats.table(name, packets)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _peak_mib() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (one for one in lines if one.startswith("VmHWM"))
    return int(line.split()[1]) >> 10


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the tables that the arguments name, by default all."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.tables", description=__doc__)
    parser.add_argument("session", type=Path)
    parser.add_argument("tables", nargs="*", default=[DIAGNOSIS, *STATISTICS], metavar="TABLE")
    parser.add_argument("--stored", action="store_true", help="read results of the import")
    given = parser.parse_args(argv)
    session_statistics.KEPT_BYTES = 0  # results are computed each time instead of shown again
    if not given.stored:
        session_statistics.Statistics.stored = _nothing  # type: ignore[method-assign, assignment]
    session = Session.open(given.session)
    count = session.packets.count()
    part = np.arange(count // 2, count // 2 + count // PARTS) + 1
    fields = session.stats.scope().fields
    if fields is not None:
        print(measure("TCP streams", lambda: analysis_of(fields)), flush=True)
    for name in given.tables:
        print(measure(f"{name}, all", partial(compute, session, name)), flush=True)
        some = measure(f"{name}, a part", partial(compute, session, name, part))
        print(some, flush=True)
    session.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
