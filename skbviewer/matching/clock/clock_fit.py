# SPDX-License-Identifier: MIT
"""Fit the clock of a sniffer to the clock of a KBL, by pairs whose match is certain.

The fit follows from matches by identity, and is never a reason for them.  A fit has one segment for
the start, and one for each time that the clock was set.  Each segment has a robust fit: the median
offset, the drift by Theil-Sen (Sen 1968), and the spread as 1.4826 x median absolute deviation.
The error of a segment covers every clock that the moments in the log allow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.types import Bools, Float64s, Int64s
from ..arrays.hash_join import by_group
from ..arrays.medians import median
from .clock_steps import borders, runs
from .feasible_lines import Intervals, corridor
from .small_clock_steps import cuts

MIN_DRIFT_PAIRS = 8
# The kernel's loop slews by at most 500 (MAXFREQ in linux/timex.h), a bad crystal adds 200.  A
# daemon that changes the tick's length may slew faster: then no line passes all pairs of a segment.
MAX_DRIFT_PPM = 1000
CLEAR = 10  # a drift is believed if it moved the clock by this many spreads
MAX_SLOPES = 2000
CUT_BY = 20_000  # most pairs that are used to find where a segment is to be cut
MAX_MEDIAN_PAIRS = 100_000  # most pairs that are used for medians
SECOND_NS = 1_000_000_000
# The times of this many packets share a divisor by chance in one of 4,000 captures.
SURELY_COARSE = 12
COARSE_BITS, COARSE_BINARY_NS = 18, 3815  # a resolution of 2**-18 s
KNOTS = 65  # times in a segment for which its error is computed


class Segment(NamedTuple):
    """capture time = KBL time + offset_ns + drift_ppm * 1e-6 * (KBL time - origin_ns).

    A segment holds from the packet with index `first` on, which was captured at `begin_ns`.
    `residual_ns` is the largest error at any packet of the segment: every clock that drifts by at
    most MAX_DRIFT_PPM, and stamps each pair between its moments, is at most so far from the fit.
    `spread_ns` is the scatter of the pairs.  `pairs` counts each packet once, even if it was at
    several points.  `errors` is a list of (capture time, error) in order of time, both ns; between
    two of its entries, the error is linear.  Every clock is outside the moments of some pair by at
    least `torn_ns`.  For a capture of this host, `torn_ns` is 0.
    """

    begin_ns: int
    first: int
    origin_ns: int
    offset_ns: int
    drift_ppm: float
    residual_ns: int
    pairs: int
    spread_ns: int
    errors: tuple[tuple[int, int], ...] = ()
    torn_ns: int = 0

    def error(self, capture_ns: Int64s) -> Int64s:
        """Return the clock's possible error at the capture times `capture_ns`; all in ns."""
        if not self.errors:
            return np.full(len(capture_ns), self.residual_ns)
        at, error = np.array(self.errors, np.int64).T
        past = (capture_ns - at[0]).astype(np.float64)  # epoch ns need 61 bits
        return np.asarray(np.ceil(np.interp(past, at - at[0], error)), np.int64)

    def to_kernel(self, capture_ns: Int64s) -> Int64s:
        """Convert the capture times `capture_ns` to the KBL's clock; ns."""
        made = np.asarray(capture_ns - (self.offset_ns + self.origin_ns), np.int64)
        if self.drift_ppm:
            drift = made * (self.drift_ppm * 1e-6 / (1 + self.drift_ppm * 1e-6))
            made -= np.rint(drift, out=drift).astype(np.int64)
        made += self.origin_ns
        return made


class ClockFit(NamedTuple):
    """The clock of a capture: its segments (at least one), in the order of the packets."""

    segments: tuple[Segment, ...]

    def to_kernel(self, capture_ns: Int64s, packet: Int64s) -> Int64s:
        """Convert the capture times of the packets `packet` (indices) to the KBL's clock, ns."""
        if len(self.segments) == 1:
            return self.segments[0].to_kernel(capture_ns)
        which = self.segment_of(packet)
        made = np.zeros(len(capture_ns), np.int64)
        for number, segment in enumerate(self.segments):
            mine = which == number
            made[mine] = segment.to_kernel(capture_ns[mine])
        return made

    def segment_of(self, packet: Int64s) -> Int64s:
        """Return the number of the segment that each packet is in."""
        if len(self.segments) == 1:
            return np.zeros(len(packet), np.int64)
        first = np.array([segment.first for segment in self.segments])
        return np.maximum(np.searchsorted(first, packet, "right") - 1, 0)

    def error(self, capture_ns: Int64s, packet: Int64s) -> Int64s:
        """Return the clock's possible error (ns) at the capture times of packets.

        `packet` has the index of each time's packet in the capture.
        """
        which, made = self.segment_of(packet), np.zeros(len(packet), np.int64)
        for number, segment in enumerate(self.segments):
            mine = which == number
            made[mine] = segment.error(capture_ns[mine])
        return made

    def wider(self, more_ns: int) -> ClockFit:
        """Return this fit with all errors increased by `more_ns`."""
        return ClockFit(
            tuple(
                s._replace(
                    residual_ns=s.residual_ns + more_ns,
                    errors=tuple((when, error + more_ns) for when, error in s.errors),
                )
                for s in self.segments
            )
        )

    @property
    def pairs(self) -> int:
        """Return the number of pairs to which the clock was fitted."""
        return sum(segment.pairs for segment in self.segments)


class TimedPairs(NamedTuple):
    """Pairs of a captured packet and a time of the log at which the packet was at a point.

    `packet` is the packet's index in the capture.  The KBL shows the packet at `kernel_ns`, and
    shows that it was stamped between `after` and `before`, ns on the KBL's clock.
    """

    packet: Int64s
    kernel_ns: Int64s
    after: Int64s
    before: Int64s

    def selected(self, chosen: Int64s | npt.NDArray[np.bool_] | slice) -> TimedPairs:
        """Return the pairs that `chosen` (flags, indices or a slice) selects."""
        return TimedPairs._make(column[chosen] for column in self)


def fit(pairs: TimedPairs, captured: Int64s, bounded: bool = True) -> ClockFit | None:
    """Fit a clock to `pairs`; None if there are no pairs.

    `captured` are the times (ns) of all packets.  If `bounded` is False, only the scatter of the
    pairs is computed, not the clock's possible error.
    """
    if not len(pairs.packet):
        return None
    pairs = _whole(pairs.selected(by_group(pairs.packet, pairs.kernel_ns)))
    difference = captured[pairs.packet] - pairs.kernel_ns
    run = runs(difference, pairs.kernel_ns, pairs.packet)
    begins = borders(pairs.packet, captured, difference, run)
    ends = [*(border.first for border in begins[1:]), len(captured)]
    del difference
    segments: list[Segment] = []
    for number, ((either, first), end) in enumerate(zip(begins, ends, strict=True)):
        mine = run == number
        own = pairs if mine.all() else pairs.selected(mine)
        one = _segment(first, captured[first:end], captured, own, bounded)
        pieces = _set_by_little(one, end, captured, own) if one.torn_ns else [one]
        if either < first:
            segments.append(_of_both(segments[-1], pieces[0], either, captured[either:first]))
        segments += pieces
    return ClockFit(tuple(segments))


def refit(clock: ClockFit, pairs: TimedPairs, captured: Int64s) -> ClockFit:
    """Fit each segment of `clock` again, to the pairs whose packets are in the segment.

    `captured` are the times (ns) of all packets.

    A segment does not change if it contains no packet of `pairs`.  A segment that never had pairs
    does not change either, because its packets may have been stamped by the clock of the segment
    before it or by that of the segment after it.
    """
    pairs = _whole(pairs.selected(by_group(pairs.packet, pairs.kernel_ns)))
    which = clock.segment_of(pairs.packet)
    ends = [*(segment.first for segment in clock.segments[1:]), len(captured)]
    made = []
    for number, (old, end) in enumerate(zip(clock.segments, ends, strict=True)):
        own = pairs.selected(which == number)
        new = old.pairs and len(own.packet)
        range_ns = captured[old.first : end]
        made.append(_segment(old.first, range_ns, captured, own, True) if new else old)
    return ClockFit(tuple(made))


def _set_by_little(one: Segment, end: int, captured: Int64s, pairs: TimedPairs) -> list[Segment]:
    """Split the segment `one`, which ends before packet `end`, where its clock was set a little."""
    precision = precision_of(captured[one.first : end])
    if one.torn_ns < precision:
        return [one]
    each = pairs.selected(np.r_[True, pairs.packet[1:] != pairs.packet[:-1]])
    each = each.selected(slice(None, None, 1 + len(each.packet) // CUT_BY))
    capture_ns = captured[each.packet]
    here = one.to_kernel(capture_ns)
    rows = Intervals(
        (capture_ns - one.begin_ns).astype(np.float64),
        (each.after - here - precision).astype(np.float64),
        (each.before - here + precision).astype(np.float64),
    )
    made = cuts(rows, MAX_DRIFT_PPM * 1e-6)
    if not made:
        return [one]
    firsts = [one.first, *(int(each.packet[cut.first]) for cut in made)]
    ends = [*(int(each.packet[cut.last]) + 1 for cut in made), end]
    sides = []
    for first, behind in zip(firsts, ends, strict=True):
        mine = pairs.selected((pairs.packet >= first) & (pairs.packet < behind))
        sides.append(_segment(first, captured[first:behind], captured, mine, True))
    if any(side.torn_ns >= max(precision, 1) for side in sides):
        return [one]
    segments = sides[:1]
    for last, side, behind in zip(sides, sides[1:], ends, strict=False):
        if behind < side.first:
            segments.append(_of_both(last, side, behind, captured[behind : side.first]))
        segments.append(side)
    return segments


def _of_both(last: Segment, following: Segment, first: int, range_ns: Int64s) -> Segment:
    """Return a segment for packets that the clock of either neighbouring segment may have stamped.

    The packets of the segment are those from index `first` on.

    The new segment has no pairs.
    """
    at = np.unique(np.linspace(range_ns.min(), range_ns.max(), KNOTS).round()).astype(np.int64)
    apart = np.abs(following.to_kernel(at) - last.to_kernel(at))
    error = np.maximum(last.error(at), following.error(at) + apart)
    return last._replace(
        begin_ns=int(range_ns[0]),
        first=first,
        residual_ns=int(error.max()),
        pairs=0,
        errors=tuple(zip(at.tolist(), error.tolist(), strict=True)),
    )


def _whole(pairs: TimedPairs) -> TimedPairs:
    """Give all pairs of a packet the same bounds: it may have been stamped at any of its points.

    The pairs are sorted by packet.
    """
    new = np.r_[True, pairs.packet[1:] != pairs.packet[:-1]]
    if new.all():
        return pairs
    begin, which = np.flatnonzero(new), np.cumsum(new) - 1
    after = np.minimum.reduceat(pairs.after, begin)[which]
    return pairs._replace(after=after, before=np.maximum.reduceat(pairs.before, begin)[which])


def _segment(
    first: int, range_ns: Int64s, captured: Int64s, pairs: TimedPairs, bounded: bool
) -> Segment:
    """Fit a segment to pairs of packets from index `first` on, captured within `range_ns`."""
    capture_ns = captured[pairs.packet]
    origin = int(pairs.kernel_ns.min())
    few = slice(None, None, 1 + len(capture_ns) // MAX_MEDIAN_PAIRS)
    kernel_ns = pairs.kernel_ns[few]
    difference = capture_ns[few] - kernel_ns
    base = int(difference[0])  # keeps float64 exact: epoch ns need 61 bits
    x, y = (kernel_ns - origin).astype(np.float64), (difference - base).astype(np.float64)
    lines = []
    packets = 1 + int(np.count_nonzero(np.diff(pairs.packet)))  # one may have several pairs
    for slope in {0.0, _drift(x, y)}:
        rest = y - slope * x
        middle = median(rest)
        offset, spread = base + round(middle), _spread(rest - middle)
        lines.append(
            Segment(
                int(captured[first]), first, origin, offset, slope * 1e6, 0, packets, round(spread)
            )
        )
    if not bounded:
        return min(lines, key=lambda line: line.spread_ns)
    moments = _in_order(capture_ns, pairs)
    tries = [_with_errors(line, range_ns, *moments) for line in lines]
    return min(tries, key=lambda line: (line.residual_ns, line.drift_ppm != 0))


def _in_order(capture_ns: Int64s, pairs: TimedPairs) -> tuple[Int64s, TimedPairs]:
    """Return the capture times and the pairs, sorted by capture time."""
    if not (capture_ns[1:] < capture_ns[:-1]).any():
        return capture_ns, pairs
    order = np.argsort(capture_ns, kind="stable")
    return capture_ns[order], pairs.selected(order)


def _with_errors(line: Segment, range_ns: Int64s, capture_ns: Int64s, pairs: TimedPairs) -> Segment:
    """Return the segment `line` with its errors at KNOTS times in the range of `range_ns`.

    The times `capture_ns` must be sorted.  No error is less than the spread of the pairs.  The true
    error is a convex function of time, so between two of these times it is at most as large as the
    interpolated error.
    """
    here, begin = line.to_kernel(capture_ns), line.offset_ns + line.origin_ns
    at = np.unique(np.linspace(range_ns.min() - begin, range_ns.max() - begin, KNOTS).round())
    moments = Intervals(
        (capture_ns - begin).astype(np.float64),
        (pairs.after - here).astype(np.float64),
        (pairs.before - here).astype(np.float64),
    )
    lines = corridor(moments, MAX_DRIFT_PPM * 1e-6)
    error = np.ceil(np.maximum(lines.error(at), line.spread_ns)).astype(np.int64)
    made = np.stack([at.astype(np.int64) + begin, error], axis=1)
    errors = tuple((when, ns) for when, ns in made.tolist())
    torn_ns = int(np.ceil(lines.torn))
    return line._replace(residual_ns=int(error.max()), errors=errors, torn_ns=torn_ns)


def _spread(rest: Float64s) -> float:
    """Return the scatter of numbers around 0: 1.4826 x their median distance from 0."""
    return 1.4826 * median(np.abs(rest))


def _drift(x: Float64s, y: Float64s) -> float:
    """Return the slope of a line through the points (x, y), or 0 if it is not significant."""
    span, slope = float(np.ptp(x)), _slope(x, y)
    rest = y - slope * x
    clear = abs(slope) * span > CLEAR * _spread(rest - median(rest))
    return slope if clear and abs(slope) <= MAX_DRIFT_PPM * 1e-6 else 0.0


def _slope(x: Float64s, y: Float64s) -> float:
    if len(x) < MIN_DRIFT_PAIRS:
        return 0.0
    half = len(x) // 2
    order = np.argsort(x, kind="stable")
    low, high = order[:half], order[-half:]
    step = max(1, half // MAX_SLOPES)
    run = (x[high] - x[low])[::step]
    rise = (y[high] - y[low])[::step]
    return median(rise[run > 0] / run[run > 0]) if np.any(run > 0) else 0.0


def precision_of(times: Int64s) -> int:
    """Return the resolution of `times`, ns.

    The resolution is 1, or a multiple of 1000 that divides all times, or COARSE_BINARY_NS if the
    times are multiples of 2**-18 s (a binary resolution, pcapng's if_tsresol) rounded to ns.
    """
    if not len(times):
        return 1
    some = times[:SURELY_COARSE] % SECOND_NS  # the first times of most captures show it
    if (some % 1000).any() and not _is_binary(some).all():
        return 1
    past = times % SECOND_NS
    if not (past % 1000).any():
        few = int(np.gcd.reduce(past)) if len(past) >= SURELY_COARSE else 1000
        return few or SECOND_NS
    return COARSE_BINARY_NS if len(past) >= SURELY_COARSE and _is_binary(past).all() else 1


def _is_binary(past: Int64s) -> Bools:
    """Return for each time (ns within a second) whether it is a rounded multiple of 2**-18 s."""
    parts = (past << COARSE_BITS) % SECOND_NS
    return np.asarray(np.minimum(parts, SECOND_NS - parts) <= 1 << COARSE_BITS)
