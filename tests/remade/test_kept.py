# SPDX-License-Identifier: MIT
"""What the tables of docs/remade.md say, judged by something that shares no code with skbviewer."""

from __future__ import annotations

import re
from statistics import median

import numpy as np
import pytest

from tests.bench.scanner import VERSIONS
from tests.bench.scanner_oracle import NAMED
from tests.instructions.counts import ENTRY, column
from tests.instructions.joined_calls import READ_CLOCK
from tests.instructions.recorded import SERIES, Phase, recorded
from tests.remade import scan
from tests.remade.every_call import call_counts, every_call_rows, program_counts
from tests.remade.executed import counted_calls, segment_calls
from tests.remade.kept import SIZES, CaptureClock, guest_files
from tests.remade.late_clock import SHIFTS, matched, session, true_offset_ns, wall_clock_behind_us
from tests.remade.layer_events import probe_events, sent_by_layer
from tests.remade.machine_tables import interrupt_rows, kernel_counts, system_call_rows
from tests.remade.markdown import SECOND
from tests.remade.successors import SUCCESSORS
from tests.remade.touched_memory import data_paths
from tests.remade.user_round_trips import LISTS, estimates, without_probes

MOST_OFF = 0.03  # of formula (5), of the round trip without probes
STAMP_US = 1  # resolution of the capture
FIT_NS = 10_000  # between the fitted and the true offset of the clocks, at most
WIDTH_US = 1000  # between the bounds of the clocks' difference


@pytest.mark.parametrize("version", VERSIONS)
def test_named_functions_are_found_or_gone_with_a_successor(version: str) -> None:
    kinds: dict[str, set[str | None]] = {}
    for row in scan.kept(version).functions:
        kinds.setdefault(row["function"], set()).add(row["kind"])
    for name in NAMED:
        if name in kinds:
            assert kinds[name] != {None}, name
        else:
            assert kinds[SUCCESSORS[name][0]] != {None}, name


def test_the_wall_clock_is_as_far_behind_as_the_guest_set_it() -> None:
    """The guest set it by the emulator's time, by which the emulator stamps packets."""
    least, most = wall_clock_behind_us()
    assert least - STAMP_US <= CaptureClock.BEHIND_S * 1e6 <= most
    assert most - least < WIDTH_US


@pytest.mark.parametrize("shift", SHIFTS.values())
def test_matching_does_not_depend_on_the_clock(shift: int) -> None:
    recorded, ours = matched(session()), matched(session(shift))
    assert ours.lifetimes == recorded.lifetimes
    assert ours.verdicts == recorded.verdicts
    assert ours.offset_ns - recorded.offset_ns == shift * SECOND
    assert abs(ours.offset_ns - true_offset_ns(shift)) <= min(ours.residual_ns, FIT_NS)


@pytest.mark.parametrize("name", LISTS)
def test_formula_5_gives_the_round_trip_without_probes(name: str) -> None:
    truth = {size: median(some) for size, some in without_probes().items()}
    found = estimates(name)
    assert sorted(found) == sorted(truth) == sorted(SIZES)
    for size, some in found.items():
        shown = median(one.without for one in some)
        assert abs(shown / truth[size] - 1) <= MOST_OFF
        assert abs(shown - truth[size]) <= median(one.error for one in some)
        assert median(one.seen for one in some) > 1.2 * truth[size]


def test_interrupts_are_those_that_the_kernel_counted() -> None:
    """The kernel was asked within the recording; devices had nothing to do outside."""
    counted = kernel_counts()
    rows: dict[tuple[str, str], int] = {}
    for row in interrupt_rows():
        rows[row.kind, row.name] = rows.get((row.kind, row.name), 0) + row.number
    assert rows["softirq", "NET_RX"] == counted["softirq", "NET_RX"] > 0
    virtio = [key for key in rows if key[0] == "interrupt"]
    assert len(virtio) > 2
    for key, number in counted.items():
        if key in rows:
            assert rows[key] >= number, key


def test_system_calls_are_those_of_the_program() -> None:
    """tests/lab/traffic.c makes each of these once; "ip", which starts it, makes others."""
    made = {row.syscall: row.number for row in system_call_rows() if row.process == "traffic"}
    assert [made[name] for name in ("connect", "write", "read", "close")] == [1, 1, 1, 1]


def test_all_system_calls_are_those_that_the_kernel_counted() -> None:
    rows, counted, made = every_call_rows(), call_counts(), program_counts()
    assert len(rows) > 20
    assert all(row.number == counted[row.syscall] for row in rows)
    found = {row.syscall: (row.number, row.errors) for row in rows}
    assert {name: found[name] for name in made} == made


def test_recorded_durations_are_what_the_emulator_counted() -> None:
    counted = counted_calls()
    calls = segment_calls()
    assert len(calls) > 50
    for call in calls:
        steps = counted[call.function, call.entry_ns]
        assert call.dur_ns is not None
        assert abs(call.dur_ns - steps.kernel - steps.probe) <= READ_CLOCK, call.function


def test_bad_words_change_nothing() -> None:
    text = (guest_files() / "control-file.txt").read_text("utf-8")
    states = re.findall(r"^((?:in)?active) armed (\d+) written (\d+) lost 0$", text, re.MULTILINE)
    assert [state for state, *_ in states] == [
        "inactive", "active", "active", "active", "inactive", "inactive",
    ]  # fmt: skip
    before, after = states[2:4]
    assert before == after
    assert int(states[2][2]) > int(states[1][2])
    assert states[4] == states[5]
    refused = re.findall(
        r"^# echo '?([^'\n]*?)'? > /proc/net/kbl\nsh: write error", text, re.MULTILINE
    )
    assert refused == ["Activate", "start", "activate now", "", "activate", "off"]


def test_formulas_of_events_are_near_the_truth_where_much_is_executed() -> None:
    """They have no term for events, so they leave too much, most where functions are short."""
    found = sent_by_layer()
    assert {"transport", "ip", "link", "driver"} <= {*found}
    recorded, formula, kernel = (
        sum(getattr(one, part) for some in found.values() for one in some)
        for part in ("recorded", "formula", "kernel")
    )
    assert kernel <= formula < kernel * 1.2 < recorded
    for some in found.values():
        assert sum(one.formula for one in some) >= sum(one.kernel for one in some)


def test_the_kernels_own_events_are_the_steps_that_are_shown() -> None:
    """The emulator's sums, by a stack of open calls, and those that `--steps` shows."""
    shown = [
        call.executed_self
        for path in data_paths()
        for leg in path.legs
        if leg.kind == "tx"
        for call in leg.calls
        if call.executed_self is not None
    ]
    assert sum(shown) == sum(one.kernel for some in sent_by_layer().values() for one in some)
    assert len(shown) > 50


@pytest.mark.parametrize("series", SERIES)
def test_a_pair_of_probes_costs_more_than_its_call_shows(series: str) -> None:
    """The sums of a whole round of the loop, which has three pairs."""
    marks = recorded(series).counts[Phase.PROBED_TWICE].of_kind(ENTRY)
    rounds = np.diff(column(marks, "probe")[::3])
    cost = probe_events(series)
    assert cost.inside < cost.pair
    assert abs(np.median(rounds) - 3 * cost.pair) < 10
