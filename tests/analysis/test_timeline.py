# SPDX-License-Identifier: MIT
"""Lanes, rows and bins, against what counting call by call gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.analysis.timeline.function_numbers import Functions, layer_names
from skbviewer.analysis.timeline.group_order import group_order, order_by
from skbviewer.analysis.timeline.lane_calls import calls_by, wires_of
from skbviewer.analysis.timeline.lanes import (
    WIRE,
    Lane,
    Timeline,
    Wire,
    align,
    assemble,
)
from skbviewer.analysis.timeline.pixel_bins import DROP, LAYER, OPEN, boxes
from skbviewer.analysis.timeline.row_stacking import MOST_ROWS, nothing_stacked, ranks, stack
from skbviewer.analysis.timeline.session_overview import BINS, Gap, overview
from skbviewer.records import Silent
from skbviewer.records.scratch_memory import Scratch

Index = npt.NDArray[np.int64]
FUNCTIONS = Functions({1: {0: "ip_rcv", 1: "tcp_v4_rcv", 2: "veth_xmit"}})
T0 = 1_700_000_000_000_000_000


class Shifted:
    """A clock that is T0 late, with an error of 7 ns."""

    def to_session(self, source: int, ts: Index) -> Index:
        return ts + (T0 if source == 1 else 0)

    def to_source(self, source: int, session_ns: Index, interface: int | None = None) -> Index:
        return session_ns - (T0 if source == 1 else 0)

    def of_packets(
        self, source: int, ts: Index, number: Index, interface: Index | None = None
    ) -> Index:
        return self.to_session(source, ts)

    def spans(self, source: int, begin: int | None, end: int | None) -> list[tuple[int, int]]:
        raise NotImplementedError

    def interfaces(self, source: int) -> tuple[int, ...]:
        return ()

    def error(self, source: int, interface: int | None = None) -> int:
        return 7


class Table:
    """Columns of calls made up: (begin, duration, CPU, pid, function) each."""

    def __init__(self, calls: list[tuple[int, int, int, int, int]]) -> None:
        entry, dur, cpu, pid, func = (np.array(c, np.int64) for c in zip(*calls, strict=True))
        number = len(entry)
        nothing = np.zeros(number, np.int64)
        self.of: dict[tuple[str, str], Index] = {
            ("call", "entry_ns"): entry,
            ("call", "dur_ns"): dur,
            ("call", "cpu"): cpu,
            ("call", "pid"): pid,
            ("call", "func"): func,
            ("call", "leg"): nothing + 1,
            ("call", "ordinal"): np.arange(number),
            ("call", "skb"): nothing + 1,
            ("call", "flags"): nothing.copy(),
            ("call", "marks"): nothing.copy(),
            ("call", "drop_reason"): nothing - 1,
            ("leg", "source"): np.ones(1, np.int64),
            ("packet", "ts"): T0 + entry[:3],
            ("event", "event"): np.array([7, 1, 7]),
            ("event", "ts"): np.array([50, 60, 20]),
            ("event", "source"): np.ones(3, np.int64),
        }

    def array(self, table: str, column: str) -> npt.NDArray[np.generic]:
        return self.of[table, column]

    once = array

    def pieces(
        self, table: str, *columns: str
    ) -> Iterator[tuple[int, tuple[npt.NDArray[np.generic], ...]]]:
        whole = [self.of[table, column] for column in columns]
        for first in range(0, len(whole[0]), 7):
            yield first, tuple(column[first : first + 7] for column in whole)

    def length(self, table: str) -> int:
        return len(self.of[table, "entry_ns"])


def nested(count: int, seed: int, cpus: int = 2) -> list[tuple[int, int, int, int, int]]:
    """Calls that nest on each CPU, in bursts with pauses."""
    random = np.random.default_rng(seed)
    made: list[tuple[int, int, int, int, int]] = []
    now = [0] * cpus
    while len(made) < count:
        cpu = int(random.integers(cpus))
        stack_of = [(now[cpu], now[cpu] + int(random.integers(50, 400)))]
        while stack_of:
            begin, end = stack_of.pop()
            made.append((begin, end - begin, cpu, 100 + cpu, int(random.integers(3))))
            if end - begin > 20:
                middle = int(random.integers(begin + 1, end - 1))
                stack_of += [(begin + 1, middle), (middle, end - 1)]
        now[cpu] += 500 + int(random.integers(0, 100_000) * (random.random() < 0.1))
    return sorted(made)


def made(table: Table, kind: str = "cpu", scratch: Scratch | None = None) -> Timeline:
    room = scratch or Scratch()
    part, keys = calls_by(kind, table, Shifted(), FUNCTIONS, T0, Silent(), room)
    lanes = [Lane(f"{key.key}", 0, 0, "calls", key.key, key.source) for key in keys]
    end = T0 + int((part.begin + part.dur).max()) + 1
    return assemble(kind, (T0, end), [(part, lanes)], FUNCTIONS.names, scratch=room)


def test_stacked_calls_get_their_depth() -> None:
    begin, end = np.array([0, 1, 2, 5, 20]), np.array([10, 4, 3, 9, 30])
    assert stack(begin, end - begin).tolist() == [0, 1, 2, 1, 0]


def test_calls_that_do_not_nest_hide_no_other() -> None:
    begin, end = np.array([0, 5, 8, 12]), np.array([10, 20, 30, 13])
    row = stack(begin, end - begin)
    for one in range(4):
        for other in range(one):
            apart = end[other] <= begin[one] or end[one] <= begin[other]
            assert apart or row[one] != row[other]


def test_nesting_deeper_than_there_are_rows_ends_in_the_last() -> None:
    begin = np.arange(50)
    assert stack(begin, 1000 - 2 * begin).tolist() == [min(n, MOST_ROWS - 1) for n in range(50)]


def test_a_lane_in_parts_has_the_rows_of_the_whole() -> None:
    random = np.random.default_rng(3)
    begin, dur = np.sort(random.integers(0, 9000, 400)), random.integers(0, 200, 400)
    reach = nothing_stacked()
    parts = [stack(begin[mine], dur[mine], reach) for mine in np.array_split(np.arange(400), 7)]
    whole = np.concatenate(parts)
    assert whole.tolist() == stack(begin, dur).tolist()
    ends: list[list[int]] = [[] for _ in range(MOST_ROWS)]
    for start, length, row in zip(begin.tolist(), dur.tolist(), whole.tolist(), strict=True):
        assert all(end <= start for of in ends[row : MOST_ROWS - 1] for end in of)
        assert row == 0 or any(end > start for of in ends[row - 1 :] for end in of)
        ends[row].append(start + length)


def test_moments_are_below_a_call_of_an_earlier_part() -> None:
    reach = nothing_stacked()
    assert stack(np.array([0]), np.array([10]), reach).tolist() == [0]
    assert stack(np.array([5, 10]), np.array([0, 0]), reach).tolist() == [1, 0]


@pytest.mark.parametrize("groups", [1, 7, 1000, 1 << 17])
def test_rows_are_ordered_as_numpy_orders_them(groups: int) -> None:
    random = np.random.default_rng(groups)
    group, begin = random.integers(0, groups, 5000), random.integers(0, 900, 5000)
    order, starts = group_order(group, groups)
    assert order.tolist() == np.argsort(group, kind="stable").tolist()
    assert starts.tolist() == np.searchsorted(group[order], np.arange(groups + 1)).tolist()
    assert order_by(group, begin).tolist() == np.lexsort((begin, group)).tolist()
    assert order_by(group[:0], begin[:0]).tolist() == []


def test_boxes_in_files_are_those_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In blocks of a few rows, and in files, the boxes are the same."""
    table = Table(nested(3_000, 4))
    wanted = made(table, scratch=Scratch())
    monkeypatch.setattr("skbviewer.records.scratch_memory.SMALLEST_FILE", 1)
    for module in ("lanes", "lane_calls"):
        monkeypatch.setattr(f"skbviewer.analysis.timeline.{module}.BLOCK", 97)
    found = made(table, scratch=Scratch(tmp_path))
    assert found.lanes == wanted.lanes and len(wanted.boxes.begin) > 3_000
    for name in wanted.boxes._fields:
        assert getattr(found.boxes, name).tolist() == getattr(wanted.boxes, name).tolist()
    assert not list(tmp_path.iterdir())  # the files have no names
    monkeypatch.setattr("skbviewer.analysis.timeline.lanes.LONG_ROW", 100)
    whole = (0, wanted.span_ns, 300)
    for rows in (None, range(1, 3), range(0)):
        assert found.bins(*whole, rows).tolist() == wanted.bins(*whole, rows).tolist()


def test_ranks_of_far_numbers_and_of_none() -> None:
    distinct, at = ranks(np.array([1 << 40, 5, 1 << 40]))
    assert distinct.tolist() == [5, 1 << 40]
    assert at.tolist() == [1, 0, 1]
    assert [len(part) for part in ranks(np.zeros(0, np.int64))] == [0, 0]


@pytest.mark.parametrize("kind", ["cpu", "process", "layer"])
def test_no_box_of_a_row_overlaps_another(kind: str) -> None:
    made_up = nested(3000, 1)
    line = made(Table(made_up), kind)
    of = line.boxes
    assert sorted(of.item.tolist()) == list(range(len(made_up)))
    for row in range(line.rows):
        begin, end = (c[of.starts[row] : of.starts[row + 1]] for c in (of.begin, of.end))
        assert (begin[1:] >= end[:-1]).all()


def test_lanes_hold_the_calls_of_their_key() -> None:
    calls = nested(500, 2, cpus=3)
    line = made(Table(calls))
    assert [lane.title for lane in line.lanes] == ["0", "1", "2"]
    for lane in line.lanes:
        low, high = line.boxes.starts[[lane.first, lane.first + lane.rows]]
        held = {calls[item][2] for item in line.boxes.item[low:high].tolist()}
        assert held == {lane.key}
    assert line.lane_of(line.rows - 1).title == "2"


def test_the_idle_task_has_a_lane_on_each_cpu_and_layers_have_too() -> None:
    table = Table([(0, 10, 0, 0, 0), (5, 10, 1, 0, 0), (20, 5, 0, 9, 1), (30, 1, 0, 9, 0)])
    _, keys = calls_by("process", table, Shifted(), FUNCTIONS, T0, Silent(), Scratch())
    assert [(key.key, key.cpu) for key in keys] == [(9, -1), (0, 0), (0, 1)]  # busiest first
    _, keys = calls_by("layer", table, Shifted(), FUNCTIONS, T0, Silent(), Scratch())
    lanes = [(layer_names()[key.key], key.cpu) for key in keys]
    assert lanes == [("transport", 0), ("ip", 0), ("ip", 1)]


def test_a_call_recorded_for_two_packets_by_its_socket_is_shown_once() -> None:
    table = Table([(0, 90, 0, 7, 1), (0, 90, 0, 7, 1), (10, 5, 0, 7, 0)])
    table.of["call", "flags"][:2] = 0x80
    table.of["call", "skb"][:2] = 0
    table.of["call", "ordinal"][:] = [4, 4, 5]
    assert sorted(made(table).boxes.item.tolist()) == [0, 2]


def test_a_call_that_slept_stands_below_those_that_ran() -> None:
    table = Table([(0, 100, 0, 7, 1), (10, 5, 0, 8, 0), (20, 5, 0, 8, 0)])
    table.of["call", "marks"][0] = 1
    line = made(table)
    assert [line.names[name] for name in line.boxes.name] == ["ip_rcv", "ip_rcv", "tcp_v4_rcv"]
    assert line.rows == 2
    assert line.boxes.item.tolist() == [1, 2, 0]


@pytest.mark.parametrize("window", [(0, 10**7, 500), (100_000, 140_000, 300), (1_003, 1_050, 700)])
def test_bins_hold_every_call_of_the_window_once(window: tuple[int, int, int]) -> None:
    calls = nested(20_000, 3)
    line = made(Table(calls))
    begin, end, width = window
    found = line.bins(begin, end, width)
    for row in range(line.rows):
        low, high = line.boxes.starts[[row, row + 1]]
        starts, ends = line.boxes.begin[low:high], line.boxes.end[low:high]
        inside = (starts < end) & ((ends > begin) | (starts >= begin))
        mine = found[found["row"] == row]
        assert mine["count"].sum() == inside.sum()
        assert (mine["begin"][1:] >= mine["end"][:-1]).all()
        wide = inside & (ends - starts > (end - begin) // width)
        single = mine[(mine["end"] - mine["begin"] > (end - begin) // width) & (mine["count"] == 1)]
        assert single["begin"].tolist() == starts[wide].tolist()
        assert single["item"].tolist() == line.boxes.item[low:high][wide].tolist()


def test_a_bin_shows_the_layer_of_most_and_a_drop_among_many() -> None:
    look = np.full(1000, 3, np.uint8)
    look[500:600] = 5
    look[777] |= DROP
    at = np.arange(1000, dtype=np.int64)
    of = boxes(np.array([0, 1000]), at * 10, np.ones(1000, np.uint32), look, at)
    line = Timeline("cpu", 0, 10_000, (), of, layer_names())
    (whole,) = line.bins(0, 1_000_000, 10, range(1))
    assert whole["count"] == 1000
    assert whole["look"] == 3 | DROP
    assert whole["mixed"]
    parts = line.bins(0, 10_000, 10, range(1))
    assert parts["count"].tolist() == [100] * 10
    assert (parts["look"] & LAYER).tolist() == [3] * 5 + [5] + [3] * 4
    assert [bool(look & DROP) for look in parts["look"]] == [n == 7 for n in range(10)]


def test_calls_without_an_exit_are_marked() -> None:
    table = Table([(0, -1, 0, 7, 0), (10, 5, 0, 7, 0)])
    table.of["call", "drop_reason"][1] = 2
    assert [int(look) & ~LAYER for look in made(table).boxes.look] == [OPEN, DROP]


def test_wire_times_have_a_lane_of_their_own_in_order_of_time() -> None:
    table = Table([(30, 1, 0, 7, 0), (10, 1, 0, 7, 0), (20, 1, 0, 7, 0)])
    part = wires_of(table, Shifted(), [(2, 0, 3)], T0, Scratch())
    lanes = [Lane("wire", 0, 0, "wire", 2, 2, 7)]
    line = assemble("cpu", (T0, T0 + 100), [(part, lanes)], ("",))
    found = line.bins(0, 100, 100)
    assert found["begin"].tolist() == [10, 20, 30]
    assert found["item"].tolist() == [1, 2, 0]
    assert set(found["look"]) == {WIRE}
    assert line.layers[WIRE] == "wire"


def test_an_overview_counts_everything_and_places_gaps_and_drops() -> None:
    table = Table(nested(2_000, 4))
    gap = Gap(100, 5_000, 1, 1, 33, 1)
    whole = overview(table, Shifted(), [(2, 0, 3)], [gap])
    assert whole.t0_ns == T0
    assert whole.calls.sum() == table.length("call")
    assert len(whole.calls) == BINS
    assert whole.packets.sum() == 3
    assert whole.gaps == (gap,)
    assert whole.drops.tolist() == [20, 50]


def test_an_overview_of_nothing() -> None:
    table = Table([(0, 1, 0, 7, 0)])
    table.of = {key: column[:0] for key, column in table.of.items()}
    whole = overview(table, Shifted(), [], [])
    assert (whole.t0_ns, whole.span_ns, whole.calls.sum()) == (0, 1, 0)


def test_functions_of_several_recordings_share_numbers() -> None:
    both = Functions({1: {0: "ip_rcv"}, 3: {0: "tcp_v4_rcv", 5: "ip_rcv"}})
    assert both.names == ("", "ip_rcv", "tcp_v4_rcv")
    assert both.numbers(1, np.array([0, 9, -1])).tolist() == [1, 0, 0]
    assert both.numbers(3, np.array([5, 0, 2])).tolist() == [1, 2, 0]
    assert both.numbers(2, np.array([0])).tolist() == [0]
    assert [layer_names()[n] for n in both.layers(both.numbers(3, np.array([0])))] == ["transport"]


def test_aligned_lanes_begin_with_their_first_call() -> None:
    table = Table([(100, 10, 0, 7, 0), (105, 2, 0, 7, 1), (300, 50, 1, 7, 0)])
    part, keys = calls_by("cpu", table, Shifted(), FUNCTIONS, T0, Silent(), Scratch())
    wires = [Wire(0, 1, 108, 7), Wire(2, 9, 5000, 7)]
    moved, aligned, _, end = align(part, len(keys) + 1, wires)
    assert moved.begin.tolist() == [0, 5, 0]
    assert (moved.begin + moved.dur).tolist() == [10, 7, 50]
    assert [wire.at for wire in aligned] == [8, 0]
    assert end == 51
