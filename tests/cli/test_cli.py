# SPDX-License-Identifier: MIT
"""The command line's formats."""

from __future__ import annotations

import argparse
import csv
import io
import json
import struct
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from skbviewer.analysis.stats import STATISTICS, Chosen
from skbviewer.analysis.stats.column_meanings import COLUMNS, SPREAD, meaning
from skbviewer.cli import main
from skbviewer.cli.main import COMMANDS, _parser
from skbviewer.cli.packets import JSON_KEYS
from skbviewer.records import resource
from skbviewer.session import Session
from tests.e2e.treated import TREATMENTS, rewrite
from tests.matching.story import HOST, udp4
from tests.readers import build
from tests.readers.build_kbl import KblBuilder
from tests.session.two_logs import two_logs

MACHINE = ("interrupts", "syscalls", "threads", "locks", "faults", "queues")
SAMPLE = resource("samples/handshake")

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("cli") / "s.skbv"
    inputs = [str(SAMPLE / "handshake.pcap"), str(SAMPLE / "handshake.kbl")]
    assert main(["import", "-o", str(out), *inputs]) == 0
    return str(out)


def test_packets_json_is_one_object_a_line(file: str, capsys: Captured) -> None:
    assert main(["packets", file, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["number"] for row in rows] == list(range(1, 17))
    assert all(tuple(row) == JSON_KEYS for row in rows)
    arp = next(row for row in rows if "Who has" in row["info"])
    assert arp["saddr"] is None and arp["ip_id"] is None


def test_packets_csv_and_table_agree(file: str, capsys: Captured) -> None:
    assert main(["packets", file, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert main(["packets", file]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(rows) + 1
    for row, line in zip(rows, lines[1:], strict=True):
        assert line.endswith(row["info"]) and row["verdict"] in line


def test_packets_json_has_what_the_window_shows(tmp_path: Path, capsys: Captured) -> None:
    sample, made = resource("samples/drops"), str(tmp_path / "a.skbv")
    assert main(["import", "-o", made, *(str(sample / f"drops.{k}") for k in ("kbl", "pcap"))]) == 0
    capsys.readouterr()
    assert main(["packets", made, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["relative_ns"] for row in rows[:2]] == [0, rows[1]["ts_ns"] - rows[0]["ts_ns"]]
    arp = next(row for row in rows if row["protocol_name"] == "ARP")
    assert arp["destination_text"] == "Broadcast" and arp["source_text"].count(":") == 5
    lost = next(row for row in rows if row["number"] == 7)
    assert lost["drop"] and "+0x" in lost["drop_place"] and lost["lost"] is True
    assert all(row["reason"] for row in rows) and any("[" in row["process"] for row in rows)
    out = tmp_path / "list.csv"
    assert main(["export", made, "--csv", str(out), "--filter", ""]) == 0
    lines = [line for line in out.read_text().splitlines() if not line.startswith("#")]
    assert main(["packets", made, "--csv"]) == 0
    assert lines == capsys.readouterr().out.splitlines()  # there is one table of the packet list
    for row, cells in zip(rows, csv.DictReader(lines), strict=True):
        assert cells["drop"] == row["drop"] and cells["process"] == row["process"]
        assert int(cells["relative_ns"]) == row["relative_ns"]


def test_the_kernels_rows_are_a_table_too(file: str, capsys: Captured) -> None:
    sample = resource("samples/bulk")
    made = str(Path(file).with_name("bulk.skbv"))
    assert main(["import", "-o", made, *(str(sample / f"bulk.{k}") for k in ("kbl", "pcap"))]) == 0
    capsys.readouterr()
    assert main(["packets", made, "--kernel-only", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert main(["packets", made, "--kernel-only"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["No.", "Time"] and len(lines) == len(rows) == 11
    for row, line in zip(rows, lines, strict=True):
        assert line.split()[:2] == [row["number"], f"{row['relative_ns'] / 1e9:.9f}"]
        assert "kernel-only" in line and line.endswith(row["info"]) and "series=" not in line


def test_columns_of_the_statistics_are_explained(file: str, capsys: Captured) -> None:
    session = Session.open(Path(file))
    assert list(COLUMNS) == list(STATISTICS)
    for name, statistic in STATISTICS.items():
        explained = {word for key in (*SPREAD, *COLUMNS[name]) for word in key.split(", ")}
        table = statistic.make(session.stats.scope(Chosen()))
        columns = {column.removesuffix("_ns") for column in table.columns}
        assert columns <= explained
        assert explained - set(", ".join(SPREAD).split(", ")) <= columns
        assert all(meaning(name, key) for key in table.keys)
    session.close()
    with pytest.raises(SystemExit):
        main(["stats", "--help"])
    assert "comp_mean" in capsys.readouterr().out


@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_option_has_a_help_text(command: str) -> None:
    parser = _parser([command])
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    for action in commands.choices[command]._actions:
        assert action.help, f"{command} {action.option_strings or action.dest}"


def test_an_unknown_time_is_shown_as_none(tmp_path: Path, capsys: Captured) -> None:
    """Simple packet blocks of pcapng have no time."""
    frame, out = (
        build.ethernet(build.ipv4("10.0.0.1", "10.0.0.2", 99, b"")),
        str(tmp_path / "s.skbv"),
    )
    untimed = build.block(3, struct.pack("<I", len(frame)) + frame)
    data = build.section_header() + build.interface_block() + build.enhanced_packet(10**18, frame)
    (tmp_path / "some.pcapng").write_bytes(
        data + untimed + build.enhanced_packet(10**18 + 5, frame)
    )
    assert main(["import", "-o", out, str(tmp_path / "some.pcapng")]) == 1
    capsys.readouterr()
    assert main(["packets", out, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["ts_ns"] for row in rows] == [10**18, None, 10**18 + 5]
    assert main(["packets", out]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[1] for line in lines] == ["0.000000000", "10.0.0.1", "0.000000005"]
    for text in ("!frame.time", "!frame.time_epoch", "!frame.time_relative"):
        assert main(["packets", out, "--csv", "--filter", text]) == 0
        assert [row.split(",")[:2] for row in capsys.readouterr().out.splitlines()[1:]] == [
            ["2", ""]
        ]
    session = Session.open(Path(out))
    overview = session.timeline.overview()
    assert overview.span_ns == 6 and int(overview.packets.sum()) == 2


def test_path_formats_agree(file: str, capsys: Captured) -> None:
    assert main(["path", file, "--packet", "4", "--json"]) == 0
    path = json.loads(capsys.readouterr().out)
    calls = [call["function"] for leg in path["legs"] for call in leg["calls"]]
    assert main(["path", file, "--packet", "4", "--xml"]) == 0
    root = ElementTree.fromstring(capsys.readouterr().out)
    assert [node.get("function") for node in root.iter("call")] == calls
    assert main(["path", file, "--series", str(path["legs"][0]["series"]), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["packet"] is None


def test_path_json_has_the_clock_of_each_leg(file: str, tmp_path: Path, capsys: Captured) -> None:
    keys = ("wire_ns", "wire_error_ns", "epoch_offset_ns")
    assert main(["path", file, "--packet", "4", "--json"]) == 0
    path = json.loads(capsys.readouterr().out)
    assert path["legs"] and path["wire_ns"] is not None
    assert all(leg[key] == path[key] for leg in path["legs"] for key in keys)
    session = two_logs(tmp_path)
    assert main(["path", str(session.file), "--packet", "1", "--json"]) == 0
    path = json.loads(capsys.readouterr().out)
    assert [path[key] for key in keys] == [None] * 3
    sent, got = path["legs"]
    assert (sent["log"], got["log"], sent["source"], got["source"]) == ("left", "right", 3, 4)
    assert sent["session_error_ns"] == 0 < got["session_error_ns"]
    assert got["session_offset_ns"] - sent["session_offset_ns"] > 4 * 10**9  # right is behind
    assert abs(got["wire_ns"] - got["begin_ns"]) < 10**6
    session.close()


def test_path_shows_where_a_packet_was_captured(file: str, capsys: Captured) -> None:
    assert main(["path", file, "--packet", "4", "--json"]) == 0
    legs = json.loads(capsys.readouterr().out)["legs"]
    (leg,) = [leg for leg in legs if leg["captured"] is not None]
    captured, error = leg["captured"], leg["wire_error_ns"]
    assert list(captured) == ["device", "direction", "after_ns", "before_ns", "socket"]
    assert (captured["device"], captured["direction"], captured["socket"]) == ("vs", "out", True)
    assert captured["after_ns"] - error <= leg["wire_ns"] <= captured["before_ns"] + error
    assert main(["path", file, "--packet", "4"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("leg ")]
    assert ["as vs sent it, between" in line for line in lines] == [x is leg for x in legs]


def test_info_text_names_the_files(file: str, capsys: Captured) -> None:
    assert main(["info", file]) == 0
    text = capsys.readouterr().out
    assert "handshake.pcap" in text and "lost records  0" in text


def test_dump_of_a_capture_is_refused(capsys: Captured) -> None:
    assert main(["dump", str(SAMPLE / "handshake.pcap")]) == 2
    assert "not a KBL" in capsys.readouterr().err


def test_export_png(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    out = tmp_path / "p.png"
    assert main(["export", file, "--packet", "3", "--png", str(out)]) == 0
    assert out.read_bytes().startswith(b"\x89PNG") and out.stat().st_size > 20_000


@pytest.mark.parametrize("table", list(STATISTICS))
def test_stats_as_text_json_and_csv(file: str, table: str, capsys: Captured) -> None:
    missing = table in (*MACHINE, "counter")  # the recording has no such events
    assert main(["stats", file, table]) == missing
    text = capsys.readouterr().out.splitlines()
    assert main(["stats", file, table, "--json"]) == missing
    rows = json.loads(capsys.readouterr().out)
    assert len(text) == 1 + len(rows)
    assert main(["stats", file, table, "--csv"]) == missing
    listed = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(listed) == len(rows)
    assert all(list(row) == list(found) for row, found in zip(rows, listed, strict=True))
    assert table == "drops" or missing or rows


def test_stats_take_the_table_first_too(file: str, capsys: Captured) -> None:
    assert main(["stats", file, "drops"]) == main(["stats", "drops", file]) == 0
    one, other = np.array_split(np.array(capsys.readouterr().out.splitlines()), 2)
    assert one.tolist() == other.tolist()
    assert main(["stats", file, "drop"]) == 2
    assert (
        f"neither {file} nor drop is one of callgraph, clock, conversations, counter"
        in capsys.readouterr().err
    )
    assert main(["stats", file, "drops", "--interval", "1"]) == 2
    assert "'--interval' is only for the table io" in capsys.readouterr().err


def test_names_of_files_and_fields_reach_no_terminal(tmp_path: Path, capsys: Captured) -> None:
    name = tmp_path / "a\x1b[31m\nb.pcap"
    there = tmp_path / "\x1b[31m.pcap"
    there.write_bytes((resource("samples/drops") / "drops.pcap").read_bytes())
    wrong_filter = ["packets", str(there), "--filter", "a\x1b[3m == 1"]
    for words, code in ((["info", str(name)], 2), (["info", str(there)], 0), (wrong_filter, 2)):
        assert main(words) == code
        found = capsys.readouterr()
        assert all(line.isprintable() for line in (found.out + found.err).splitlines())


def test_the_clocks_offset_is_shown_to_the_nanosecond(file: str, capsys: Captured) -> None:
    assert main(["stats", file, "clock", "--json"]) == 0
    fit = json.loads(capsys.readouterr().out)[0]
    assert main(["stats", file, "clock"]) == 0
    cells = capsys.readouterr().out.splitlines()[1].split()
    assert int(cells[2].replace(".", "")) == fit["offset_ns"]


def test_clock_shows_the_segments_of_the_chosen_packets(tmp_path: Path, capsys: Captured) -> None:
    """The first capture is unchanged; the clock of the second was set in the middle."""
    pcap, out = SAMPLE / "handshake.pcap", str(tmp_path / "s.skbv")
    late = rewrite(pcap, tmp_path / "set.pcap", TREATMENTS["set by 5 s"])
    assert main(["import", "-o", out, *map(str, (pcap, late, SAMPLE / "handshake.kbl"))]) == 0
    capsys.readouterr()

    def segments(*words: str) -> list[tuple[int, int]]:
        assert main(["stats", out, "clock", "--json", *words]) == 0
        rows = json.loads(capsys.readouterr().out)
        second = min(row["offset_ns"] for row in rows) + 10**9 if rows else 0
        return [(row["source"], row["offset_ns"] > second) for row in rows]

    assert segments() == [(1, False), (2, False), (2, True)]
    assert segments("--filter", "frame.number == 3") == [(1, False)]
    assert segments("--filter", "frame.number in {24, 25}") == [(2, False), (2, True)]
    assert segments("--range=100,200") == []
    assert len(segments("--range=-1,0.0001")) == 2  # before the step, by session time


def test_stats_of_a_range(file: str, capsys: Captured) -> None:
    def calls(*words: str) -> int:
        assert main(["stats", file, "functions", "--all", "--json", *words]) == 0
        return sum(row["count"] for row in json.loads(capsys.readouterr().out))

    parts = [calls("--range=-1000,0.01"), calls("--range", "0.01,0.1"), calls("--range=0.1,1000")]
    assert sum(parts) == calls() and all(parts)
    assert [calls("--range=,0.01"), calls("--range=0.1,")] == [parts[0], parts[2]]
    assert main(["stats", file, "functions", "--range", ","]) == 2
    assert main(["stats", file, "functions", "--range", "1"]) == 2
    assert "expected numbers of seconds" in capsys.readouterr().err
    assert main(["stats", file, "functions", "--range", "2,1"]) == 2
    assert "--range 2,1: the first time is after the second" in capsys.readouterr().err


@pytest.mark.parametrize("which", ["--packet", "--series"])
@pytest.mark.parametrize("number", ["0", "999999", str((1 << 63) - 1), str(1 << 63), "9" * 40])
def test_a_row_that_is_not_there_is_reported_in_a_line(
    file: str, which: str, number: str, capsys: Captured
) -> None:
    try:
        status = main(["path", file, f"{which}={number}"])
    except SystemExit as ended:
        status = int(ended.code or 0)
    assert status in (1, 2)
    assert number in capsys.readouterr().err.splitlines()[-1]


def test_a_program_of_any_name_can_be_shown(tmp_path: Path, capsys: Captured) -> None:
    """The XML can be parsed, and no name breaks a table or moves the cursor."""
    build = KblBuilder(3)
    func = build.probe("udp_send_skb")
    build.task(900, 0, 1, 7, "a\x1b[31m\x01<&\n")
    build.footprint(1000, 0, 0xFFFF888000001000, ipv4=udp4(1), skbinfo=HOST)
    build.call(1000, 0, func, 0xFFFF888000001000, 500)
    made = str(tmp_path / "a.skbv")
    assert main(["import", "-o", made, str(build.write(tmp_path / "a.kbl"))]) == 0
    capsys.readouterr()
    assert main(["path", made, "--series", "1", "--xml"]) == 0
    root = ElementTree.fromstring(capsys.readouterr().out)
    assert [call.get("comm") for call in root.iter("call")] == [r"a\x1b[31m\x01<&\n"]
    assert main(["stats", made, "processes"]) == 0
    _, row = capsys.readouterr().out.splitlines()
    assert row.startswith(r"a\x1b[31m\x01<&\n ") and row.isprintable()


def test_packets_of_drops_are_one_cell(tmp_path: Path, capsys: Captured) -> None:
    sample, made = resource("samples/drops"), str(tmp_path / "a.skbv")
    assert main(["import", "-o", made, *(str(sample / f"drops.{k}") for k in ("kbl", "pcap"))]) == 0
    capsys.readouterr()
    assert main(["stats", made, "drops", "--csv"]) == 0
    (first, *_, last) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (first["packets"], last["packets"]) == ("5,6,7,8,9", "10")
    assert main(["stats", made, "drops", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["packets"] == [5, 6, 7, 8, 9]
