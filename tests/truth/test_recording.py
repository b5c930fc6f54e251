# SPDX-License-Identifier: MIT
"""Test the recording of the truth: its table, its scripts, and a guest's files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.lab import initramfs
from tests.readers import build
from tests.truth import guests, layout, record, report
from tests.truth.scenarios import COMPILED_IN, SCRIPTS, ZOO, Scenario, named

RCV = (
    "          stream-209     [000] .....    13.378611: rcv: (tpacket_rcv+0x0/0x0) mono=1 real=2"
    " skb=0xff31 if=2 netns=42 len=142 paged=0 head=0xff30 data=0xff32 orig=2 sock=0xff31f1"
    " inode=1270 tstamp=3 pt=4 mac=2 nh=16 vlan=0x0 crc=0x2125ff23 b={0x1}\n"
)
SHELL = [*sorted(SCRIPTS.glob("*.sh")), guests.HERE / "steps.sh", guests.HERE / "init.sh"]
STATS = """entries 7
overrun 2
event rcv 3
event cloned 4
missed tpacket_rcv 1 0
missed skb_clone 1 5
"""


def test_each_scenario_has_a_script_and_each_script_a_scenario() -> None:
    names = [scenario.name for scenario in ZOO]
    assert len(set(names)) == len(names)
    assert sorted(names) == sorted(path.stem for path in SCRIPTS.glob("*.sh"))


@pytest.mark.parametrize("scenario", ZOO, ids=lambda scenario: str(scenario.name))
def test_scenario_is_described_and_its_script_makes_a_capture(scenario: Scenario) -> None:
    assert scenario.sentence.endswith(".") and scenario.tags
    lines = scenario.script.read_text().splitlines()
    captures = [line.split()[1] for line in lines if line.startswith("tap ")]
    assert captures and len(set(captures)) == len(captures)
    assert scenario.probes in {*guests.LISTS, "lone"}


@pytest.mark.parametrize("path", SHELL, ids=lambda path: str(path.stem))
def test_shell_can_read_script(path: Path) -> None:
    busybox = str(initramfs.tool("busybox"))
    subprocess.run([busybox, "sh", "-n", str(path)], check=True)


def test_shell_reads_the_words_of_a_scenario(tmp_path: Path) -> None:
    words = tmp_path / "words"
    words.write_text(named("log-filter").words())
    script = f'. {words}; set -- $options; echo "$#:$list:$buffers"'
    said = subprocess.run(["sh", "-c", script], check=True, capture_output=True, text=True).stdout
    assert said == "4:probes.txt:subbuf_kb=256 n_subbufs=64\n"


def test_tools_of_the_guest_are_installed() -> None:
    assert [initramfs.tool(name).name for name in guests.TOOLS] == list(guests.TOOLS)


def test_programs_can_be_built(tmp_path: Path) -> None:
    made = guests.build_programs(tmp_path)
    assert {p.name for p in made} == {
        "send",
        "stream",
        "redirect",
        "echo",
        "clock",
        "frame",
        "meet",
    }
    assert all(path.exists() for path in made)


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """The files that a guest leaves for a scenario."""
    folder = tmp_path / "left" / "vlan"
    folder.mkdir(parents=True)
    files = {
        "captures": "vc|client|41|vc|2|9 10 |\nudp|server|42|vs|3|1270 11 |-Q in udp\n",
        "dropped": "vc 0 packets dropped by kernel\nudp 12 packets dropped by kernel\n",
        "witness.txt": RCV,
        "witness.stats": STATS,
        "stats.with": "missed 3\nwritten 100\n",
        "stats.without": "missed 1\nwritten 90\n",
        "whole": "",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    for name in ("vc", "udp"):
        build.write_pcap(folder / f"{name}.pcap", [(1, bytes(60))])
    return folder


def test_recording_says_where_sniffers_stood_and_what_was_missed(left: Path) -> None:
    report.write(left, named("vlan"), "6.1.0-1")
    said = layout.read(left)
    assert said["captures"] == {
        "vc": {"device": "vc", "netns": 41, "ifindex": 2, "arguments": [], "kernel_dropped": 0,
               "sock": ""},
        "udp": {"device": "vs", "netns": 42, "ifindex": 3, "arguments": ["-Q", "in", "udp"],
                "kernel_dropped": 12, "sock": "0xff31f1"},
    }  # fmt: skip
    assert said["witness"] == {
        "kprobe_profile": {"rcv": [3, 0], "cloned": [4, 5]}, "overrun": 2, "entries": 7,
    }  # fmt: skip
    assert said["missed"] == {"with": [3, 100], "without": [1, 90]}
    assert (said["scenario"], said["kernel"], said["tags"]) == ("vlan", "6.1.0-1", ["vlan"])


def test_what_is_not_whole_is_not_put_in_place(
    left: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(layout, "RECORDINGS", tmp_path / "recordings")
    (left / "whole").unlink()
    assert not record.settle(left.parent, named("vlan"), "6.1", "6.1.0-1")
    assert not (tmp_path / "recordings").exists()


@pytest.mark.parametrize("packets", [[], None])
def test_recording_without_packets_is_not_put_in_place(
    left: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, packets: list[build.Packet] | None
) -> None:
    """One sniffer's file has no packets, or not even a header."""
    monkeypatch.setattr(layout, "RECORDINGS", tmp_path / "recordings")
    (left / "udp.pcap").write_bytes(b"")
    if packets is not None:
        build.write_pcap(left / "udp.pcap", packets)
    assert not record.settle(left.parent, named("vlan"), "6.1", "6.1.0-1")
    assert not (tmp_path / "recordings").exists()


def test_counts_without_the_witness_may_follow(
    left: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(layout, "RECORDINGS", tmp_path / "recordings")
    counts = (left / "stats.without").rename(tmp_path / "counts")
    assert record.settle(left.parent, named("vlan"), "6.1", "6.1.0-1")
    place = layout.place("6.1", "vlan")
    assert layout.read(place)["missed"] == {"with": [3, 100]}
    assert record.missing("6.1", ["vlan"], False) == []
    assert record.missing("6.1", ["vlan"], False, "without") == [named("vlan")]
    left.mkdir()
    counts.rename(left / "stats.without")
    assert record.settle(left.parent, named("vlan"), "6.1", "6.1.0-1")
    assert layout.read(place)["missed"] == {"with": [3, 100], "without": [1, 90]}
    assert record.missing("6.1", ["vlan"], False, "without") == []


def test_whole_recording_replaces_the_one_before(
    left: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(layout, "RECORDINGS", tmp_path / "recordings")
    before = layout.place("6.1", "vlan")
    before.mkdir(parents=True)
    (before / "stale").touch()
    assert record.settle(left.parent, named("vlan"), "6.1", "6.1.0-1")
    assert layout.is_whole(before) and not (before / "stale").exists()


def test_what_is_recorded_is_not_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(layout, "RECORDINGS", tmp_path)
    assert record.missing("6.1", [], False) == list(ZOO)
    folder = layout.place("6.1", "vlan")
    folder.mkdir(parents=True)
    assert named("vlan") in record.missing("6.1", [], False)
    (folder / "recording.json").write_text('{"missed": {"with": [0, 1]}}')
    assert named("vlan") not in record.missing("6.1", [], False)
    assert named("vlan") in record.missing("6.12", [], False)
    assert record.missing("6.1", ["vlan"], True) == [named("vlan")]
    for counted, less in ((True, 1), (False, 8), (True, 8)):
        folder_name = layout.series_folder("6.1", counted, less)
        assert named("vlan") in record.missing(folder_name, [], False)


def test_scenarios_that_arm_probes_under_traffic_have_a_guest_of_their_own() -> None:
    made = record.boots(list(ZOO))
    assert sorted(one.name for some in made for one in some) == sorted(one.name for one in ZOO)
    assert {one.name for one in made[-1]} == {"log-part", "sent-again"}
    assert all(len({one.patched for one in some}) == 1 for some in made)
    assert all(len(some) <= record.PER_BOOT for some in made)


def test_a_counted_guest_with_compiled_in_probes_has_their_scenarios() -> None:
    for counted in (False, True):
        folder = layout.series_folder(guests.COMPILED_IN, counted)
        assert {one.name for one in record.missing(folder, [], True)} == set(COMPILED_IN)
