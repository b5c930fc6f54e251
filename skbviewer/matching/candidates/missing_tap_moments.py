# SPDX-License-Identifier: MIT
"""Find packets whose tap moment the log may lack, because it lacks records.

Input: the losses that a log declares, and the packets' times on the log's clock.  Output: two flags
for each packet.
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
    """Return two flags by packet: a loss at a known (or an unknown) time may hide its moment.

    The first flag is set if records that could show the packet's moment are missing near the
    packet's time.  The second flag is set if hits may have been missed at any time.  The second
    flag is set for all packets if the log was filtered, shows neither calls of packet sockets nor
    hand-overs, or counts more lost records than it declares times for.  `at` is each packet's time
    on the log's clock, and `error` the possible error of that time (ns).
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
    """Return the share (0 to 1) of all records that are missing from the log at unknown times."""
    lacks = max(sum(log.missed.values()), _undeclared(log, losses), 0)
    return lacks / (lacks + len(log.records)) if lacks else 0.0


def without_number(packets: Packets) -> Bools:
    """Return for each packet whether it is an IP packet without any number that rarely repeats.

    Numbers that rarely repeat are the identification (in IPv6: that of fragments) and the sequence
    number.  For example, all router solicitations of a host are equal, because they have neither
    identification nor sequence number.
    """
    numbers = ("ip_id", "frag_id", "seq")
    any_number = np.any([np.asarray(packets[name]) > 0 for name in numbers], axis=0)
    return np.asarray((packets["ip_version"] != 0) & ~any_number)


def hidden(kernel: KernelSide) -> Bools:
    """Return for each moment whether the log may lack the packet socket's call that belongs to it.

    The packet socket's call may come up to WAIT_NS after the skb was stamped on arrival, so losses
    in that time count, too.
    """
    rows, moments = kernel.losses, kernel.moments
    undated = (rows["first_ns"] == EARLIEST_NS) & (rows["last_ns"] == LATEST_NS)
    dated = (~undated | (rows["reason"] != MISSED)) & ~_after_the_stop(kernel.log, rows)
    after, before = (np.asarray(moments[name], np.int64) for name in ("after", "before"))
    return meets(rows[dated], after, before + WAIT_NS)


def _after_the_stop(log: KernelLog, rows: Table) -> Bools:
    """Return for each row of losses whether it covers the time after a complete log was stopped.

    A complete log has the entries of calls that had not returned when it was stopped.
    """
    stopped = (rows["reason"] == UNRECORDED) & (rows["last_ns"] == LATEST_NS)
    return np.asarray(stopped & log.complete)


def _is_a_call(rows: Table) -> Bools:
    """Return for each row of losses whether it stands for one call of an unknown skb."""
    inside = (rows["first_ns"] != EARLIEST_NS) & (rows["last_ns"] != LATEST_NS)
    return np.asarray(inside & (rows["reason"] == UNRECORDED), np.bool_)


def _moment_missed(log: KernelLog, place: Place, missed: Table, low: Int64s, high: Int64s) -> Bools:
    """Return for each packet whether all functions that could show its moment may have missed it.

    The functions that can show the moment are the packet socket's (if `place.at_socket`) and the
    hand-over's; a function may have missed the packet if it has a missed hit between `low` and
    `high`.  A function without an armed probe counts as one that missed the packet.
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
    """Return whether a packet socket's or a hand-over's function has a probe (not a tracepoint)."""
    showing = {*PACKET_SOCKET, *TRANSMIT, *RECEIVE_START}
    return any(p.name in showing and _is_armed(log, p.id) for p in log.probes.values())


def _is_armed(log: KernelLog, probe: int) -> bool:
    return log.probes[probe].address != 0 and log.probes[probe].error == 0


def _longest_call(kernel: KernelSide) -> int:
    """Return the longest time (ns) from the start of a moment to the return of its call."""
    moments = kernel.moments
    some = moments["socket"] if moments["socket"].any() else moments["met"]
    lasted = moments["end"][some] - moments["begin"][some]
    return int(lasted.max(initial=0))
