# SPDX-License-Identifier: MIT
"""All statistics, by the word with which the command line of `skbviewer stats` names them.

The command line, the Statistics menu and the menu's windows are made from STATISTICS.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ...records import counted
from ..breakdown.self_counter_values import counter_name
from ..scope import Scope
from ..streams.round_trips import RoundTripRow, round_trip_rows
from ..words.function_layers import layers
from ..words.sampling_text import sampling_text
from .callgraph_table import CallGraphRow, callgraph_rows
from .clock_table import ClockRow, clock_rows, unsure_captures
from .conversation_table import (
    CONVERSATION_TITLES,
    ENDPOINT_TITLES,
    KINDS,
    Conversation,
    Endpoint,
    conversation_rows,
    endpoint_rows,
    ends_filter,
)
from .drop_table import DropRow, drop_rows
from .expert_table import TCP, ExpertRow, expert_rows
from .function_table import FunctionRow, function_rows
from .hardware_counter_table import KINDS as COUNTED
from .hardware_counter_table import CounterRow, counter_rows
from .io_table import IoRow, io_rows, zero_notes
from .latency_table import FUNCTION, LatencyRow, latency_rows
from .layer_table import BUSY, LayerRow, layer_table
from .machine.interrupt_table import InterruptRow, interrupt_rows
from .machine.lock_table import LockRow, lock_rows
from .machine.page_fault_table import FaultRow, fault_rows
from .machine.queue_table import QueueRow, queue_rows
from .machine.syscall_table import ALL, ON_SOCKETS, SOCKETS_ONLY, SyscallRow, syscall_rows
from .machine.thread_table import ThreadRow, thread_rows
from .path_table import PathRow, path_rows
from .process_table import ProcessRow, process_rows
from .program_table import ProgramRow, program_rows
from .statistic_types import Row, Statistic, Table, quote_text
from .time_in_kernel_table import TimeRow, time_table

NOTHING_CHOSEN = "nothing was chosen: no packet matches"
NO_LOG = "the session has no kernel log"
NO_COUNTER = "no call has hardware events, or the logs counted different kinds of events"


def _conversations(scope: Scope) -> Table:
    return Table(("kind", *Conversation._fields), conversation_rows(scope))


def _endpoints(scope: Scope) -> Table:
    return Table(("kind", *Endpoint._fields), endpoint_rows(scope))


def _functions(scope: Scope) -> Table:
    rows = function_rows(scope)
    lost = sum(row.gaps for row in rows)
    said = (
        f"records were lost during {counted(lost, 'call')}: self and compensated times leave these "
        "calls out"
    )
    return Table(FunctionRow._fields, rows, ((said,) if lost else ()) + _points(scope))


def _layers(scope: Scope) -> Table:
    table = layer_table(scope)
    return Table(LayerRow._fields, table.rows, _left_out(scope))


def _drops(scope: Scope) -> Table:
    return _with_drops(scope, Table(DropRow._fields, drop_rows(scope)))


def _with_drops(scope: Scope, table: Table) -> Table:
    """Return a table that counts drops, with a warning if there may have been more drops."""
    if not scope.kernels:
        return table._replace(notes=("there is no kernel log, so drops are unknown",))
    if scope.has_losses:
        said = "records may have been lost, so there may have been more drops than are counted"
        return table._replace(warnings=(said,))
    return table


def _processes(scope: Scope) -> Table:
    return Table(ProcessRow._fields, process_rows(scope), _left_out(scope))


def _left_out(scope: Scope) -> tuple[str, ...]:
    """Return sentences that say which legs are not counted, and why."""
    lost = int((scope.legs & scope.gaps & ~scope.points).sum())
    said = f"not counted, because records may have been lost: {counted(lost, 'leg')}"
    return ((said,) if lost else ()) + _points(scope)


def _points(scope: Scope) -> tuple[str, ...]:
    """Return a sentence that says why legs in logs of other tracers have no durations."""
    legs = int((scope.legs & scope.points).sum())
    said = (
        f"{counted(legs, 'leg')} of logs that have only points: such legs have no calls, stages, "
        "durations or self times"
    )
    return (said,) if legs else ()


def _time(scope: Scope) -> Table:
    return Table(TimeRow._fields, time_table(scope).rows, _points(scope))


def _paths(scope: Scope) -> Table:
    return Table(PathRow._fields, path_rows(scope), _points(scope))


def _callgraph(scope: Scope) -> Table:
    return Table(CallGraphRow._fields, callgraph_rows(scope), _points(scope))


def _programs(scope: Scope) -> Table:
    return Table(ProgramRow._fields, program_rows(scope), _left_out(scope))


def _latency(scope: Scope) -> Table:
    return Table(LatencyRow._fields, latency_rows(scope), _left_out(scope))


def _io(scope: Scope) -> Table:
    rows = io_rows(scope)
    table = _with_drops(scope, Table(IoRow._fields, rows))
    return table._replace(notes=table.notes + zero_notes(scope, rows))


def _of_events(
    rows_of: Callable[[Scope], Sequence[tuple[Any, ...]]], fields: tuple[str, ...], *groups: str
) -> Callable[[Scope], Table]:
    """Return a function that makes a table of events that only logs with `groups` have."""

    def table(scope: Scope) -> Table:
        rows = rows_of(scope)
        if rows:
            return Table(fields, rows)
        said = (_no_events(scope, *groups),)
        recorded = all(map(scope.has_recorded, groups))
        return Table(fields, rows, notes=said) if recorded else Table(fields, rows, said)

    return table


def _syscalls(scope: Scope) -> Table:
    has_all = scope.has_recorded(ALL)
    table = _of_events(syscall_rows, SyscallRow._fields, ALL if has_all else ON_SOCKETS)(scope)
    return table._replace(notes=(SOCKETS_ONLY,)) if table.rows and not has_all else table


def _counter(scope: Scope) -> Table:
    rows = counter_rows(scope)
    if not rows:
        return Table(CounterRow._fields, rows, (NO_COUNTER,))
    return Table(CounterRow._fields, rows, notes=(f"events of {counter_name(scope)}",))


def _counter_filter(row: Row) -> str | None:
    if row["kind"] == "program":
        return _process_filter({"process": row["name"]})
    field = "kbl.func" if row["kind"] == "function" else "kbl.layer"
    return f"{field} == {quote_text(row['name'])}"


def _expert(scope: Scope) -> Table:
    return Table(ExpertRow._fields, expert_rows(scope))


def _roundtrip(scope: Scope) -> Table:
    return Table(RoundTripRow._fields, round_trip_rows(scope), _points(scope))


def _no_events(scope: Scope, *groups: str) -> str:
    """Return a sentence that says why there are no events in a table."""
    named, word = " and ".join(groups), "group" if len(groups) == 1 else "groups"
    where = "the chosen time has" if scope.is_ranged else "there are"
    how = "" if all(map(scope.has_recorded, groups)) else ": to record them, use 'kblrecord -e all'"
    return f"{where} no events of the {word} {named}{how}"


def _clock(scope: Scope) -> Table:
    rows = clock_rows(scope)
    unsure = set(unsure_captures(scope)) & {row.source for row in rows}
    notes = (
        f"no packet of capture {source} has an exact match, so the clock fit of the capture may be "
        "wrong"
        for source in sorted(unsure)
    )
    return Table(ClockRow._fields, rows, tuple(notes))


def _layer_filter(row: Row) -> str | None:
    """Return the filter that selects a layer; None for other rows.

    Display filters have no field for waits and stages.
    """
    return f"kbl.layer == {quote_text(row['layer'])}" if row["kind"] == BUSY else None


def _time_filter(row: Row) -> str | None:
    """Return the filter that selects busy time in a layer; None for other rows."""
    known = row["kind"] == BUSY and row["part"] in {style.name for style in layers()}
    return f"kbl.layer == {quote_text(row['part'])}" if known else None


def _path_filter(row: Row) -> str | None:
    """Return the filter that selects a path.

    All rarer paths are one row, which has no name and no filter.
    """
    return f"kbl.path == {quote_text(row['name'])}" if row["name"] else None


def _numbers_filter(numbers: tuple[int, ...]) -> str | None:
    """Return the filter that selects packets by their numbers; None if there are none."""
    listed = ", ".join(map(str, numbers))
    return f"frame.number in {{{listed}}}" if numbers else None


def _process_filter(row: Row) -> str:
    """Return the filter that selects a process; a nameless thread is selected by number."""
    thread = re.fullmatch(r"thread (\d+)", row["process"])
    field = f"kbl.pid == {thread[1]}" if thread else f"kbl.comm == {quote_text(row['process'])}"
    return f"call({field} && kbl.context == task)"


def _function_filter(row: Row) -> str:
    return f"kbl.func == {quote_text(row['function'])}"


def _latency_filter(row: Row) -> str | None:
    """Return the filter that selects a function; None for other rows.

    Display filters have no field for stages.
    """
    return f"kbl.func == {quote_text(row['name'])}" if row["kind"] == FUNCTION else None


def _program_filter(row: Row) -> str:
    thread = re.fullmatch(r"thread (\d+)", row["process"])
    field = f"kbl.pid == {thread[1]}" if thread else f"kbl.comm == {quote_text(row['process'])}"
    function = f"kbl.func == {quote_text(row['function'])}"
    return f"call({field} && kbl.context == task && {function})"


def _expert_filter(row: Row) -> str | None:
    """Return the filter for a finding: if it is about TCP, for all packets, otherwise for one."""
    if row["rule"].startswith(TCP):
        return str(row["rule"])
    return f"frame.number == {row['packet']}" if row["packet"].isdecimal() else None


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
        _functions, lambda row: f"kbl.func == {quote_text(row['function'])}",
        titles={"comp_mean_ns": "Without probes (µs)", "comp_err_ns": "± (µs)"}),
    "layers": Statistic(
        "&Layers", "Time that packets spent in each layer, wait and stage",
        _layers, _layer_filter, titles={"number": "Legs"}),
    "time": Statistic(
        "Where the &Time Went", "Parts of the packets' time in kernel, compared with the median "
        "packets",
        _time, _time_filter, titles={"share": "%"}),
    "paths": Statistic(
        "P&aths", "Paths of packets through the kernel, and their times",
        _paths, _path_filter,
        titles={"number": "Packets", "share": "%", "median": "Median packet",
                "largest": "Its largest part", "slowest": "Slowest packets",
                "name": "Name"}),
    "latency": Statistic(
        "Late&ncy", "Distribution of the times of packets, stages and functions",
        _latency, _latency_filter, titles={"number": "Count"}),
    "io": Statistic(
        "&I/O Over Time", "Packets, bits, time in kernel and drops in intervals of time",
        _io, None, titles={"after_ns": "Begin (s)"}, seconds=frozenset({"after_ns"})),
    "roundtrip": Statistic(
        "Round Trips &by Segment", "Round trips of TCP segments, split into time in kernel, on the "
        "wire and at the peer",
        _roundtrip, lambda row: _numbers_filter((row["acked"], row["packet"])),
        titles={"packet": "Packet", "acked": "Acknowledges", "rtt_ns": "Round trip (µs)",
                "send_ns": "Own kernel, sending (µs)", "outside_ns": "Wire to wire (µs)",
                "wire_ns": "On the wire (µs)", "peer_ns": "Peer (µs)",
                "receive_ns": "Own kernel, receiving (µs)"}),
    "callgraph": Statistic(
        "Call &Graph", "Callers and callees of each function, in the form of gprof",
        _callgraph, _function_filter, titles={"number": "Calls"}),
    "counter": Statistic(
        "Hardware Counter", "Events of the hardware counter, without the events that the probes "
        "caused",
        _counter, _counter_filter, COUNTED, {"number": "Calls"}),
    "programs": Statistic(
        "Functions by Progra&m", "Times of each function in each program",
        _programs, _program_filter, titles={"number": "Calls"}),
    "interrupts": Statistic(
        "Inter&rupts", "Interrupts and softirqs of each CPU",
        _of_events(interrupt_rows, InterruptRow._fields, "irq", "softirq"), None),
    "syscalls": Statistic(
        "S&ystem Calls", "Each program's system calls",
        _syscalls, None),
    "threads": Statistic(
        "Threads", "How long programs ran, waited for a CPU, and slept",
        _of_events(thread_rows, ThreadRow._fields, "sched"), None),
    "locks": Statistic(
        "Locks", "Waits for locks, grouped by the function that waited",
        _of_events(lock_rows, LockRow._fields, "lock"), None, titles={"number": "Waits"}),
    "faults": Statistic(
        "Page Faults", "Page faults of each program",
        _of_events(fault_rows, FaultRow._fields, "fault"), None,
        titles={"calls": "In calls for packets"}),
    "queues": Statistic(
        "&Queue Lengths", "Lengths of the queues of queueing disciplines, CPU backlogs and sockets",
        _of_events(queue_rows, QueueRow._fields, "queue"), None,
        titles={"mean": "Mean", "p50": "p50", "p95": "p95", "p99": "p99",
                "most": "Most packets", "most_bytes": "Most bytes"}),
    "expert": Statistic(
        "E&xpert Information", "Findings about packets, by severity",
        _expert, _expert_filter, titles={"cost_ns": "Cost (µs)"}),
    "processes": Statistic(
        "&Processes", "Time that each program spent on its packets",
        _processes, _process_filter, titles={"number": "Calls"}),
    "drops": Statistic(
        "&Drops", "Reasons and places of drops, and how many drops lost a packet",
        _drops, lambda row: f"kbl.drop_reason == {quote_text(row['reason'])}",
        titles={"number": "Drops", "lost": "Lost packets", "wire": "In captures",
                "packets": "First packets"}),
    "clock": Statistic(
        "Cloc&k Fits", "Clock fits: offset, drift and possible error of each capture's clock",
        _clock, None, titles={"kbl": "Kernel log", "source": "Capture", "offset_ns": "Offset (s)",
                        "drift_ppm": "Drift (ppm)"},
        seconds=frozenset({"offset_ns"})),
}  # fmt: skip


def statistic_of(name: str, scope: Scope) -> Table:
    """Return the table `name` of STATISTICS, with notes about sampled logs.

    If nothing was chosen, or if there is no kernel log, a note says so in place of the table's own
    notes.  Raises Cancelled.
    """
    samples = dict.fromkeys(kernel.sample for kernel in scope.kernels.values() if kernel.sample)
    notes = tuple(sampling_text(*sample) for sample in samples if sample)
    table = STATISTICS[name].make(scope)
    if not table.rows and (scope.is_empty or not scope.kernels):
        why = NOTHING_CHOSEN if scope.is_empty else NO_LOG
        table = table._replace(warnings=(), notes=(why,))
    return table._replace(notes=(*table.notes, *notes))
