# SPDX-License-Identifier: MIT
"""The tables of `skbviewer stats pages` and `lines`: memory that calls accessed, by group.

The tables have sums over those calls of the chosen packets whose accesses are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...matching import EXACT
from ...records import PAGE_BYTES, counted
from ...records.types import Bools, Int64s
from ..scope import Scope
from ..stats.statistic_types import Table
from .accessed_cache_lines import TouchedLines
from .path_instructions import UNSIGNED

LinesOfLog = Mapping[int, TouchedLines]  # by the id of the log's source
FUNCTION, LAYER, PACKET = "function", "layer", "packet"
GROUPS = (FUNCTION, LAYER, PACKET)
NO_ACCESSES = (
    "the file has no counts of loads and stores: `announce symbols accesses NAME...` chooses the "
    "functions whose loads and stores are counted"
)


class _Accesses(NamedTuple):
    """Accesses of calls: each row has a group, a call, a cache line, and its loads and stores."""

    group: Int64s
    call: Int64s
    line: Int64s
    loads: Int64s
    stores: Int64s


class _Chosen(NamedTuple):
    """Rows of chosen calls; each call's `log`, and its index `at` in TouchedLines (or UNKNOWN)."""

    rows: Int64s
    log: Int64s
    at: Int64s


def touched_table(name: str, scope: Scope, lines: LinesOfLog, by: str = FUNCTION) -> Table:
    """Return the table "pages" or "lines", grouped by one of GROUPS, most accesses first.

    If rows are grouped by packet, a call of several packets counts for each of them.  Raises
    Cancelled.
    """
    scope = scope.whole
    chosen = _chosen(scope, lines)
    groups, names = _groups(scope, chosen, by)
    found = _accesses(chosen, groups, lines)
    size = PAGE_BYTES if name == "pages" else 1
    key = "page" if name == "pages" else "line"
    more = ("lines",) if name == "pages" else ()
    rows = _rows(found, size, bool(more))
    labels = [(*names[group], *cells) for group, cells in rows]
    head = (FUNCTION, LAYER) if by == FUNCTION else (by,)
    keys = (*head, key, *more, "calls", "loads", "stores")
    return Table(keys, labels, (), _notes(scope, chosen, lines))


def _chosen(scope: Scope, lines: LinesOfLog) -> _Chosen:
    entry, source = scope.of_call("entry_ns"), scope.of_leg("source")[scope.leg_of_call]
    at = np.full(len(entry), -1, np.int64)
    for log, known in lines.items():
        mine = np.flatnonzero(source == log)
        at[mine] = known.calls_of(entry[mine])
    at[scope.function < 0] = -1
    return _Chosen(np.arange(len(entry)), source, at)


def _groups(
    scope: Scope, chosen: _Chosen, by: str
) -> tuple[tuple[Int64s, Int64s], list[tuple[str, ...]]]:
    """Return ((rows of calls, group of each), names of the groups); no group has a call twice."""
    if by == PACKET:
        rows, packet = _packets(scope)
        numbers, group = np.unique(packet, return_inverse=True)
        names: list[tuple[str, ...]] = [(str(n) if n > 0 else f"K{-n}",) for n in numbers.tolist()]
        return _once(chosen, rows, np.asarray(group, np.int64)), names
    rows = np.flatnonzero(scope.once & (scope.function >= 0))
    functions = scope.function[rows]
    if by == FUNCTION:
        pairs = zip(scope.function_names, scope.layer_names, strict=True)
        return (rows, functions), [*pairs]
    layers, of = np.unique(np.array(scope.layer_names, np.str_), return_inverse=True)
    return (rows, np.asarray(of, np.int64)[functions]), [(str(name),) for name in layers]


def _packets(scope: Scope) -> tuple[Int64s, Int64s]:
    """Return (row of a call, packet) for exact matches; packet -n is row K<n> of the list."""
    columns, leg = scope.columns, scope.leg_of_call
    verdict, packet, of = (
        np.asarray(columns.array("match", name), np.int64) for name in ("verdict", "packet", "leg")
    )
    exact = np.flatnonzero((verdict == EXACT) & np.isin(packet, scope.packets))
    series = scope.of_leg("series") - 1
    alone = np.asarray(columns.array("series", "kernel_only"), np.int64)[series]
    lone = np.flatnonzero(alone > 0)
    legs = np.concatenate([of[exact] - 1, lone])
    packets = np.concatenate([packet[exact], -alone[lone]])
    order = np.argsort(legs, kind="stable")
    legs, packets = legs[order], packets[order]
    first, after = np.searchsorted(legs, leg), np.searchsorted(legs, leg, side="right")
    number = after - first
    rows = np.repeat(np.arange(len(leg)), number)
    ahead = np.arange(len(rows)) - np.repeat(np.cumsum(number) - number, number)
    return rows, packets[first[rows] + ahead]


def _once(chosen: _Chosen, rows: Int64s, group: Int64s) -> tuple[Int64s, Int64s]:
    """Return the pairs (row, group) without those that repeat a call in the same group."""
    keys = np.stack([group, chosen.log[rows], chosen.at[rows]])[:, chosen.at[rows] >= 0]
    rows, group = rows[chosen.at[rows] >= 0], group[chosen.at[rows] >= 0]
    _, first = np.unique(keys, axis=1, return_index=True)
    return rows[first], group[first]


def _accesses(chosen: _Chosen, groups: tuple[Int64s, Int64s], lines: LinesOfLog) -> _Accesses:
    parts = list[Int64s]()
    for log, known in lines.items():
        mine = (chosen.log[groups[0]] == log) & (chosen.at[groups[0]] >= 0)
        rows, group = groups[0][mine], groups[1][mine]
        at = chosen.at[rows]
        number = known.first[at + 1] - known.first[at]
        ahead = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
        row = np.repeat(known.first[at], number) + ahead
        columns = (known.line[row], known.loads[row], known.stores[row])
        parts.append(np.stack([np.repeat(group, number), np.repeat(rows, number), *columns]))
    return _Accesses(*np.concatenate([np.zeros((5, 0), np.int64), *parts], axis=1))


def _rows(found: _Accesses, size: int, with_lines: bool) -> list[tuple[int, tuple[str | int, ...]]]:
    """Return (group, cells) for each block of `size` bytes that a group of calls accessed.

    The cells are the address, the number of lines (only if `with_lines`), and the numbers of calls,
    loads and stores.
    """
    unit = found.line // size * size
    keys, place = np.unique(np.stack([found.group, unit]), axis=1, return_inverse=True)
    place = place.reshape(-1)
    length = keys.shape[1]
    sums = [np.zeros(length, np.int64) for _ in range(2)]
    for total, values in zip(sums, (found.loads, found.stores), strict=True):
        np.add.at(total, place, values)
    different = [found.line] if with_lines else []
    columns = [_different(place, values, length) for values in (*different, found.call)] + sums
    order = np.argsort(-sums[0] - sums[1], kind="stable")
    return [
        (int(keys[0, at]), (f"{int(keys[1, at]) % UNSIGNED:#x}", *(int(p[at]) for p in columns)))
        for at in order.tolist()
    ]


def _different(place: Int64s, values: Int64s, length: int) -> Int64s:
    """Return for each number in `place`, below `length`, how many different `values` it has."""
    pairs = np.unique(np.stack([place, values]), axis=1)
    return np.bincount(pairs[0], minlength=length)


def _notes(scope: Scope, chosen: _Chosen, lines: LinesOfLog) -> tuple[str, ...]:
    once: Bools = scope.once & (scope.function >= 0)
    number, known = int(once.sum()), int((once & (chosen.at >= 0)).sum())
    said = [f"loads and stores of {counted(known, 'call')} of {number} are known"]
    left = sum(part.left_out for part in lines.values())
    if left:
        said.append(f"{counted(left, 'load or store', 'loads and stores')} belong to no call")
    return ("; ".join(said),)
