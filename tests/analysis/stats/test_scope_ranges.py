# SPDX-License-Identifier: MIT
"""What a range of time selects: chunks that cannot be in the range are skipped, others never."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from skbviewer.analysis.diagnosis import diagnose
from skbviewer.analysis.scope.time_range import TimeRange
from skbviewer.analysis.stats import STATISTICS, Chosen, Scope, statistic_of
from skbviewer.matching.clock.session_time import EVERY, Piece, Timebase
from skbviewer.records import resource
from skbviewer.records.types import LATEST_NS
from skbviewer.session import Session, import_files

SAMPLES = ("bulk", "nat", "drops")
CHUNK = 16  # values, so that a sample has many chunks
RANGES = 12  # drawn of each sample


class Sample(NamedTuple):
    """A sample in small chunks; what ranges select of it where no chunk can be skipped."""

    cut: Session
    wanted: list[tuple[Chosen, list[object]]]


@pytest.fixture(scope="module", params=SAMPLES)
def sample(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sample]:
    folder = tmp_path_factory.mktemp("ranges")
    plain = _imported(request.param, folder / "plain.skbv")
    wanted = [(chosen, _of(plain.stats.scope(chosen))) for chosen in _ranges(plain)]
    plain.close()
    with pytest.MonkeyPatch.context() as patch:
        for module in ("column_chunks", "whole_columns"):
            patch.setattr(f"skbviewer.store.{module}.CHUNK", CHUNK)
        cut = _imported(request.param, folder / "cut.skbv")
        yield Sample(cut, wanted)
    cut.close()


def _imported(name: str, out: Path) -> Session:
    log = resource(f"samples/{name}/{name}.kbl")
    return Session.open(import_files([log, log.with_suffix(".pcap")], out).path)


def _ranges(session: Session) -> list[Chosen]:
    """Short and long ranges, some of them half open, some of chosen packets or of everything."""
    rng = np.random.default_rng(20261130)
    first, last = session.span_ns()
    packets = np.arange(1, session.packets.count() + 1)
    found = []
    for number in range(RANGES):
        length = int((last - first) / 10 ** rng.uniform(0.2, 4))
        begin = int(rng.integers(first - length, last))
        chosen = Chosen(None, begin, begin + length)
        if number % 4 == 1:
            chosen = chosen._replace(packets=rng.permutation(packets)[: len(packets) // 3])
        found.append(chosen._replace(everything=number % 3 == 2))
    middle = (first + last) // 2
    far = [Chosen(None, -(10**19), 10**19), Chosen(None, -(10**30), 10**30)]
    far += [Chosen(None, -82 * 10**17), Chosen(None, None, 10**19), Chosen(None, 10**19)]
    half = [Chosen(None, middle), Chosen(None, None, middle), Chosen(None, last, first)]
    return [*found, *half, *far]


def _of(scope: Scope) -> list[object]:
    """All that a scope selects, all tables, and the findings of the diagnosis."""
    arrays = (scope.packets, scope.leg_rows, scope.call_rows, np.flatnonzero(scope.legs))
    rows, legs = scope.waits
    mine = np.isin(legs, scope.leg_rows)
    tables = {name: [tuple(row) for row in statistic_of(name, scope).rows] for name in STATISTICS}
    findings = [one[:6] for one in diagnose(scope).findings]
    return [*(one.tolist() for one in arrays), rows[mine].tolist(), repr(tables), repr(findings)]


def test_a_range_selects_the_same_in_small_chunks(sample: Sample) -> None:
    skipped = 0
    for chosen, wanted in sample.wanted:
        scope = sample.cut.stats.scope(chosen)
        assert _of(scope) == wanted, chosen
        skipped += scope.has_few_calls
    assert skipped > RANGES // 4


def test_every_selected_row_is_in_the_range(sample: Sample) -> None:
    """The rows are those that a comparison of all times selects."""
    cut = sample.cut
    clock, log = cut.timebase(), next(s.id for s in cut.sources() if s.kind.is_log)
    identity = cut.columns.array("series", "identity")[cut.columns.array("leg", "series") - 1] >= 0
    when = clock.to_session(log, cut.columns.array("leg", "begin_ns").astype(np.int64))
    entry = clock.to_session(log, cut.columns.array("call", "entry_ns").astype(np.int64))
    listed = identity[cut.columns.array("call", "leg") - 1]
    for chosen in _ranges(cut):
        if chosen.packets is not None or chosen.begin_ns is None or chosen.end_ns is None:
            continue
        scope = cut.stats.scope(chosen)
        inside = (when >= chosen.begin_ns) & (when < chosen.end_ns)
        calls = (entry >= chosen.begin_ns) & (entry < chosen.end_ns)
        if not chosen.everything:
            inside, calls = inside & identity, calls & listed
        assert scope.leg_rows.tolist() == np.flatnonzero(inside).tolist()
        assert scope.call_rows.tolist() == np.flatnonzero(calls).tolist()


def test_spans_contain_all_times_of_a_range() -> None:
    """Steps of a clock back and forth, drift, and interfaces with clocks of their own."""
    rng = np.random.default_rng(7)
    for _ in range(200):
        pieces = [
            Piece(
                1, int(interface) if rng.random() < 0.5 else EVERY, int(first), int(first) * 10**9,
                int(rng.integers(-(10**18), 10**18)), float(rng.normal(0, 300)), 0,
            )
            for interface in range(2)
            for first in np.sort(rng.integers(0, 50, 3))
        ]  # fmt: skip
        clock = Timebase(pieces)
        ts = np.sort(rng.integers(0, 60 * 10**9, 400))
        number, interface = np.arange(400), rng.integers(0, 2, 400)
        for times in (clock.to_session(1, ts), clock.of_packets(1, ts, number, interface)):
            begin, end = np.sort(rng.choice(times, 2)).tolist()
            begin, end = (
                begin - 10**20 * (rng.random() < 0.2),
                end + 10**20 * (rng.random() < 0.2),
            )
            spans = clock.spans(1, begin, end)
            begin, end = max(begin, -(1 << 63)), min(end, LATEST_NS)
            inside = np.zeros(len(ts), np.bool_)
            for first, last in spans:
                inside |= (ts >= first) & (ts <= last)
            assert inside[(times >= begin) & (times < end)].all()
    assert Timebase([]).spans(3, 5, None) == [(5 - 1000, LATEST_NS)]


def test_a_source_without_limits(sample: Sample) -> None:
    cut = sample.cut
    whole = TimeRange(cut.columns, cut.timebase(), None, None)
    assert whole.rows("leg", "begin_ns", [1]).tolist() == list(range(cut.columns.length("leg")))
    assert whole.meets(1, [(5, 6)]) and not whole.meets(1, [])


def test_a_range_is_empty_if_no_row_and_no_event_is_in_it(sample: Sample) -> None:
    """A range around each of some events, and around the moment after it."""
    scope = sample.cut.stats.scope()
    leg, ts = (scope.columns.array("event", name).astype(np.int64) for name in ("leg", "ts"))
    mine = np.isin(leg - 1, scope.leg_rows)
    at = scope.clock.to_session(next(iter(scope.kernels)), ts[mine])
    found = set()
    for moment in [*at[::9].tolist(), *(at[::9] + 1).tolist(), sample.cut.span_ns()[1] + 5]:
        one = sample.cut.stats.scope(Chosen(None, moment, moment + 1))
        rows = len(one.packets) + len(one.leg_rows) + len(one.call_rows)
        assert one.is_empty == (rows == 0 and moment not in at)
        found.add((one.is_empty, rows > 0))
    assert {(True, False), (False, False)} <= found
