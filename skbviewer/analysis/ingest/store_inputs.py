# SPDX-License-Identifier: MIT
"""Turn the results of the readers into a complete session file.

Input: captures and KBLs.  Output: rows in a store.Builder.  Series, legs and calls are made for
each KBL; then each capture is matched with each KBL.  At most one input at a time is whole in
memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...matching import (
    LEG_DTYPE,
    RULES,
    KernelSide,
    LegTable,
    Matches,
    Nesting,
    build_kernel_side,
    build_legs,
    build_series,
    join_sockets,
    merges,
)
from ...records import (
    POINTS_GAP,
    STORED_PACKET_DTYPE,
    Capture,
    KernelLog,
    Progress,
    RecordTable,
    Scratch,
    parts,
    scratch_of,
)
from ...store import Builder, schema
from ..calls.call_building import build as build_calls
from ..calls.lost_spans import losses
from ..leg_times.incomplete_legs import leg_gaps
from ..leg_times.packet_times import NAMES as SPENT
from ..leg_times.packet_times import SpentLegs, spent_legs, sums
from ..leg_times.time_spent import build as build_spent
from ..leg_times.time_spent import unknown as unknown_spent
from ..words.kernel_names import meta_of
from ..words.link_names import link_name
from .call_rows import numbered, repeated, store_calls, store_records, store_waits
from .capture_matches import Joining, SeriesVerdicts, clock_rows, epoch_ns
from .event_rows import build as build_events
from .event_rows import store_events
from .kernel_only_rows import Ids, numbers
from .leg_addresses import addresses
from .leg_summary import drop_reasons, owners
from .packet_summary import unmatched
from .series_summary import SeriesSummary, series_summary

FOLLOWING, STEPS = "following packets", 5
LOOKING = "finding what sniffers may have captured"
SMALL = ("caller", "func", "exit_cpu")  # kernel text ends at -1, so its addresses fit in 32 bits

Columns = dict[str, npt.NDArray[np.generic]]


class Input(NamedTuple):
    """One source as it was read, with its file's size and hash."""

    data: Capture | KernelLog
    size: int
    sha256: str


class Unread(NamedTuple):
    """One source that is read when it is needed.  `read` raises BadInput, Cancelled."""

    is_log: bool
    read: Callable[[], Input]


class _Log(NamedTuple):
    source: int
    kernel_side: KernelSide  # without records
    scratch: Scratch  # of the arrays made from the records
    pid: npt.NDArray[np.int64]  # of each leg
    drop_reason: npt.NDArray[np.int64]
    spent: SpentLegs
    summary: SeriesSummary
    first: dict[str, int]  # number of rows stored before, by table


class _Session:
    """What is in the session so far."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.rows: dict[int, tuple[object, ...]] = {}  # of table `source`
        self.warnings: dict[int, tuple[str, ...]] = {}

    def note(self, source: int, item: Input, first: int, rows: int) -> None:
        """Note that a source has been added."""
        self.rows[source] = _source_row(item, first, rows)
        self.warnings[source] = item.data.warnings


def store_inputs(
    inputs: Sequence[Input | Unread], builder: Builder, progress: Progress
) -> tuple[str, ...]:
    """Match all inputs and write them to `builder`, which the caller finishes; returns warnings.

    KBLs come first, one by one, because what is made from one needs much memory for a while.
    """
    session, logs = _Session(builder), list[_Log]()
    before = {"series": 0, "leg": 0}
    numbered = list(enumerate(inputs, start=1))
    for source, item in numbered:
        if _is_log(item):
            logs.append(_store_kbl(source, _read(item), before, session, progress))
            before["series"] += len(logs[-1].kernel_side.series.parent)
            before["leg"] += len(logs[-1].pid)
    joining = Joining(
        {log.source: log.kernel_side for log in logs},
        {log.source: log.summary.is_ip for log in logs},
    )
    for source, item in numbered:
        if not _is_log(item):
            read = _read(item)
            _store_capture(source, read, logs, joining, session, progress)
            del read
            for log in logs:
                log.scratch.forget()
    joining.store_times(builder)
    verdicts = [joining.verdicts[log.source] for log in logs]
    kernel_only = numbers(
        [log.kernel_side.series for log in logs],
        [v.verdict for v in verdicts],
        [log.summary.identity for log in logs],
    )
    for log, verdict, number in zip(logs, verdicts, kernel_only, strict=True):
        log.scratch.forget()
        _store_log(log, verdict, builder, number)
    builder.add_rows(schema.meta, [(schema.SESSION, schema.RULES, str(RULES))])
    builder.add_rows(schema.source, [session.rows[source] for source in sorted(session.rows)])
    return tuple(line for source in sorted(session.rows) for line in session.warnings[source])


def _is_log(item: Input | Unread) -> bool:
    return item.is_log if isinstance(item, Unread) else isinstance(item.data, KernelLog)


def _read(item: Input | Unread) -> Input:
    return item.read() if isinstance(item, Unread) else item


def _store_kbl(
    source: int, item: Input, before: dict[str, int], session: _Session, progress: Progress
) -> _Log:
    """Store a KBL; returns only what matching needs."""
    assert isinstance(item.data, KernelLog)
    session.note(source, item, 0, len(item.data.records))
    return _follow(source, item.data, dict(before), session.builder, progress)


def _follow(
    source: int, log: KernelLog, first: dict[str, int], builder: Builder, progress: Progress
) -> _Log:
    """Make series and legs.  Their calls and events are stored at once, to free their memory."""
    if isinstance(log.records, RecordTable):
        log.records.make_narrow(SMALL)
    progress.report(FOLLOWING, 0, STEPS)
    series = build_series(log)
    _forget(log, progress, 1)
    legs = build_legs(log, series)
    _forget(log, progress, 2)
    nesting = Nesting(log.records)
    _forget(log, progress, 3)
    joined = join_sockets(log, series, legs, nesting)
    np.add.at(legs.rows["functions"], joined.leg, 1)
    calls = build_calls(log, series, legs, nesting, joined)
    _forget(log, progress, 4)
    events = build_events(log, series, legs, nesting, calls)
    _forget(log, progress, 5)
    lost = losses(log)
    gap = leg_gaps(log, lost, series, legs, nesting, calls, events)
    scratch = scratch_of(log.records)
    if log.returns:
        waits = build_spent(log, legs, nesting, calls, events, lost)
    else:
        waits = unknown_spent(legs)
    spent = spent_legs(legs, waits, gap, scratch)
    del nesting, joined, lost
    first |= {t.name: builder.count(t) for t in (schema.call, schema.event)}
    pid, reason = owners(calls, len(legs.rows)), drop_reasons(log.records, events, len(legs.rows))
    store_records(source, log, series, calls, events, first, builder)
    store_calls(calls, first, builder)
    store_events(log, source, events, first, builder)
    store_waits(waits, first, builder)
    del calls, events, waits
    merged = merges(log, series)
    own, target = (numbered(rows, first["series"]) for rows in (merged.series, merged.into))
    builder.add_array(schema.merge, {"series": own, "target": target})
    progress.report(LOOKING, 0, 2)
    kernel_side = build_kernel_side(log, series, legs)
    shown = addresses(kernel_side)
    of_leg = numbered(shown["leg"].astype(np.int64), first["leg"])
    builder.add_array(schema.address, shown | {"leg": of_leg})
    kernel_side = kernel_side.without_records()
    progress.report(LOOKING, 1, 2)
    summary = series_summary(log.records, series, legs)
    kernel_side = _kept(kernel_side, scratch)
    scratch.forget()
    pid, reason = scratch.keep(pid), scratch.keep(reason)
    return _Log(source, kernel_side, scratch, pid, reason, spent, summary, first)


def _kept(kernel_side: KernelSide, scratch: Scratch) -> KernelSide:
    """`kernel_side` with its large arrays in files, if there are any."""
    prints, series = kernel_side.prints, kernel_side.series
    kept = {n: scratch.keep(getattr(prints, n)) for n in ("number", "series", "record")}
    parent = scratch.keep(series.parent)
    return kernel_side._replace(
        prints=prints._replace(**kept), series=replace(series, parent=parent)
    )


def _forget(log: KernelLog, progress: Progress, done: int) -> None:
    """Report a step and drop pages: the next step reads other columns."""
    progress.report(FOLLOWING, done, STEPS)
    scratch_of(log.records).forget()


def _store_capture(
    source: int,
    item: Input,
    logs: list[_Log],
    joining: Joining,
    session: _Session,
    progress: Progress,
) -> None:
    assert isinstance(item.data, Capture)
    packets, builder = item.data.packets, session.builder
    number = builder.count(schema.packet)
    session.note(source, item, number + 1, len(packets))
    matches, scratch = joining.capture(source, packets, number, progress), scratch_of(packets)
    summary = unmatched(packets)
    for log in logs:
        found = matches[log.source]
        summary.note(found, log.kernel_side.legs.rows, log.spent)
        _store_matches(found, log, number, builder)
        builder.add_rows(schema.clock, clock_rows(found, source, log.source, number))

    def make(rows: slice) -> Columns:
        scratch.passed()
        columns: Columns = dict(parts(packets, STORED_PACKET_DTYPE.names or (), rows))
        columns |= summary.columns(rows)
        return columns | {"source": repeated(source, len(columns["ts"]))}

    builder.add_parts(schema.packet, len(packets), make)


def _store_matches(found: Matches, log: _Log, number: int, builder: Builder) -> None:
    rows = found.rows
    columns = {name: rows[name] for name in ("verdict", "rung", "confidence", "delta_ns")}
    columns["packet"] = rows["packet"] + number + 1
    columns["leg"] = rows["leg"] + log.first["leg"] + 1
    builder.add_array(schema.match, columns)
    moments = found.moments
    columns = {name: moments[name] for name in schema.moment.names}
    columns["socket"] = moments["socket"].astype(np.uint8)
    columns["packet"] = moments["packet"] + number + 1
    columns["leg"] = moments["leg"] + log.first["leg"] + 1
    builder.add_array(schema.moment, columns)


def _source_row(item: Input, first: int, rows: int) -> tuple[object, ...]:
    data = item.data
    detail = _log_detail(data) if isinstance(data, KernelLog) else _capture_detail(data)
    texts = (json.dumps(data.warnings), json.dumps(detail))
    return (str(data.path.absolute()), data.kind.value, item.size, item.sha256, first, rows, *texts)


def _capture_detail(capture: Capture) -> dict[str, str]:
    return {"interfaces": ", ".join(i.name or link_name(i.linktype) for i in capture.interfaces)}


def _store_log(made: _Log, verdicts: SeriesVerdicts, builder: Builder, kernel_only: Ids) -> None:
    first, legs = made.first, made.kernel_side.legs.rows
    _store_tables(made, builder)
    _store_series(made, verdicts, kernel_only, builder)

    def make(some: slice) -> Columns:
        made.scratch.passed()
        columns: Columns = dict(legs.parts(LEG_DTYPE.names or (), some))
        columns["source"] = repeated(made.source, len(columns["series"]))
        columns["series"] = numbered(legs.stored("series")[some], first["series"])
        columns["pid"], columns["drop_reason"] = made.pid[some], made.drop_reason[some]
        columns["gap"] = made.spent.gap[some].astype(np.uint8)
        if not made.kernel_side.log.returns:
            columns["gap"] *= POINTS_GAP
            columns["functions"] = repeated(-1, len(columns["gap"]))
        columns["busy_ns"], columns["unknown_ns"] = made.spent.busy[some], made.spent.unknown[some]
        columns["cpu_ns"] = made.spent.cpu[some]
        return columns

    builder.add_parts(schema.leg, len(legs), make)


def _store_tables(made: _Log, builder: Builder) -> None:
    log, source = made.kernel_side.log, made.source
    probes = [
        (source, p.id, p.name, p.module, _signed(p.address), *(_signed(int(v)) for v in p[4:]))
        for p in log.probes.values()
    ]
    builder.add_rows(schema.probe, probes)
    builder.add_rows(schema.symbol, [(source, _signed(a), n) for a, n in log.symbols.items()])
    builder.add_rows(schema.task, [(source, pid, comm) for pid, comm in log.tasks.items()])
    builder.add_rows(schema.device, [(source, *key, name) for key, name in log.devices.items()])
    builder.add_rows(schema.meta, [(source, *pair) for pair in meta_of(log).items()])


def _store_series(made: _Log, verdicts: SeriesVerdicts, kernel_only: Ids, builder: Builder) -> None:
    series, summary, before = made.kernel_side.series, made.summary, made.first["series"]
    begin, functions = _sums(made.kernel_side.legs, made.spent.gap)
    of_series = np.asarray(made.kernel_side.legs.rows["series"], np.int64)
    times = sums(of_series, np.arange(len(of_series)), made.spent, len(series.parent))

    def make(some: slice) -> Columns:
        made.scratch.passed()
        columns: Columns = {name: values[some] for name, values in verdicts._asdict().items()}
        columns |= {
            "source": repeated(made.source, len(columns["verdict"])),
            "parent": numbered(series.parent[some], before),
            "tap": series.tap[some].astype(np.int64),
            "begin_ns": begin[some],
            "end_ns": summary.end_ns[some],
            "skb": summary.skb[some],
            "kernel_only": kernel_only[some],
            "functions": functions[some],
            "ordinal": summary.ordinal[some],
            "identity": summary.identity[some],
        }
        columns |= {name: ns[some] for name, ns in zip(SPENT, times, strict=True)}
        return columns | summary.columns(some)

    builder.add_parts(schema.series, len(series.parent), make)


def _sums(legs: LegTable, gap: npt.NDArray[np.bool_]) -> tuple[Ids, Ids]:
    """Begin and number of functions of each series, -1 if records of a leg may be lost."""
    rows = legs.rows
    if not len(rows):
        return (np.zeros(0, np.int64),) * 2
    first = np.flatnonzero(np.r_[True, np.diff(rows["series"]) != 0])
    functions = np.add.reduceat(rows["functions"].astype(np.int64), first)
    lost = np.logical_or.reduceat(gap, first)
    return rows["begin_ns"][first], np.where(lost, -1, functions)


def _log_detail(log: KernelLog) -> dict[str, str]:
    armed = sum(1 for p in log.probes.values() if p.address and not p.error)
    return {
        "release": log.release,
        "hostname": log.hostname,
        "arch": log.arch,
        "probes": str(armed),
        "lost_records": str(log.lost_records),
        "epoch_offset_ns": str(epoch_ns(log)),
    } | ({} if log.returns else {"points": str(len(log.records))})


def _signed(address: int) -> int:
    """A kernel address as SQLite stores it."""
    return address - (1 << 64) if address >= 1 << 63 else address
