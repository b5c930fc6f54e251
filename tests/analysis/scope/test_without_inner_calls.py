# SPDX-License-Identifier: MIT
"""With functions without an skb left out, their time is that of their callers."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.analysis.scope.without_inner_calls import path_without_inner
from skbviewer.analysis.stats import Chosen
from skbviewer.session import Session
from tests.analysis.ingest.test_calls_without_skb import LOCK, ROUTE, sending, series_with
from tests.analysis.ingest.test_event_rows import imported

SELF = {
    "tcp_sendmsg": 8000 - 10 - 3000,
    "__alloc_skb": 10,
    "ip_output": 3000 - 600 - 500,
    "dev_hard_start_xmit": 600,
}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return imported(tmp_path, sending(inner=True))


def test_path(session: Session) -> None:
    path = session.paths.path(series=series_with(session, "ip_output"))
    (leg,) = path_without_inner(path).legs
    assert {call.function: call.self_ns for call in leg.calls} == SELF
    assert [(call.depth, call.parent) for call in leg.calls] == [(0, -1), (1, 0), (1, 0), (2, 2)]
    assert sum(call.self_ns or 0 for call in path.legs[0].calls) == sum(SELF.values())


def test_session_has_one_switch(session: Session) -> None:
    series = series_with(session, "ip_output")
    number = session.paths.call_number(None, series, 0, 6)  # dev_hard_start_xmit
    session.paths.show_inner(False)
    path = session.paths.path(series=series)
    assert [call.function for call in path.legs[0].calls] == list(SELF)
    assert session.paths.call_number(None, series, 0, 3) == number
    assert session.paths.call_place(number).path_call.function == "dev_hard_start_xmit"
    lock = number - 1  # stands for the call around it
    assert session.paths.call_place(lock).path_call.function == "ip_output"
    with pytest.raises(KeyError):
        session.paths.call_number(None, series, 0, 4)
    session.stats.show_inner(False)
    rows = session.stats.table("functions").rows
    assert LOCK not in {row[0] for row in rows}
    session.stats.show_inner(True)
    assert LOCK in {row[0] for row in session.stats.table("functions").rows}


def test_tables_have_the_same_sums(session: Session) -> None:
    shown, hidden = Chosen(everything=True), Chosen(everything=True, inner=False)
    for name, column in (("functions", "self_ns"), ("layers", "total_ns")):
        tables = [session.stats.table_of(name, chosen) for chosen in (shown, hidden)]
        sums = [
            sum(row[table.keys.index(column)] for row in table.rows if row[0] not in ("stage",))
            for table in tables
        ]
        assert sums[0] == sums[1] > 0
        first = [{row[0] for row in table.rows} for table in tables]
        if name == "functions":
            assert first[0] - first[1] == {LOCK, ROUTE}
    callers = [set(row[:3]) for row in session.stats.table_of("callgraph", hidden).rows]
    assert any({"dev_hard_start_xmit", "ip_output"} <= caller for caller in callers)
    assert not any({LOCK, ROUTE} & caller for caller in callers)


def test_they_are_in_no_layer_of_the_path(session: Session) -> None:
    """By its name, fib_table_lookup would be a function of IP."""
    scope = session.stats.scope(Chosen(everything=True))
    layer = dict(zip(scope.function_names, scope.layer_names, strict=True))
    assert layer[ROUTE] == "other" and layer["ip_output"] == "ip"
    leg = session.paths.path(series=series_with(session, "ip_output")).legs[0]
    assert {call.layer for call in leg.calls if call.inner} == {"other"}
