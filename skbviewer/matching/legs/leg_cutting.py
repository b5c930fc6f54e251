# SPDX-License-Identifier: MIT
"""Cut each series into legs: a leg is one pass through one stack.

Input: a KBL and its series.  Output: LEG_DTYPE rows and the leg of each record.  A new leg begins
where a packet that was handed to a driver is received again (veth, loopback: with the same skb), or
where its network namespace changes.  Records are read once, in order of the time at which their
functions had the skb.  The state of each series is kept in a row of an array until the last record
of the series.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import ColumnTable, Gathered, KernelLog, Scratch, narrow, part, scratch_of
from ...records.types import Int32s, Int64s, UInt8s
from ..arrays.record_column_blocks import Rows, record_blocks
from ..kernel_functions import READER, RECEIVE_START, RECEIVE_TAP, TRANSMIT
from ..lifetimes.skb_lifetimes import SeriesTable
from ..record_kinds import by_probe
from .leg_cutting_loops import (
    COLUMN_TYPES,
    FIELD_OF_COLUMN,
    FREE_SLOT,
    RANKS,
    READING,
    ROWS,
    SENDS,
    SLOTS,
    STARTS,
    STATE_FIELDS,
    WAITED_PUT,
    cut_records,
    renumber,
)

# The time at which a packet tap has seen a packet: at the hand-over or, while any socket of the
# machine wants timestamps, on arrival (net_timestamp_check() in net/core/dev.c).
TAPS = ("wire_ns", "early_ns")

LEG_DTYPE = np.dtype(
    [
        ("series", "<i8"),
        ("kind", "u1"),
        ("begin_ns", "<i8"),
        # TX, forward: exit of the driver's xmit.  RX: end of the last call that began before a
        # socket queued the packet; if none did, before a process read it; else before its free
        ("end_ns", "<i8"),
        ("wire_ns", "<i8"),  # when a tap would see it: entry of xmit or netif_receive_skb
        ("early_ns", "<i8"),  # when a tap would see it on arrival (see TAPS)
        ("netns", "<i8"),
        ("ifindex", "<i8"),  # at wire_ns
        ("functions", "<i4"),
        ("ethertype", "<i4"),
        ("reader_ns", "<i8"),  # when a process began to read it, -1 = never
    ]
)
_SMALL = ("series", "netns", "ifindex", "ethertype")  # stored in the smallest type that fits


@dataclass(frozen=True)
class LegTable:
    """`rows` has LEG_DTYPE, sorted by (series, begin_ns); `of` is the leg of each record, or -1.

    `last_ns` is the end of each leg's last record.
    """

    rows: ColumnTable
    of: Int32s
    last_ns: Int64s


def build(log: KernelLog, series: SeriesTable) -> LegTable:
    """Return the legs of all series of `log`."""
    records = log.records
    of, count = scratch_of(records).full(len(records), np.int32, -1), len(series.parent)
    left, slot = series.size.copy(), np.full(count, -1, np.int32)
    roles = by_probe({p.id: _role(p.name) for p in log.probes.values()})
    waited, state = _waited(log, series, roles), np.zeros((0, STATE_FIELDS), np.int64)
    counts = np.zeros(5, np.int64)
    counts[FREE_SLOT] = -1
    parts = {name: Gathered(scratch_of(records), _type(name)) for name in FIELD_OF_COLUMN}
    for some in record_blocks(records):
        rows = Rows(records, some)
        is_last = some.stop == len(records)
        due = (
            len(waited.when)
            if is_last
            else int(np.searchsorted(waited.when, rows["ts"][-1], "right"))
        )
        most = some.stop - some.start + due - int(counts[WAITED_PUT])
        state = _with_rows(state, int(counts[SLOTS]), most)
        made = np.empty((most, STATE_FIELDS), np.int64)
        ts, exit_ts, kind, event, func = rows.columns("ts exit_ts kind event func")
        netns, ifindex, ethertype = rows.columns("netns ifindex ethertype")
        cut_records(
            some.start, is_last, ts, exit_ts, kind, event, func, netns, ifindex, ethertype,
            series.of[some], roles, series.met.record, waited.when, waited.record, waited.series,
            waited.role, waited.netns, waited.ifindex, waited.ethertype,
            left, slot, state, made, of, counts,
        )  # fmt: skip
        for name, field in FIELD_OF_COLUMN.items():
            parts[name].add(made[: counts[ROWS], field].astype(_type(name)))
    return _table(parts, series.of, of, count, scratch_of(records))


def _with_rows(state: Int64s, used: int, more: int) -> Int64s:
    """Return `state` with its used rows and `more` free rows; copies only the used ones."""
    if used + more <= len(state):
        return state
    made = np.empty((2 * (used + more), STATE_FIELDS), np.int64)
    made[:used] = state[:used]
    return made


def _type(name: str) -> np.dtype[np.generic]:
    return np.dtype(COLUMN_TYPES.get(name) or LEG_DTYPE[name])


def _role(name: str) -> int:
    rank = RECEIVE_TAP.index(name) + 1 if name in RECEIVE_TAP else 0
    sets = ((SENDS, TRANSMIT), (STARTS, RECEIVE_START), (READING, READER))
    return sum(bit for bit, names in sets if name in names) + RANKS * rank


class _Waited(NamedTuple):
    """Records of functions that get their skb only on return, sorted by the time of return."""

    when: Int64s
    record: Int32s
    series: Int32s
    role: UInt8s
    netns: Int64s
    ifindex: Int64s
    ethertype: Int32s


def _waited(log: KernelLog, series: SeriesTable, roles: UInt8s) -> _Waited:
    records, order = log.records, np.lexsort((series.met.record, series.met.exit_ts))
    record = series.met.record[order]
    func = part(records, "func", record)
    role = np.zeros(len(record), np.uint8)
    known = (func >= 0) & (func < len(roles))
    role[known] = roles[func[known]]
    values = (np.array(part(records, n, record)) for n in ("netns", "ifindex", "ethertype"))
    return _Waited(series.met.exit_ts[order], record, series.of[record], role, *values)


def _table(
    parts: dict[str, Gathered], series_of: Int32s, of: Int32s, count: int, scratch: Scratch
) -> LegTable:
    """Return the table of legs, sorted by series.

    `of` has the number of each record's leg within its series, and gets the leg's row in the table.
    """
    leg, series = (parts.pop(name).whole() for name in ("leg", "series"))
    size = np.bincount(series, minlength=count)
    begin = (np.cumsum(size) - size).astype(np.int32)
    renumber(of, series_of, begin)
    order = np.empty(len(leg), np.int64)
    order[begin[series] + leg] = np.arange(len(leg))
    columns: dict[str, npt.NDArray[np.generic]] = {"series": scratch.keep(series[order])}
    del leg, series
    for name in list(parts):
        column = parts.pop(name).whole()[order]
        columns[name] = scratch.keep(narrow(column) if name in _SMALL else column)
    last_ns = np.asarray(columns.pop("last_ns"), np.int64)
    ordered = {name: columns[name] for name in LEG_DTYPE.names or ()}
    return LegTable(ColumnTable(LEG_DTYPE, ordered, scratch), of, last_ns)
