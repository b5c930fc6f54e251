# SPDX-License-Identifier: MIT
"""From what the readers made of the input files to a whole session file.

In: captures and KBLs.  Out: rows in a store.Builder.  Series, legs and calls are made per KBL, then
each capture is matched to each KBL.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..matching import (
    CONTESTED,
    EXACT,
    LegTable,
    Matches,
    Nesting,
    SeriesTable,
    build_legs,
    build_series,
    join_sockets,
    sightable,
)
from ..records import (
    IDENTITY_DTYPE,
    PACKET_DTYPE,
    RECORD_DTYPE,
    Capture,
    KernelLog,
    Packets,
    Progress,
    Records,
    RecordTable,
    empty,
    part,
)
from ..store import Builder, schema
from .call_table import CALL_DTYPE, CallTable
from .calls import build as build_calls
from .events import build as build_events
from .events import store_events
from .joining import Joining, SeriesVerdicts, clock_rows, epoch_ns
from .kernel_only import WIRE_ONLY, Ids, identities, numbers
from .leg_tells import drop_reasons, owners
from .names import meta_of

LOST = 5  # kbl.h KBL_LOST
MATCHED = ("ts", "ordinal", "kind", "func", "skb", "exit_ts")  # what is asked of records later

OF_LEG = ("begin_ns", "end_ns", "functions")

Columns = dict[str, npt.NDArray[np.generic]]


class Input(NamedTuple):
    """One source as read, with what identifies the file."""

    data: Capture | KernelLog
    size: int
    sha256: str


class _Log(NamedTuple):
    source: int
    log: KernelLog
    series: SeriesTable
    legs: LegTable
    pid: npt.NDArray[np.int64]  # of each leg
    drop_reason: npt.NDArray[np.int64]
    first: dict[str, int]  # rows that came before, per table


def store_inputs(inputs: list[Input], builder: Builder, progress: Progress) -> None:
    """Match all inputs and write them to `builder` (which the caller finishes).

    Of KBLs among `inputs` only what matching needs is left there.
    """
    logs: list[_Log] = []
    before = {"series": 0, "leg": 0}
    for source, item in enumerate(inputs, start=1):
        if isinstance(item.data, KernelLog):
            progress.report("following packets", source - 1, len(inputs))
            made = _follow(source, item.data, dict(before), builder)
            inputs[source - 1] = item._replace(data=made.log)
            logs.append(made)
            for name, rows in (("series", made.series.parent), ("leg", made.legs.rows)):
                before[name] += len(rows)
    table: dict[int, tuple[object, ...]] = {}
    joining = Joining({log.source: sightable(log.log, log.series, log.legs) for log in logs})
    for source, item in enumerate(inputs, start=1):
        progress.report("matching", source - 1, len(inputs))
        if isinstance(item.data, Capture):
            first = builder.count(schema.packet) + 1
            _store_capture(source, item.data, logs, joining, builder)
            table[source] = _source_row(item, first, len(item.data.packets))
    joining.store_times(sorted(table), builder)
    known = [identities(log.log.records, log.series.of, len(log.series.parent)) for log in logs]
    verdicts = [joining.verdicts[log.source] for log in logs]
    kernel_only = numbers([log.series for log in logs], [v.verdict for v in verdicts], known)
    for log, verdict, identity, number in zip(logs, verdicts, known, kernel_only, strict=True):
        _store_log(log, verdict, builder, identity, number)
        row = _source_row(inputs[log.source - 1], 0, len(log.log.records))
        table[log.source] = row
    builder.add_rows(schema.source, [table[source] for source in sorted(table)])


def _follow(source: int, log: KernelLog, first: dict[str, int], builder: Builder) -> _Log:
    """Series and legs; what happened in them is stored at once, for it takes much memory."""
    series = build_series(log)
    legs = build_legs(log, series)
    nesting = Nesting(log.records)
    joined = join_sockets(log, series, legs, nesting)
    np.add.at(legs.rows["functions"], joined.leg, 1)
    calls = build_calls(log, series, legs, nesting, joined)
    events = build_events(log, series, legs, nesting, calls)
    del nesting, joined
    first |= {t.name: builder.count(t) for t in (schema.call, schema.event)}
    pid, reason = owners(calls, len(legs.rows)), drop_reasons(log.records, events, len(legs.rows))
    made = _Log(source, log, series, legs, pid, reason, first)
    _store_records(made, calls, events, builder)
    _store_calls(made, calls, builder)
    store_events(log, source, events, first, builder)
    if isinstance(log.records, RecordTable):
        made = made._replace(log=replace(log, records=log.records.only(MATCHED)))
    return made


def _columns(rows: Records | Packets, dtype: np.dtype[np.void]) -> Columns:
    return {name: rows[name] for name in dtype.names or ()}


def _store_capture(
    source: int,
    capture: Capture,
    logs: list[_Log],
    joining: Joining,
    builder: Builder,
) -> None:
    packets = capture.packets
    number = builder.count(schema.packet)
    columns = _columns(packets, PACKET_DTYPE)
    columns["source"] = np.full(len(packets), source)
    summary = np.zeros(len(packets), schema.MATCH_COLUMNS)
    summary["verdict"], summary["kernel_ns"], summary["functions"] = WIRE_ONLY, -1, -1
    matches = joining.capture(source, packets)
    for log in logs:
        found = matches[log.source]
        _summarise(summary, found, log)
        _store_matches(found, log, number, builder)
        builder.add_rows(schema.clock, clock_rows(found, source, log.source, number))
    columns |= _columns(summary, schema.MATCH_COLUMNS)
    builder.add_array(schema.packet, columns)


def _summarise(summary: npt.NDArray[np.void], found: Matches, log: _Log) -> None:
    """Fold one KBL's matches into the packets' verdict and kernel time columns."""
    rows = found.rows
    lost = found.contested[summary["verdict"][found.contested] == WIRE_ONLY]
    summary["rung"][lost] = CONTESTED
    better = rows["verdict"] < summary["verdict"][rows["packet"]]
    for column in ("verdict", "rung", "confidence"):
        summary[column][rows["packet"][better]] = rows[column][better]
    exact = rows[rows["verdict"] == EXACT]
    leg = {name: part(log.legs.rows, name, exact["leg"]) for name in OF_LEG}
    spent = {"kernel_ns": leg["end_ns"] - leg["begin_ns"], "functions": leg["functions"]}
    for column, values in spent.items():
        unknown = summary[column][exact["packet"]] < 0
        summary[column][exact["packet"][unknown]] = 0
        np.add.at(summary[column], exact["packet"], values)


def _store_matches(found: Matches, log: _Log, number: int, builder: Builder) -> None:
    rows = found.rows
    columns = {name: rows[name] for name in ("verdict", "rung", "confidence", "delta_ns")}
    columns["packet"] = rows["packet"] + number + 1
    columns["leg"] = rows["leg"] + log.first["leg"] + 1
    builder.add_array(schema.match, columns)


def _source_row(item: Input, first: int, rows: int) -> tuple[object, ...]:
    data = item.data
    if isinstance(data, KernelLog):
        kind, detail = "kbl", _log_detail(data)
    else:
        kind, detail = data.format, _capture_detail(data)
    texts = (json.dumps(data.warnings), json.dumps(detail))
    return (str(data.path.absolute()), kind, item.size, item.sha256, first, rows, *texts)


def _capture_detail(capture: Capture) -> dict[str, str]:
    return {
        "interfaces": ", ".join(i.name or f"link type {i.linktype}" for i in capture.interfaces)
    }


def _store_log(
    made: _Log, verdicts: SeriesVerdicts, builder: Builder, identity: Ids, kernel_only: Ids
) -> None:
    first = made.first
    _store_tables(made, builder)
    builder.add_array(schema.series, _series_columns(made, verdicts, identity, kernel_only))
    columns = {name: made.legs.rows[name] for name in made.legs.rows.dtype.names or ()}
    columns["source"] = np.full(len(made.legs.rows), made.source)
    columns["series"] = made.legs.rows["series"] + first["series"] + 1
    columns["pid"], columns["drop_reason"] = made.pid, made.drop_reason
    builder.add_array(schema.leg, columns)


def _numbered(rows: npt.NDArray[np.integer], before: int) -> npt.NDArray[np.int64]:
    """Ids of rows counted from 0, -1 = none, behind those stored before."""
    return np.where(rows >= 0, rows + np.int64(before + 1), -1)


def _store_records(
    made: _Log, calls: CallTable, events: npt.NDArray[np.void], builder: Builder
) -> None:
    """What is in no other table, and losses."""
    records = made.log.records
    rest = np.ones(len(records), np.bool_)
    rest[calls["entry"]] = False
    rest[events["record"]] = False
    lost = np.flatnonzero(records["kind"] == LOST)
    rest[lost] = False
    kept = np.flatnonzero(rest)

    def make(rows: slice) -> Columns:
        names = schema.RECORD_COLUMNS.names or ()
        columns: Columns = {name: part(records, name, kept[rows]) for name in names}
        columns["series"] = _numbered(made.series.of[kept[rows]], made.first["series"])
        columns["source"] = np.full(len(columns["series"]), made.source)
        return columns

    builder.add_parts(schema.record, len(kept), make)
    names = ("ordinal", "ts", "dur", "cpu", "data", "flags")
    columns: Columns = {name: part(records, name, lost) for name in names}
    builder.add_array(schema.loss, columns | {"source": np.full(len(lost), made.source)})


def _store_calls(made: _Log, calls: CallTable, builder: Builder) -> None:
    first, records = made.first, made.log.records

    def make(rows: slice) -> Columns:
        names = (name for name in CALL_DTYPE.names or () if name != "entry")
        columns: Columns = {name: calls.part(name, rows) for name in names}
        columns["leg"] = columns["leg"] + first["leg"] + 1
        columns["ordinal"] = part(records, "ordinal", calls.part("entry", rows))
        columns["parent"] = _numbered(calls.part("parent", rows), first["call"])
        return columns

    builder.add_parts(schema.call, len(calls), make)


def _store_tables(made: _Log, builder: Builder) -> None:
    log, source = made.log, made.source
    probes = [
        (source, p.id, p.name, p.module, _signed(p.address), *(_signed(int(v)) for v in p[4:]))
        for p in log.probes.values()
    ]
    builder.add_rows(schema.probe, probes)
    builder.add_rows(schema.symbol, [(source, _signed(a), n) for a, n in log.symbols.items()])
    builder.add_rows(schema.task, [(source, pid, comm) for pid, comm in log.tasks.items()])
    builder.add_rows(schema.device, [(source, *key, name) for key, name in log.devices.items()])
    builder.add_rows(schema.meta, [(source, *pair) for pair in meta_of(log).items()])


def _series_columns(
    made: _Log, verdicts: SeriesVerdicts, identity: Ids, kernel_only: Ids
) -> Columns:
    records, of, legs = made.log.records, made.series.of, made.legs.rows
    count, first = len(made.series.parent), made.first
    member = np.flatnonzero(of >= 0)
    ends = np.zeros(count, np.int64)
    ends[of[member]] = records["ts"][member]  # the latest is written last
    np.maximum.at(ends, of[member], records["exit_ts"][member])
    begin = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(begin, of[member], made.series.met[member])
    shown = identity.copy()
    shown[of[member[::-1]]] = member[::-1]  # the first is written last
    shown = np.where(identity >= 0, identity, shown)
    holds = member[records["skb"][member] != 0][::-1]  # an allocator's entry has no skb yet
    skb = np.zeros(count, np.int64)
    skb[of[holds]] = records["skb"][holds]
    kernel_ns, functions = np.zeros(count, np.int64), np.zeros(count, np.int64)
    owner = np.ascontiguousarray(legs["series"])
    np.add.at(kernel_ns, owner, legs["end_ns"] - legs["begin_ns"])
    np.add.at(functions, owner, legs["functions"].astype(np.int64))
    columns: Columns = {
        "source": np.full(count, made.source),
        "parent": np.where(made.series.parent >= 0, made.series.parent + first["series"] + 1, -1),
        "tap": made.series.tap.astype(np.int64),
        "begin_ns": begin,
        "end_ns": ends,
        "skb": skb,
        **verdicts._asdict(),
        "kernel_only": kernel_only,
        "kernel_ns": kernel_ns,
        "functions": functions,
        "ordinal": part(records, "ordinal", shown),
        "identity": np.where(identity >= 0, part(records, "ordinal", identity), -1),
    }
    known, unknown = np.flatnonzero(identity >= 0), empty(RECORD_DTYPE, 1)
    for name in ("ifindex", "netns", "skb_len", *(IDENTITY_DTYPE.names or ())):
        columns[name] = np.repeat(unknown[name], count)
        columns[name][known] = part(records, name, identity[known])
    return columns


def _log_detail(log: KernelLog) -> dict[str, str]:
    armed = sum(1 for p in log.probes.values() if p.address and not p.error)
    return {
        "release": log.release,
        "hostname": log.hostname,
        "arch": log.arch,
        "probes": str(armed),
        "lost_records": str(log.lost_records),
        "epoch_offset_ns": str(epoch_ns(log)),
    }


def _signed(address: int) -> int:
    """A kernel address as SQLite keeps it."""
    return address - (1 << 64) if address >= 1 << 63 else address
