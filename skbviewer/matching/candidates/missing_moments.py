# SPDX-License-Identifier: MIT
"""Which packets may lack their tap moment in a log, because the log lacks records.

In: a log's declared losses, the packets' times on its clock.  Out: two flags per packet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...records import UNRECORDED, KernelLog
from ...records.types import EARLIEST_NS, LATEST_NS, Bools, Int64s
from ..clock.point_distances import Place
from ..kernel_functions import PACKET_SOCKET, RECEIVE_START, RECEIVE_TAP, TRANSMIT
from ..legs.capture_points import WAIT_NS
from ..legs.declared_losses import ANY, MISSED, Table, is_filtered, meets

if TYPE_CHECKING:
    from ..model import KernelSide

SENT = ("dev_hard_start_xmit", "xmit_one")  # one of them has every packet that is sent


def lacking(kernel: KernelSide, place: Place, at: Int64s, error: Int64s) -> tuple[Bools, Bools]:
    """Packets in whose window records are missing that would show their moment.

    And those that the log may lack as any other: it was filtered, or hits were missed at unknown
    times.  `at` and `error` (ns) are the packets' times on the log's clock, and how far off it may
    be.
    """
    # CLOCK_MONOTONIC begins with 0: nothing was before.
    rows, low, high = kernel.losses, np.maximum(at - error, 0), at + error
    missed, undated = rows["reason"] == MISSED, rows["first_ns"] == EARLIEST_NS
    undated &= missed & (rows["last_ns"] == LATEST_NS)
    at_call = _after_the_stop(kernel.log, rows) | _is_a_call(rows)
    surely = meets(rows[~missed & ~at_call], low, high + _longest_call(kernel))
    surely |= meets(rows[at_call], low, high)
    surely |= _moment_missed(kernel.log, place, rows[missed & ~undated], low, high)
    perhaps = _moment_missed(kernel.log, place, rows[undated], low, high)
    if is_filtered(kernel.log) or not _shows_moments(kernel.log):
        perhaps[:] = True
    return surely, perhaps


def hidden(kernel: KernelSide) -> Bools:
    """Moments whose call of a packet socket may be missing: records are, until the skb waited.

    A packet that is stamped on arrival may wait up to WAIT_NS for that call.
    """
    rows, moments = kernel.losses, kernel.moments
    undated = (rows["first_ns"] == EARLIEST_NS) & (rows["last_ns"] == LATEST_NS)
    dated = (~undated | (rows["reason"] != MISSED)) & ~_after_the_stop(kernel.log, rows)
    after, before = (np.asarray(moments[name], np.int64) for name in ("after", "before"))
    return meets(rows[dated], after, before + WAIT_NS)


def _after_the_stop(log: KernelLog, rows: Table) -> Bools:
    """Rows of what came when a recording was over: of calls not yet returned it has the entries."""
    stopped = (rows["reason"] == UNRECORDED) & (rows["last_ns"] == LATEST_NS)
    return np.asarray(stopped & log.complete)


def _is_a_call(rows: Table) -> Bools:
    """Rows of calls that the log shows, but not of which skb: their times are those of the call."""
    inside = (rows["first_ns"] != EARLIEST_NS) & (rows["last_ns"] != LATEST_NS)
    return np.asarray(inside & (rows["reason"] == UNRECORDED), np.bool_)


def _moment_missed(log: KernelLog, place: Place, missed: Table, low: Int64s, high: Int64s) -> Bools:
    """Where probes missed hits of all functions that show a packet at a device.

    One that is recorded shows the moment: the packet socket's, or that of the hand-over.
    """
    if not len(missed):
        return np.zeros(len(low), np.bool_)

    def any_of(names: tuple[str, ...]) -> Bools:
        ids = [p.id for p in log.probes.values() if p.name in names and _is_armed(log, p.id)]
        if not ids:
            return np.ones(len(low), np.bool_)
        mine = np.isin(missed["func"], [ANY, *ids])
        return meets(missed[mine], low, high)

    sockets = any_of(tuple(PACKET_SOCKET)) if place.at_socket else np.ones(len(low), np.bool_)
    return sockets & (any_of(SENT) | any_of(RECEIVE_TAP))


def _shows_moments(log: KernelLog) -> bool:
    """Whether the log has calls of packet sockets or hand-overs: not of tracepoints alone."""
    showing = {*PACKET_SOCKET, *TRANSMIT, *RECEIVE_START}
    return any(p.name in showing and _is_armed(log, p.id) for p in log.probes.values())


def _is_armed(log: KernelLog, probe: int) -> bool:
    return log.probes[probe].address != 0 and log.probes[probe].error == 0


def _longest_call(kernel: KernelSide) -> int:
    """The longest time from a moment's begin to when its call returned, ns."""
    moments = kernel.moments
    some = moments["socket"] if moments["socket"].any() else moments["met"]
    lasted = moments["end"][some] - moments["begin"][some]
    return int(lasted.max(initial=0))
