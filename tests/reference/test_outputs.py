# SPDX-License-Identifier: MIT
"""What commands write and what the window shows are the numbers that the reference computes."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from skbviewer.analysis import stats
from skbviewer.analysis.breakdown import (
    harmless_segment_drops,
    leg_columns,
    lost_packets,
    path_class_rule,
    time_parts,
)
from skbviewer.analysis.calls.interruptions import MARK_INTERRUPTED
from skbviewer.analysis.graphs import io_graph_series
from skbviewer.analysis.stats import (
    callgraph_table,
    conversation_table,
    duration_percentiles,
    function_table,
    latency_table,
    process_table,
    program_table,
)
from skbviewer.analysis.stats.machine import interrupt_table, syscall_table
from skbviewer.analysis.streams import round_trips
from skbviewer.analysis.words.function_layers import layers
from skbviewer.analysis.words.wait_kinds import NAMES
from skbviewer.export import folded_stacks, path_text, speedscope, timeline_csv
from skbviewer.gui.base import wording
from skbviewer.gui.timeline import hover_tips, path_layout
from skbviewer.readers import KblEvent
from skbviewer.session import import_files
from skbviewer.store import queries
from tests.analysis.stats.test_tables import udp_story

from .clocks import of_clocks
from .compare import Cell, Made, make
from .conftest import files
from .outputs import of_info, of_paths, of_statistics, of_tables, of_timeline
from .profiles import of_profiles
from .seeded import OF_CLOCKS, seed
from .shown_times import is_time
from .window_texts import WindowTexts

MOST = 12  # packets whose paths are asked for, and as many packet lives
# The package exports a function of this name.
LAYERS = import_module("skbviewer.analysis.stats.layer_table")
WRONG: dict[str, tuple[object, object]] = {
    "PERCENTS": (duration_percentiles, (50, 94, 99, 100)),
    "NAMES": (LAYERS, NAMES[:8]),  # waits that are missing
    # The self time before the packet was there counts, too.
    "own_times": (LAYERS, lambda calls, legs, left, made: np.copyto(made, calls.own)),
    "EXAMPLES": (stats.drop_table, 1),
    "MARK_SLEPT": (function_table, MARK_INTERRUPTED),
    "STACK": (leg_columns, frozenset({"ip_rcv"})),
    "UNWANTED": (lost_packets, frozenset({"nf_hook_slow"})),
    "SYN": (harmless_segment_drops, 0),  # a refused connection is lost
}


@pytest.fixture(scope="module")
def made(session: Path) -> Made:
    """Return what the reference computes from the session's log."""
    db = sqlite3.connect(session)
    db.row_factory = sqlite3.Row
    found = make(db, files(session.stem)[0])
    db.close()
    return found


def differ(cells: Iterator[Cell]) -> list[Cell]:
    """Return the cells that differ from what is expected. Fails if there are no cells."""
    every = list(cells)
    assert every
    return [cell for cell in every if cell[1] != cell[2]]


def is_seen(cells: Iterable[Cell]) -> bool:
    """Return whether a cell differs.  Those after it are not computed."""
    return any(cell[1] != cell[2] for cell in cells)


def test_info_counts_as_the_reference(session: Path, made: Made) -> None:
    assert differ(of_info(session, made)) == []


def test_all_statistics_are_the_reference_s(session: Path, made: Made) -> None:
    assert differ(of_statistics(session, made)) == []


def test_tables_are_the_reference_s(session: Path, made: Made) -> None:
    assert differ(of_tables(session, made)) == []


def test_paths_are_the_reference_s(session: Path, made: Made) -> None:
    assert differ(of_paths(session, made, MOST)) == []


def test_the_timeline_s_boxes_are_the_reference_s(
    session: Path, made: Made, tmp_path: Path
) -> None:
    assert differ(of_timeline(session, made, tmp_path)) == []


def test_call_stacks_are_the_reference_s(session: Path, made: Made, tmp_path: Path) -> None:
    assert differ(of_profiles(session, made, tmp_path, MOST)) == []


def test_clocks_are_possible(session: Path, made: Made) -> None:
    assert differ(of_clocks(session, made)) == []


@pytest.mark.usefixtures("qapp")
def test_the_window_s_texts_are_the_reference_s(session: Path, made: Made) -> None:
    texts = WindowTexts(session, made)
    for cells in (texts.of_list(), texts.of_status(), texts.of_timeline(), texts.of_paths(MOST)):
        assert differ(cells) == []


@pytest.fixture(scope="module")
def drops(good: Path) -> Made:
    """The reference's own of the session that faults are put into."""
    db = sqlite3.connect(good)
    db.row_factory = sqlite3.Row
    found = make(db, files("drops")[0])
    db.close()
    return found


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_statistic_is_seen(
    name: str, good: Path, drops: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, value = WRONG[name]
    monkeypatch.setattr(module, name, value)
    assert is_seen(of_statistics(good, drops))


WRONG_TABLES: dict[str, tuple[object, object]] = {
    "PERCENTS": (io_graph_series, (50, 50, 99, 100)),
    "PERMILLES": (latency_table, (0, 500, 500, 990, 999, 1000)),
    "CALLED": (callgraph_table, "called"),
    "own_calls": (program_table, lambda scope: _with_a_call_missing(scope)),
    "OFF_PATH": (path_class_rule, frozenset(style.name for style in layers())),
    "OTHERS": (time_parts, 0),
    "RX": (round_trips, 0),
    "_sum": (
        conversation_table,
        lambda group, of, size: np.bincount(group, of, size).astype(int) + 1,
    ),
}


def _with_a_call_missing(scope: stats.Scope) -> process_table.OwnCalls:
    found = process_table.own_calls(scope)
    return found._replace(calls=found.calls[:-1], leg=found.leg[:-1], program=found.program[:-1])


@pytest.mark.parametrize("name", WRONG_TABLES)
def test_a_wrong_table_is_seen(
    name: str, good: Path, drops: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, value = WRONG_TABLES[name]
    monkeypatch.setattr(module, name, value)
    assert is_seen(of_tables(good, drops))


def test_a_wrong_count_is_seen(good: Path, drops: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "count", lambda db, table: 7)
    assert is_seen(of_info(good, drops))


def test_a_box_of_another_layer_is_seen(
    good: Path, drops: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline_csv, "LAYER", 1)
    assert is_seen(of_timeline(good, drops, tmp_path))


@pytest.mark.parametrize("fault", ["a sign", "a missing wait"])
def test_a_fault_is_seen_in_a_path(fault: str, good: Path, drops: Made, tmp_path: Path) -> None:
    bad = tmp_path / "bad.skbv"
    seed(good, bad, fault)
    assert is_seen(of_paths(bad, drops, 1000))


@pytest.mark.parametrize("fault", ["a sign", "another parent", "a call not taken off"])
def test_a_fault_is_seen_in_a_path_as_xml(
    fault: str, good: Path, drops: Made, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.skbv"
    seed(good, bad, fault)
    assert is_seen(cell for cell in of_paths(bad, drops, 1000) if "XML" in cell[0])


def test_an_attribute_that_is_missing_is_seen(
    good: Path, drops: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = path_text._attributes
    monkeypatch.setattr(
        path_text, "_attributes", lambda call: {**whole(call), "irq_ns": str(call.irq_ns + 1)}
    )
    assert is_seen(of_paths(good, drops, MOST))


@pytest.mark.parametrize("fault", ["a sign", "a call not taken off", "another function"])
def test_a_fault_is_seen_in_call_stacks(
    fault: str, good: Path, drops: Made, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.skbv"
    seed(good, bad, fault)
    assert is_seen(of_profiles(bad, drops, tmp_path, 1000))


@pytest.mark.parametrize("module", [folded_stacks, speedscope])
def test_a_stack_that_is_missing_is_seen(
    module: ModuleType, good: Path, drops: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = module.stacks_of
    monkeypatch.setattr(module, "stacks_of", lambda *what: every(*what)[1:])
    assert is_seen(of_profiles(good, drops, tmp_path, 1))


def test_an_error_that_no_moment_permits_is_seen(good: Path, drops: Made, tmp_path: Path) -> None:
    """Also where the moments may have been wider when the clock was fitted."""
    bad = tmp_path / "bad.skbv"
    seed(good, bad, "an error far too large")
    assert is_seen(of_clocks(bad, drops, any_pass=True))
    assert differ(of_clocks(good, drops, any_pass=True)) == []


@pytest.mark.parametrize("fault", OF_CLOCKS)
def test_a_wrong_clock_is_seen(fault: str, good: Path, drops: Made, tmp_path: Path) -> None:
    bad = tmp_path / "bad.skbv"
    seed(good, bad, fault)
    assert is_seen(of_clocks(bad, drops))


@pytest.fixture(scope="module")
def eventful(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Made]:
    """A session with interrupts and system calls, some of them in lost records, and its log."""
    folder, of = tmp_path_factory.mktemp("eventful"), random.Random(7)
    story = udp_story()
    story.version = 3
    story.kbl.meta["arch"] = "x86_64"
    story.thread(1, 9, "reader")
    kinds = (
        (KblEvent.IRQ_ENTRY, KblEvent.IRQ_EXIT, (24, 25)),
        (KblEvent.SOFTIRQ_ENTRY, KblEvent.SOFTIRQ_EXIT, (1, 3, 12)),
        (KblEvent.SYSCALL_ENTRY, KblEvent.SYSCALL_EXIT, (44, 45, 999)),
    )
    for at in range(10_000, 200_000, 100):
        begins, ends, numbers = of.choice(kinds)
        number, where = of.choice(numbers), {"cpu": of.randrange(2), "pid": of.choice((7, 9))}
        if of.random() < 0.9:
            story.event(at, begins, 0, number, **where)
        if of.random() < 0.9:
            result = of.choice((-11, 5)) & (1 << 64) - 1 if number > 30 else number
            story.event(at + of.randrange(1, 90), ends, 0, result, **where)
    story.lost(50_000, 3, 47_000)
    story.missed(90_000, 3, 85_000, "ip_rcv")
    story.log(folder)
    import_files([folder / "story.kbl"], folder / "story.skbv")
    db = sqlite3.connect(folder / "story.skbv")
    db.row_factory = sqlite3.Row
    found = make(db, folder / "story.kbl")
    db.close()
    return folder / "story.skbv", found


def test_interrupts_and_system_calls_are_the_reference_s(eventful: tuple[Path, Made]) -> None:
    cells = list(of_tables(*eventful))
    assert [cell for cell in cells if cell[1] != cell[2]] == []
    for table in ("interrupts", "syscalls"):
        assert len([cell for cell in cells if table in cell[0]]) > 30


@pytest.mark.parametrize("module", [interrupt_table, syscall_table])
def test_a_wrong_pair_of_events_is_seen(
    module: ModuleType, eventful: tuple[Path, Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = module.pairs_of

    def longer(*of: object) -> object:
        pairs = right(*of)
        return pairs._replace(ns=pairs.ns + 1)

    monkeypatch.setattr(module, "pairs_of", longer)
    assert is_seen(of_tables(*eventful))


FALSE: dict[str, Callable[[int | None], str]] = {
    "duration": lambda ns: "" if ns is None else f"{ns + 60} ns",
    "microseconds": lambda ns: "" if ns is None else f"{ns / 1000:.2f}",
}


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("name", FALSE)
def test_a_false_text_is_seen(
    name: str, good: Path, drops: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wording, name, FALSE[name])
    texts = WindowTexts(good, drops)
    assert is_seen(texts.of_paths(MOST))


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("fault", ["a sign", "a missing wait", "a wait with another name"])
def test_a_fault_is_seen_in_tips(fault: str, good: Path, drops: Made, tmp_path: Path) -> None:
    bad = tmp_path / "bad.skbv"
    seed(good, bad, fault)
    found = differ(WindowTexts(bad, drops).of_paths(1000))
    assert [
        cell
        for cell in found
        if "the bar" in cell[0] or "the wait" in cell[0] or "drawn" in cell[0]
    ]


@pytest.mark.usefixtures("qapp")
def test_a_false_tip_of_a_bin_is_seen(
    good: Path, drops: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wording, "duration", FALSE["duration"])
    assert is_seen(WindowTexts(good, drops).of_timeline())


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(("module", "name"), [(path_layout, "_end_ns"), (hover_tips, "_table")])
def test_a_false_bar_or_title_is_seen(
    module: ModuleType, name: str, good: Path, drops: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = getattr(module, name)
    more = {"_end_ns": lambda *of: right(*of) + 1, "_table": lambda _, rows: right("", rows)}
    monkeypatch.setattr(module, name, more[name])
    assert is_seen(WindowTexts(good, drops).of_paths(MOST))


def test_a_time_may_be_rounded_but_not_more() -> None:
    assert is_time("17.3 µs", 17_349) and is_time("17.3 µs", 17_250)
    assert not is_time("17.3 µs", 17_351) and not is_time("17.3 ms", 17_300)
    assert is_time("85 ns", 85) and not is_time("85 ns", 86)
    assert is_time("", None) and not is_time("0 ns", None) and not is_time("", 5)
