# SPDX-License-Identifier: MIT
"""Match the packets of one capture to the legs of one KBL.

Input: packets, and a KBL with its series and legs.  Output: MATCH_DTYPE rows (a packet and a leg
may each have several), and the clock fit.  Identity decides first.  The clock is fitted to pairs
that identity alone decided.  The clock then chooses among equal candidates if the difference in
time is clear, and it may exclude candidates whose identity can repeat.  Packets that are still
undecided are ambiguous.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..records import (
    NO_DELTA,
    UNTIMED,
    KernelLog,
    Packets,
    Part,
    Progress,
    Silent,
    scratch_of,
)
from ..records.types import Bools, Int64s
from .arrays.hash_join import by_pair, numbers_without, runs
from .candidates.gso_candidates import segments
from .candidates.lifetimes_without_headers import without_header
from .candidates.missing_tap_moments import lacking, share_undated
from .candidates.non_ip_candidates import by_ethertype, unidentified
from .candidates.same_traffic import is_of_another_run
from .candidates.time_window_candidates import near_in_time
from .candidates.wall_clock import by_wall_clock
from .clock.capture_point_distances import Place
from .clock.capture_point_fit import (
    SEVERAL_DEVICES,
    Located,
    everywhere,
    far_from_losses,
    is_at_point,
    locate,
)
from .clock.clock_fit import ClockFit
from .clock.session_time import EVERY
from .identity.identity_candidates import Candidates, candidates, footprints
from .legs.capture_points import build as build_points
from .legs.declared_losses import losses_declared_by, of_births, of_calls
from .legs.leg_cutting import LegTable
from .lifetimes.skb_lifetimes import SeriesTable
from .match_rule_numbers import NAMELESS
from .match_types import CAPTURED_DTYPE, MATCH_DTYPE, Fitted, KernelSide, Matches
from .match_with_clock import incomplete
from .verdicts import Decided, all_ambiguous, decide, of_segments, without_exact

MATCHING, STEPS = "matching", 5
FEWEST = 8  # packets that show a capture's device, if the log lacks records at unknown times


def build_kernel_side(log: KernelLog, series: SeriesTable, legs: LegTable) -> KernelSide:
    """Return what matching needs of `log`, `series` and `legs`; made once for all captures."""
    prints = footprints(log.records, series.of, np.flatnonzero(series.tap))
    scratch_of(log.records).forget()
    losses = losses_declared_by(log)
    seen = build_points(log, series, legs, losses)
    unowned = of_calls(log, seen.unowned, seen.unowned_since)
    losses = np.concatenate([losses, unowned, of_births(log)])
    headerless = without_header(seen.moments, legs, prints)
    points, moments, copies = seen.points, seen.moments, seen.perhaps_copies
    undated = share_undated(log, losses)
    return KernelSide(
        log, series, legs, prints, points, moments, headerless, losses, copies, undated
    )


def match(packets: Packets, kernel: KernelSide, progress: Progress | None = None) -> Matches:
    """Match the packets of one capture, in the order of its file, to the legs of a KBL.

    Raises Cancelled.
    """
    watch, parts = progress or Silent(), _parts(packets)
    if len(parts) < 2:
        return _match(packets, kernel, watch)
    found = [
        _match(packets[part], kernel, Part(watch, MATCHING, n, n + 1, len(parts)))
        for n, part in enumerate(parts)
    ]
    rows = _joined([one.rows for one in found], parts)
    moments = _joined([one.moments for one in found], parts)
    contested = [part[one.contested] for part, one in zip(parts, found, strict=True)]
    several = interfaces(packets) != [EVERY]
    clocks = tuple(
        _of_part(fitted, part, int(packets["interface"][part[0]]) if several else EVERY)
        for part, one in zip(parts, found, strict=True)
        for fitted in one.clocks
    )
    matched: Int64s = kernel.legs.rows["series"][rows["leg"]]
    refused = np.setdiff1d(np.concatenate([one.refused for one in found]), matched)
    lost = np.concatenate([part[one.lost] for part, one in zip(parts, found, strict=True)])
    sorted_ones = np.sort(np.concatenate(contested)), refused, np.sort(lost)
    return Matches(rows, moments, clocks, *sorted_ones)


def _joined(found: list[npt.NDArray[np.void]], parts: list[Int64s]) -> npt.NDArray[np.void]:
    """Join the match rows of several groups of packets, sorted by (packet, leg).

    `parts` are the packets in each group, by their numbers among all packets.
    """
    rows = np.concatenate(found)
    packet: list[Int64s] = [part[one["packet"]] for part, one in zip(parts, found, strict=True)]
    rows["packet"] = np.concatenate(packet)
    return rows[np.lexsort((rows["leg"], rows["packet"]))]


def _of_part(fitted: Fitted, part: Int64s, interface: int) -> Fitted:
    """Return the clock fit of one part of the packets, with indices that count all packets.

    `part` are the indices of the packets of that part; `interface` is the interface of the result.
    """
    segments = [s._replace(first=int(part[s.first])) for s in fitted.clock.segments]
    segments[0] = segments[0]._replace(first=0)
    return fitted._replace(interface=interface, clock=ClockFit(tuple(segments)))


def interfaces(packets: Packets) -> list[int]:
    """Return the interfaces of packets that have a time, in order of first use.

    If there is only one interface, the result is EVERY.
    """
    column = packets["interface"]
    if not len(column) or column.min() == column.max():
        return [EVERY]
    timed: Int64s = column[packets["ts"] != UNTIMED]
    found, first = np.unique(timed, return_index=True)
    return [int(one) for one in found[np.argsort(first)]] if len(found) > 1 else [EVERY]


def _parts(packets: Packets) -> list[Int64s]:
    """Return groups of packets with the same interface, with or without a time.

    If all packets are in one group, returns no groups.
    """
    interfaces, timed = np.unique(packets["interface"]), packets["ts"] != UNTIMED
    if len(interfaces) < 2 and timed.all():
        return []
    parts = [
        np.flatnonzero((packets["interface"] == number) & (timed == known))
        for number in interfaces
        for known in (True, False)
    ]
    return [part for part in parts if len(part)]


def _match(packets: Packets, kernel: KernelSide, progress: Progress) -> Matches:
    """Match the packets of one interface; either all of them have a time, or none has."""
    progress.report(MATCHING, 0, STEPS)
    found = candidates(packets, kernel.prints)
    _forget(packets, kernel)
    progress.report(MATCHING, 2, STEPS)
    where = _clock(packets, found, kernel)
    if where.clock is not None and where.clock.pairs < FEWEST and kernel.share_undated:
        where = _nowhere(packets, kernel)  # the log may lack these packets at their own device
    if where.clock is None and len(packets) and not kernel.share_undated:
        where = by_wall_clock(packets, kernel, found) or where
    if not where.assumed and is_of_another_run(packets, kernel, found, where):
        where = _nowhere(packets, kernel)
    clock, place = where.clock, where.place
    _forget(packets, kernel)
    here = place.holds(kernel.points)
    often = found.many
    found = near_in_time(packets, kernel, found, clock)
    _forget(packets, kernel)
    progress.report(MATCHING, 3, STEPS)
    every = found.and_also(by_ethertype(packets, kernel, clock))
    made, clock = decide(packets, kernel, every, clock, where, often)
    _forget(packets, kernel)
    progress.report(MATCHING, 4, STEPS)
    rest = numbers_without(np.flatnonzero(packets["ip_version"] != 0), found.packet)
    cut = segments(packets, kernel, rest)
    decided = [made, of_segments(packets, kernel, cut, clock, place)]
    decided.append(all_ambiguous(unidentified(packets, kernel, clock), NAMELESS))
    pairs = Decided._make(np.concatenate(columns) for columns in zip(*decided, strict=True))
    pairs = pairs if kernel.log.returns else without_exact(pairs)
    contested = numbers_without(np.concatenate([found.packet, cut.packet]), pairs.packet)
    rest = numbers_without(rest, np.concatenate([pairs.packet, contested]))
    lost = rest[_may_be_lost(packets, kernel, rest, clock, place)]
    refused = numbers_without(np.concatenate([found.series, cut.series]), pairs.series)
    device = None if place.netns is None else (place.netns, place.ifindex)
    _forget(packets, kernel)
    rows = _rows(packets, kernel, pairs, clock, here)
    clocks = (Fitted(EVERY, clock, device),) if clock and clock.pairs else ()
    return Matches(rows, _captured(kernel, pairs), clocks, contested, refused, lost)


def _may_be_lost(
    packets: Packets, kernel: KernelSide, packet: Int64s, clock: ClockFit | None, place: Place
) -> Bools:
    """Return for each of `packet` whether the log lacks records that might show it.

    A log of points does not declare the records that it lacks.
    """
    if clock is None or not kernel.log.returns or not len(packet):
        return np.full(len(packet), kernel.log.returns and incomplete(kernel.log))
    ts = packets["ts"][packet]
    at, error = clock.to_kernel(ts, packet), clock.error(ts, packet)
    return np.logical_or(*lacking(kernel, place, at, error))


def _forget(packets: Packets, kernel: KernelSide) -> None:
    """Let the kernel drop memory that is backed by files, after a step."""
    for rows in (packets, kernel.points):
        scratch_of(rows).forget()


def _clock(packets: Packets, found: Candidates, kernel: KernelSide) -> Located:
    """Fit the clock to pairs that identity alone decides, and to packets captured several times."""
    points, lossy = kernel.points, (incomplete(kernel.log), kernel.share_undated)
    if len(packets) and packets["ts"][0] == UNTIMED:
        return _nowhere(packets, kernel)
    per_packet = np.bincount(found.packet, minlength=1)[found.packet]
    per_series = np.bincount(found.series, minlength=1)[found.series]
    single = per_packet == 1
    other = np.zeros(int(found.series.max(initial=0)) + 1, np.bool_)
    other[found.series[~single]] = True
    alone = per_series == 1  # at one place, at most one of a packet's series counts
    vague = np.flatnonzero(alone & found.vague)
    alone &= ~found.vague
    again = single & (per_series > 1) & ~other[found.series] & found.strong
    del per_packet, per_series, single, other
    scratch_of(points).forget()
    several = bool(np.isin(packets["linktype"], SEVERAL_DEVICES).all())
    if again.sum() > alone.sum():
        pairs = _surely(packets, found, again, kernel)
        where = locate(packets, *pairs, points, kernel.moments, *lossy)
        if where.devices and not several:
            return where  # every packet may have been captured twice at one device
        return everywhere(packets, *_of(found, again), kernel.moments, kernel.losses)
    where = locate(packets, *_surely(packets, found, alone, kernel), points, kernel.moments, *lossy)
    if several and not where.devices:  # the capture lacks most packets of each device
        return everywhere(packets, *_of(found, alone | again), kernel.moments, kernel.losses)
    clock = where.clock
    if clock is None or len(vague) <= np.count_nonzero(alone) or incomplete(kernel.log):
        return where
    # Few packets have all distinguishing values: these confirm the others.
    vague = vague[is_at_point(packets, found.packet[vague], found.series[vague], points, clock)]
    alone[vague] = True
    return locate(packets, *_of(found, alone), points, kernel.moments, *lossy)


def _nowhere(packets: Packets, kernel: KernelSide) -> Located:
    """Return the place and the clock of a capture for which no pair shows them."""
    none = np.zeros(0, np.int64)
    return locate(packets, none, none, kernel.points, kernel.moments, False)


def _surely(
    packets: Packets, found: Candidates, some: npt.NDArray[np.bool_], kernel: KernelSide
) -> tuple[Int64s, Int64s]:
    """Return the pairs that `some` selects; in a log with losses, only pairs far from losses."""
    pairs = _of(found, some)
    if not incomplete(kernel.log):
        return pairs
    return far_from_losses(packets["ts"], *pairs, kernel.moments, kernel.losses)


def _of(found: Candidates, some: npt.NDArray[np.bool_]) -> tuple[Int64s, Int64s]:
    return found.packet[some], found.series[some]


def _rows(
    packets: Packets,
    kernel: KernelSide,
    pairs: Decided,
    clock: ClockFit | None,
    here: npt.NDArray[np.bool_],
) -> npt.NDArray[np.void]:
    """Return a MATCH_DTYPE row for each pair and for each leg of its series."""
    legs = kernel.legs.rows
    low, count = runs(legs.stored("series"), pairs.series)
    pair = np.repeat(np.arange(len(count)), count)
    leg = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count - low, count)
    order = by_pair(pairs.packet[pair], leg)
    pair, leg = pair[order], leg[order]
    rows = np.zeros(len(pair), MATCH_DTYPE)
    rows["packet"], rows["leg"] = pairs.packet[pair], leg
    for column in ("verdict", "rung", "confidence"):
        rows[column] = getattr(pairs, column)[pair]
    rows["delta_ns"] = NO_DELTA
    if clock is not None and len(pair):
        seen = legs["wire_ns"].copy()
        place = np.flatnonzero(here)
        seen[kernel.points.part("leg", place)] = kernel.points.part("ts", place)
        packet = pairs.packet[pair]
        rows["delta_ns"] = clock.to_kernel(packets["ts"][packet], packet) - seen[leg]
    return rows


def _captured(kernel: KernelSide, pairs: Decided) -> npt.NDArray[np.void]:
    """Return the moments of exact pairs, if a call shows that the skb passed a device."""
    known = np.flatnonzero(pairs.moment >= 0)
    known = known[kernel.moments.part("met", pairs.moment[known])]
    known = known[np.argsort(pairs.packet[known], kind="stable")]
    made = np.zeros(len(known), CAPTURED_DTYPE)
    made["packet"], moment = pairs.packet[known], pairs.moment[known]
    for name in ("leg", "netns", "ifindex", "sends", "socket"):
        made[name] = kernel.moments.part(name, moment)
    for name in ("after", "before"):
        made[f"{name}_ns"] = kernel.moments.part(name, moment)
    return made
