# SPDX-License-Identifier: MIT
"""The tables of docs/instructions.md, from the recorded runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from skbviewer.analysis.executed_instructions.instruction_columns import with_executed_columns
from skbviewer.analysis.executed_instructions.memory_access_tables import touched_table
from skbviewer.analysis.stats import statistic_of
from skbviewer.analysis.words.function_layers import layers
from skbviewer.records import kbl_layout as layout
from skbviewer.records import page_of
from skbviewer.session import Session, import_files
from tests.instructions.compensation_truth import HEAD, decades, judge, row
from tests.instructions.counts import Counts, column
from tests.instructions.recorded import SERIES, Phase, Recorded, recorded
from tests.instructions.touched_run import PAGE_FAULT, touched
from tests.lab.kbl_check import Type
from tests.remade.markdown import table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "instructions.md"
PART = re.compile(r"<!-- table: (?P<name>[a-z0-9.-]+) -->\n(?P<body>.*?)<!-- end -->", re.DOTALL)


def truth(series: str) -> str:
    """Return the table of errors by decade of duration."""
    return table(HEAD, (row(title, some) for title, some in decades(judge(recorded(series)))))


def touched_layers(series: str) -> str:
    """Return the loads and stores of each layer, its cache lines and its pages."""
    run = touched(series)
    import_files([run.kbl, run.pcap], out := run.kbl.with_name("touched.skbv"))
    session = Session.open(out)
    lines, scope = session.executed_steps(run.counts_path).lines, session.stats.scope()
    made = touched_table("lines", scope, lines, "layer")
    rows = [dict(zip(made.keys, row, strict=True)) for row in made.rows]
    cells = list[tuple[str, ...]]()
    for layer in (style.name for style in layers()):
        mine = [row for row in rows if row["layer"] == layer]
        pages = {page_of(int(row["line"], 16)) for row in mine}
        loads, stores = (sum(row[name] for row in mine) for name in ("loads", "stores"))
        if mine:
            cells.append((layer, *(f"{n:,}" for n in (loads, stores, len(mine), len(pages)))))
    return table(("layer", "loads", "stores", "cache lines", "pages"), cells)


def fault_durations() -> str:
    """Return what a program and the plugin say about the duration of page faults."""
    rows = list[tuple[str, ...]]()
    for series in SERIES:
        faults = touched(series).faults
        returned, steps, _ = faults.counted[PAGE_FAULT]
        numbers = (returned, faults.first - faults.again, steps)
        rows.append((f"Linux {series}", *(f"{number:,}" for number in numbers)))
    return table(("kernel", "page faults", "by the program", "by the plugin"), rows)


def function_end(run: Recorded, begin: int) -> int:
    """Return the address behind a function: where the log's next symbol is."""
    starts = symbol_addresses(run)
    return int(starts[np.searchsorted(starts, np.uint64(begin), side="right")])


def symbol_addresses(run: Recorded) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return all addresses at which the log has a symbol, sorted."""
    symbols = np.frombuffer(run.log.kbl.tables[Type.SYMBOLS], layout.KBL_SYMBOL)
    return np.unique(symbols["addr"])


def executed(counted: Counts, begin: int, end: int) -> int:
    """Return the kernel's instructions that were executed from address `begin` to `end`."""
    starts = counted.blocks["start"]
    inside = (starts >= np.uint64(begin)) & (starts < np.uint64(end))
    return int(column(counted.blocks, "kernel")[inside].sum())


def layer_steps(series: str) -> str:
    """Return what `stats layers --steps` shows of the traffic: the own instructions of layers."""
    run = recorded(series)
    import_files([run.kbl], out := run.kbl.with_name("steps.skbv"))
    session = Session.open(out)
    steps = session.executed_steps(run.kbl.with_name(f"counts.{Phase.TRAFFIC.value}"))
    scope = session.stats.scope()
    made = with_executed_columns("layers", statistic_of("layers", scope), scope, steps.of_log)
    rows = [dict(zip(made.keys, row, strict=True)) for row in made.rows]
    cells = [
        (row["layer"], f"{row['executed_calls']:,}", f"{row['executed_self']:,}")
        for row in rows
        if row["executed_self"] is not None
    ]
    return table(("layer", "executed_calls", "executed_self"), cells)


TABLES: dict[str, Callable[[], str]] = {
    f"{name}-{series}": partial(make, series)
    for name, make in (("truth", truth), ("layers", layer_steps), ("touched", touched_layers))
    for series in SERIES
} | {"faults": fault_durations}


def with_tables(text: str) -> str:
    """Return the page with updated tables."""

    def made(found: re.Match[str]) -> str:
        return f"<!-- table: {found['name']} -->\n\n{TABLES[found['name']]()}\n<!-- end -->"

    return PART.sub(made, text)
