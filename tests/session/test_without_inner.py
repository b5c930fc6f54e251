# SPDX-License-Identifier: MIT
"""Functions without an skb left out: everything is as if they had never had a probe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from skbviewer.analysis.graphs.io_graph_series import IoSeries
from skbviewer.analysis.stats import STATISTICS, Chosen
from skbviewer.analysis.timeline.lanes import Timeline
from skbviewer.analysis.timeline.pixel_bins import LAYER
from skbviewer.export.formats import Request
from skbviewer.export.perfetto.trace import write_perfetto
from skbviewer.records.kbl_layout import KblEvent
from skbviewer.session import Session
from skbviewer.session.kernel.session_graphs import GRAPHS
from skbviewer.session.session_comparison import comparison_of
from tests.analysis.ingest.test_calls_without_skb import (
    INTERRUPT,
    LOCK,
    ROUTE,
    SENDER,
    A,
    inner_call,
    sending,
)
from tests.analysis.ingest.test_event_rows import MINE, imported
from tests.matching.story import HOST, Story, udp4

TABLES = ("packets", "legs", "lifetimes", "matches", "calls", "waits", "events", "drops")
C = 0xFFFF888000003000


def story(inner: bool) -> Story:
    """A packet is sent, and another one dropped; the drop is inside an inner call."""
    made = sending(inner)
    made.call("ip_rcv", 20_000, 26_000, C, skbinfo=HOST, ipv4=udp4(3), **INTERRUPT)
    if inner:
        inner_call(made, ROUTE, 21_000, 25_000, **INTERRUPT)
    made.call("kfree_skb_reason", 22_000, 24_000, C, skbinfo=HOST, ipv4=udp4(3), **INTERRUPT)
    if inner:
        inner_call(made, LOCK, 22_500, 23_500, **INTERRUPT)
    made.event(23_000, KblEvent.DROP, C, 5, **INTERRUPT)
    made.call("ip_finish_output2", 30_000, 31_000, A, skbinfo=MINE, ipv4=udp4(1), **SENDER)
    return made


class Both(NamedTuple):
    """The session that hides inner calls, and the one that never had any."""

    hidden: Session
    plain: Session


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    hidden, plain = (
        imported(tmp_path_factory.mktemp(name), story(name == "hidden")) for name in Both._fields
    )
    hidden.show_inner(False)
    return Both(hidden, plain)


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("name", sorted(STATISTICS))
def test_statistics(both: Both, name: str, everything: bool) -> None:
    tables = [one.stats.table_of(name, Chosen(everything=everything)) for one in both]
    rows = [[row for row in table.rows if row[0] != "recorded"] for table in tables]
    assert tables[0].keys == tables[1].keys and list(rows[0]) == list(rows[1])


def test_statistics_of_some_packets_and_times(both: Both) -> None:
    for name in ("functions", "callgraph", "layers", "latency"):
        for chosen in (Chosen(np.array([-1])), Chosen(np.array([1])), Chosen(None, 0, 10**18)):
            shown, hidden = (list(one.stats.table_of(name, chosen).rows) for one in both)
            assert shown == hidden


def test_diagnosis(both: Both) -> None:
    hidden, plain = (one.stats.diagnosis(Chosen(everything=True)) for one in both)
    assert hidden.judged == plain.judged and hidden.findings
    for one, two in zip(hidden.findings, plain.findings, strict=True):
        assert (one.rule, one.text, one.cost_ns) == (two.rule, two.text, two.cost_ns)
        assert [fact._replace(id=None) for fact in one.evidence] == [
            fact._replace(id=None) for fact in two.evidence
        ]


@pytest.mark.parametrize("name", TABLES)
def test_documented_tables(both: Both, name: str) -> None:
    """The calls that are left have the numbers 1, 2, ..., and other tables refer to these."""
    (hidden,), (plain,) = (list(one.tables.blocks(name)) for one in both)
    for column, vector in plain.items():
        assert texts(hidden[column]) == texts(vector), column


def texts(vector: Any) -> list[Any]:
    values = vector.values.tolist()
    if vector.words is not None:
        return [None if code < 0 else vector.words[code] for code in values]
    missing = vector.missing.tolist() if vector.missing is not None else [False] * len(values)
    return [None if gone else value for value, gone in zip(values, missing, strict=True)]


@pytest.mark.parametrize("kind", ["cpu", "layer", "process", "packet", "aligned"])
def test_lanes(both: Both, kind: str) -> None:
    ids = (1, -1, -2) if kind in ("packet", "aligned") else ()
    hidden, plain = (one.timeline.lanes(kind, ids) for one in both)
    assert boxes(hidden) == boxes(plain)
    assert set(functions_of_items(both.hidden, hidden)) == set(boxes_of_calls(hidden))
    both.hidden.show_inner(True)
    try:
        shown = both.hidden.timeline.lanes(kind, ids)
        inner = np.isin([shown.names[one] for one in shown.boxes.name.tolist()], [LOCK, ROUTE])
        layers = {shown.layers[one] for one in (shown.boxes.look[inner] & LAYER).tolist()}
        assert layers == {"other"}  # by its name, ROUTE would be a function of IP
    finally:
        both.hidden.show_inner(False)


def boxes(made: Timeline) -> list[tuple[Any, ...]]:
    of = made.boxes
    names = [made.names[number] for number in of.name.tolist()]
    return sorted(zip(names, of.begin.tolist(), of.end.tolist(), strict=True))


def rows_of_calls(made: Timeline) -> np.ndarray[Any, np.dtype[np.bool_]]:
    is_call, starts = np.zeros(len(made.boxes.begin), np.bool_), made.boxes.starts
    for lane in made.lanes:
        if lane.what == "calls":
            is_call[starts[lane.first] : starts[lane.first + lane.rows]] = True
    return is_call


def boxes_of_calls(made: Timeline) -> list[str]:
    return [made.names[one] for one in made.boxes.name[rows_of_calls(made)].tolist()]


def functions_of_items(session: Session, made: Timeline) -> list[str]:
    """Return the functions of the calls to which the boxes refer, by their ids."""
    items = made.boxes.item[rows_of_calls(made)].tolist()
    return [session.paths.call_place(item + 1).path_call.function for item in items]


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_graphs(both: Both, name: str) -> None:
    asks: dict[str, Callable[[Session], Any]] = {
        "io graph": lambda one: one.graphs.io(Chosen()),
        "latency graph": lambda one: one.graphs.latencies(Chosen()),
        "path graph": lambda one: one.graphs.paths(Chosen()),
        "flame graph": lambda one: one.graphs.stacks(Chosen()),
        "round trip graph": lambda one: one.graphs.round_trips(Chosen()),
    }
    ask = asks[name]
    assert plain_values(ask(both.hidden)) == plain_values(ask(both.plain))


def plain_values(made: Any) -> Any:
    if isinstance(made, np.ndarray):
        return made.tolist()
    if isinstance(made, tuple | list | IoSeries):
        return [plain_values(one) for one in made]
    return made


def test_trace_for_perfetto(both: Both, tmp_path: Path) -> None:
    made = []
    for number, one in enumerate(both):
        write_perfetto(one, Request(), tmp_path / f"{number}.pftrace")
        made.append((tmp_path / f"{number}.pftrace").read_bytes())
    assert made[0] == made[1]


def test_comparison(both: Both) -> None:
    found = comparison_of(*both)
    assert found.amounts[0] == found.amounts[1] and found.rows
    assert all(row.a == row.b for row in found.rows)


def test_ids_of_calls_are_those_of_the_session(both: Both) -> None:
    columns = both.hidden.stats.scope(Chosen(everything=True)).columns
    func, stored = columns.array("call", "func"), both.hidden.columns.array("call", "func")
    rows = np.arange(columns.length("call"))
    assert stored[columns.stored_rows("call", rows)].tolist() == func.tolist()
    assert len(rows) < len(stored)


def test_without_such_calls_nothing_is_made_anew(both: Both) -> None:
    """The stored results are used, and the columns are those of the session."""
    plain = both.plain
    plain.show_inner(False)
    try:
        assert plain.stats.shown(Chosen()).inner
        assert plain.stats.scope().columns is plain.columns
    finally:
        plain.show_inner(True)
    assert not both.hidden.stats.shown(Chosen()).inner
