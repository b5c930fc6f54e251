# SPDX-License-Identifier: MIT
"""What tshark finds in an exported capture: the frames that the same filters select here."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from skbviewer.export import Request, write_pcapng
from skbviewer.export.wireshark.comment_format import COMMENT_FIELDS, PREFIX
from skbviewer.export.wireshark.lua_script import lua_script
from skbviewer.records import resource
from skbviewer.session import Session, import_files

SAMPLES = ("arp-and-neighbour", "bulk", "drops", "handshake", "ipv6-and-fragments", "nat")

# A filter for skbviewer, and the same for Wireshark, where a duration has no unit.
FILTERS = (
    ("kbl", "kbl"),
    ('kbl.verdict == "exact"', 'kbl.verdict == "exact"'),
    ('kbl.verdict != "exact"', 'kbl.verdict != "exact"'),
    ("kbl.matched == 0", "kbl.matched == 0"),
    ("kbl.confidence < 1", "kbl.confidence < 1"),
    ("kbl.in_kernel > 100us", "kbl.in_kernel > 0.0001"),
    ("kbl.latency <= 0.00009", "kbl.latency <= 0.00009"),
    ("kbl.busy > 50us", "kbl.busy > 0.00005"),
    ("kbl.waiting > 30us", "kbl.waiting > 0.00003"),
    ("kbl.unknown > 1us", "kbl.unknown > 0.000001"),
    ("kbl.cpu_time > 60us", "kbl.cpu_time > 0.00006"),
    ("kbl.functions in {10..60}", "kbl.functions in {10..60}"),
    ("kbl.drop_reason", "kbl.drop_reason"),
    ("kbl.lost", "kbl.lost"),
    ("kbl.lost == 1", "kbl.lost == 1"),
    ("kbl.lost == 0", "kbl.lost == 0"),
    ('kbl.drop_reason == "NETFILTER_DROP"', 'kbl.drop_reason == "NETFILTER_DROP"'),
    ('kbl.dev == "vc"', 'kbl.dev == "vc"'),
    ('kbl.dev === "vc"', 'kbl.dev === "vc"'),
    ("kbl.src == 10.9.0.1", "kbl.src == 10.9.0.1"),
    ("kbl.dst == 10.9.0.0/24", "kbl.dst == 10.9.0.0/24"),
    ("kbl.addr6", "kbl.addr6"),
    ("kbl.addr == 10.9.0.2", "kbl.addr == 10.9.0.2"),
    ("kbl.matched == 1", "kbl.matched == 1"),
    ("kbl.netns == 4026531840", "kbl.netns == 4026531840"),
    ('kbl.func == "ip_rcv"', 'kbl.func == "ip_rcv"'),
    ('kbl.func contains "frag"', 'kbl.func contains "frag"'),
    ('kbl.func matches "^tcp_v[46]"', 'kbl.func matches "^tcp_v[46]"'),
    ('kbl.caller == "ip_local_out"', 'kbl.caller == "ip_local_out"'),
    ('kbl.layer == "transport"', 'kbl.layer == "transport"'),
    ("kbl.dur > 50us", "kbl.dur > 0.00005"),
    ("kbl.self > 10us", "kbl.self > 0.00001"),
    ("kbl.cpu == 1", "kbl.cpu == 1"),
    ('kbl.context == "task"', 'kbl.context == "task"'),
    ('kbl.comm contains "n"', 'kbl.comm contains "n"'),
    ("kbl.depth > 14", "kbl.depth > 14"),
    ("frame.len > 90 && kbl.functions > 40", "frame.len > 90 && kbl.functions > 40"),
    # Here the script leaves values out if they cannot decide.
    ("kbl.dur > 50us && kbl.dur < 900ns", "kbl.dur > 0.00005 && kbl.dur < 0.0000009"),
    ("!(kbl.dur >= 50us)", "!(kbl.dur >= 0.00005)"),
    ("kbl.dur > 500us || kbl.dur == 1010ns", "kbl.dur > 0.0005 || kbl.dur == 0.00000101"),
    ("kbl.self <= 400ns", "kbl.self le 0.0000004"),
    ("kbl.dur == 1010ns || kbl.dur == 1s", "kbl.dur == 0.00000101 || kbl.dur == 1"),
    ("!(kbl.self == 350ns)", "!(kbl.self == 0.000000350)"),
    (
        'kbl.func == "ip_rcv" && kbl.func == "ip_output"',
        'kbl.func == "ip_rcv" and kbl.func == "ip_output"',
    ),
    ('kbl.func != "ip_rcv"', 'kbl.func != "ip_rcv"'),
    ('!(kbl.func == "ip_rcv")', 'not kbl.func == "ip_rcv"'),
    ('kbl.func && kbl.func == "none"', 'kbl.func && kbl.func == "none"'),
    (
        'kbl.func == "ip" || kbl.func contains "_tcp"',
        'kbl.func == "ip" || kbl.func contains "_tcp"',
    ),
    ("kbl.cpu == 0 && kbl.pid > 1", "kbl.cpu == 0 && kbl.pid > 1"),
)
# Here it must not.
UNDECIDED = (
    "count(kbl.dur) > 20 && kbl.dur > 0.00005",
    "all kbl.dur < 0.0001",
    "kbl.dur - 0.00001 > 0.00004 && kbl.dur > 0.00001",
    "kbl.dur > kbl.waiting",
    "max(kbl.dur) > 0.0001 || kbl.dur > 1",
    'all kbl.layer == "link"',
    'kbl.func == "ip_rcv" && count(kbl.func) > 20',
    'kbl.comm == "kbl.func == " || kbl.func matches "^ip_r"',
    "frame.len & kbl.cpu == 1",
    "kbl.pid == 0x2c || kbl.pid == 010",
)
EVERYTHING = ("-o", "frame.generate_md5_hash:FALSE")  # with -o, the script adds all values
LEAST = 20  # filters of which each selects some packets of a sample, but not all


class Exported(NamedTuple):
    """A sample as a session, exported, and the number of frames of the samples before it."""

    session: Session
    file: Path
    before: int

    def selected(self, text: str) -> list[int]:
        """The frames of the merged file that a filter selects of this sample."""
        found = self.session.packets.select(text)
        return [] if found is None else (found + self.before).tolist()


def tshark(file: Path, *words: str) -> list[str]:
    environment = os.environ | {"HOME": str(file.parent), "XDG_CONFIG_HOME": str(file.parent)}
    done = subprocess.run(
        ["tshark", "-n", "-r", str(file), *words],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert "rror" not in done.stderr, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Exported]:
    made, before = {}, 0
    for name in SAMPLES:
        folder = tmp_path_factory.mktemp(name)
        inputs = [resource("samples") / name / f"{name}.{kind}" for kind in ("kbl", "pcap")]
        import_files(inputs, folder / "s.skbv")
        session, file = Session.open(folder / "s.skbv"), folder / "s.pcapng"
        write_pcapng(session, Request(), file)
        made[name] = Exported(session, file, before)
        before += session.packets.count()
    return made


@pytest.fixture(scope="module")
def merged(samples: dict[str, Exported], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All samples, one after the other, beside the script: a tshark takes long to start."""
    folder = tmp_path_factory.mktemp("merged")
    files = [str(sample.file) for sample in samples.values()]
    subprocess.run(["mergecap", "-a", "-w", folder / "all.pcapng", *files], check=True)
    (folder / "kbl.lua").write_text(lua_script())
    return folder / "all.pcapng"


@pytest.mark.parametrize(("ours", "theirs"), FILTERS, ids=[ours for ours, _ in FILTERS])
def test_tshark_selects_the_same_frames(
    samples: dict[str, Exported], merged: Path, ours: str, theirs: str
) -> None:
    script = ("-X", f"lua_script:{merged.parent / 'kbl.lua'}")
    lines = tshark(merged, *script, "-Y", theirs, "-T", "fields", "-e", "frame.number")
    expected = [number for sample in samples.values() for number in sample.selected(ours)]
    assert [int(line) for line in lines] == expected


def test_the_filters_divide_the_packets_of_samples(samples: dict[str, Exported]) -> None:
    dividing = {
        ours
        for ours, _ in FILTERS
        for sample in samples.values()
        if 0 < len(sample.selected(ours)) < sample.session.packets.count()
    }
    assert len(dividing) >= LEAST, sorted(dividing)


def test_bytes_times_and_lengths_are_those_of_the_capture(samples: dict[str, Exported]) -> None:
    fields = (
        "frame.time_epoch",
        "frame.len",
        "frame.cap_len",
        "frame.encap_type",
        "frame.md5_hash",
    )
    words = ["-o", "frame.generate_md5_hash:TRUE", "-T", "fields"]
    words += [word for name in fields for word in ("-e", name)]
    for name, sample in samples.items():
        original = resource("samples") / name / f"{name}.pcap"
        assert tshark(sample.file, *words) == tshark(original, *words)


@pytest.mark.parametrize(
    "words",
    [("editcap",), ("mergecap", "-w"), ("tshark", "-r")],
    ids=lambda words: words[0],
)
def test_other_programs_keep_the_comments(
    samples: dict[str, Exported], tmp_path: Path, words: tuple[str, ...]
) -> None:
    file, out = samples["nat"].file, tmp_path / "again.pcapng"
    order: dict[str, list[str | Path]] = {
        "editcap": [file, out],
        "mergecap": [out, file],
        "tshark": [file, "-w", out],
    }
    subprocess.run([*words, *order[words[0]]], check=True, capture_output=True)
    shown = ("-T", "fields", "-e", "frame.comment", "-e", "frame.packet_id")
    lines = tshark(file, *shown)
    assert tshark(out, *shown) == lines
    assert all(line.startswith(PREFIX.decode()) for line in lines)


@pytest.mark.parametrize(
    "text",
    ["kbl && kbl.functions > 30", "!kbl || kbl.functions > 30", "kbl", "!(kbl.functions > 30)"],
)
def test_tshark_that_lists_packets_selects_the_same(
    samples: dict[str, Exported], merged: Path, text: str
) -> None:
    """Without -T fields, the tree asks for fewer fields."""
    script = ("-X", f"lua_script:{merged.parent / 'kbl.lua'}")
    lines = tshark(merged, *script, "-Y", text)
    expected = [number for sample in samples.values() for number in sample.selected(text)]
    assert [int(line.split()[0]) for line in lines] == expected
    assert expected


@pytest.mark.parametrize("text", UNDECIDED)
def test_values_that_can_decide_are_not_left_out(merged: Path, text: str) -> None:
    script = ("-X", f"lua_script:{merged.parent / 'kbl.lua'}", "-T", "fields")
    asked = ("-Y", text, "-e", "frame.number", "-e", "kbl.dev")
    assert tshark(merged, *script, *asked) == tshark(merged, *script, *EVERYTHING, *asked)


def test_fields_that_the_command_line_names_have_the_values_of_all_fields(merged: Path) -> None:
    names = [field.name for field in COMMENT_FIELDS if field.name != "kbl"]
    script = ("-X", f"lua_script:{merged.parent / 'kbl.lua'}", "-T", "fields")
    for some in (names[::2], names[1::2]):
        words = [word for name in some for word in ("-e", name)]
        lines = tshark(merged, *script, *words)
        assert lines == tshark(merged, *script, *EVERYTHING, *words)
        assert any(line.strip() for line in lines)
    chosen = ("-Y", "kbl.cpu == 1 && kbl.verdict", "-e", "kbl.dev")
    assert tshark(merged, *script, *chosen) == tshark(merged, *script, *EVERYTHING, *chosen)
    assert tshark(merged, *script, "-e", "kbl") == tshark(merged, *script, *EVERYTHING, "-e", "kbl")


def test_what_comments_leave_out_is_made_of_other_fields(merged: Path) -> None:
    names = ("latency", "in_kernel", "matched", "verdict", "addr", "src", "dst", "caller")
    words = [word for name in names for word in ("-e", f"kbl.{name}")]
    script = ("-X", f"lua_script:{merged.parent / 'kbl.lua'}", "-T", "fields", "-E", "aggregator=~")
    short = set[str]()
    for line in tshark(merged, *script, *words):
        latency, in_kernel, matched, verdict, *lists = line.split("\t")
        addr, src, dst, caller = (cell.split("~") if cell else [] for cell in lists)
        assert latency == in_kernel
        assert matched == str(int(verdict in ("exact", "ambiguous")))
        assert sorted(addr) == sorted({*src, *dst})
        symbols = {text.partition("+")[0] for text in caller}
        assert sorted(caller) == sorted({*symbols, *(text for text in caller if "+" in text)})
        short |= symbols
    assert "ip_local_out" in short
