# SPDX-License-Identifier: MIT
"""The tables of docs/instructions.md, from the recorded runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from skbviewer.analysis.executed.table_columns import with_executed_columns
from skbviewer.analysis.stats import statistic_of
from skbviewer.records import kbl_layout as layout
from skbviewer.session import Session, import_files
from tests.instructions.compensation_truth import HEAD, decades, judge, row
from tests.instructions.counts import Counts, column
from tests.instructions.joined_calls import addresses, names
from tests.instructions.recorded import SERIES, Phase, Recorded, recorded
from tests.lab.kbl_check import Type
from tests.remade.markdown import table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "instructions.md"
PART = re.compile(r"<!-- table: (?P<name>[a-z0-9.-]+) -->\n(?P<body>.*?)<!-- end -->", re.DOTALL)
PAGE_BYTES = 4096


def truth(series: str) -> str:
    """Return the table of errors by decade of duration."""
    return table(HEAD, (row(title, some) for title, some in decades(judge(recorded(series)))))


def accesses(series: str) -> str:
    """Return the loads and stores of chosen functions while the traffic ran."""
    run = recorded(series)
    counted, name = run.counts[Phase.TRAFFIC], function_names(run)
    head = ("function", "instructions", "loads", "stores", "cache lines", "pages")
    rows = []
    for function in np.unique(counted.accesses["function"]).tolist():
        mine = counted.accesses[counted.accesses["function"] == function]
        pages = np.unique(mine["line"] // PAGE_BYTES)
        steps = executed(counted, function, function_end(run, function))
        rows.append((f"`{name[function]}`", f"{steps:,}", f"{mine['loads'].sum():,}",
                     f"{mine['stores'].sum():,}", f"{len(mine):,}", f"{len(pages):,}"))  # fmt: skip
    return table(head, sorted(rows))


def function_names(run: Recorded) -> dict[int, str]:
    """Return the names of probed functions by address."""
    begin = addresses(run.log)
    return {int(begin[number]) % (1 << 64): name for number, name in names(run.log).items()}


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
    for name, make in (("truth", truth), ("accesses", accesses), ("layers", layer_steps))
    for series in SERIES
}


def with_tables(text: str) -> str:
    """Return the page with updated tables."""

    def made(found: re.Match[str]) -> str:
        return f"<!-- table: {found['name']} -->\n\n{TABLES[found['name']]()}\n<!-- end -->"

    return PART.sub(made, text)
