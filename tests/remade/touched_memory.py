# SPDX-License-Identifier: MIT
"""TURUNG: the pages that a packet's calls referenced, and the exceptions that came meanwhile.

The recording is that of docs/instructions.md with the loads and stores of each call.
"""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from skbviewer.analysis.executed_instructions import with_steps
from skbviewer.analysis.executed_instructions.accessed_pages import calls_of_path, used_pages
from skbviewer.analysis.executed_instructions.instruction_tables import Counted, counted_table
from skbviewer.records import PacketPath
from skbviewer.session import Session, import_files
from skbviewer.session.kernel.executed_instructions import CountedSteps
from tests.instructions.touched_run import touched

from .markdown import percent, table

DATA = "tcp.len > 0"
MOST_PAGES = 10


@functools.cache
def session() -> Session:
    """Return the session of the recording."""
    folder, run = Path(tempfile.mkdtemp(prefix="remade-touched-")), touched()
    import_files([run.kbl, run.pcap], folder / "touched.skbv")
    return Session.open(folder / "touched.skbv")


@functools.cache
def counts() -> CountedSteps:
    """Return what the emulator counted."""
    return session().executed_steps(touched().counts_path)


def data_paths() -> list[PacketPath]:
    """Return the paths of the packets with data, with what their calls executed and accessed."""
    numbers = session().packets.select(DATA)
    assert numbers is not None  # None: all packets
    paths = [session().paths.path(packet=number) for number in numbers.tolist() if number > 0]
    return [with_steps(path, counts().of_log, counts().lines) for path in paths]


def page_references() -> str:
    """Return the pages that the first packet with data referenced most."""
    pages = used_pages(calls_of_path(data_paths()[0]))
    total = sum(one.page.loads + one.page.stores for one in pages)
    rows = [
        (f"{one.page.address:#x}", len(one.page.lines), one.calls, len(one.functions),
         f"{one.page.loads:,}", f"{one.page.stores:,}",
         percent(one.page.loads + one.page.stores, total))
        for one in pages[:MOST_PAGES]
    ]  # fmt: skip
    head = ("page", "cache lines", "calls", "functions", "loads", "stores", "% of references")
    return table(head, [*rows, _rest(len(pages), total)])


def _rest(pages: int, total: int) -> tuple[str, ...]:
    return (f"all {pages} pages", "", "", "", "", f"{total:,} together", "100.0")


def exceptions() -> str:
    """Return `stats exceptions`."""
    counted = Counted(counts().lines, counts().exceptions)
    made = counted_table("exceptions", session().stats.scope(), counted, None)
    head = ("kind", "name", "in the kernel", "in probes", "in programs", "returned", "mean steps",
            "longest")  # fmt: skip
    return table(head, [(*row[:1], f"`{row[1]}`", *row[2:]) for row in made.rows], left=2)
