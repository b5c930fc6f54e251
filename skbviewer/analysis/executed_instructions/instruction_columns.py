# SPDX-License-Identifier: MIT
"""Add executed instructions to the tables of functions and layers: `skbviewer stats --steps`.

The added columns are sums over those calls in the table whose instructions are known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from ...records import counted
from ...records.types import Bools, Int64s
from ..scope import Scope
from ..stats.layer_table import BUSY
from ..stats.statistic_types import Table
from .instructions_of_calls import Steps

StepsOfLog = Mapping[int, Steps]  # by the id of the log's source
FUNCTION_COLUMNS = ("executed_calls", "executed", "executed_self", "executed_probes")
LAYER_COLUMNS = ("executed_calls", "executed_self")


class _CallSteps(NamedTuple):
    """Instructions of each chosen call (-1: unknown); `joined` says whether the call has marks."""

    joined: Bools
    executed: Int64s
    own: Int64s
    probes: Int64s


def with_executed_columns(name: str, table: Table, scope: Scope, steps: StepsOfLog) -> Table:
    """Return the table `name` with columns for the instructions that its calls executed.

    `scope` must be the one from which the table was made.  Raises KeyError, with a message for the
    user, if the table cannot have these columns.  Raises Cancelled.
    """
    if name not in TABLES:
        raise KeyError(f"stats: --steps is for the tables {' and '.join(sorted(TABLES))}")
    return TABLES[name](table, scope, steps)


def _functions(table: Table, scope: Scope, steps: StepsOfLog) -> Table:
    """Return the table of functions with columns: calls with known instructions, and their sums."""
    found, group = _of_calls(scope, steps), scope.function
    chosen = (group >= 0) & scope.once
    size = len(scope.function_names)
    known = chosen & (found.executed >= 0)
    columns = [np.bincount(group[known], minlength=size)]
    parts = found.executed, found.own, found.probes
    columns += [_sums(group, part, chosen & (part >= 0), size) for part in parts]
    place = {function: at for at, function in enumerate(scope.function_names)}

    def numbers(row: tuple[object, ...]) -> tuple[int | None, ...]:
        calls, *sums = (int(column[place[str(row[0])]]) for column in columns)
        return (calls, *(total if calls else None for total in sums))

    rows = [(*row, *numbers(row)) for row in table.rows]
    left_out = {"executed": found.executed, "executed_self": found.own}
    return _with(table, FUNCTION_COLUMNS, rows, _unknown(left_out, chosen & found.joined))


def _layers(table: Table, scope: Scope, steps: StepsOfLog) -> Table:
    """Return the table of layers with columns: calls with known instructions, and their sum."""
    scope = scope.whole
    found, group = _of_calls(scope, steps), scope.function
    usable = (scope.legs & ~scope.gaps)[scope.leg_of_call]
    chosen = (group >= 0) & scope.once & usable & (scope.own_ns >= 0)
    known, size = chosen & (found.own >= 0), len(scope.function_names)
    calls, own = np.bincount(group[known], minlength=size), _sums(group, found.own, known, size)

    def numbers(kind: object, layer: object) -> tuple[int | None, ...]:
        if kind != BUSY:
            return (None, None)
        mine = [at for at, name in enumerate(scope.layer_names) if name == layer]
        number = int(calls[mine].sum())
        return number, int(own[mine].sum()) if number else None

    rows = [(*row, *numbers(*row[:2])) for row in table.rows]
    left_out = {"executed_self": found.own}
    return _with(table, LAYER_COLUMNS, rows, _unknown(left_out, chosen & found.joined))


TABLES: dict[str, Callable[[Table, Scope, StepsOfLog], Table]] = {
    "functions": _functions,
    "layers": _layers,
}


def _of_calls(scope: Scope, steps: StepsOfLog) -> _CallSteps:
    entry, source = scope.of_call("entry_ns"), scope.of_leg("source")[scope.leg_of_call]
    made = [np.full(len(entry), -1, np.int64) for _ in range(3)]
    joined = np.zeros(len(entry), np.bool_)
    for log, known in steps.items():
        mine = np.flatnonzero(source == log)
        joined[mine] = np.isin(entry[mine], known.entry_ns)
        for column, values in zip(made, known.of(entry[mine]), strict=True):
            column[mine] = values
    return _CallSteps(joined, *made)


def _sums(group: Int64s, values: Int64s, chosen: Bools, size: int) -> Int64s:
    total = np.zeros(size, np.int64)
    np.add.at(total, group[chosen], values[chosen])
    return total


def _unknown(columns: Mapping[str, Int64s], joined: Bools) -> str:
    """Return a sentence about calls with marks whose instructions are unknown; "" if none are."""
    numbers = {
        name: int(np.count_nonzero(joined & (values < 0))) for name, values in columns.items()
    }
    said = [
        f"{name} leaves out {counted(number, 'call')}" for name, number in numbers.items() if number
    ]
    return f"{' and '.join(said)} in which another thread may have run" if said else ""


def _with(table: Table, keys: tuple[str, ...], rows: list[tuple[object, ...]], note: str) -> Table:
    notes = (*table.notes, note) if note else table.notes
    return table._replace(keys=(*table.keys, *keys), rows=rows, notes=notes)
