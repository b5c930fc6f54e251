# SPDX-License-Identifier: MIT
"""Folded stacks and speedscope profiles: values are the self times of `stats` and `path`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skbviewer.analysis.stats import Chosen, call_stacks, function_rows, path_stacks
from skbviewer.cli import main
from skbviewer.export import Request, write_folded, write_speedscope
from skbviewer.records import BadInput, SeriesRow, resource
from skbviewer.session import Session, import_files

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module", params=["handshake", "drops"])
def session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    out = tmp_path_factory.mktemp("stacks") / f"{request.param}.skbv"
    log = resource(f"samples/{request.param}") / f"{request.param}.kbl"
    import_files([log, log.with_suffix(".pcap")], out)
    opened = Session.open(out)
    yield opened
    opened.close()


def folded(session: Session, request: Request, out: Path) -> dict[str, int]:
    """The lines of a file of folded stacks: value by stack."""
    write_folded(session, request, out)
    lines = [line.rsplit(" ", 1) for line in out.read_text().splitlines()]
    assert len({stack for stack, _ in lines}) == len(lines)
    return {stack: int(value) for stack, value in lines}


def self_times(session: Session, chosen: Chosen) -> dict[str, int]:
    """Return the self time of each function, ns, without functions that have none."""
    rows = function_rows(session.stats.scope(chosen))
    return {row.function: row.self_ns for row in rows if row.self_ns}


def of_functions(stacks: dict[str, int]) -> dict[str, int]:
    """Values summed up by the innermost function."""
    found = Counter[str]()
    for stack, value in stacks.items():
        found[stack.rpartition(";")[2]] += value
    return dict(found)


@pytest.mark.parametrize("text", ["", "tcp", "icmp", "frame.number == 0"])
def test_values_are_the_self_times_of_the_functions(
    session: Session, tmp_path: Path, text: str
) -> None:
    found = folded(session, Request(None, text), tmp_path / "x.folded")
    assert of_functions(found) == self_times(session, Chosen(session.packets.select(text)))
    assert found or text


def test_values_of_a_packet_are_the_self_times_of_its_calls(
    session: Session, tmp_path: Path, capsys: Captured
) -> None:
    seen = 0
    for number in range(1, min(session.packets.count(), 12) + 1):
        found = folded(session, Request(number), tmp_path / "x.folded")
        assert main(["path", str(session.file), "--packet", str(number), "--json"]) == 0
        legs = json.loads(capsys.readouterr().out)["legs"]
        calls = {
            (call["function"], call["cpu"], call["entry_ns"]): call["self_ns"] or 0
            for leg in legs
            if leg["match"] == "exact"
            for call in leg["calls"]
        }
        assert sum(found.values()) == sum(calls.values())
        assert of_functions(found) == self_times(session, Chosen(np.array([number])))
        seen += len(found)
    assert seen


def test_stacks_of_all_packets_are_those_of_their_paths(session: Session) -> None:
    """The path of a packet and the columns of the session give the same stacks."""
    for number in range(1, min(session.packets.count(), 12) + 1):
        whole = call_stacks(session.stats.scope(Chosen(np.array([number]))))
        assert sorted(whole) == sorted(path_stacks(session.paths.path(number)))


def test_stacks_are_nested_as_the_calls_were(session: Session) -> None:
    for leg in (leg for number in (1, 2, 3) for leg in session.paths.path(number).legs):
        above: list[str] = []
        stacks = {stack.functions for stack in path_stacks(session.paths.path(series=leg.series))}
        for call in leg.calls:
            above[call.depth :] = [call.function]
            assert not call.self_ns or tuple(above) in stacks


def test_a_speedscope_profile_has_the_same_stacks(session: Session, tmp_path: Path) -> None:
    out = tmp_path / "x.speedscope.json"
    for request in (Request(3), Request(None, "tcp"), Request(None, "frame.number == 0")):
        write_speedscope(session, request, out)
        file = json.loads(out.read_text())
        assert rules_broken(file) == []
        frames, (profile,) = file["shared"]["frames"], file["profiles"]
        stacks = {
            ";".join(frames[at]["name"] for at in sample): weight
            for sample, weight in zip(profile["samples"], profile["weights"], strict=True)
        }
        assert stacks == folded(session, request, tmp_path / "x.folded")
        assert file["name"] == f"{session.file.name}: {request.title}"


def rules_broken(file: dict[str, Any]) -> list[str]:
    """What speedscope's schema and its importer demand of a file with sampled profiles."""
    broken = []
    if file["$schema"] != "https://www.speedscope.app/file-format-schema.json":
        broken.append("$schema")
    count = len(file["shared"]["frames"])
    broken += [f"frame {frame}" for frame in file["shared"]["frames"] if not frame["name"]]
    for profile in file["profiles"]:
        needed = {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        broken += sorted(needed ^ set(profile))
        if (profile["type"], profile["unit"]) != ("sampled", "nanoseconds"):
            broken.append("type or unit")
        if profile["endValue"] - profile["startValue"] != sum(profile["weights"]):
            broken.append("endValue")
        broken += [f"frame {at}" for s in profile["samples"] for at in s if not 0 <= at < count]
    return broken


def test_a_row_of_the_kernel_alone(session: Session, tmp_path: Path) -> None:
    if not session.packets.all_kernel_only_count():
        pytest.skip("each skb lifetime of this sample has a packet")
    found = folded(session, Request(-1), tmp_path / "x.folded")
    (row,) = session.packets.rows(np.array([-1]))
    assert isinstance(row, SeriesRow)
    path = session.paths.path(series=row.series)
    assert sum(found.values()) == sum(c.self_ns or 0 for leg in path.legs for c in leg.calls)


def test_what_cannot_be_written_or_is_not_there(session: Session, tmp_path: Path) -> None:
    for write in (write_folded, write_speedscope):
        with pytest.raises(BadInput, match="cannot write"):
            write(session, Request(1), tmp_path / "no" / "x")
        for row in (99_999, -99_999):
            with pytest.raises(KeyError, match="no packet"):
                write(session, Request(row), tmp_path / "x")
