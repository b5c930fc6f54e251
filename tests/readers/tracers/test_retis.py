# SPDX-License-Identifier: MIT
"""Logs of retis become records of a kernel log: points without returns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skbviewer import readers
from skbviewer.readers.tracers import line_blocks
from skbviewer.records import SEEN, BadInput, KernelLog, Silent, SourceKind
from skbviewer.records.kernel_events import DROP
from tests.readers import build_retis as retis
from tests.readers.build import ethernet, ipv4, udp, write_pcap

FRAME = ethernet(ipv4("10.9.0.1", "10.9.0.2", 17, udp(5000, 53, b"hello")))
OTHER = ethernet(ipv4("10.9.0.2", "10.9.0.1", 17, udp(53, 5000, b"world!")))
EVENTS = [
    retis.startup(),
    retis.point(10, retis.START, 10, FRAME),
    retis.point(900, retis.FREE, 500, OTHER, drop="NO_SOCKET"),
    retis.point(30, retis.RECEIVE, 10, FRAME, device=("veth1", 4)),
    retis.point(500, "tcp_v4_rcv", 500, OTHER, type_="kretprobe"),
]


def read(path: Path) -> KernelLog:
    log = readers.read(path, Silent())
    assert isinstance(log, KernelLog)
    return log


def log_of(folder: Path, events: list[Any]) -> KernelLog:
    return read(retis.write(folder / "retis.data", events))


def why(folder: Path, text: str | bytes) -> BadInput:
    path = folder / "bad.data"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(BadInput) as caught:
        readers.read(path, Silent())
    return caught.value


def test_points_in_time_order(tmp_path: Path) -> None:
    log = log_of(tmp_path, EVENTS)
    assert log.kind is SourceKind.RETIS and not log.returns and log.warnings == ()
    rows = log.records[:]
    assert (rows["ts"] - retis.MONO_NS).tolist() == [10, 30, 500, 900]
    assert rows["ordinal"].tolist() == [0, 2, 3, 1]
    assert set(rows["kind"]) == {SEEN} and set(rows["exit_ts"]) == {-1}
    assert rows["event"].tolist() == [0, 0, 0, DROP]
    assert [log.probes[func].name for func in rows["func"]] == [
        retis.START, retis.RECEIVE, "tcp_v4_rcv", retis.FREE,
    ]  # fmt: skip
    assert log.meta["point.3"] == "tcp_v4_rcv (return)"
    assert log.meta[f"drop_reason.{rows['data'][3]}"] == "NO_SOCKET"
    assert log.tasks == {70: "ping"}
    assert log.devices == {(retis.NETNS, 3): "veth0", (retis.NETNS, 4): "veth1"}


def test_lifetimes_are_those_that_retis_tracks(tmp_path: Path) -> None:
    lone = {k: v for k, v in EVENTS[1].items() if k != "skb-tracking"}
    log = log_of(tmp_path, [*EVENTS, lone])
    assert log.lifetimes is not None and log.lifetimes.tolist() == [0, -1, 0, 1, 1]


def test_clock(tmp_path: Path) -> None:
    clock = log_of(tmp_path, EVENTS).clock[0]
    assert clock.mono_ns == retis.MONO_NS
    assert clock.real_ns - clock.mono_ns == retis.AHEAD_S * 10**9 + 250


def test_identity_is_that_of_a_captured_packet(tmp_path: Path) -> None:
    log = log_of(tmp_path, EVENTS)
    capture = readers.read(write_pcap(tmp_path / "a.pcap", [(1, FRAME), (2, OTHER)]), Silent())
    assert not isinstance(capture, KernelLog)
    for name in ("saddr_lo", "daddr_lo", "ip_id", "protocol", "tot_len", "sport", "dport"):
        assert log.records[name][[0, 3]].tolist() == capture.packets[name].tolist()
    assert log.records["skb_len"].tolist() == [len(FRAME)] * 2 + [len(OTHER)] * 2


def test_older_sections_and_sorted_lines(tmp_path: Path) -> None:
    new = log_of(tmp_path, EVENTS).records[:]
    old = log_of(tmp_path, [EVENTS[0], *map(retis.older, EVENTS[1:])]).records[:]
    assert old.tolist() == new.tolist()
    first, *rest = EVENTS
    by_line = log_of(tmp_path, [[first], [rest[0], rest[2]], [rest[1], rest[3]]]).records[:]
    assert sorted(by_line["ts"]) == sorted(new["ts"])


def test_recognised_by_its_first_bytes_not_its_name(tmp_path: Path) -> None:
    assert readers.is_log(retis.write(tmp_path / "any.pcap", EVENTS))
    assert "not a retis log" in why(tmp_path, '{"a": 1}\n').why


@pytest.mark.parametrize(
    ("version", "words"),
    [("v1.4.2", "retis v1.4 is older than 1.5"), ("new", "names no version")],
)
def test_versions_that_are_not_read(tmp_path: Path, version: str, words: str) -> None:
    assert words in why(tmp_path, json.dumps(retis.startup(version)) + "\n").why


def test_newer_version_is_a_warning(tmp_path: Path) -> None:
    [line] = log_of(tmp_path, [retis.startup("v1.9.0"), *EVENTS[1:]]).warnings
    assert "retis 1.9 is newer" in line


def test_no_startup_event(tmp_path: Path) -> None:
    error = why(tmp_path, "".join(json.dumps(event) + "\n" for event in EVENTS[1:]))
    assert error.offset == 0 and "does not begin with a startup event" in error.why


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"common": {"timestamp": "1"}}, "timestamp is not a number of 64 bits"),
        ({"common": {"timestamp": 1 << 63}}, "timestamp is not a time"),
        ({"common": []}, "section common is not a JSON object"),
        ({"kernel": {"probe_type": "kprobe"}}, "symbol is not a text"),
        ({"skb-tracking": {"skb": 1, "timestamp": 1, "orig_head": 1 << 64}}, "orig_head is not"),
        ({"dev": {"name": "a", "ifindex": 1.5}}, "ifindex is not a number"),
        ({"packet": {"len": 3, "data": "@@@@"}}, "not base64"),
    ],
)
def test_wrong_types_are_counted(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    bad = EVENTS[1] | change
    log = log_of(tmp_path, [EVENTS[0], bad, EVENTS[2], bad])
    [line] = log.warnings
    begin = len(json.dumps(EVENTS[0])) + 1
    assert f"retis.data at byte {begin}: " in line
    assert words in line and "2 events left out" in line
    assert len(log.records) == 1


def test_cut_last_line_and_broken_line(tmp_path: Path) -> None:
    whole = "".join(json.dumps(event) + "\n" for event in EVENTS)
    path = tmp_path / "cut.data"
    path.write_text(whole[:-40])
    [line] = read(path).warnings
    assert "the last line is cut; 1 event left out" in line
    path.write_text(json.dumps(EVENTS[0]) + "\n[[[\n17\n" + json.dumps(EVENTS[1]) + "\n")
    log = read(path)
    assert len(log.records) == 1
    assert sorted(line.rpartition(": ")[2] for line in log.warnings) == [
        "not a JSON object; 1 event left out",
        "not valid JSON; 1 event left out",
    ]


def test_line_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_blocks, "LONGEST", 1 << 20)
    monkeypatch.setattr(line_blocks, "BLOCK", 1 << 16)
    begin = json.dumps(EVENTS[0]) + "\n"
    error = why(tmp_path, begin + '{"common":"' + "x" * (2 << 20))
    assert error.offset == len(begin) and error.why == "a line of more than 1 MiB"


def test_lines_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = log_of(tmp_path, EVENTS).records[:]
    monkeypatch.setattr(line_blocks, "BLOCK", 100)
    assert log_of(tmp_path, EVENTS).records[:].tolist() == whole.tolist()


def test_log_without_points(tmp_path: Path) -> None:
    log = log_of(tmp_path, EVENTS[:1])
    assert len(log.records) == 0 and "the file has no points" in log.warnings[0]
