# SPDX-License-Identifier: MIT
"""Import input files into a session file: all steps of an import, in their order.

KBLs come first, one by one, because the tables that are made from a KBL need much memory.  After
the KBLs, each capture is read, and matched with each KBL.  At no time is more than one input
completely in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .. import readers
from ..analysis.calls.call_building import build as build_calls
from ..analysis.calls.call_table import CallTable
from ..analysis.calls.record_loss_times import losses
from ..analysis.ingest.call_rows import call_rows, record_rows, row_ids, wait_rows
from ..analysis.ingest.capture_matches import Joining, clock_rows
from ..analysis.ingest.event_rows import build as build_events
from ..analysis.ingest.event_rows import event_rows
from ..analysis.ingest.input_file_rows import Input as Input
from ..analysis.ingest.input_file_rows import name_rows, source_row
from ..analysis.ingest.kernel_only_rows import numbers
from ..analysis.ingest.leg_addresses import addresses
from ..analysis.ingest.leg_rows import leg_rows, series_rows
from ..analysis.ingest.leg_summary import drop_reasons, owners
from ..analysis.ingest.logs_of_one_host import logs_of_one_host, same_host_rows
from ..analysis.ingest.packet_rows import match_rows, packet_rows
from ..analysis.ingest.packet_summary import no_matches
from ..analysis.ingest.processed_log import FollowedLog, moved_to_files
from ..analysis.ingest.skb_lifetime_summary import series_summary
from ..analysis.leg_times.busy_and_wait_times import build as build_spent
from ..analysis.leg_times.incomplete_legs import leg_gaps
from ..analysis.leg_times.packet_times import spent_legs
from ..matching import (
    RULES,
    InnerCalls,
    Joined,
    LegTable,
    Matches,
    Nesting,
    SeriesTable,
    build_kernel_side,
    build_legs,
    build_series,
    join_sockets,
    merges,
    no_spans,
    sample_of,
    skb_spans,
)
from ..records import (
    BadInput,
    Capture,
    ColumnTable,
    KernelLog,
    Packets,
    Progress,
    RecordTable,
    Silent,
    scratch_of,
)
from ..records.file_names import check_names
from ..store import Builder, FewRows, is_session, of_columns, schema
from ..store.session_builder import Derived
from .import_memory import ARRAYS, import_memory
from .input_files import inputs_as_then
from .input_reading import Reading, Unread

MANY_LEGS = 1 << 16  # tables of sessions with fewer legs are fast without derived columns
SLOW_LEGS = 1 << 22  # tables of a session with so many legs take seconds
FOLLOWING, STEPS = "following packets", 5
LOOKING = "finding the places at which sniffers may have captured packets"
SIGNED_32_BIT = (
    "caller",
    "func",
    "exit_cpu",
)  # kernel text ends at -1, so its addresses fit in 32 bits


class Followed(NamedTuple):
    """The skb lifetimes and legs of a log, and the legs of its calls that have only a socket."""

    series: SeriesTable
    legs: LegTable
    joined: Joined


class ImportResult(NamedTuple):
    """A finished import: the session file, and the warnings about its inputs."""

    path: Path
    warnings: tuple[str, ...]


def import_files(
    paths: Sequence[Path],
    out: Path,
    progress: Progress | None = None,
    keep: Sequence[Path] = (),
    memory: int = ARRAYS,
    results: bool = True,
) -> ImportResult:
    """Read captures and KBLs, match them and write the session `out`.

    If the inputs are large, arrays take at most `memory` bytes; further ones are in files beside
    `out`.  With `results`, the tables, graphs and diagnosis of a large session are stored in it,
    which takes a fourth of the import's time.

    If `out` is a session already, it is replaced, but its annotations are copied into the new one.
    The annotations of the sessions `keep` are copied, too.  A session in `paths` stands for its
    input files, which must not have changed, and for its annotations.

    Raises BadInput for unusable input or a full disk, and Cancelled when `progress` asks for it;
    then `out` is unchanged.
    """
    watch: Progress = progress or Silent()
    check_names([*paths, out])
    if out.exists() and not is_session(out):
        raise BadInput(out, None, "exists, but is not a session, so it is not overwritten")
    sessions = [path for path in paths if is_session(path)]
    if sessions:
        paths, keep = _without_sessions(paths, watch), [*sessions, *keep]
    with import_memory(paths, out.absolute().parent, memory):
        read = Reading(watch, out.absolute().parent)
        inputs = [Unread(readers.kind_of(path), partial(read, path)) for path in paths]
        with Builder(out, watch, keep) as builder:
            warnings = store_inputs(inputs, builder, watch)
            found = _results(builder, watch) if results else None
            builder.finish(_derive(builder, watch), found)
    return ImportResult(out, warnings)


def _without_sessions(paths: Sequence[Path], progress: Progress) -> list[Path]:
    """Return `paths` with the inputs of sessions instead of these sessions, each path once."""
    found: list[Path] = []
    for path in paths:
        found += inputs_as_then(path, progress) if is_session(path) else [path.absolute()]
    return list(dict.fromkeys(found))


def _derive(builder: Builder, progress: Progress) -> Callable[[Path], Derived] | None:
    """Return a function that computes the columns of schema.DERIVED; None for a small session."""
    if builder.count(schema.leg) < MANY_LEGS:
        return None
    from .derived_columns import derived_columns  # which loads what reads a session

    return partial(derived_columns, progress=progress)


def _results(
    builder: Builder, progress: Progress
) -> Callable[[Path], Iterator[tuple[str, str, bytes]]] | None:
    """Return a function that yields rows of table `result`; None if they need not be stored."""
    if builder.count(schema.leg) < SLOW_LEGS:
        return None
    from .stored_results import stored_results  # which loads what reads a session

    return partial(stored_results, progress=progress)


def store_inputs(
    inputs: Sequence[Input | Unread], builder: Builder, progress: Progress
) -> tuple[str, ...]:
    """Match all inputs and write them to `builder`, which the caller finishes.

    Returns the warnings.
    """
    stored = _Import(builder, progress, _has_points_beside(inputs))
    sources = list(enumerate(inputs, start=1))
    logs = [stored.store_log(source, _read(item)) for source, item in sources if _is_log(item)]
    same = logs_of_one_host(logs)
    builder.add(same_host_rows(same))
    joining = Joining(
        {log.source: log.kernel_side for log in logs},
        {log.source: log.summary.is_ip for log in logs},
        same,
    )
    for source, item in sources:
        if not _is_log(item):
            stored.store_capture(source, _read(item), logs, joining)
            for log in logs:
                log.scratch.forget()
    if all(_is_log(item) for item in inputs):
        stored.store_own_packets(logs, joining)
    builder.add(*joining.times())
    verdicts = [joining.verdicts[log.source] for log in logs]
    kernel_only = numbers(
        [log.kernel_side.series for log in logs],
        [v.verdict for v in verdicts],
        [log.summary.identity for log in logs],
    )
    for log, verdict, number in zip(logs, verdicts, kernel_only, strict=True):
        log.scratch.forget()
        builder.add(*name_rows(log.kernel_side.log, log.source))
        builder.add(series_rows(log, verdict, number))
        builder.add(leg_rows(log))
    builder.add(FewRows(schema.meta, [(schema.SESSION, schema.RULES, str(RULES))]))
    builder.add(FewRows(schema.source, [stored.rows[source] for source in sorted(stored.rows)]))
    return tuple(line for source in sorted(stored.rows) for line in stored.warnings[source])


def _is_log(item: Input | Unread) -> bool:
    return item.kind.is_log if isinstance(item, Unread) else isinstance(item.data, KernelLog)


def _has_points_beside(inputs: Sequence[Input | Unread]) -> bool:
    """Return whether there are several logs, one of them with points: they may be of one host."""
    kinds = [item.kind if isinstance(item, Unread) else item.data.kind for item in inputs]
    return sum(kind.is_log for kind in kinds) > 1 and any(kind.has_points for kind in kinds)


def _read(item: Input | Unread) -> Input:
    return item.read() if isinstance(item, Unread) else item


class _Import:
    """The session so far: the rows of table `source`, and the warnings about each source."""

    def __init__(self, builder: Builder, progress: Progress, spans: bool) -> None:
        """Begin an import.

        With `spans`, the times in which each lifetime had each skb are found, too.
        """
        self._builder, self._progress, self._spans = builder, progress, spans
        self._before = {"series": 0, "leg": 0}  # rows of the KBLs so far; they are stored last
        self.rows: dict[int, tuple[object, ...]] = {}
        self.warnings: dict[int, tuple[str, ...]] = {}
        self._files: dict[int, tuple[int, str]] = {}  # size and hash of KBLs

    def _note(self, source: int, item: Input, first: int, rows: int) -> None:
        self.rows[source] = source_row(item, first, rows)
        self.warnings[source] = item.data.warnings

    def store_log(self, source: int, item: Input) -> FollowedLog:
        """Find the lifetimes of a KBL and store its calls; return what matching needs."""
        assert isinstance(item.data, KernelLog)
        self._note(source, item, 0, len(item.data.records))
        self._files[source] = item.size, item.sha256
        made = self._follow(source, item.data, dict(self._before))
        self._before["series"] += len(made.kernel_side.series.parent)
        self._before["leg"] += len(made.pid)
        return made

    def _follow(self, source: int, log: KernelLog, first: dict[str, int]) -> FollowedLog:
        """Find series and legs of a log; store its calls and events now, to free their memory.

        `first` has the number of rows that each table already contains.
        """
        builder = self._builder
        if isinstance(log.records, RecordTable):
            log.records.make_narrow(SIGNED_32_BIT)
        self._progress.report(FOLLOWING, 0, STEPS)
        inner = InnerCalls(log)
        inner.hide()
        series = build_series(log)
        self._forget(log, 1)
        legs = build_legs(log, series)
        self._forget(log, 2)
        nesting = Nesting(log.records)
        self._forget(log, 3)
        joined = join_sockets(log, series, legs, nesting)
        np.add.at(legs.rows["functions"], joined.leg, 1)
        calls = build_calls(log, series, legs, nesting, joined)
        self._forget(log, 4)
        events = build_events(log, series, legs, nesting, calls)
        self._forget(log, 5)
        lost = losses(log)
        gap = leg_gaps(log, lost, series, legs, nesting, calls, events)
        scratch = scratch_of(log.records)
        waits = build_spent(log, legs, nesting, calls, events, lost)
        spent = spent_legs(legs, waits, gap, scratch)
        del nesting, lost
        pid = owners(calls, len(legs.rows))
        reason = drop_reasons(log.records, events, len(legs.rows))
        first |= {t.name: builder.count(t) for t in (schema.call, schema.event)}
        if len(inner.rows):
            del calls, events
            self._store_with_inner(source, log, inner, Followed(series, legs, joined), first)
        else:
            self._store_calls(source, log, series, calls, events, first)
            del calls, events
        builder.add(wait_rows(waits, first))
        del joined, waits
        merged = merges(log, series)
        own, target = (row_ids(rows, first["series"]) for rows in (merged.series, merged.into))
        builder.add(of_columns(schema.merge, {"series": own, "target": target}))
        self._progress.report(LOOKING, 0, 2)
        kernel_side = build_kernel_side(log, series, legs)
        shown = addresses(kernel_side)
        of_leg = row_ids(shown["leg"].astype(np.int64), first["leg"])
        builder.add(of_columns(schema.address, shown | {"leg": of_leg}))
        kernel_side = kernel_side.without_records()
        self._progress.report(LOOKING, 1, 2)
        summary = series_summary(log.records, series, legs)
        spans = skb_spans(log.records, series.of) if self._spans else no_spans()
        kernel_side = moved_to_files(kernel_side, scratch)
        scratch.forget()
        pid, reason = scratch.keep(pid), scratch.keep(reason)
        return FollowedLog(source, kernel_side, scratch, pid, reason, spent, summary, first, spans)

    def _store_with_inner(
        self,
        source: int,
        log: KernelLog,
        inner: InnerCalls,
        followed: Followed,
        first: dict[str, int],
    ) -> None:
        """Store the calls and events anew, together with calls of functions without an skb."""
        series, legs, sockets = followed
        with inner.shown():
            nesting = Nesting(log.records)
            joined = inner.joined(legs, nesting, sockets)
            calls = build_calls(log, series, legs, nesting, joined, inner.rows)
            events = build_events(log, series, legs, nesting, calls)
            self._store_calls(source, log, series, calls, events, first)

    def _store_calls(
        self,
        source: int,
        log: KernelLog,
        series: SeriesTable,
        calls: CallTable,
        events: ColumnTable,
        first: dict[str, int],
    ) -> None:
        self._builder.add(*record_rows(source, log, series, calls, events, first))
        self._builder.add(call_rows(calls, first))
        for rows in event_rows(log, source, events, first):
            self._builder.add(rows)

    def _forget(self, log: KernelLog, done: int) -> None:
        """Report that a step is done, and drop the log's pages from memory.

        Dropping the log's pages saves memory, because the next step reads other columns.
        """
        self._progress.report(FOLLOWING, done, STEPS)
        scratch_of(log.records).forget()

    def store_capture(
        self, source: int, item: Input, logs: Sequence[FollowedLog], joining: Joining
    ) -> None:
        """Match a capture with all KBLs; store its packets and matches."""
        assert isinstance(item.data, Capture)
        packets, number = item.data.packets, self._builder.count(schema.packet)
        self._note(source, item, number + 1, len(packets))
        matches = joining.match_capture(source, packets, number, self._progress)
        self._store_packets(source, packets, logs, matches, number)

    def store_own_packets(self, logs: Sequence[FollowedLog], joining: Joining) -> None:
        """Store the packets that are in logs; the packets of each log become a source."""
        for log in logs:
            own = log.kernel_side.log.own_packets
            if own is None:
                continue
            source, number = len(self.rows) + 1, self._builder.count(schema.packet)
            self._note(source, Input(own, *self._files[log.source]), number + 1, len(own.packets))
            matches = joining.match_own_packets(source, log.source, own, number)
            own_first = sorted(logs, key=lambda other: other is not log)
            self._store_packets(source, own.packets, own_first, matches, number)

    def _store_packets(
        self,
        source: int,
        packets: Packets,
        logs: Sequence[FollowedLog],
        matches: dict[int, Matches],
        number: int,
    ) -> None:
        """Store the packets of a source and their matches with each log.

        If several logs match a packet equally well, the reason is taken from the first log.
        """
        builder, summary = self._builder, no_matches(packets)
        for log in logs:
            found = matches[log.source]
            summary.note(found, log.kernel_side.legs.rows, log.spent, log.kernel_side.log.returns)
            builder.add(*match_rows(found, log, number))
            builder.add(clock_rows(found, source, log.source, number))
        for log in logs:
            sample = sample_of(log.kernel_side.log.meta)
            if sample is not None:
                summary.note_sampled(packets, sample)
        builder.add(packet_rows(source, packets, summary))
