# SPDX-License-Identifier: MIT
"""One nanosecond is one instruction here, so known loops have a known duration."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.analysis.calls.probe_compensation import error_bar
from skbviewer.records import Calibration
from skbviewer.records import kbl_layout as layout
from tests.lab import guest
from tests.lab.fixture import SERIES, Lab, built
from tests.lab.kbl_check import SLOT, Kind
from tests.lab.record import run

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

I64 = npt.NDArray[np.int64]
LENGTHS = (1_000, 10_000, 100_000, 1_000_000)
BELOW = {"inner": 0, "middle": 1, "outer": 2}  # probed calls below each
KINDS = {"skb": "load", "none": "load", "counter": "counter"}  # and the calibration of each
ROUNDS = 15
SOFTWARE = 0x40000000
BACK_END = {"6.1": layout.KblMechanism.KRETPROBE, "6.12": layout.KblMechanism.FPROBE}
TOLERANCE = 0.02


@functools.cache
def calibrated(series: str) -> Lab:
    """The guest on one CPU whose clock counts instructions."""
    how = guest.Run(("calibration",), counted=True)
    return Lab(series, built(series), run(built(series), how, "calibration"))


@pytest.fixture(scope="session", params=SERIES)
def lab(request: pytest.FixtureRequest) -> Lab:
    """The guest of each kernel."""
    return calibrated(request.param)


def values(path: Path) -> dict[str, int]:
    """The lines "name value" of the calibration file."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return {name: int(value) for name, value in (line.split() for line in lines)}


def calls(lab: Lab, kind: str, length: int, name: str) -> npt.NDArray[np.int64]:
    """Return where in its run's slots the CALLs of one function are."""
    state = (lab.out / f"loop-{kind}-{length}.probes").read_text()
    line = next(line for line in state.splitlines() if f" kbltest_{name} " in line)
    slots = raw(lab, kind, length)
    head = np.ascontiguousarray(slots).view(layout.KBL_SPAN_SLOT).reshape(-1)
    return np.flatnonzero((slots[:, 0] == Kind.CALL) & (head["func"] == int(line.split()[0])))


def raw(lab: Lab, kind: str, length: int) -> npt.NDArray[np.uint8]:
    """The slots of one run."""
    return np.fromfile(lab.out / f"loop-{kind}-{length}.cpu0", np.uint8).reshape(-1, SLOT)


def durations(lab: Lab, kind: str, length: int, name: str) -> I64:
    """The durations of one function, ns."""
    slots = raw(lab, kind, length)[calls(lab, kind, length, name)]
    head = np.ascontiguousarray(slots).view(layout.KBL_SPAN_SLOT).reshape(-1)
    return head["dur"].astype(np.int64)


def counts(lab: Lab, length: int, name: str) -> npt.NDArray[np.void]:
    """The counts of one function: KBL_EXT_COUNTER is the only EXT of its CALLs."""
    slots = raw(lab, "counter", length)[calls(lab, "counter", length, name) + 1]
    return np.ascontiguousarray(slots).view(layout.KBL_EXT_COUNTER).reshape(-1)


def cost(lab: Lab, kind: str, unit: str) -> tuple[int, int]:
    """What the probes cost: empty, nested."""
    name = values(lab.out / f"calibration-{KINDS[kind]}")
    carrying = "" if kind == "none" else "skb_"
    return name[f"{unit}_{carrying}empty"], name[f"{unit}_{carrying}nested"]


def wrong_by(measured: I64, below: int, costs: tuple[int, int], length: int) -> float:
    """Return how far the median is from the truth, after compensation."""
    empty, nested = costs
    truth = length * (below + 1)
    return abs(float(np.median(measured)) - empty - below * nested - truth) / truth


def test_loops_take_their_instructions_without_probes(lab: Lab) -> None:
    lines = [line.split() for line in (lab.out / "loop-bare").read_text().splitlines()]
    assert [int(length) for length, _ in lines] == list(LENGTHS)
    # Three loops and what calls them and reads the clock
    assert all(0 < int(ns) - 3 * int(length) < 100 for length, ns in lines)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", BELOW)
def test_compensated_times_are_right(lab: Lab, kind: str, length: int, name: str) -> None:
    measured = durations(lab, kind, length, name)
    assert len(measured) == ROUNDS
    assert wrong_by(measured, BELOW[name], cost(lab, kind, "tau"), length) < TOLERANCE


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", BELOW)
def test_compensated_counts_are_right(lab: Lab, length: int, name: str) -> None:
    counted = counts(lab, length, name)
    assert set(counted["type"]) == {layout.KblExtType.COUNTER}
    assert set(counted["event"]) == {SOFTWARE}
    assert set(counted["valid"]) == {1}
    measured = counted["count"].astype(np.int64)
    assert wrong_by(measured, BELOW[name], cost(lab, "counter", "n"), length) < TOLERANCE


def test_without_compensation_they_would_be_wrong(lab: Lab) -> None:
    for name, below in BELOW.items():
        measured = durations(lab, "skb", LENGTHS[0], name)
        assert wrong_by(measured, below, (0, 0), LENGTHS[0]) > 10 * TOLERANCE


def test_calibration_is_measured_at_load(lab: Lab) -> None:
    load = values(lab.out / "calibration-load")
    assert load["rounds"] > 50
    assert load["mechanism"] == BACK_END[lab.series]
    assert all(load[f"n_{name}"] == 0 for name in ("empty", "pair", "nested", "skb_pair"))
    assert 0 < load["tau_skb_empty"] < load["tau_skb_pair"]


def test_calibration_on_request_agrees(lab: Lab) -> None:
    load, again = (values(lab.out / f"calibration-{name}") for name in ("load", "again"))
    assert again["mono_ns"] > load["mono_ns"]
    for name in ("tau_empty", "tau_nested", "tau_skb_empty", "tau_skb_nested"):
        assert abs(again[name] - load[name]) <= 10, name


def test_counter_is_refused_where_there_is_no_pmu(lab: Lab) -> None:
    said = (lab.out / "refused-counter").read_text().splitlines()
    # Five that there is no register for, five that are no words, two while recording
    assert [line.rpartition(": ")[2] for line in said] == (
        ["Operation not supported"] * 5 + ["Invalid argument"] * 5 + ["Device or resource busy"] * 2
    )
    log = (lab.out / "dmesg.txt").read_text()
    assert len(re.findall(r"kbl: counter: \S+ cannot be counted here: no PMU", log)) == 5
    assert log.count("is not one of instructions cycles") == 5


def test_the_error_bars_hold_the_truth(lab: Lab) -> None:
    """They hold it for at least 95 of 100 single calls, not only for medians."""
    held, total = 0, 0
    calibrated = values(lab.out / "calibration-load")
    words = ("tau_empty", "tau_nested", "tau_skb_empty", "tau_skb_nested")
    known = Calibration(*(calibrated[word] for word in words))
    for kind in ("skb", "none"):
        empty, nested = cost(lab, kind, "tau")
        for length in LENGTHS:
            for name, below in BELOW.items():
                measured = durations(lab, kind, length, name)
                taken = empty + below * nested
                left = np.maximum(measured - taken, 0)  # comp_ns and comp_err_ns
                probes, no_events = np.full(len(measured), taken), np.zeros(len(measured), np.int64)
                bar = error_bar(known, probes, no_events, measured)
                held += int(np.count_nonzero(np.abs(left - length * (below + 1)) <= bar))
                total += len(measured)
    print(f"{lab.series}: {held} of {total} calls are within their bar")
    assert total == len(LENGTHS) * len(BELOW) * ROUNDS * 2
    assert held >= 0.95 * total
