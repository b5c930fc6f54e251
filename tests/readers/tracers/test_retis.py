# SPDX-License-Identifier: MIT
"""Logs of retis become records of a kernel log: points without returns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from skbviewer import readers
from skbviewer.analysis.words.retis_sections import lines_of
from skbviewer.readers.tracers import line_blocks
from skbviewer.readers.tracers import retis as retis_reader
from skbviewer.records import SEEN, BadInput, KernelLog, Silent, SourceKind
from skbviewer.records.bulk_dtypes import DETAIL_BITS
from skbviewer.records.kernel_events import DROP
from tests.readers import build_retis as retis
from tests.readers.build import ethernet, ipv4, udp, write_pcap

DETAIL = (1 << DETAIL_BITS) - 1  # the bits of `data` besides the number of the sections
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
    assert log.meta[f"drop_reason.{rows['data'][3] & DETAIL}"] == "NO_SOCKET"
    assert log.tasks == {70: "ping"}
    assert log.devices == {(retis.NETNS, 3): "veth0", (retis.NETNS, 4): "veth1"}


def test_a_byte_order_mark_changes_nothing(tmp_path: Path) -> None:
    plain = tmp_path / "plain.data"
    plain.write_bytes(retis.write(tmp_path / "whole.data", EVENTS).read_bytes() + b"{nothing}\n")
    for first in (b"", b"\n"):
        marked = tmp_path / "marked.data"
        marked.write_bytes(b"\xef\xbb\xbf" + first + plain.read_bytes())
        assert readers.kind_of(marked) is SourceKind.RETIS
        log = read(marked)
        assert log.records[:].tolist() == read(plain).records[:].tolist()
        assert log.clock == read(plain).clock
        (warning,) = log.warnings  # offsets are those of the file
        assert str(3 + len(first) + plain.stat().st_size - len(b"{nothing}\n")) in warning


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
    for rows in (old, new):
        rows["data"] &= DETAIL
    assert old.tolist() == new.tolist()
    first, *rest = EVENTS
    by_line = log_of(tmp_path, [[first], [rest[0], rest[2]], [rest[1], rest[3]]]).records[:]
    assert sorted(by_line["ts"]) == sorted(new["ts"])


def test_recognised_by_its_first_bytes_not_its_name(tmp_path: Path) -> None:
    assert readers.is_log(retis.write(tmp_path / "any.pcap", EVENTS))
    assert "not a retis log" in why(tmp_path, '{"a": 1}\n').why


@pytest.mark.parametrize(
    ("version", "words"),
    [("v1.4.2", "retis v1.4 is older than 1.5"), ("new", "does not name retis's version")],
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
    whole = log_of(tmp_path, EVENTS)
    monkeypatch.setattr(line_blocks, "BLOCK", 100)
    parts = log_of(tmp_path, EVENTS)
    rows = [log.records[:] for log in (whole, parts)]
    sections = [
        [json.loads(log.sections[n - 1]) for n in (some["data"] >> DETAIL_BITS).tolist()]
        for log, some in zip((whole, parts), rows, strict=True)
    ]
    assert sections[0] == sections[1]  # their texts may differ in blanks
    for some in rows:
        some["data"] &= DETAIL
    assert rows[0].tolist() == rows[1].tolist()


def test_a_line_of_more_than_64_mib_needs_little_memory(tmp_path: Path) -> None:
    log_of(tmp_path, EVENTS)  # compiles the loops if that was not done yet: it needs more memory
    path = tmp_path / "long.data"
    with path.open("wb") as file:
        file.write((json.dumps(EVENTS[0]) + '\n{"common":"').encode())
        file.seek(line_blocks.LONGEST + 200, os.SEEK_CUR)  # NUL bytes, not on the disk
        file.write(b"x")
    program = (
        "import re, sys; from pathlib import Path; from skbviewer import readers;"
        "from skbviewer.records import BadInput, Silent\n"
        "try: readers.read(Path(sys.argv[1]), Silent())\n"
        "except BadInput as error: print(error)\n"
        # Not getrusage(), whose peak includes that of the process that started this one.
        "status = Path('/proc/self/status').read_text()\n"
        "print(int(re.search(r'VmHWM:\\s*(\\d+)', status)[1]) >> 10)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    why, memory = shown.stdout.splitlines()
    assert f"at byte {len(json.dumps(EVENTS[0])) + 1}: a line of more than 64 MiB" in why
    assert int(memory) < 256


def test_a_large_event_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retis_reader, "LARGEST", 2000)
    large = EVENTS[1] | {"x": "é" * 2000}
    log = log_of(tmp_path, [EVENTS[0], [large, EVENTS[3], large], EVENTS[2]])
    [line] = log.warnings
    assert "an event of more than 4 MiB; 2 events left out" in line and len(log.records) == 2


def test_deep_nesting_and_huge_numbers(tmp_path: Path) -> None:
    lines = [json.dumps(EVENTS[0]), "[" * 100_000, json.dumps(EVENTS[1])]
    lines += [
        json.dumps(EVENTS[1]).replace("5000000010", digits) for digits in ("9" * 400, "1e999")
    ]
    path = tmp_path / "deep.data"
    path.write_text("\n".join([*lines, json.dumps(EVENTS[2])]) + "\n")
    log = read(path)
    assert len(log.records) == 2
    assert sorted(line.rpartition(": ")[2].partition(";")[0] for line in log.warnings) == [
        "not valid JSON", "timestamp is not a number of 64 bits",
    ]  # fmt: skip


@pytest.mark.parametrize("depth", [40, 400, 900, 990])
def test_sections_nested_too_deeply(tmp_path: Path, depth: int) -> None:
    nested = json.dumps(EVENTS[1])[:-1] + ', "x": ' + "[" * depth + "]" * depth + "}"
    path = tmp_path / "nested.data"
    path.write_text("\n".join([json.dumps(EVENTS[0]), nested, json.dumps(EVENTS[2])]) + "\n")
    log = read(path)
    [line] = log.warnings
    assert "1 event left out" in line and ("nested more than" in line or "not valid JSON" in line)
    assert len(log.records) == 1


def test_a_sorted_line_that_is_cut_loses_nothing_else(tmp_path: Path) -> None:
    whole = json.dumps(EVENTS[1:])
    path = tmp_path / "cut.data"
    path.write_text(json.dumps(EVENTS[:1]) + "\n" + whole[: whole.rindex("tcp_v4_rcv")])
    log = read(path)
    assert len(log.records) == len(EVENTS) - 2
    assert [line.rpartition(": ")[2] for line in log.warnings] == [
        "the last line is cut; 1 event left out"
    ]


def test_times_that_no_wall_clock_shows(tmp_path: Path) -> None:
    late = EVENTS[1] | {"common": {"timestamp": (1 << 63) - 10**9}}
    log = log_of(tmp_path, [EVENTS[0], late, EVENTS[2]])
    [line] = log.warnings
    assert "timestamp is not a time in nanoseconds; 1 event left out" in line
    assert len(log.records) == 1


def beyond_columns(sections: dict[str, Any]) -> dict[str, Any]:
    """Return the sections without those whose values are mostly columns."""
    return {k: v for k, v in sections.items() if k not in ("task", "netns", "dev")}


def test_values_that_are_no_columns_are_kept(tmp_path: Path) -> None:
    event = json.loads(json.dumps(EVENTS[1]))
    event["dev"]["rx_ifindex"] = 9
    event["skb"] = {"meta": {"len": 60}, "data_ref": {"cloned": True, "users": 2}}
    slow = json.loads(json.dumps(event)) | {"x": {"a": "\u00e9"}}  # only JSON's parser reads it
    logs = [log_of(tmp_path, [EVENTS[0], one]) for one in (event, retis.older(event), slow)]
    for log in logs:
        sections = json.loads(log.sections[0])
        assert sections["task"] == event["common"]["task"]
        assert sections["dev"] == event["dev"]
        assert sections["data_ref"] == event["skb"]["data_ref"]
        lines = lines_of(sections)
        assert lines[0] == ("point: tgid 7, rx_ifindex 9" if log is logs[1] else
                            "point: tgid 7, netns cookie 1, rx_ifindex 9")  # fmt: skip
        assert lines[1] == "data_ref: cloned true, users 2"
    alone = {"task": {"pid": 7, "tgid": 7, "comm": "a"}, "dev": {"name": "a", "ifindex": 1}}
    assert lines_of(alone) == () and lines_of({"task": [], "netns": 3}) == ()


def test_sections_are_kept_once(tmp_path: Path) -> None:
    nft = {"nft": {"table_name": "filter", "chain_name": "input", "verdict": "drop"}}
    traced = json.loads(json.dumps(EVENTS[2])) | {"ovs": {"event_type": "upcall", "cmd": 1}}
    traced["kernel"]["stack_trace"] = ["ip_rcv+0x5"]
    escaped = EVENTS[1] | {"ct": {"state": "\u00e9tabli"}}
    events = [EVENTS[0], EVENTS[1] | nft, EVENTS[3] | nft, traced, escaped, EVENTS[1]]
    rows = (log := log_of(tmp_path, events)).records[:]
    numbers = dict(zip(rows["ordinal"].tolist(), (rows["data"] >> 32).tolist(), strict=True))
    kept = [beyond_columns(json.loads(text)) for text in log.sections]
    assert kept[numbers[0] - 1] == kept[numbers[1] - 1] == nft and kept[numbers[4] - 1] == {}
    assert len(kept) == len(set(log.sections)) == 5  # two devices with nft, and one of each other
    assert kept[numbers[2] - 1] == {
        "stack_trace": ["ip_rcv+0x5"], "ovs": {"event_type": "upcall", "cmd": 1},
    }  # fmt: skip
    assert kept[numbers[3] - 1] == {"ct": {"state": "établi"}}


def test_points_of_programs_have_the_lifetime_that_retis_sort_adds(tmp_path: Path) -> None:
    user = {"symbol": "dpif_netlink:recv_upcall", "probe_type": "usdt", "ip": 1, "path": "/ovs"}
    tracked = EVENTS[1]["skb-tracking"]
    later = {"common": {"timestamp": retis.MONO_NS + 20}, "userspace": user}
    later["tracking"] = {"skb": tracked, "idx": 1}
    log = log_of(tmp_path, [EVENTS[0], [EVENTS[1], later]])
    assert log.lifetimes is not None and log.lifetimes.tolist() == [0, 0]
    assert [log.probes[func].name for func in log.records["func"]][1] == user["symbol"]
    assert json.loads(log.sections[1])["userspace"]["path"] == "/ovs"


def test_null_is_as_if_it_were_absent(tmp_path: Path) -> None:
    bare = EVENTS[1] | {"dev": None, "skb": {"meta": None}, "ct": None}
    bare["common"] = EVENTS[1]["common"] | {"smp_id": None}
    log = log_of(tmp_path, [EVENTS[0], bare])
    assert log.warnings == () and [beyond_columns(json.loads(one)) for one in log.sections] == [{}]
    assert (log.records["cpu"][0], log.records["ifindex"][0]) == (-1, -1)


def test_log_without_points(tmp_path: Path) -> None:
    log = log_of(tmp_path, EVENTS[:1])
    assert len(log.records) == 0 and "the file has no points" in log.warnings[0]
