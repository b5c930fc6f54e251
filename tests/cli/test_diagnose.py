# SPDX-License-Identifier: MIT
"""skbviewer diagnose: text for people, JSON for programs, one packet or those of a filter."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from skbviewer.analysis.diagnosis import RULE_TABLE
from skbviewer.cli.main import main
from skbviewer.records import resource
from skbviewer.session import import_files

FINDING = {
    "rule", "rank", "severity", "packet", "packets", "cost_ns", "text", "evidence", "advice",
}  # fmt: skip


@pytest.fixture(scope="module")
def bulk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    log = resource("samples/bulk/bulk.kbl")
    out = tmp_path_factory.mktemp("diagnose") / "bulk.skbv"
    import_files([log, log.with_suffix(".pcap")], out)
    return out


def as_json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["diagnose", *words, "--json"]) == 0
    made: dict[str, Any] = json.loads(capsys.readouterr().out)
    return made


def test_json_has_findings_and_what_was_judged(
    bulk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = as_json(capsys, str(bulk))
    assert set(made) == {"findings", "judged", "time"}
    assert [one["rank"] for one in made["findings"]] == list(range(1, len(made["findings"]) + 1))
    assert all(set(one) == FINDING for one in made["findings"])
    assert [one["rule"] for one in made["judged"]] == [
        *(rule.name for rule in RULE_TABLE), "unexplained",
    ]  # fmt: skip
    judged = {one["rule"]: one["judged"] for one in made["judged"]}
    assert {one["rule"] for one in made["findings"]} <= {name for name in judged if judged[name]}
    for one in made["judged"]:
        assert set(one) == {"rule", "judged", "missing", "how_to_record"}
        assert one["judged"] != bool(one["missing"]) and one["judged"] != bool(one["how_to_record"])


def test_evidence_are_rows_of_the_session(bulk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A call in the evidence is a row of the view `calls`."""
    made = as_json(capsys, str(bulk), "--packet", "3")
    (found,) = [one for one in made["findings"] if one["rule"] == "neighbour"]
    (call,) = [fact for fact in found["evidence"] if fact["kind"] == "call"]
    with sqlite3.connect(bulk) as db:
        row = db.execute("SELECT function, entry_ns FROM calls WHERE id = ?", (call["id"],))
        assert row.fetchone() == ("__neigh_event_send", call["begin_ns"])


def test_one_packet_of_the_capture_and_one_of_the_kernel_only(
    bulk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["packets", str(bulk), "--json"])
    listed = {p["number"]: p for p in map(json.loads, capsys.readouterr().out.splitlines())}
    made = as_json(capsys, str(bulk), "--packet", "23")
    assert sum(row["total_ns"] for row in made["time"]) == listed[23]["kernel_ns"] == 2_035_030
    assert {one["packet"] for one in made["findings"]} == {23}
    made = as_json(capsys, str(bulk), "--packet", "K1")
    assert {one["packet"] for one in made["findings"]} == {"K1"}
    assert as_json(capsys, str(bulk), "--packet", "K100")["findings"] == []  # an skb of netlink


def test_a_filter_chooses_packets(bulk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = as_json(capsys, str(bulk), "--filter", "arp")
    assert max(row["packets"] for row in made["time"]) == 2


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session whose log lost records in the middle."""
    log = resource("samples/drops/drops.kbl")
    data = bytearray(log.read_bytes())
    at = len(data) // 2
    data[at : at + 64] = bytes(byte ^ 0xFF for byte in data[at : at + 64])
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "damaged.kbl").write_bytes(data)
    import_files([folder / "damaged.kbl", log.with_suffix(".pcap")], folder / "damaged.skbv")
    return folder / "damaged.skbv"


@pytest.mark.parametrize("complete", [True, False])
def test_a_packet_is_judged_alike_by_number_and_by_filter(
    complete: bool, damaged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Records that were lost elsewhere do not matter for a packet that lacks none."""
    main(["packets", str(damaged), "--json"])
    listed = map(json.loads, capsys.readouterr().out.splitlines())
    number = next(p["number"] for p in listed if (p["kernel_ns"] is not None) is complete)
    made = [
        as_json(capsys, str(damaged), *words)
        for words in (
            ("--packet", str(number)),
            ("--filter", f"frame.number == {number}"),
            ("--filter", f"frame.number in {{{number}}}"),
        )
    ]
    assert made[0] == made[1] == made[2]
    judged = {one["rule"]: one["judged"] for one in made[0]["judged"]}
    assert judged["drop"] is complete


def test_a_range_chooses_packets(bulk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ranges that meet share no packet, and lack none of the whole."""
    main(["packets", str(bulk), "--json"])
    listed = {p["number"]: p for p in map(json.loads, capsys.readouterr().out.splitlines())}
    middle = f"{(listed[40]['ts_ns'] - listed[1]['ts_ns']) / 1e9:.9f}"
    first = as_json(capsys, str(bulk), f"--range=-100,{middle}")
    second = as_json(capsys, str(bulk), f"--range={middle},100")
    whole = as_json(capsys, str(bulk))
    spent = [sum(row["total_ns"] for row in made["time"]) for made in (first, second, whole)]
    assert spent[0] + spent[1] == spent[2] and min(spent) > 0
    assert {one["packet"] for one in first["findings"] if isinstance(one["packet"], int)} <= set(
        range(1, 40)
    )
    filtered = as_json(capsys, str(bulk), f"--range={middle},100", "--filter", "arp")
    assert max((row["packets"] for row in filtered["time"]), default=0) < 2


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--range", "1"], "--range 1: expected numbers of seconds"),
        (["--range", "2,1"], "--range 2,1: the first time is after the second"),
        (["--range", "0,1", "--packet", "3"], "'--packet' and '--range' exclude each other"),
    ],
)
def test_a_range_that_is_none(
    words: list[str], why: str, bulk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", str(bulk), *words]) == 2
    assert why in capsys.readouterr().err


def test_text_is_for_people(bulk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", str(bulk), "--packet", "23"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Time in kernel of 1 packet: 2035.030 us\n")
    assert "1. warning: slow-packets" in out
    assert "Packet 23 took 2.0 ms" in out
    assert "queueing-discipline: the recording lacks events of the group qdisc." in out
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.parametrize("words", [["--packet", "9999"], ["--packet", "K999"]])
def test_a_packet_that_does_not_exist(
    words: list[str], bulk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", str(bulk), *words]) == 2
    assert capsys.readouterr().err == f"skbviewer: there is no packet {words[1]}\n"


def test_a_packet_that_the_filter_leaves_out(
    bulk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", str(bulk), "--packet", "23", "--filter", "arp"]) == 2
    assert "does not match" in capsys.readouterr().err


def test_a_range_of_no_packets(bulk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", str(bulk), "--filter", "udp"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "No packet with a known time in kernel was chosen." in out
    assert "nothing was chosen: choose packets or a range of time" in out
    assert "the recording lacks" not in out and "No findings." not in out


@pytest.mark.parametrize("words", [("--filter", "udp"), ("--range", "1000,2000")])
def test_an_empty_choice_is_not_blamed_on_the_recording(
    words: tuple[str, str], bulk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = as_json(capsys, str(bulk), *words)
    assert made["findings"] == made["time"] == []
    assert {(one["judged"], *one["missing"]) for one in made["judged"]} == {
        (False, "a chosen packet")
    }


def test_without_a_kernel_log_only_streams_are_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "alone.skbv"
    import_files([resource("samples/bulk/bulk.pcap")], out)
    made = as_json(capsys, str(out))
    judged = {one["rule"] for one in made["judged"] if one["judged"]}
    assert judged == {"reordering", "retransmission"}
    assert made["findings"] == made["time"] == []
    for one in made["judged"]:
        if not one["judged"]:
            assert one["missing"] == ["a kernel log"]
            assert "kblrecord -w FILE.kbl" in one["how_to_record"]


@pytest.mark.parametrize("text", ["0", "-1", "x", "nan", "1e300"])
def test_an_interval_is_a_positive_number(
    text: str, bulk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["stats", str(bulk), "io", "--interval", text])
    assert "not a positive number of seconds" in capsys.readouterr().err
