# SPDX-License-Identifier: MIT
"""List the losses that a log declares: when, on which CPU, of which function.

Input: a KBL.  Output: rows of LOSS_DTYPE.  Matching may conclude from a missing record that an
event did not happen, but only if no loss covers the time that the record would have.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records import HOLE, UNRECORDED, KernelLog, part
from ...records.kernel_events import BIRTHS, Trait, numbers_with
from ...records.types import EARLIEST_NS, LATEST_NS
from ..arrays.record_column_blocks import rows_where
from ..record_kinds import EVENT, is_among
from ..sampling import sample_of

ENTRY, LOST = 1, 5  # kbl.h enum kbl_kind
BUFFER, MISSED, NESTED = 1, 2, 3  # kbl.h enum kbl_lost
ANY = -1  # in `cpu` and `func`: any; in `count`: unknown


LOSS_DTYPE = np.dtype(
    [
        ("first_ns", "<i8"),  # start of the time in which records may be lost, on the KBL's clock
        ("last_ns", "<i8"),  # its end
        ("cpu", "<i4"),  # the CPU that would have written the lost records, or ANY
        ("func", "<i4"),  # probe id, or ANY
        ("count", "<i8"),  # number of lost records; in a hole, the least possible; ANY: unknown
        ("reason", "u1"),  # BUFFER, MISSED, NESTED, HOLE, UNRECORDED
    ]
)

Table = npt.NDArray[np.void]
Row = tuple[int, int, int, int, int, int]


def losses_declared_by(log: KernelLog) -> Table:
    """Return every loss that the log declares, sorted by `first_ns`.

    A row with the reason MISSED says that a probe did not record a hit at some time from `first_ns`
    to `last_ns`, on any CPU.  All other rows say that the records that were *written* in their time
    are missing.  A call is written when it returns, so it may have begun before `first_ns`, and on
    a different CPU.
    """
    made = [*_holes(log), *_undated(log), *_outside(log)]
    rows = np.concatenate([_marks(log), np.array(made, LOSS_DTYPE)])
    return rows[np.argsort(rows["first_ns"], kind="stable")]


def is_filtered(log: KernelLog) -> bool:
    """Return whether the recorder ever had a filter: one is set, or the recorder refused calls."""
    return bool(log.meta.get("filter")) or log.meta.get("counters.filtered", "0") != "0"


def of_calls(log: KernelLog, calls: npt.NDArray[np.int64], since: npt.NDArray[np.int64]) -> Table:
    """Return a loss for each of these packet sockets' calls, whose skb lifetimes are unknown.

    A call of an unknown skb gives no moment, so it is treated as a loss.  `since` are the earliest
    times (ns) at which the skbs may have arrived and been stamped.  No record is lost, so each row
    counts 0 records.
    """
    rows = np.zeros(len(calls), LOSS_DTYPE)
    rows["first_ns"] = since
    rows["last_ns"] = np.maximum(part(log.records, "exit_ts", calls), rows["first_ns"])
    rows["cpu"] = rows["func"] = ANY
    rows["reason"] = UNRECORDED
    return rows


def of_births(log: KernelLog) -> Table:
    """Return a loss without limits in time if the log shows ends of skbs, but no births.

    A recording without births has probes on consume_skb() and kfree_skb(), but not on the
    allocators.  The probes on consume_skb() and kfree_skb() do not show every end of an skb, so the
    records at one address may belong to several skbs.

    A recorder that samples packets records no births of packets outside the sample.  But if its
    probes show births, such a recorder records each birth at the address of an skb whose end no
    probe showed.
    """
    records = log.records

    def any_of(events: tuple[int, ...]) -> bool:
        def mine(some: slice) -> npt.NDArray[np.bool_]:
            is_event = part(records, "kind", some) == EVENT
            return np.asarray(is_event & is_among(part(records, "event", some), events))

        return len(rows_where(records, mine)) > 0

    sample = sample_of(log.meta)
    probed = any(p.event in BIRTHS and not p.error for p in log.probes.values())
    hidden = any_of(numbers_with(Trait.RELEASE, Trait.FREE)) and not any_of(BIRTHS)
    hidden &= not (sample is not None and sample.of_packets and probed)
    row = (EARLIEST_NS, LATEST_NS, ANY, ANY, ANY, UNRECORDED)
    return np.array([row] * hidden, LOSS_DTYPE)


def meets(
    rows: Table, low: npt.NDArray[np.int64], high: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Return for each span from `low` to `high` (ns) whether it overlaps a loss of `rows`."""
    rows = rows[np.argsort(rows["first_ns"], kind="stable")]
    ends = np.maximum.accumulate(np.append(np.int64(EARLIEST_NS), rows["last_ns"]))
    begun = np.searchsorted(rows["first_ns"], np.minimum(high, LATEST_NS), "right")
    return np.asarray(ends[begun] >= low, np.bool_)


def losses_inside(losses: Table) -> Table:
    """Return the losses within the recording: losses of one CPU, or with both a start and an end.

    The other losses cover the time before or after the recording.
    """
    outside = (losses["first_ns"] == EARLIEST_NS) | (losses["last_ns"] == LATEST_NS)
    return np.asarray(losses[~outside | (losses["cpu"] != ANY)])


def _marks(log: KernelLog) -> Table:
    """Return the losses that LOST records declare."""
    records = log.records
    lost = rows_where(records, lambda some: part(records, "kind", some) == LOST)
    rows = np.zeros(len(lost), LOSS_DTYPE)
    of = {"last_ns": "ts", "func": "func", "count": "data", "reason": "flags", "cpu": "cpu"}
    for name, column in of.items():
        rows[name] = part(records, column, lost)
    rows["first_ns"] = rows["last_ns"] - np.maximum(part(records, "dur", lost), 0)
    rows["cpu"][rows["reason"] == MISSED] = ANY
    return rows


def _holes(log: KernelLog) -> list[Row]:
    """Return the losses that missing or damaged chunks show."""
    return [(hole.begin, hole.end, hole.cpu, ANY, hole.lost, HOLE) for hole in log.holes]


def _undated(log: KernelLog) -> list[Row]:
    """Return a loss without limits in time for missed hits whose time is unknown."""
    return [
        (EARLIEST_NS, LATEST_NS, ANY, func, count, MISSED)
        for func, count in sorted(log.missed.items())
    ]


def _outside(log: KernelLog) -> list[Row]:
    """Return losses for the time before and after the recording.

    If the file is incomplete, each CPU has losses before and after its records, because the first
    and the last records of a CPU may be missing from the file.  Probes report missed hits late, so
    nothing is known about the hits that they missed last.
    """
    begin, end = _entries(log)
    rows: list[Row] = [
        (EARLIEST_NS, begin - (begin < LATEST_NS), ANY, ANY, ANY, UNRECORDED),
        (end, LATEST_NS, ANY, ANY, ANY, UNRECORDED),
    ]
    if log.complete:
        return rows
    cpus = range(int(log.meta.get("nr_cpus", 0)))
    seen = {stream.cpu for stream in log.streams}
    rows += [(EARLIEST_NS, LATEST_NS, cpu, ANY, ANY, UNRECORDED) for cpu in cpus if cpu not in seen]
    for stream in log.streams:
        rows.append((EARLIEST_NS, stream.begin, stream.cpu, ANY, ANY, UNRECORDED))
        rows.append((stream.end, LATEST_NS, stream.cpu, ANY, ANY, UNRECORDED))
    rows.append((_known_until(log), LATEST_NS, ANY, ANY, ANY, MISSED))
    return rows


def _entries(log: KernelLog) -> tuple[int, int]:
    """Return the times at which the first and the last call of the log began.

    Returns of calls do not count, because they are recorded even after recording was stopped.  If
    the log has no calls, returns the times of its first and last record.
    """
    records = log.records
    calls = rows_where(records, lambda some: part(records, "kind", some) == ENTRY)
    if not len(calls):
        calls = np.arange(len(records))
    if not len(calls):
        return LATEST_NS, LATEST_NS  # nothing is recorded at any time
    first, last = part(records, "ts", calls[[0, -1]]).tolist()
    return first, last


def _known_until(log: KernelLog) -> int:
    """Return the time (ns) of the last poll in the file: misses are known until then."""
    rows = _marks(log)
    polls = rows["last_ns"][rows["reason"] == MISSED].tolist()
    clock = [moment.mono_ns for moment in log.clock]
    return max([*polls, *clock], default=EARLIEST_NS)
