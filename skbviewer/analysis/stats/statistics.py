# SPDX-License-Identifier: MIT
"""All statistics, by their word on the command line of `skbviewer stats`.

The command line, the Statistics menu and its window are made from STATISTICS.
"""

from __future__ import annotations

import re

from ...records import counted
from .clock import ClockRow, clock_rows
from .conversation_table import (
    CONVERSATION_TITLES,
    ENDPOINT_TITLES,
    KINDS,
    Conversation,
    Endpoint,
    conversations_by_kind,
    endpoints_by_kind,
    ends_filter,
)
from .drop_table import DropRow, drop_rows
from .function_table import FunctionRow, function_rows
from .layer_table import BUSY, LayerRow, layer_table
from .process_table import ProcessRow, process_rows
from .scope import Scope
from .table import Row, Statistic, Table, quoted


def _conversations(scope: Scope) -> Table:
    found = conversations_by_kind(scope)
    rows = [(kind, *row) for kind, listed in found.items() for row in listed]
    return Table(("kind", *Conversation._fields), rows)


def _endpoints(scope: Scope) -> Table:
    found = endpoints_by_kind(scope)
    rows = [(kind, *row) for kind, listed in found.items() for row in listed]
    return Table(("kind", *Endpoint._fields), rows)


def _functions(scope: Scope) -> Table:
    rows = function_rows(scope)
    lost = sum(row.gaps for row in rows)
    said = (
        f"records were lost during {lost} calls: their self and compensated times are not counted"
    )
    return Table(FunctionRow._fields, rows, ((said,) if lost else ()) + _points(scope))


def _layers(scope: Scope) -> Table:
    table = layer_table(scope)
    return Table(LayerRow._fields, table.rows, _left_out(scope))


def _drops(scope: Scope) -> Table:
    return Table(DropRow._fields, drop_rows(scope))


def _processes(scope: Scope) -> Table:
    return Table(ProcessRow._fields, process_rows(scope), _left_out(scope))


def _left_out(scope: Scope) -> tuple[str, ...]:
    """Why legs are not counted."""
    lost = int((scope.legs & scope.gaps & ~scope.points).sum())
    said = f"records of {lost} legs may have been lost: they are not counted"
    return ((said,) if lost else ()) + _points(scope)


def _points(scope: Scope) -> tuple[str, ...]:
    """Why legs of other tracers' logs have no calls, stages or durations."""
    legs = int((scope.legs & scope.points).sum())
    said = (
        f"{counted(legs, 'leg')} of logs that have points only: they have no calls, "
        "stages, durations or self times"
    )
    return (said,) if legs else ()


def _clock(scope: Scope) -> Table:
    return Table(ClockRow._fields, clock_rows(scope))


def _layer_filter(row: Row) -> str | None:
    """Return the filter of a layer.  Waits and stages have no field of the display filter."""
    return f"kbl.layer == {quoted(row['layer'])}" if row["kind"] == BUSY else None


def _process_filter(row: Row) -> str:
    """Return the filter of a process.  A thread without a name is filtered by its number."""
    thread = re.fullmatch(r"thread (\d+)", row["process"])
    field = f"kbl.pid == {thread[1]}" if thread else f"kbl.comm == {quoted(row['process'])}"
    return f"call({field} && kbl.context == task)"


STATISTICS: dict[str, Statistic] = {
    "conversations": Statistic(
        "&Conversations", "Packets, bytes and time in the kernel of each conversation",
        _conversations, ends_filter, tuple(KINDS), CONVERSATION_TITLES,
        frozenset({"begin_ns", "dur_ns"})),
    "endpoints": Statistic(
        "&Endpoints", "Packets and bytes of each endpoint",
        _endpoints, ends_filter, tuple(KINDS), ENDPOINT_TITLES),
    "functions": Statistic(
        "&Functions", "Calls and times of each function",
        _functions, lambda row: f"kbl.func == {quoted(row['function'])}",
        titles={"comp_mean_ns": "Without probes (µs)", "comp_err_ns": "± (µs)"}),
    "layers": Statistic(
        "&Layers", "Times of packets in each layer, wait and stage",
        _layers, _layer_filter, titles={"number": "Legs"}),
    "processes": Statistic(
        "&Processes", "Times that each program spent on its packets",
        _processes, _process_filter, titles={"number": "Calls"}),
    "drops": Statistic(
        "&Drops", "Reasons and places of packet drops",
        _drops, lambda row: f"kbl.drop_reason == {quoted(row['reason'])}",
        titles={"wire": "In captures", "packets": "First packets"}),
    "clock": Statistic(
        "Cloc&k Fits", "Fits of the clocks of captures to those of kernel logs",
        _clock, None, titles={"kbl": "Kernel log", "source": "Capture", "offset_ns": "Offset (s)",
                        "drift_ppm": "Drift (ppm)"},
        seconds=frozenset({"offset_ns"})),
}  # fmt: skip
