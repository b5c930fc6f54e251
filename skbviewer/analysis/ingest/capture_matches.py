# SPDX-License-Identifier: MIT
"""Match each capture with each KBL, and compute the results that depend on all matches.

Input: captures, and KBLs with their skb lifetimes and legs.  Output: matches to store, a verdict
for each skb lifetime, and the clocks of all sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...matching import (
    KERNEL_ONLY,
    Apart,
    ClockFit,
    Host,
    Joint,
    KernelSide,
    LifetimeRung,
    Matches,
    OneWay,
    SameHost,
    Trips,
    all_trips,
    build_timebase,
    clock_bounds,
    interfaces,
    joined_matches,
    match,
    own_matches,
    trips,
    uncaptured_matches,
    with_joined,
    without_early_arrivals,
)
from ...records import Capture, KernelLog, Packets, Part, Progress
from ...records.types import Bools
from ...store import FewRows, NewRows, schema


class SeriesVerdicts(NamedTuple):
    """Columns of table `series`, with a row for each skb lifetime in a KBL.

    The verdict KERNEL_ONLY means that no captured packet matches the lifetime.
    """

    verdict: npt.NDArray[np.int8]
    rung: npt.NDArray[np.int8]
    confidence: npt.NDArray[np.float64]

    def note(self, found: Matches, kernel: KernelSide) -> None:
        """Improve the verdicts of a log's lifetimes by the log's matches with one more capture."""
        series = kernel.legs.rows["series"][found.rows["leg"]]
        better = found.rows["verdict"] < self.verdict[series]
        rows, mine = found.rows[better][::-1], series[better][::-1]
        order = np.argsort(-rows["verdict"].astype(np.int64), kind="stable")  # the best one last
        for column in ("verdict", "rung", "confidence"):
            getattr(self, column)[mine[order]] = rows[column][order]
        lost = found.refused[self.verdict[found.refused] == KERNEL_ONLY]
        self.rung[lost] = LifetimeRung.TAKEN


class Joining:
    """Matches captures one by one, and collects the results that depend on all of them."""

    def __init__(
        self,
        logs: Mapping[int, KernelSide],
        is_ip: Mapping[int, Bools],
        same: Mapping[tuple[int, int], SameHost],
    ) -> None:
        """Match captures with the KBLs `logs`, given by source id.

        `is_ip` has, by source id, a flag for each lifetime of a KBL: whether it has an IP header.
        `same` has the lifetimes that two logs of one host share.  The keys of `same` are (source of
        the log of points, source of the other log).
        """
        self._logs, self._same = dict(logs), dict(same)
        self.verdicts = {source: _not_captured(logs[source], is_ip[source]) for source in logs}
        self._clocks: dict[Joint, ClockFit] = {}
        self._interfaces: dict[int, list[int]] = {}
        self._trips: dict[tuple[int, int], list[Trips]] = {}

    def match_capture(
        self, source: int, packets: Packets, number: int, progress: Progress
    ) -> dict[int, Matches]:
        """Return the matches of one capture with each KBL, by the KBL's source id.

        `number` is the number of packets in earlier captures.  Raises Cancelled.
        """
        self._interfaces[source] = interfaces(packets)
        found, count = {}, len(self._logs)
        for nth, (kbl, kernel) in enumerate(self._logs.items()):
            watch = Part(progress, "matching", 100 * nth, 100 * nth + 100, 100 * count)
            found[kbl] = match(packets, kernel, watch)
        for (points, kbl), same in self._same.items():
            made = joined_matches(found[kbl], self._logs[kbl], self._logs[points], same)
            found[points] = with_joined(found[points], made)
        return self._with_others(source, found, number)

    def match_own_packets(
        self, source: int, log: int, own: Capture, number: int
    ) -> dict[int, Matches]:
        """Return matches of packets whose bytes a log contains, by source id of the matched log.

        `source` is the source id of these packets, and `log` is the source id of the log with their
        bytes.  `number` is the number of packets in earlier sources.
        """
        self._interfaces[source] = interfaces(own.packets)
        found = {}
        for kbl, kernel in self._logs.items():
            if kbl == log:
                found[kbl] = own_matches(own, kernel, epoch_ns(kernel.log))
            else:
                found[kbl] = uncaptured_matches(match(own.packets, kernel))
        for (points, kbl), same in self._same.items():
            if points == log:
                made = joined_matches(found[log], self._logs[log], self._logs[kbl], same)
                found[kbl] = with_joined(found[kbl], made)
        return self._with_others(source, found, number)

    def _with_others(
        self, source: int, found: dict[int, Matches], number: int
    ) -> dict[int, Matches]:
        """Return the matches `found`, corrected by the capture's matches with the other KBLs.

        The verdicts and clocks of `found` are also added to the results.
        """
        sources = sorted(found)
        for a in sources:
            for b in sources[sources.index(a) + 1 :]:
                self._compare(a, b, found)
        for kbl, matches in found.items():
            self.verdicts[kbl].note(matches, self._logs[kbl])
            for one in matches.clocks:
                self._clocks[Joint(source, one.interface, kbl)] = _numbered(one.clock, number)
        return found

    def _compare(self, a: int, b: int, found: dict[int, Matches]) -> None:
        """Compare the clocks of the KBLs `a` and `b`, by a capture's matches with both of them.

        The comparison also corrects the matches in `found`.
        """
        one, other = self._logs[a], self._logs[b]
        if not (one.log.returns and other.log.returns):
            return
        parts = self._trips.setdefault((a, b), [])
        parts.append(trips(found[a], found[b], one, other))
        way = clock_bounds(all_trips(parts))
        if way is not None:
            found[a], found[b] = without_early_arrivals(found[a], found[b], one, other, way)

    def times(self) -> tuple[NewRows, ...]:
        """Return the rows of the tables `oneway`, `oneway_bound` and `timebase`."""
        between: dict[tuple[int, int], OneWay] = {}
        for pair, parts in self._trips.items():
            way = clock_bounds(all_trips(parts))
            if way is not None:
                between[pair] = way
        ways = [(*pair, *way[3:]) for pair, way in between.items()]
        bounds = [
            (*pair, *row)
            for pair, way in between.items()
            for row in zip(*(column.tolist() for column in way[:3]), strict=True)
        ]
        hosts = {source: _host(kernel) for source, kernel in self._logs.items()}
        apart = {pair: Apart(one.offset_ns, one.error_ns) for pair, one in self._same.items()}
        pieces = build_timebase(hosts, self._interfaces, self._clocks, between, apart)
        return (
            FewRows(schema.oneway, ways),
            FewRows(schema.oneway_bound, bounds),
            FewRows(schema.timebase, [tuple(piece) for piece in pieces]),
        )


def epoch_ns(log: KernelLog) -> int:
    """Return how far (ns) the host's wall clock was ahead of the KBL's clock at first."""
    return log.clock[0].real_ns - log.clock[0].mono_ns if log.clock else 0


def clock_rows(found: Matches, capture: int, kbl: int, number: int) -> NewRows:
    """Return the segments of clock fits as rows of table `clock`.

    `capture` and `kbl` are source ids.  `number` is the number of packets in earlier captures.
    """
    rows = [
        (capture, kbl, one.interface, *segment[:7], *(one.sniffer or (-1, -1)))
        for one in found.clocks
        for segment in _numbered(one.clock, number).segments
    ]
    return FewRows(schema.clock, rows)


def _numbered(clock: ClockFit, number: int) -> ClockFit:
    """Return the clock fit with packet numbers, which begin after `number`, in place of indices."""
    segments = (s._replace(first=s.first + number + 1) for s in clock.segments)
    return ClockFit(tuple(segments))


def _host(kernel: KernelSide) -> Host:
    rows = kernel.legs.rows
    begin = int(rows["begin_ns"].min()) if len(rows) else 0
    end = max(int(rows[name].max(initial=0)) for name in ("end_ns", "reader_ns"))
    return Host(epoch_ns(kernel.log), begin, end)


def _not_captured(kernel: KernelSide, is_ip: Bools) -> SeriesVerdicts:
    count = len(kernel.series.parent)
    rung = np.where(is_ip, LifetimeRung.NOT_CAPTURED, LifetimeRung.NO_HEADER)
    typed = np.zeros(count, np.bool_)
    typed[kernel.legs.rows["series"][kernel.legs.rows["ethertype"] > 0]] = True
    rung[typed & ~is_ip] = LifetimeRung.NO_IP
    rung[kernel.series.tap] = LifetimeRung.SNIFFED
    verdict = np.full(count, KERNEL_ONLY, np.int8)
    return SeriesVerdicts(verdict, rung.astype(np.int8), np.zeros(count))
