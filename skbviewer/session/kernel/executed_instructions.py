# SPDX-License-Identifier: MIT
"""Read the executed instructions of a session's calls from a file of the emulator's plugin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...analysis.executed_instructions import (
    LogCalls,
    Steps,
    TouchedLines,
    marked_calls,
    steps_of,
    touched_lines,
)
from ...readers.kernel_image.emulator_cache_lines import read_executed_touches
from ...readers.kernel_image.emulator_exception_counts import ExceptionCount, read_exceptions
from ...readers.kernel_image.emulator_marks import read_executed_marks
from ...records import BadInput, SourceRow, counted
from ...records.execution_context import execution
from ...records.kernel_events import AT_EXIT
from ...records.types import Int64s
from ...store import machine_code_queries, queries
from ..open_session_file import OpenedFile
from .log_names import log_names

OTHER_RUN = "none of its marks fits a call of the recording, so it was counted in another run"
SEVERAL_CPUS = (
    "cannot be used: its marks come from one CPU, but the calls of the recording ran on several "
    "CPUs"
)
# Columns of LogCalls before the calls are sorted, and those of the call table that they are from.
FIELDS = ("entry_ns", "exit_ns", "func", "context", "cpu", "pid", "self_ns", "off_ns")


class CountedSteps(NamedTuple):
    """The executed instructions of calls, by the id of their log, and notes for the user.

    By log: `lines` are the cache lines that the calls accessed; it is empty if they were not
    counted.  `exceptions` are the exceptions during the whole count.
    """

    of_log: Mapping[int, Steps]
    notes: tuple[str, ...]
    lines: Mapping[int, TouchedLines]
    exceptions: Sequence[ExceptionCount]


def read_steps(opened: OpenedFile, path: Path) -> CountedSteps:
    """Return the executed instructions of all calls that have marks in the file `path`.

    Raises BadInput if the file cannot be read, is damaged, or belongs to no kernel log of the
    session.  Logs whose calls ran on several CPUs are left out.
    """
    marks = read_executed_marks(path)
    touches, lines = read_executed_touches(path), dict[int, TouchedLines]()
    sources, found, why = opened.sources(), dict[int, Steps](), OTHER_RUN
    for source in (one for one in sources if one.kind.is_log):
        calls = _calls(opened, source)
        if calls is None:
            why = SEVERAL_CPUS
            continue
        with opened.database() as db:
            losses = queries.losses(db, source.id)
        marked = marked_calls(calls, losses, marks)
        steps = steps_of(calls, marks, marked)
        if len(steps.entry_ns):
            found[source.id] = steps
        if len(steps.entry_ns) and len(touches.made):
            lines[source.id] = touched_lines(calls, marks, marked, touches)
    if not found:
        raise BadInput(path, None, why)
    names = log_names(sources)
    notes = tuple(_note(path, names.get(log, ""), steps) for log, steps in found.items())
    lost = {"mark": marks.lost, "load or store of a call": touches.lost}
    several = {"load or store of a call": "loads and stores of calls"}
    notes += tuple(
        f"{path}: there was no room for {counted(number, what, several.get(what, ''))}"
        for what, number in lost.items()
        if number
    )
    return CountedSteps(found, notes, lines, read_exceptions(path))


def _note(path: Path, log: str, steps: Steps) -> str:
    """Return a text that says how many calls of a log have numbers, and how many have none."""
    of_log = f" of {log}" if log else ""
    said = f"{path}: executed instructions of {counted(len(steps.entry_ns), 'call')}{of_log}"
    if steps.left_out:
        said += f"; {counted(steps.left_out, 'call')} during the count cannot be assigned to marks"
    if steps.marks_left:
        said += f"; {counted(steps.marks_left, 'return mark')} cannot be assigned to calls"
    return said


def _calls(opened: OpenedFile, source: SourceRow) -> LogCalls | None:
    """Return all completed calls of a log, each once; None if they ran on several CPUs."""
    parts = [part(opened, source.id) for part in (_of_packets, _of_no_packet, _of_events)]
    table = np.concatenate(parts)
    _, once = np.unique(table[:, FIELDS.index("exit_ns")], return_index=True)
    table = table[once] if len(np.unique(table[:, FIELDS.index("cpu")])) == 1 else table
    columns = dict(zip(FIELDS, table.T, strict=True))
    if len(np.unique(columns["cpu"])) > 1:
        return None
    with opened.database() as db:
        address = {
            one.name: one.address for one in machine_code_queries.probe_places(db, source.id)
        }
        names = queries.functions(db, source.id)
    known = {number: address.get(name, 0) for number, name in names.items()}
    probes, place = np.unique(columns["func"], return_inverse=True)
    function = np.array([known.get(number, 0) for number in probes.tolist()], np.int64)[place]
    thread = execution(columns["context"], columns["pid"], columns["cpu"])
    return LogCalls(
        columns["entry_ns"], columns["exit_ns"], function, columns["context"], thread,
        columns["self_ns"], columns["off_ns"],
    )  # fmt: skip


def _of_packets(opened: OpenedFile, source: int) -> Int64s:
    """Return the FIELDS of all completed calls of packets, each call once."""

    def column(name: str) -> Int64s:
        return np.asarray(opened.columns.array("call", name), np.int64)

    of_leg = np.asarray(opened.columns.array("leg", "source"), np.int64)
    dur = column("dur_ns")
    rows = np.flatnonzero((of_leg[column("leg") - 1] == source) & (dur >= 0))
    entry = column("entry_ns")
    _, once = np.unique(entry[rows], return_index=True)  # the marks are of one CPU
    rows = rows[once]
    columns = [column(name)[rows] for name in FIELDS if name != "exit_ns"]
    columns.insert(FIELDS.index("exit_ns"), entry[rows] + dur[rows])
    return np.stack(columns, axis=1)


def _of_no_packet(opened: OpenedFile, source: int) -> Int64s:
    """Return the FIELDS of completed calls without a packet, and of returns without an entry."""
    with opened.database() as db:
        found = machine_code_queries.times_of_no_packet(db, source)
    table = np.array(found, np.int64).reshape(-1, len(FIELDS) - 2)
    return np.pad(table, ((0, 0), (0, 2)), constant_values=-1)


def _of_events(opened: OpenedFile, source: int) -> Int64s:
    """Return the FIELDS of returns at which events were recorded, as returns without an entry.

    If a function is probed only for events at its return, it has no calls, but its returns have
    marks.
    """

    def column(name: str) -> Int64s:
        return np.asarray(opened.columns.array("event", name), np.int64)

    rows = np.flatnonzero((column("source") == source) & np.isin(column("event"), AT_EXIT))
    table = np.full((len(rows), len(FIELDS)), -1, np.int64)
    for field, name in (("exit_ns", "ts"), ("context", "context"), ("cpu", "cpu"), ("pid", "pid")):
        table[:, FIELDS.index(field)] = column(name)[rows]
    return table
