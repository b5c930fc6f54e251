# SPDX-License-Identifier: MIT
"""Instructions by function and layer of a recorded run, added up again in plain Python."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from skbviewer.analysis.words.function_layers import layer_of
from skbviewer.cli import main
from skbviewer.session import Session, import_files
from tests.instructions.recorded import Phase, recorded

SERIES = "6.12"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("steps") / "s.skbv"
    import_files([recorded(SERIES).kbl], out)
    return out


@pytest.fixture(scope="module")
def counts() -> Path:
    return recorded(SERIES).kbl.parent / f"counts.{Phase.TRAFFIC.value}"


@pytest.fixture(scope="module")
def calls(session: Path, counts: Path) -> list[dict[str, Any]]:
    """Return the calls of all paths with their steps, each call once."""
    opened = Session.open(session)
    steps = opened.executed_steps(counts).of_log[1]
    number = {entry: at for at, entry in enumerate(steps.entry_ns.tolist())}
    once = dict[int, dict[str, Any]]()
    for row in opened.packets.kernel_only(1, opened.packets.kernel_only_count()):
        for leg in opened.paths.path(series=row.series).legs:
            for call in leg.calls:
                at = number.get(call.entry_ns)
                if at is not None and leg.kernel_ns is not None:
                    parts = (steps.executed, steps.own, steps.probes)
                    values = zip(("executed", "own", "probes"), parts, strict=True)
                    once[call.entry_ns] = {
                        "function": call.function,
                        **{name: int(part[at]) for name, part in values},
                    }
    assert len(once) > 10_000
    return list(once.values())


def table(words: list[str], capsys: Captured) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["stats", *words, "--json"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows


def test_functions(
    session: Path, counts: Path, calls: list[dict[str, Any]], capsys: Captured
) -> None:
    words = [str(session), "functions", "--steps", str(counts)]
    rows = {row["function"]: row for row in table(words, capsys)}
    number, sums = Counter[str](), Counter[tuple[str, str]]()
    for call in calls:
        number[call["function"]] += call["executed"] >= 0
        for part in ("executed", "own", "probes"):
            sums[call["function"], part] += max(call[part], 0)
    assert sum(row["executed_calls"] for row in rows.values()) == number.total()
    for name, row in rows.items():
        assert row["executed_calls"] == number[name]
        wanted = [sums[name, part] for part in ("executed", "own", "probes")]
        found = [row["executed"], row["executed_self"], row["executed_probes"]]
        assert found == (wanted if number[name] else 3 * [None])


def test_layers(session: Path, counts: Path, calls: list[dict[str, Any]], capsys: Captured) -> None:
    words = [str(session), "layers", "--steps", str(counts)]
    number, sums = Counter[str](), Counter[str]()
    for call in calls:
        if call["own"] >= 0:
            number[layer_of(call["function"])] += 1
            sums[layer_of(call["function"])] += call["own"]
    rows = table(words, capsys)
    busy = {row["layer"]: row for row in rows if row["kind"] == "busy"}
    assert {name: row["executed_self"] for name, row in busy.items()} == sums
    assert {name: row["executed_calls"] for name, row in busy.items()} == number
    for row in rows:
        if row["kind"] != "busy":
            assert (row["executed_calls"], row["executed_self"]) == (None, None)


def test_notes_and_columns(session: Path, counts: Path, capsys: Captured) -> None:
    assert main(["stats", str(session), "functions", "--steps", str(counts)]) == 0
    out, err = capsys.readouterr()
    assert out.split("\n")[0].endswith("executed_calls  executed  executed_self  executed_probes")
    assert "in which another thread may have run" in err
    assert "executed instructions of 18730 calls" in err
    assert main(["stats", str(session), "functions", "--csv"]) == 0
    assert "executed" not in capsys.readouterr().out


def test_tables_that_have_no_steps(session: Path, counts: Path, capsys: Captured) -> None:
    assert main(["stats", str(session), "drops", "--steps", str(counts)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "--steps is for the tables functions and layers" in said
