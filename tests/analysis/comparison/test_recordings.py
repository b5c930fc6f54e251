# SPDX-License-Identifier: MIT
"""Recordings of one set-up show no change; a function that became 5 % slower is found alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from skbviewer.analysis.comparison import Comparison, Side, compare
from skbviewer.analysis.comparison.estimates import DROPS, FUNCTIONS, LAYERS, PATHS, TOTALS
from skbviewer.analysis.comparison.function_estimates import CALLS, COUNTER, DURATION, RANKS, SELF
from skbviewer.analysis.comparison.leg_directions import WORDS, directions
from skbviewer.analysis.comparison.leg_estimates import LATER, STAGE
from skbviewer.analysis.comparison.path_classes import PART
from skbviewer.analysis.stats import drop_rows, function_rows, layer_table
from skbviewer.records import Cancelled
from skbviewer.records.types import Bools
from skbviewer.session import Session, import_files, open_files
from skbviewer.session.session_comparison import comparison_of
from tests.analysis.comparison.made_recordings import EVENTS, recording
from tests.bench.generate import generate

SAMPLES = Path("resources/samples")
PAIRS, PACKETS = 20, 6000
PLANTED = 40_000  # packets: half as many are not always enough for 5 %


def functions_changed(found: Comparison) -> set[str]:
    return {row.name for row in found.changes if row.measure.section == FUNCTIONS}


def test_of_equal_recordings_at_most_one_in_twenty_pairs_changed(tmp_path: Path) -> None:
    changed = 0
    for pair in range(PAIRS):
        a, b = (recording(tmp_path, PACKETS, 2 * pair + side) for side in (0, 1))
        found = comparison_of(a, b)
        assert found.tests > 40
        changed += bool(found.changes)
        a.close()
        b.close()
    assert changed <= 1


@pytest.mark.parametrize("function", ["nf_hook_slow", "tcp_v4_rcv", "sk_filter_trim_cap"])
def test_five_percent_in_one_function_are_found(function: str, tmp_path: Path) -> None:
    a = recording(tmp_path, PLANTED, 31)
    b = recording(tmp_path, PLANTED, 32, {function: 1.05})
    found = comparison_of(a, b)
    assert functions_changed(found) == {function}
    (row,) = (row for row in found.rows if row.name == function and row.measure == SELF)
    assert row.low is not None and row.high is not None
    assert row.low < 0.05 < row.high
    back = comparison_of(b, a)
    assert functions_changed(back) == {function}


def test_other_flows_of_the_same_kind_are_no_change(tmp_path: Path) -> None:
    """In the two recordings, 71 % and 61 % of the sent packets take one path."""
    sessions = []
    for seed in (520, 521):
        out = tmp_path / f"{seed}.skbv"
        import_files([generate(tmp_path / str(seed), 20_000, 60_000, seed).log], out)
        sessions.append(Session.open(out))
    found = comparison_of(sessions[0], sessions[1])
    shares = [row.change for row in found.rows if row.measure == PART and row.change is not None]
    assert min(shares) < -0.1
    assert not found.changes


def test_a_recording_with_itself(tmp_path: Path) -> None:
    one = recording(tmp_path, 2000, 5)
    found = comparison_of(one, one)
    assert not found.changes
    assert not found.conditions
    assert all(row.change in (0.0, None) for row in found.rows)


@pytest.fixture(scope="module")
def bulk() -> Iterator[Session]:
    session = open_files([SAMPLES / "bulk" / "bulk.kbl", SAMPLES / "bulk" / "bulk.pcap"])
    yield session
    session.close()


def _some(session: Session, passes: Bools) -> Side:
    """A side with only some legs of a session."""
    scope = session.stats.scope()
    scope.legs = scope.legs & passes
    leg = np.asarray(session.columns.array("call", "leg"), np.int64) - 1
    scope.calls = np.asarray(scope.legs[leg], np.bool_)
    return Side(scope, session.conditions())


@pytest.mark.parametrize("parts", [2, 8, 32])
def test_parts_of_a_real_recording_are_alike(bulk: Session, parts: int) -> None:
    """Two halves, or stretches that take turns."""
    begin = np.asarray(bulk.columns.array("leg", "begin_ns"), np.int64)
    chosen = np.flatnonzero(bulk.stats.scope().legs)
    rank = np.zeros(len(begin), np.int64)
    rank[chosen[np.argsort(begin[chosen], kind="stable")]] = np.arange(len(chosen))
    odd = (rank * parts // len(chosen)) % 2 == 1
    found = compare(_some(bulk, ~odd), _some(bulk, odd))
    assert found.tests > 100
    assert not found.changes


def test_different_recordings_differ(bulk: Session, tmp_path: Path) -> None:
    received = recording(tmp_path, 2000, 5)
    found = comparison_of(received, bulk)
    new = {row.name for row in found.changes if row.only_in == "B" and row.measure in CALLS}
    assert {"ip_output", "dev_hard_start_xmit"} <= new
    received.close()


def test_copies_for_sniffers_are_no_passes(bulk: Session) -> None:
    """Without the legs of copies, all numbers of sent and received packets are the same."""
    scope = bulk.stats.scope()
    copies = np.asarray(bulk.columns.array("series", "tap"))[scope.of_leg("series") - 1] > 0
    found = compare(_some(bulk, ~copies), _some(bulk, np.ones(len(copies), np.bool_)))
    assert [one.copies for one in found.amounts] == [0, np.count_nonzero(copies & scope.legs)]
    assert found.amounts[0].passes == found.amounts[1].passes
    rows = [row for row in found.rows if row.measure.section in (TOTALS, LAYERS, PATHS, DROPS)]
    apart = {"copies for sniffers"} | {row.name for row in rows if "(copies)" in row.name}
    assert len(apart) > 2
    assert {(row.name, row.measure.name) for row in rows if row.a != row.b} == {
        (row.name, row.measure.name) for row in rows if row.name in apart
    }
    assert {(row.a, row.b is not None) for row in rows if row.name in apart} <= {
        (None, True), (0, True), (None, False),
    }  # fmt: skip


def test_values_equal_those_of_statistics(bulk: Session) -> None:
    found = comparison_of(bulk, bulk)
    rows = {(row.measure, row.name): row for row in found.rows}
    scope = bulk.stats.scope()
    stated = function_rows(scope)
    passes = np.bincount(directions(scope)[scope.legs], minlength=len(WORDS)).tolist()
    copies = np.asarray(bulk.columns.array("series", "tap"))[scope.of_leg("series") - 1] > 0
    assert passes[WORDS.index("copies")] == np.count_nonzero(copies & scope.legs) > 0
    assert (found.amounts[0].passes, found.amounts[0].copies) == (sum(passes[:3]), passes[3])
    for function in stated:
        own = rows[SELF, function.function]
        calls = [rows[measure, function.function] for measure in CALLS]
        assert sum(part.number_a for part in calls) == function.number
        for part, of in zip(calls, passes, strict=True):
            assert part.a == (pytest.approx(part.number_a / of) if of else None)
        assert (own.a or 0) * own.number_a == pytest.approx(function.self_ns)
        if function.number > function.open:
            assert rows[DURATION, function.function].a == pytest.approx(function.mean_ns, abs=0.5)
        assert rows[RANKS[0], function.function].number_a == own.number_a
    assert {row.function for row in stated} == {name for measure, name in rows if measure == SELF}
    table = layer_table(scope)
    stated_layers = {
        (row.kind == "later wait", row.layer): row.total_ns
        for row in table.rows
        if row.kind in ("busy", "wait", "later wait")
    }
    assert (True, "socket queue") in stated_layers
    legs = np.flatnonzero(scope.legs & ~scope.gaps)
    span, busy, unknown = (
        int((scope.of_leg(end)[legs] - (scope.of_leg(begin)[legs] if begin else 0)).sum())
        for end, begin in (("end_ns", "begin_ns"), ("busy_ns", ""), ("unknown_ns", ""))
    )
    waits = sum(row.total_ns for row in table.rows if row.kind == "wait")
    assert waits == span - busy - unknown  # as column Waiting, without what follows the legs
    compared_layers = dict[tuple[bool, str], float]()
    for row in found.rows:
        if row.measure.section == LAYERS and row.measure.name != "stage" and row.a:
            name, _, word = row.name.removesuffix(")").rpartition(" (")
            total, key = row.a * passes[WORDS.index(word)], (row.measure == LATER, name)
            compared_layers[key] = compared_layers.get(key, 0) + total
    assert compared_layers == pytest.approx({n: ns for n, ns in stated_layers.items() if ns})
    stages = {row.layer: row.mean_ns for row in table.rows if row.kind == "stage"}
    mine = {row.name: row.a for row in found.rows if row.measure == STAGE and row.a}
    assert mine == pytest.approx({n: ns for n, ns in stages.items() if ns}, abs=0.5)
    drops = {row.name: row.number_a for row in found.rows if row.measure.section == DROPS}
    expected = dict[str, int]()
    for drop in drop_rows(scope):
        name = f"{drop.reason} in {drop.function.split('+')[0]}"
        expected[name] = expected.get(name, 0) + drop.number
    assert drops == expected


def test_short_recordings_are_not_judged() -> None:
    files = [SAMPLES / "handshake" / f"handshake.{kind}" for kind in ("kbl", "pcap")]
    session = open_files(files)
    found = comparison_of(session, session)
    assert found.tests == 0
    assert found.amounts[0].blocks == 0
    assert found.unjudged == f"A and B have {found.amounts[0].passes} legs, fewer than 64"
    session.close()


def test_a_filter_chooses_packets(bulk: Session) -> None:
    found = comparison_of(bulk, bulk, ("tcp", "tcp.len > 1000"))
    one, two = found.amounts
    chosen = bulk.packets.select("tcp")
    assert chosen is not None
    assert one.packets == len(chosen)
    assert 0 < two.packets < one.packets


def test_counted_events(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two", "without")]
    for folder in folders:
        folder.mkdir()
    a, b = (recording(folder, 2000, seed, None, True) for seed, folder in enumerate(folders[:2]))
    rows = {(row.measure, row.name): row for row in comparison_of(a, b).rows}
    counted, lasting = rows[COUNTER, "ip_rcv"], rows[DURATION, "ip_rcv"]
    assert counted.number_a == counted.number_b == 2000
    assert counted.a == pytest.approx(EVENTS * (lasting.a or 0))
    assert counted.b == pytest.approx(EVENTS * (lasting.b or 0))
    assert counted.p is None  # it contains the calls inside
    without = recording(folders[2], 2000, 3)
    assert COUNTER not in {row.measure for row in comparison_of(a, without).rows}


class _Stopping:
    """Progress of a user who cancels."""

    def report(self, what: str, done: int, total: int) -> None:
        if what == "Counting":
            raise Cancelled


def test_cancelling_ends_both_sides(bulk: Session) -> None:
    threads = set(threading.enumerate())
    with pytest.raises(Cancelled):
        comparison_of(bulk, bulk, progress=_Stopping())
    for _ in range(200):  # the second thread ends at once, but after its last statement
        if set(threading.enumerate()) == threads:
            break
        time.sleep(0.01)
    assert set(threading.enumerate()) == threads


def test_a_class_that_may_be_one_of_many_rare_ones_is_not_compared(
    bulk: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recording that keeps only its most frequent class may have the others, too."""
    received = recording(tmp_path, 2000, 5)
    whole = comparison_of(received, bulk)
    monkeypatch.setattr("skbviewer.analysis.comparison.path_classes.MOST_KEPT", 1)
    few = comparison_of(received, bulk)
    received.close()
    assert len(whole.paths) > 2 > len(few.paths)
    assert {row.name for row in few.rows if row.measure.section == PATHS} <= set(few.paths)
    only = [
        {row.only_in for row in one.rows if row.measure.section == PATHS} for one in (whole, few)
    ]
    assert "A" in only[0] and "A" not in only[1]  # B may have what only A kept
    rest = [[row for row in one.rows if row.measure.section != PATHS] for one in (whole, few)]
    assert [row.name for row in rest[0]] == [row.name for row in rest[1]]
