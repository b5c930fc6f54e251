# SPDX-License-Identifier: MIT
"""All that a log declares as missing, in one table: when, on which CPU, of which function.

In: a KBL.  Out: rows of LOSS_DTYPE.  A matcher may count on a record that it does not see only
where no row speaks against it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records import HOLE, UNRECORDED, KernelLog, part
from ...records.types import EARLIEST_NS, LATEST_NS
from ..arrays.record_rows import found

ENTRY, LOST = 1, 5  # kbl.h enum kbl_kind
BUFFER, MISSED, NESTED = 1, 2, 3  # kbl.h enum kbl_lost
ANY = -1  # of `cpu` and `func`; `count`: not known


LOSS_DTYPE = np.dtype(
    [
        ("first_ns", "<i8"),  # from here on, ns of the KBL's clock
        ("last_ns", "<i8"),  # up to here
        ("cpu", "<i4"),  # on which the lost records were to be written, ANY
        ("func", "<i4"),  # probe id, ANY
        ("count", "<i8"),  # records; of a hole at least; ANY: not known
        ("reason", "u1"),  # BUFFER, MISSED, NESTED, HOLE, UNRECORDED
    ]
)

Table = npt.NDArray[np.void]
Row = tuple[int, int, int, int, int, int]


def declared(log: KernelLog) -> Table:
    """Every loss that the log declares, by `first_ns`.

    MISSED: a probe did not see a hit, whose time lies within the row, on whatever CPU.  All other
    rows are of records that would have been *written* then.  A call is written when it returns:
    it may have begun before `first_ns`, and on another CPU.
    """
    made = [*_holes(log), *_undated(log), *_outside(log)]
    rows = np.concatenate([_marks(log), np.array(made, LOSS_DTYPE)])
    return rows[np.argsort(rows["first_ns"], kind="stable")]


def is_filtered(log: KernelLog) -> bool:
    """Whether the recorder was given a filter, or refused calls: one may be set while recording."""
    return bool(log.meta.get("filter")) or log.meta.get("counters.filtered", "0") != "0"


def of_calls(log: KernelLog, calls: npt.NDArray[np.int64]) -> Table:
    """Calls of packet sockets that the log shows, but not whose: as if their moments were lost."""
    rows = np.zeros(len(calls), LOSS_DTYPE)
    rows["first_ns"] = part(log.records, "ts", calls)
    rows["last_ns"] = np.maximum(part(log.records, "exit_ts", calls), rows["first_ns"])
    rows["cpu"] = rows["func"] = ANY
    rows["count"], rows["reason"] = 1, UNRECORDED
    return rows


def meets(
    rows: Table, low: npt.NDArray[np.int64], high: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Which of the spans (ns) from low to high overlap a row."""
    rows = rows[np.argsort(rows["first_ns"], kind="stable")]
    ends = np.maximum.accumulate(np.append(np.int64(EARLIEST_NS), rows["last_ns"]))
    begun = np.searchsorted(rows["first_ns"], np.minimum(high, LATEST_NS), "right")
    return np.asarray(ends[begun] >= low, np.bool_)


def inside(losses: Table) -> Table:
    """Those with a begin and an end, or of one CPU: not what was before and after a recording."""
    outside = (losses["first_ns"] == EARLIEST_NS) | (losses["last_ns"] == LATEST_NS)
    return np.asarray(losses[~outside | (losses["cpu"] != ANY)])


def _marks(log: KernelLog) -> Table:
    """LOST records."""
    records = log.records
    lost = found(records, lambda some: part(records, "kind", some) == LOST)
    rows = np.zeros(len(lost), LOSS_DTYPE)
    of = {"last_ns": "ts", "func": "func", "count": "data", "reason": "flags", "cpu": "cpu"}
    for name, column in of.items():
        rows[name] = part(records, column, lost)
    rows["first_ns"] = rows["last_ns"] - np.maximum(part(records, "dur", lost), 0)
    rows["cpu"][rows["reason"] == MISSED] = ANY
    return rows


def _holes(log: KernelLog) -> list[Row]:
    """Chunks that are missing or damaged."""
    return [(hole.begin, hole.end, hole.cpu, ANY, hole.lost, HOLE) for hole in log.holes]


def _undated(log: KernelLog) -> list[Row]:
    """Missed hits of which nothing says when."""
    return [
        (EARLIEST_NS, LATEST_NS, ANY, func, count, MISSED)
        for func, count in sorted(log.missed.items())
    ]


def _outside(log: KernelLog) -> list[Row]:
    """Before and after the recording; of an incomplete file, around the records of each CPU.

    A CPU may then have had records although the file has none.  Misses are declared late: what
    the probes missed at the end is not known either.
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
    """When the first and the last call of the log began: returns are recorded after its stop.

    Of a log without calls, its records.
    """
    records = log.records
    calls = found(records, lambda some: part(records, "kind", some) == ENTRY)
    if not len(calls):
        calls = np.arange(len(records))
    if not len(calls):
        return LATEST_NS, LATEST_NS  # nothing is recorded at any time
    first, last = part(records, "ts", calls[[0, -1]]).tolist()
    return first, last


def _known_until(log: KernelLog) -> int:
    """Until when missed hits are declared: the recorder's last poll that the file shows, ns."""
    rows = _marks(log)
    polls = rows["last_ns"][rows["reason"] == MISSED].tolist()
    clock = [moment.mono_ns for moment in log.clock]
    return max([*polls, *clock], default=EARLIEST_NS)
