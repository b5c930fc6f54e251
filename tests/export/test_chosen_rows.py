# SPDX-License-Identifier: MIT
"""All formats, and `stats`, agree on what --filter, --range and --packet choose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as parquet
import pytest

from skbviewer import readers
from skbviewer.analysis.packet_legs import legs_of_rows
from skbviewer.analysis.stats import Chosen
from skbviewer.cli import main
from skbviewer.export import Request, write_jsonl, write_parquet, write_pcapng, write_perfetto
from skbviewer.export.chosen_rows import stacks_of
from skbviewer.export.report import facts_of
from skbviewer.records import Capture, PacketRow, SeriesRow, Silent
from skbviewer.session import Session
from tests.e2e.samples import open_sample

from .perfetto.read_trace import read

SAMPLES = ("drops", "nat", "arp-and-neighbour")
EVERY = "frame.number || kbl.verdict"


class Case(NamedTuple):
    session: Session
    request: Request
    packets: set[int]  # expected
    lives: set[int]


def requests(session: Session) -> list[Request]:
    """A request of each kind, and mixtures of them."""
    begin = session.stats.begin_ns()
    rows = session.packets.rows(np.array([session.packets.count() // 2]))
    assert isinstance(rows[0], PacketRow) and rows[0].ts_ns is not None
    first = session.packets.rows(np.array([1]))
    assert isinstance(first[0], PacketRow) and first[0].ts_ns is not None
    middle = begin + rows[0].ts_ns - first[0].ts_ns
    names = (1, 2, 3, -1, -2)
    return [
        Request(filter="kbl.drop_reason"),
        Request(filter='kbl.verdict == "kernel-only"'),
        Request(times=(begin - 10**12, middle)),
        Request(times=(middle, begin + 10**12)),
        Request(rows=names),
        Request(rows=names, times=(begin, middle)),
        Request(rows=names, filter="kbl.drop_reason || frame.number == 3"),
        Request(filter="udp || icmp", times=(middle, begin + 10**12)),
        Request(times=(0, 1)),
    ]


def expected(session: Session, request: Request) -> tuple[set[int], set[int]]:
    """The chosen packets and lifetimes: by the scope of statistics, and row by row."""
    begin, end = request.times or (None, None)
    packets = set(session.stats.scope(Chosen(None, begin, end)).packets.tolist())
    count = session.packets.all_kernel_only_count()
    lives = set(range(1, count + 1))
    if request.times is not None:
        rows = session.packets.rows(-np.arange(1, count + 1))
        columns = session.columns
        for row in rows:
            assert isinstance(row, SeriesRow)
            own = columns.array("series", "begin_ns")[row.series - 1 : row.series].astype(np.int64)
            source = int(columns.array("series", "source")[row.series - 1])
            (at,) = session.export.to_session(source, own).tolist()
            if not request.times[0] <= at < request.times[1]:
                lives.remove(int(row.number[1:]))
    if request.filter:
        found = session.packets.listed(request.filter, None, True, all_lives=True)
        assert found is not None
        packets &= set(found.tolist())
        lives &= {-n for n in found.tolist()}
    if request.rows:
        packets &= set(request.rows)
        lives &= {-n for n in request.rows}
    return packets, lives


@pytest.mark.parametrize("name", SAMPLES)
def test_all_formats_choose_the_same(name: str, tmp_path: Path) -> None:
    session = open_sample(name, tmp_path)[0]
    for number, request in enumerate(requests(session)):
        packets, lives = expected(session, request)
        assert _tables(session, request, tmp_path) == (packets, lives), number
        assert _parquet(session, request, tmp_path / "tables") == (packets, lives), number
        assert _trace(session, request, tmp_path) <= packets | {-n for n in lives}, number
        facts = facts_of(session, request._replace(rows=()))
        if not request.rows:
            listed = {n for n in lives if n <= session.packets.kernel_only_count()}
            assert facts.packets == len(packets) + len(listed), number
            names = {str(n) for n in packets} | {f"K{n}" for n in listed}
            assert {str(row.number) for row in facts.rows} <= names, number
        captured = request._replace(rows=tuple(n for n in request.rows if n > 0))
        write_pcapng(session, captured, tmp_path / "out.pcapng")
        capture = readers.read(tmp_path / "out.pcapng", Silent())
        assert isinstance(capture, Capture) and len(capture.packets) == len(packets)
    session.close()


def _tables(session: Session, request: Request, folder: Path) -> tuple[set[int], set[int]]:
    out = folder / "out.jsonl"
    write_jsonl(session, request, out)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    packets = {row["number"] for row in rows if row["table"] == "packets"}
    lives = {row["kernel_only"] for row in rows if row["table"] == "lifetimes"}
    theirs = {row["id"] for row in rows if row["table"] == "lifetimes"}
    assert {row["series"] for row in rows if row["table"] == "legs"} <= theirs
    return packets, {n for n in lives if n}


def _parquet(session: Session, request: Request, out: Path) -> tuple[set[int], set[int]]:
    write_parquet(session, request, out)
    packets = parquet.read_table(out / "packets.parquet")["number"].to_pylist()
    lives = parquet.read_table(out / "lifetimes.parquet")["kernel_only"].to_pylist()
    return set(packets), {n for n in lives if n}


def _trace(session: Session, request: Request, folder: Path) -> set[int]:
    """One of the rows of each call."""
    write_perfetto(session, request, folder / "out.pftrace")
    trace = read(folder / "out.pftrace")
    packets, lives = expected(session, request)
    mine = {str(n) for n in packets} | {f"K{n}" for n in lives}
    named = [one.packets for one in trace.slices] + [one.packets for one in trace.instants]
    named = [names for names in named if names]
    assert all(names & mine for names in named)
    found = {name for names in named for name in names & mine}
    return {-int(n[1:]) if n[0] == "K" else int(n) for n in found}


def test_a_lifetime_that_matches_is_in_every_table(tmp_path: Path) -> None:
    """The packets that a filter finds were dropped before a sniffer could see them."""
    session = open_sample("drops", tmp_path)[0]
    request = Request(filter='kbl.verdict == "kernel-only" && kbl.drop_reason')
    packets, lives = _tables(session, request, tmp_path)
    assert not packets and lives
    drops = facts_of(session, request).tables["drops"]
    addressed = [n for n in lives if n <= session.packets.kernel_only_count()]
    assert addressed  # the others, such as those of netlink, are not in statistics
    assert sum(row[drops.keys.index("number")] for row in drops.rows) >= len(addressed)
    session.close()


def test_a_range_is_half_open_and_counts_from_packet_1(tmp_path: Path) -> None:
    session = open_sample("nat", tmp_path)[0]
    rows = session.packets.rows(np.arange(1, session.packets.count() + 1))
    times = [row.ts_ns for row in rows if isinstance(row, PacketRow) and row.ts_ns is not None]
    seconds = [f"{(at - times[0]) / 1e9:.9f}" for at in times]
    out = tmp_path / "out.jsonl"
    words = ["export", str(session.file), "--jsonl", str(out), f"--range={seconds[2]},{seconds[5]}"]
    assert main(words) == 0
    found = [json.loads(line) for line in out.read_text().splitlines()]
    numbers = [row["number"] for row in found if row["table"] == "packets"]
    assert numbers == [n + 1 for n, at in enumerate(times) if times[2] <= at < times[5]]
    session.close()


@pytest.mark.parametrize(
    "words",
    [
        ["export", "--jsonl", "out.jsonl", "--range=900,901"],
        ["export", "--pcapng", "out.pcapng", "--filter", "frame.number == 99999"],
        ["export", "--pcap", "out.pcap", "--filter", 'kbl.verdict == "kernel-only"'],
        ["export", "--perfetto", "out.pftrace", "--packet", "1", "--range=900,901"],
        ["export", "--html", "out.html", "--filter", "frame.number == 99999", "--packet", "1"],
        ["export", "--csv", "out.csv", "--filter", "frame.number == 99999"],
        ["export", "--folded", "out.folded", "--filter", "frame.number == 99999"],
    ],
)
def test_a_choice_of_nothing_is_one_line(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    session = open_sample("drops", tmp_path)[0]
    monkeypatch.chdir(tmp_path)
    file = str(session.file)
    assert main([words[0], file, *words[1:]]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    given = [word.split("=")[0] for word in words if word.split("=")[0] in OPTIONS]
    if "--html" in words:
        given.remove("--packet")
    assert line.startswith("warning: ") and line.endswith(": no packet is chosen")
    assert set(given) == {word for word in OPTIONS if word in line}
    assert (tmp_path / words[2]).exists()
    session.close()


OPTIONS = ("--filter", "--range", "--packet")


def test_only_an_export_of_everything_has_lifetimes_without_a_row(tmp_path: Path) -> None:
    """docs/exports.md: a range that contains everything leaves out copies of sniffers."""
    session = open_sample("drops", tmp_path)[0]
    begin = session.stats.begin_ns()
    whole = (begin - 10**12, begin + 10**12)
    every, ranged = (
        sum(stack.self_ns for stack in stacks_of(session, request))
        for request in (Request(), Request(times=whole))
    )
    packets, lives = session.packets.count(), session.packets.all_kernel_only_count()
    rows = np.r_[1 : packets + 1, -lives:0]
    scope = session.stats.scope(Chosen())
    others = ~np.isin(scope.leg_of_call, legs_of_rows(session.columns, rows))
    series = session.columns.array("leg", "series")[scope.leg_of_call[others]] - 1
    assert session.columns.array("series", "tap")[series].all()
    own = scope.own_ns[others & scope.once]
    assert every - ranged == own[own > 0].sum() > 0
