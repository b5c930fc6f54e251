# SPDX-License-Identifier: MIT
"""Fields tcp.analysis.*: findings from the sequence numbers of all TCP streams at once.

Rules and words are those of Wireshark's packet-tcp.c (tcp_analyze_sequence_number).  The word
"next" means the sequence number with which a direction should go on, judging by what it has sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...records import Progress, Silent
from ...records.types import Bools, Int64s
from .field_definition import Field, Kind, Values
from .field_source_tables import PACKET, Array, Data, View
from .stream_fields import ACK, SYN, Streams, last_before, starts, stream_ways, streams_of
from .tcp_analysis_findings import NAMES, Analysis
from .tcp_window_scaling import syn_scales

FIN, RST = 0x01, 0x04
ANALYSIS = "tcp.analysis"  # name under which the result is cached
FOLLOWING = "following TCP streams"
COLUMNS = ("tcp_flags", "payload", "seq", "ack", "window", "ts")
PART = 1 << 19  # number of segments that are processed together
FAST_NS = 20_000_000  # longest time from the last duplicate ACK to a fast retransmission
ORDER_NS = 3_000_000  # the same from the highest segment to one out of order, if no RTT is known


class Segments(NamedTuple):
    """The TCP packets of a session, by stream, then in capture order; a position is an index here.

    `mine` is the position of the previous segment in the same direction, and `other` that of the
    last segment in the opposite direction; -1 = none.
    """

    found: Streams
    begin: Int64s
    mine: Int64s
    other: Int64s
    seq: Int64s
    ack: Int64s
    data: Int64s  # bytes of data
    size: Int64s  # bytes of data, plus 1 for SYN and for FIN
    flags: Int64s
    window: Int64s
    ts: Int64s


def analysis_of(data: Data, progress: Progress | None = None) -> Analysis:
    """Return findings about all TCP streams of the session, computed once.

    Raises Cancelled.
    """
    found: Analysis = data.cached(ANALYSIS, lambda: _analysed(data, progress or Silent()))
    return found


def _analysed(data: Data, progress: Progress) -> Analysis:
    streams = streams_of(data, "tcp")
    out = Analysis(data.columns.length(PACKET), int(streams.number.max(initial=-1)) + 1)
    view, done = data.packets(), 0
    columns = {name: view.column(name) for name in COLUMNS}  # else the cache reads some again
    for part in streams.parts(PART):
        progress.report(FOLLOWING, done, len(streams.rows))
        done += len(part.rows)
        segments = _segments(columns, part)
        findings = _flags(segments)
        scales = window_scales(data, segments)
        findings["window_full"] = _window_full(segments, scales)
        known = scales > 0
        out.shift[part.stream[known], 1 - part.direction[known]] = scales[known]
        out.add(part.rows, findings, _repeats(segments, findings["duplicate_ack"]))
    out.finish()
    return out


def window_shifts(view: View) -> Int64s:
    """Return the bits by which each packet's TCP window must be shifted; 0 for a SYN."""
    stream, direction = stream_ways(view)
    shift = analysis_of(view.data).shift
    found = np.zeros(view.size, np.int64)
    scaled = (stream >= 0) & (view.column("tcp_flags") & SYN == 0)
    found[scaled] = shift[stream[scaled], direction[scaled]]
    return found


def _segments(columns: Mapping[str, Array], found: Streams) -> Segments:
    def of(name: str) -> Int64s:
        return columns[name][found.rows].astype(np.int64)

    begin, flags = starts(found.stream), of("tcp_flags")
    first = found.direction == 0
    last0, last1 = last_before(first, begin), last_before(~first, begin)
    payload = np.maximum(of("payload"), 0)
    size = payload + ((flags & SYN) != 0) + ((flags & FIN) != 0)
    return Segments(
        found, begin, np.where(first, last0, last1), np.where(first, last1, last0),
        of("seq"), of("ack"), payload, size, flags, of("window"), of("ts"),
    )  # fmt: skip


def window_scales(data: Data, s: Segments) -> Int64s:
    """Return for each segment the bits by which the opposite direction's window is shifted.

    The result is -1 if the SYN of the opposite direction was not captured.  Both SYNs must offer
    window scaling; otherwise no window is shifted (RFC 7323, 2.2).
    """
    syn = np.flatnonzero((s.flags & SYN) != 0)
    offered = np.full(len(s.flags), -1, np.int64)
    offered[syn] = syn_scales(data, s.found.rows[syn].astype(np.int64))
    first = s.found.direction == 0
    ways = []
    for mine in (first, ~first):
        at = last_before(mine & ((s.flags & SYN) != 0), s.begin)
        ways.append(np.where(at >= 0, _at(offered, at, -1), -2))
    mine, other = np.where(first, ways[0], ways[1]), np.where(first, ways[1], ways[0])
    return np.where(other == -2, -1, np.where((other == -1) | (mine == -1), 0, other))


def _signed(difference: Int64s) -> Int64s:
    """Return differences of sequence numbers, which wrap around at 2^32, as signed numbers."""
    return (difference + (1 << 31) & 0xFFFFFFFF) - (1 << 31)


def _at(values: Array, position: Int64s, missing: int) -> Array:
    found = values[np.maximum(position, 0)]
    return np.where(position >= 0, found, missing)


def _along(s: Segments, values: Int64s) -> Int64s:
    """Return the running sums of `values` along each direction of each stream."""
    out = np.zeros(len(values), np.int64)
    for way in (0, 1):
        mine = s.found.direction == way
        total = np.cumsum(np.where(mine, values, 0))
        before = total[s.begin] - np.where(mine, values, 0)[s.begin]
        out[mine] = (total - before)[mine]
    return out


def _offsets(s: Segments) -> Int64s:
    """Return sequence numbers relative to the first one of the direction, without wrapping."""
    step = _signed(s.seq - _at(s.seq, s.mine, 0))
    return _along(s, np.where(s.mine >= 0, step, 0))


class _Highest(NamedTuple):
    """What is known about a segment's direction before the segment.

    `next` is the next expected sequence number, as an offset.  `by` is the position of the segment
    from which `next` follows.
    """

    next: Int64s
    by: Int64s


def _highest(s: Segments, offset: Int64s, counts: Bools) -> _Highest:
    """Return for each segment the highest end of the earlier segments that `counts` marks."""
    end = np.where(counts, offset + s.size, np.iinfo(np.int64).min // 4)
    span = int(np.abs(offset).max(initial=0)) + int(s.size.max(initial=0)) + 1
    after = np.full(len(end), -1, np.int64)
    by = np.full(len(end), -1, np.int64)
    for way in (0, 1):
        mine = np.flatnonzero(s.found.direction == way)
        group = np.cumsum(np.r_[True, np.diff(s.begin[mine]) != 0][: len(mine)])
        low = np.where(counts[mine], end[mine], -span)
        lifted = low + group * (3 * span)  # each stream above the previous one: one running maximum
        top = np.maximum.accumulate(lifted)
        rises = np.r_[True, lifted[1:] > top[:-1]][: len(mine)]
        after[mine] = top - group * (3 * span)
        by[mine] = mine[np.maximum.accumulate(np.where(rises, np.arange(len(mine)), 0))]
    return _Highest(_at(after, s.mine, -1), _at(by, s.mine, -1))


def _flags(s: Segments) -> dict[str, Bools]:
    offset = _offsets(s)
    seen, plain = s.mine >= 0, (s.flags & (SYN | FIN | RST)) == 0
    theirs = _at(s.window, s.other, -1)
    probes = (s.data == 1) & (theirs == 0) & (s.other >= 0)
    high = _highest(s, offset, ~probes)
    known = seen & (high.by >= 0)
    at_next = known & (offset == high.next)
    findings = {"zero_window_probe": probes & at_next}
    high = _highest(s, offset, ~findings["zero_window_probe"])
    rest = ~findings["zero_window_probe"]
    findings["zero_window"] = rest & (s.window == 0) & plain
    findings["lost_segment"] = rest & known & (offset > high.next) & ((s.flags & RST) == 0)
    findings["keep_alive"] = rest & known & plain & (s.data <= 1) & (offset == high.next - 1)
    _acknowledging(s, findings, rest & at_next & plain & (s.size == 0))
    findings["ack_lost_segment"] = _ack_lost(s, offset, high, findings["zero_window_probe"])
    _repeated(s, findings, offset, high, known)
    findings["reused_ports"] = _reused(s)
    return findings


def _acknowledging(s: Segments, findings: dict[str, Bools], empty: Bools) -> None:
    """Add findings about segments without data that repeat the previous acknowledgment number."""
    window = _at(s.window, s.mine, -1)
    again = empty & (s.ack == _at(s.ack, s.mine, -1))
    same, open_ = s.window == window, s.window > 0
    findings["window_update"] = again & open_ & ~same
    alive = _at(findings["keep_alive"], s.other, 0).astype(np.bool_)
    probed = _at(findings["zero_window_probe"], s.other, 0).astype(np.bool_)
    findings["keep_alive_ack"] = again & open_ & same & alive
    findings["zero_window_probe_ack"] = again & ~open_ & same & probed
    findings["duplicate_ack"] = again & open_ & same & ~alive


def _ack_lost(s: Segments, offset: Int64s, high: _Highest, probe: Bools) -> Bools:
    """Return for each segment whether it acknowledges data that were not captured.

    Each acknowledgment number is reported only once; Wireshark repeats it for some duplicates.
    """
    end = offset + s.size
    top = np.where(high.by >= 0, np.maximum(end, high.next), end)
    sent = s.seq - offset + top  # the highest end, as a sequence number
    beyond = _signed(s.ack - _at(sent, s.other, 0)) > 0
    found = (s.other >= 0) & ((s.flags & ACK) != 0) & beyond
    gaps = (high.by >= 0) & (end > high.next) & (offset != high.next) & ~probe
    _within_gaps(s, offset, high, gaps, probe, found)
    return np.asarray(found & (s.ack != _at(s.ack, s.mine, -1)))


def _within_gaps(
    s: Segments, offset: Int64s, high: _Highest, gaps: Bools, probe: Bools, found: Bools
) -> None:
    """Mark acknowledgments beyond a gap's start, until the gap is filled or acknowledged."""
    last = np.r_[np.flatnonzero(s.begin[1:] != s.begin[:-1]) + 1, len(offset)]
    done = {0: -1, 1: -1}  # end of the last gap in each direction
    for gap in np.flatnonzero(gaps).tolist():
        way = int(s.found.direction[gap])
        if gap <= done[way]:
            continue
        whole = int(high.next[gap])
        begin = int(s.seq[gap] - offset[gap]) + whole
        stop = int(last[np.searchsorted(last, gap, side="right")])
        done[way] = stop
        for at in range(gap + 1, stop):
            if s.found.direction[at] == way:
                ends = offset[at] == whole and not probe[at]
            else:
                ends = bool(s.flags[at] & ACK) and _one_signed(int(s.ack[at]) - begin) > 0
                found[at] |= ends
            if ends:
                done[way] = at
                break


def _one_signed(difference: int) -> int:
    return (difference + (1 << 31) & 0xFFFFFFFF) - (1 << 31)


def _window_full(s: Segments, scale: Int64s) -> Bools:
    """Return for each segment whether it fills the receiver's window.

    `scale` is the bits by which the opposite direction's window is shifted; -1 = unknown.
    """
    raw = (_at(s.flags, s.other, 0) & SYN) != 0  # the window of a SYN is not scaled
    window = _at(s.window, s.other, 0) << np.where(raw, 0, np.maximum(scale, 0))
    edge = _at(s.ack, s.other, 0) + window
    data = (s.data > 0) & ((s.flags & (SYN | FIN | RST)) == 0) & (scale >= 0) & (s.other >= 0)
    return np.asarray(data & ((s.seq + s.data - edge & 0xFFFFFFFF) == 0))


def _repeated(
    s: Segments, findings: dict[str, Bools], offset: Int64s, high: _Highest, known: Bools
) -> None:
    """Add findings about retransmissions of all kinds, and about segments out of order."""
    behind = (s.size > 0) & known & (offset < high.next) & ~findings["keep_alive"]
    acked = _signed(s.seq + s.data - _at(s.ack, s.other, 0)) <= 0
    has_ack = (s.other >= 0) & ((_at(s.flags, s.other, 0) & ACK) != 0)
    spurious = (
        (s.data > 0) & ~findings["keep_alive"] & ~findings["zero_window_probe"] & has_ack & acked
    )
    behind &= ~((s.data > 1) & (offset == high.next - 1))
    repeats = _at(_duplicates(s, findings["duplicate_ack"]), s.other, 0)
    soon = s.ts - _at(s.ts, s.other, 0) < FAST_NS
    fast = behind & ~spurious & (repeats >= 2) & (_at(s.ack, s.other, -1) == s.seq) & soon
    late = s.ts - _at(s.ts, high.by, 0) < _round_trip(s)
    order = behind & ~spurious & ~fast & late & (high.next != offset + s.data)
    order[order] = ~_seen_before(s, offset, order)
    findings["spurious_retransmission"], findings["fast_retransmission"] = spurious, fast
    findings["out_of_order"] = order
    findings["retransmission"] = spurious | fast | (behind & ~order)


def _duplicates(s: Segments, duplicate: Bools) -> Int64s:
    """Return how many duplicate ACKs a segment's direction has sent since its last new ACK."""
    total = _along(s, duplicate.astype(np.int64))
    renewed = s.ack != _at(s.ack, s.mine, -1)
    last = np.where(renewed, np.arange(len(total)), -1)
    out = np.zeros(len(total), np.int64)
    for way in (0, 1):
        mine = s.found.direction == way
        at = np.maximum.accumulate(np.where(mine, last, -1))
        out[mine] = (total - total[np.maximum(at, 0)])[mine]
    return out


def _repeats(s: Segments, duplicate: Bools) -> Int64s:
    """Return duplicate ACKs: row of each, row of the original ACK, and the duplicate's number."""
    count, renewed = _duplicates(s, duplicate), s.ack != _at(s.ack, s.mine, -1)
    found = []
    for way in (0, 1):
        mine = s.found.direction == way
        at = np.maximum.accumulate(np.where(mine & renewed, np.arange(len(mine)), 0))
        again = np.flatnonzero(mine & duplicate)
        rows = s.found.rows.astype(np.int64)
        found.append(np.stack([rows[again], rows[at[again]], count[again]]))
    return np.concatenate(found, axis=1)


def _round_trip(s: Segments) -> Int64s:
    """Return the time (ns) from a stream's SYN to its first ACK without SYN, or ORDER_NS."""
    syn = (s.flags & (SYN | ACK)) == SYN
    last_syn = last_before(syn, s.begin)
    answer = ((s.flags & (SYN | ACK)) == ACK) & (last_syn >= 0)
    first = answer & (last_before(answer, s.begin) < 0)
    taken = np.where(first, s.ts - _at(s.ts, last_syn, 0), 0)
    at = last_before(first, s.begin)
    return np.where(at >= 0, _at(taken, at, ORDER_NS), ORDER_NS)


def _seen_before(s: Segments, offset: Int64s, asked: Bools) -> Bools:
    """Return for each segment in `asked` whether an earlier segment contained all of its bytes.

    Only the last earlier segment with the same direction and offset is considered.  The earlier
    segment must be at least as long as the segment itself.
    """
    key = s.begin * 2 + s.found.direction
    wanted = np.isin(key, np.unique(key[asked])) & (s.size > 0)
    rows = np.flatnonzero(wanted)
    order = rows[np.lexsort((rows, offset[rows], key[rows]))]
    same = np.r_[
        False, (key[order][1:] == key[order][:-1]) & (offset[order][1:] == offset[order][:-1])
    ][: len(order)]
    longest = np.zeros(len(key), np.int64)
    if len(order):
        before = np.r_[0, s.size[order][:-1]]
        longest[order] = np.where(same, before, 0)
    return longest[asked] >= s.size[asked]


def _reused(s: Segments) -> Bools:
    """Return for each packet whether it begins a stream whose ports an earlier stream used."""
    key, order = s.found.key, np.flatnonzero(s.begin == np.arange(len(s.begin)))
    found = np.zeros(len(s.begin), np.bool_)
    again = np.r_[False, key[order][1:] == key[order][:-1]][: len(order)]
    found[order[again]] = True
    return found


def _there(name: str) -> Field:
    def make(view: View) -> list[Values]:
        if view.table != PACKET:
            return [Values(np.zeros(view.size, np.bool_), np.zeros(view.size, np.bool_))]
        there = analysis_of(view.data).has(name, view.rows)
        return [Values(there, there)]

    text = NAMES.get(name, "At least one of tcp.analysis.*")
    return Field(f"tcp.analysis.{name}", Kind.LABEL, text, make)


ANALYSIS_FIELDS: tuple[Field, ...] = tuple(_there(name) for name in ("flags", *NAMES))
