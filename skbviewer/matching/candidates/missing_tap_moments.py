# SPDX-License-Identifier: MIT
"""Find packets whose tap moment may be missing from a log, because the log lacks records.

Input: a log's declared losses, the packets' times on its clock.  Output: two flags for each packet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...records import UNRECORDED, KernelLog, Packets
from ...records.types import EARLIEST_NS, LATEST_NS, Bools, Int64s
from ..clock.capture_point_distances import Place
from ..kernel_functions import PACKET_SOCKET, RECEIVE_START, RECEIVE_TAP, TRANSMIT
from ..legs.declared_losses import ANY, MISSED, Table, is_filtered, meets
from ..legs.tap_moments import WAIT_NS

if TYPE_CHECKING:
    from ..match_types import KernelSide

SENT = ("dev_hard_start_xmit", "xmit_one")  # every packet that is sent passes one of these


def lacking(kernel: KernelSide, place: Place, at: Int64s, error: Int64s) -> tuple[Bools, Bools]:
    """Return two flags for each packet: its moment may be missing near its time, or at any time.

    The first is set if records that might show the packet's moment are missing near its time.  The
    second is set for all packets if the log was filtered, if hits were missed at unknown times, or
    if the log counts more lost records than it declares times for.  `at` is each packet's time on
    the log's clock, and `error` the clock's possible error at that time (ns).
    """
    # CLOCK_MONOTONIC begins at 0: there is no earlier time.
    rows, low, high = kernel.losses, np.maximum(at - error, 0), at + error
    missed, undated = rows["reason"] == MISSED, rows["first_ns"] == EARLIEST_NS
    undated &= missed & (rows["last_ns"] == LATEST_NS)
    at_call = _after_the_stop(kernel.log, rows) | _is_a_call(rows)
    surely = meets(rows[~missed & ~at_call], low, high + _longest_call(kernel))
    surely |= meets(rows[at_call], low, high)
    surely |= _moment_missed(kernel.log, place, rows[missed & ~undated], low, high)
    perhaps = _moment_missed(kernel.log, place, rows[undated], low, high)
    if lost_undated(kernel) or is_filtered(kernel.log) or not _shows_moments(kernel.log):
        perhaps[:] = True
    return surely, perhaps


def lost_undated(kernel: KernelSide) -> bool:
    """Return whether the log counts more lost records than it declares times for."""
    return _undeclared(kernel.log, kernel.losses) > 0


def _undeclared(log: KernelLog, losses: Table) -> int:
    return log.lost_records - int(losses["count"][losses["count"] > 0].sum())


def share_undated(log: KernelLog, losses: Table) -> float:
    """Return the share (0 to 1) of records that the log lacks at unknown times."""
    lacks = max(sum(log.missed.values()), _undeclared(log, losses), 0)
    return lacks / (lacks + len(log.records)) if lacks else 0.0


def without_number(packets: Packets) -> Bools:
    """Return for each IP packet whether its header has no number that usually does not repeat.

    Such a number is the identification (of fragments in IPv6) or a sequence number.  Router
    solicitations, for example, have none: all those of a host are equal.
    """
    numbers = ("ip_id", "frag_id", "seq")
    any_number = np.any([np.asarray(packets[name]) > 0 for name in numbers], axis=0)
    return np.asarray((packets["ip_version"] != 0) & ~any_number)


def hidden(kernel: KernelSide) -> Bools:
    """Return for each moment whether it may belong to a packet socket's call that the log lacks.

    A packet that is stamped on arrival may wait up to WAIT_NS for that call, so records that were
    lost in that time are considered, too.
    """
    rows, moments = kernel.losses, kernel.moments
    undated = (rows["first_ns"] == EARLIEST_NS) & (rows["last_ns"] == LATEST_NS)
    dated = (~undated | (rows["reason"] != MISSED)) & ~_after_the_stop(kernel.log, rows)
    after, before = (np.asarray(moments[name], np.int64) for name in ("after", "before"))
    return meets(rows[dated], after, before + WAIT_NS)


def _after_the_stop(log: KernelLog, rows: Table) -> Bools:
    """Return for each row whether it describes the time after the stop of a complete log.

    The log has the entries of calls that had not returned by then.
    """
    stopped = (rows["reason"] == UNRECORDED) & (rows["last_ns"] == LATEST_NS)
    return np.asarray(stopped & log.complete)


def _is_a_call(rows: Table) -> Bools:
    """Return for each row whether it stands for a call of an unknown skb, with the call's times."""
    inside = (rows["first_ns"] != EARLIEST_NS) & (rows["last_ns"] != LATEST_NS)
    return np.asarray(inside & (rows["reason"] == UNRECORDED), np.bool_)


def _moment_missed(log: KernelLog, place: Place, missed: Table, low: Int64s, high: Int64s) -> Bools:
    """Return for each packet whether every function that could show its device may have missed it.

    Two functions could, each by a hit between `low` and `high`: the packet socket's (if
    `place.at_socket`) and the hand-over's.  A function without an armed probe counts as missed.
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
    """Return whether the log has calls of packet sockets or hand-overs, not only tracepoints."""
    showing = {*PACKET_SOCKET, *TRANSMIT, *RECEIVE_START}
    return any(p.name in showing and _is_armed(log, p.id) for p in log.probes.values())


def _is_armed(log: KernelLog, probe: int) -> bool:
    return log.probes[probe].address != 0 and log.probes[probe].error == 0


def _longest_call(kernel: KernelSide) -> int:
    """Return the longest time from a moment's begin to the return of its call, ns."""
    moments = kernel.moments
    some = moments["socket"] if moments["socket"].any() else moments["met"]
    lasted = moments["end"][some] - moments["begin"][some]
    return int(lasted.max(initial=0))
