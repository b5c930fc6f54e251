# SPDX-License-Identifier: MIT
"""Statistics of real recordings agree with the paths of their packets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from skbviewer.analysis.stats import (
    STATISTICS,
    Chosen,
    Scope,
    Table,
    clock_table,
    function_rows,
    statistic_of,
)
from skbviewer.analysis.stats.statistics import NO_LOG
from skbviewer.cli.main import main
from skbviewer.records import Cancelled, resource
from skbviewer.session import Session, import_files
from skbviewer.session.kernel import session_statistics
from tests.reference.calls import Calls
from tests.reference.slots import read


@pytest.mark.parametrize("name", ["handshake", "nat", "bulk"])
def test_numbers_are_those_of_the_calls_whatever_packets_share_them(
    name: str, tmp_path: Path
) -> None:
    out, log = tmp_path / "s.skbv", resource(f"samples/{name}") / f"{name}.kbl"
    import_files([log, log.with_suffix(".pcap")], out)
    session = Session.open(out)
    rows = {
        row.function: row for row in function_rows(session.stats.scope(Chosen(everything=True)))
    }
    raw = Calls(read(log))
    number, total, own = Counter[str](), Counter[str](), Counter[str]()
    for call in {call for leg in paths(session) for call in leg}:
        one = raw.at[call]
        function = raw.log.functions[one.call.func]
        number[function] += 1
        total[function] += one.dur or 0
        own[function] += one.self_ns or 0
    assert {f: row.number for f, row in rows.items()} == number
    assert {f: row.total_ns for f, row in rows.items()} == total
    assert {f: row.self_ns for f, row in rows.items()} == own
    session.close()


def test_statistics_are_prepared_with_one_packet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[str, int]] = []

    def statistic(name: str, scope: Scope) -> Table:
        table = statistic_of(name, scope)
        made.append((name, len(scope.packets)))
        return table

    monkeypatch.setattr(session_statistics, "statistic_of", statistic)
    out, log = tmp_path / "s.skbv", resource("samples/drops") / "drops.kbl"
    import_files([log.with_suffix(".pcap"), log], out)
    session = Session.open(out)
    with pytest.raises(Cancelled):
        session.stats.prepare(Stop())
    session.stats.prepare()
    session.stats.prepare()  # nothing is left to do
    assert made == [(name, 1) for name in STATISTICS]
    session.close()


class Stop:
    """A progress that was cancelled."""

    def report(self, text: str, done: int, total: int) -> None:
        raise Cancelled


def paths(session: Session) -> Iterator[list[tuple[int, int]]]:
    """Yield the calls of each leg: CPU and entry identify a call in the log."""
    for series in range(1, session.info()["series"] + 1):
        for leg in session.paths.path(series=series).legs:
            yield [(call.cpu, call.entry_ns) for call in leg.calls]


@pytest.mark.parametrize("exact", [True, False])
def test_a_fit_that_no_exact_match_confirms_is_marked(
    exact: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out, log = tmp_path / "s.skbv", resource("samples/drops") / "drops.kbl"
    import_files([log.with_suffix(".pcap"), log], out)
    if not exact:
        monkeypatch.setattr(clock_table, "EXACT", 7)  # so no packet has this verdict
    main(["stats", str(out), "clock"])
    printed = capsys.readouterr()
    assert "source" in printed.out
    assert ("no packet of capture 1 has an exact match" in printed.err) is not exact


def test_an_empty_table_of_a_capture_alone_says_why(tmp_path: Path) -> None:
    out = tmp_path / "s.skbv"
    import_files([resource("samples/drops") / "drops.pcap"], out)
    session = Session.open(out)
    for name in ("functions", "drops", "interrupts"):
        table = session.stats.table(name)
        assert not table.rows and table.notes == (NO_LOG,) and table.warnings == ()
    assert session.stats.table("conversations").rows
    session.close()
