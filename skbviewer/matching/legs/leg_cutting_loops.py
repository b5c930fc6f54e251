# SPDX-License-Identifier: MIT
"""Cut each series into legs, record by record: loops of leg_cutting.py."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records import SEEN
from ...records.compiled import allocation_free
from ...records.kernel_events import SOCK_ENQUEUE
from ...records.types import LATEST_NS, Int32s, Int64s, UInt8s
from ..arrays.value_numbering import Number
from ..record_kinds import ENTRY, EVENT

TX, RX, FORWARD = 0, 1, 2

# Columns of a series' state.  SENT and SEEN_NETNS concern the whole series, the others its current
# leg, whose number is LEG.  NETNS and IFINDEX are the last known values, XMIT_* those known at the
# hand-over, BEGIN_* those at the start.
STATE_FIELDS = 27
SERIES, LEG, SENT, SEEN_NETNS, BEGIN, XMIT, RECEIVED, TAP_RANK, TAP, READS = range(10)
XMIT_END, BEFORE, END, LAST, MET, NETNS, IFINDEX, XMIT_NETNS, XMIT_IFINDEX = range(10, 19)
BEGIN_NETNS, BEGIN_IFINDEX, ETHERTYPE, FUNCTIONS, KIND, WIRE, QUEUED, GOES_ON = range(19, 27)
FIELD_OF_COLUMN = {
    "series": SERIES,
    "begin_ns": BEGIN,
    "end_ns": END,
    "wire_ns": WIRE,
    "early_ns": TAP,
    "netns": NETNS,
    "ifindex": IFINDEX,
    "functions": FUNCTIONS,
    "ethertype": ETHERTYPE,
    "kind": KIND,
    "reader_ns": READS,
    "last_ns": LAST,
    "leg": LEG,
}
COLUMN_TYPES = {"series": "<i4", "leg": "<i4", "last_ns": "<i8"}

SENDS, STARTS, READING, RANKS = 1, 2, 4, 8  # roles of functions; RANKS x n: n-th of RECEIVE_TAP

FREE_SLOT, SLOTS, WAITED_PUT, WAITED_PASSED, ROWS = range(5)  # indices of `counts`


@allocation_free
def cut_records(
    first: int,
    is_last: bool,
    ts: Int64s,
    exit_ts: Int64s,
    kind: UInt8s,
    event: UInt8s,
    func: Int32s,
    netns: Int64s,
    ifindex: Int64s,
    ethertype: Int32s,
    series: Int32s,
    roles: UInt8s,
    waits: Int32s,
    waited_ns: Int64s,
    waited: Int32s,
    waited_series: Int32s,
    waited_role: UInt8s,
    waited_netns: Int64s,
    waited_ifindex: Int64s,
    waited_ethertype: Int32s,
    left: Int32s,
    slot: Int32s,
    state: npt.NDArray[np.int64],
    made: npt.NDArray[np.int64],
    of: Int32s,
    counts: Int64s,
) -> None:
    """Assign the records of a block, which begins at record `first`, to legs of their series.

    of[record] becomes the number of the record's leg within its series.  Finished legs are added to
    `made`.  The arrays from `ts` to `series` are columns of the block.  `roles` is the role of each
    function.  The records in `waited` (with the columns `waited_ns` to `waited_ethertype`) are
    assigned when their time comes; `waits` are their row numbers, sorted.  With `is_last`, all
    records that are still waiting are assigned at the end.  By series: `left` is the number of
    records still to come, `slot` the row of `state`.
    """
    counts[ROWS] = 0
    for i in range(len(ts) + is_last):
        now, mine, record = LATEST_NS, np.int64(-1), np.int64(first + i)
        if i < len(ts):
            now, mine = ts[i], np.int64(series[i])
            passed = counts[WAITED_PASSED]
            if passed < len(waits) and waits[passed] == record:
                counts[WAITED_PASSED] += 1
                continue
            if mine < 0:
                continue
        while True:
            at = counts[WAITED_PUT]
            comes = at < len(waited) and (
                waited_ns[at] < now or (waited_ns[at] == now and waited[at] < record)
            )
            if comes:
                counts[WAITED_PUT] += 1
                queued = False
                item, which, role, enters = (
                    waited[at],
                    np.int64(waited_series[at]),
                    waited_role[at],
                    1,
                )
                met, leave = waited_ns[at], waited_ns[at]
                net, device = waited_netns[at], waited_ifindex[at]
                type_ = np.int64(waited_ethertype[at])
            elif i < len(ts):
                item, which, role, enters = record, mine, np.uint8(0), 0
                if kind[i] == ENTRY or kind[i] == SEEN:
                    enters = 1 if kind[i] == ENTRY else 0
                    role = roles[func[i]] if 0 <= func[i] < len(roles) else role
                queued = kind[i] == EVENT and event[i] == SOCK_ENQUEUE
                met, leave = now, max(now, exit_ts[i])
                net, device, type_ = netns[i], ifindex[i], np.int64(ethertype[i])
            else:
                break
            if which >= 0:
                row = _row_of(which, slot, state, counts)
                of[item] = _add(
                    state, row, made, counts, role, enters, met, leave, net, device, type_
                )
                if queued:
                    state[row, QUEUED] = 1
                left[which] -= 1
                if left[which] == 0:
                    _finish(state[row], made[counts[ROWS]])
                    counts[ROWS] += 1
                    state[row, LEG], counts[FREE_SLOT] = counts[FREE_SLOT], row
            if not comes:
                break


@allocation_free
def _row_of(series: Number, slot: Int32s, state: npt.NDArray[np.int64], counts: Int64s) -> np.int64:
    """Return the row of a series in `state`; a new row has no leg yet."""
    row = np.int64(slot[series])
    if row >= 0:
        return np.int64(row)
    row = counts[FREE_SLOT]
    if row >= 0:
        counts[FREE_SLOT] = state[row, LEG]
    else:
        row = counts[SLOTS]
        counts[SLOTS] += 1
    slot[series] = row
    state[row, SERIES], state[row, LEG] = series, -1
    state[row, SENT], state[row, SEEN_NETNS] = 0, 0
    return np.int64(row)


@allocation_free
def _add(
    state: npt.NDArray[np.int64],
    row: Number,
    made: npt.NDArray[np.int64],
    counts: Int64s,
    role: Number,
    enters: Number,
    met: Number,
    leave: Number,
    netns: Number,
    ifindex: Number,
    ethertype: Number,
) -> np.int64:
    """Add a record to its series; return the number of the record's leg within the series."""
    one = state[row]
    starts = one[LEG] < 0
    if role & STARTS and one[SENT]:
        starts, one[SENT] = True, 0
    if role & SENDS:
        one[SENT] = 1
    if netns > 0:
        starts = starts or (one[SEEN_NETNS] > 0 and one[SEEN_NETNS] != netns)
        one[SEEN_NETNS] = netns
    if starts:
        # A receive handler may move the skb to another namespace's device: macvlan_handle_frame().
        goes_on = one[LEG] >= 0 and not role & STARTS and _is_received(one) and one[XMIT] < 0
        if one[LEG] >= 0:
            _finish(one, made[counts[ROWS]])
            counts[ROWS] += 1
        one[LEG] += 1
        for field in range(BEGIN, STATE_FIELDS):
            one[field] = 0
        one[GOES_ON] = goes_on
        one[BEGIN], one[MET] = met, met
        one[XMIT] = one[RECEIVED] = one[TAP] = one[READS] = -1
        one[XMIT_END] = one[BEFORE] = one[END] = one[LAST] = -LATEST_NS
    one[FUNCTIONS] += enters
    one[LAST] = max(one[LAST], leave)
    if role & SENDS:
        one[XMIT_END] = max(one[XMIT_END], leave)
        one[XMIT] = met if one[XMIT] < 0 else one[XMIT]
    if role & STARTS and one[RECEIVED] < 0:
        one[RECEIVED] = met
    rank = role // RANKS
    if rank and (one[TAP_RANK] == 0 or rank < one[TAP_RANK]):
        one[TAP_RANK], one[TAP] = rank, met
    if one[READS] < 0:  # END is of all records so far, BEFORE of those with an earlier time
        if met > one[MET]:
            one[BEFORE], one[MET] = one[END], met
        if role & READING:
            one[READS] = met
        elif not one[QUEUED] or met <= one[END]:  # later calls are of packets merged into it
            one[END] = max(one[END], leave)
    until_xmit, at_begin = one[XMIT] < 0 or met <= one[XMIT], met <= one[BEGIN]
    for value, all_, xmit, begin in (
        (netns, NETNS, XMIT_NETNS, BEGIN_NETNS),
        (ifindex, IFINDEX, XMIT_IFINDEX, BEGIN_IFINDEX),
    ):
        if value > 0:
            one[all_] = value
            one[xmit] = value if until_xmit else one[xmit]
            one[begin] = value if at_begin else one[begin]
    one[ETHERTYPE] = ethertype if ethertype > 0 else one[ETHERTYPE]
    return np.int64(one[LEG])


@allocation_free
def _is_received(one: Int64s) -> bool:
    """Return whether a leg begins with the reception of a packet."""
    if one[GOES_ON]:
        return True
    return bool(one[RECEIVED] >= 0 and (one[XMIT] < 0 or one[RECEIVED] <= one[XMIT]))


@allocation_free
def _finish(one: Int64s, made: Int64s) -> None:
    """Write the row of a finished leg to `made`; the field TAP of `one` becomes its early_ns."""
    for field in range(STATE_FIELDS):
        made[field] = one[field]
    made[KIND] = TX
    if _is_received(one):
        begin = one[RECEIVED] if one[RECEIVED] >= 0 else one[BEGIN]
        made[KIND] = FORWARD if one[XMIT] >= 0 else RX
        made[WIRE] = one[TAP] if one[TAP] >= 0 else begin
        made[TAP] = begin
    else:
        made[WIRE] = one[XMIT] if one[XMIT] >= 0 else one[BEGIN]
        made[TAP] = made[WIRE]
        made[NETNS] = one[XMIT_NETNS] if one[XMIT] >= 0 else one[BEGIN_NETNS]
        made[IFINDEX] = one[XMIT_IFINDEX] if one[XMIT] >= 0 else one[BEGIN_IFINDEX]
    if made[KIND] != RX and one[XMIT] >= 0:
        made[END] = one[XMIT_END]
    elif one[READS] >= 0:  # later work of the reading process does not count
        made[END] = one[BEFORE]
    made[END] = max(made[END], one[BEGIN])


@allocation_free
def renumber(of: Int32s, series: Int32s, begin: Int32s) -> None:
    """Replace the number of each record's leg within its series by its row in the table of legs.

    By record: `of` is the leg, and `series` the series.  By series: `begin` is the row of its first
    leg.
    """
    for i in range(len(of)):
        if of[i] >= 0:
            of[i] += begin[series[i]]
