# SPDX-License-Identifier: MIT
"""skbviewer export on a real recording."""

from __future__ import annotations

import csv
import json
import os
import resource as limits
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from skbviewer.cli.export import FORMS
from skbviewer.records import resource
from skbviewer.session import Session, import_files

from .commands import Done, run, run_apart

SAMPLE = resource("samples/handshake")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("export") / "s.skbv"
    import_files([SAMPLE / "handshake.pcap", SAMPLE / "handshake.kbl"], out)
    return out


def export(file: Path, *words: str) -> Done:
    return run(["export", str(file), *words])


def rows_of(out: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Comment lines and rows of a CSV."""
    lines = out.read_text().splitlines()
    comments = [line for line in lines if line.startswith("#")]
    return comments, list(csv.DictReader(line for line in lines if not line.startswith("#")))


TWICE = [
    ("--png", "--lanes", "cpu", "--range", "0,0.5", "--dpi", "300", "--size", "1200x700"),
    ("--svg", "--packet", "3", "--markers=-0.1,0.2"),
    ("--png", "--packet", "3"),
    ("--csv", "--lanes", "process"),
    ("--csv", "--filter", "tcp"),
    ("--csv", "--packet", "3"),
    ("--folded", "--filter", "tcp"),
    ("--speedscope", "--packet", "3"),
    ("--perfetto", "--filter", "tcp", "--packet", "3-9"),
    ("--html", "--packet", "3", "--filter", "tcp"),
    ("--html", "--range", "0,10", "--pseudonym-key", str(SAMPLE / "README.md")),
    ("--pcapng", "--pseudonym-key", str(SAMPLE / "README.md")),
    ("--jsonl", "--filter", "tcp"),
]


@pytest.fixture(scope="module")
def twice(file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two folders with the outputs of TWICE, by their number, each made by a process.

    The processes have no display, and order sets differently.
    """
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    folders = (tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("two"))
    for seed, folder in enumerate(folders):
        commands = [
            ["export", str(file), form, str(folder / str(number)), *rest]
            for number, (form, *rest) in enumerate(TWICE)
        ]
        made = run_apart(commands, environment | {"PYTHONHASHSEED": str(seed)})
        assert {(done.returncode, done.stderr) for done in made} == {(0, "")}
    return folders


@pytest.mark.parametrize("number", range(len(TWICE)), ids=lambda n: f"{n}{TWICE[n][0]}")
def test_twice_the_same_command_gives_the_same_bytes(twice: tuple[Path, Path], number: int) -> None:
    one, two = ((folder / str(number)).read_bytes() for folder in twice)
    assert one == two and one


def test_pseudonyms_have_another_key_each_time(file: Path, tmp_path: Path) -> None:
    made = []
    for name in ("one.pcapng", "two.pcapng"):
        assert export(file, "--pcapng", str(tmp_path / name), "--pseudonyms").returncode == 0
        made.append((tmp_path / name).read_bytes())
    assert made[0] != made[1] and len(made[0]) > 1000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--csv", "x.csv", "--pseudonyms"),
            "--csv cannot replace names by pseudonyms: use --jsonl, --parquet, --html",
        ),
        (("--perfetto", "x.pftrace", "--snaplen", "9"), "--perfetto exports no bytes of packets"),
        (("--html", "x.html", "--pseudonym-key", "nowhere"), "nowhere: cannot read"),
        (("--html", "x.txt"), "the file name must end in .html or .htm"),
        (("--html", "x.html", "--lanes", "cpu"), "--html cannot export the timeline"),
        (("--html", "x.html", "--filter", "tcp &&"), "tcp &&"),
        (("--perfetto", "x.pftrace", "--packet", "999"), "no packet 999"),
        (("--html", "no/x.html"), "cannot write"),
    ],
)
def test_what_cannot_be_written_is_one_line(
    file: Path, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    out = tmp_path / words[1]
    done = export(file, words[0], str(out), *words[2:])
    assert done.returncode == 2
    assert said in done.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    "command",
    [("export", "FILE", "--pcapng", "-"), ("packets", "FILE"), ("info", "FILE"),
     ("wireshark", "--print")],
    ids=lambda command: command[0],
)  # fmt: skip
def test_a_full_disk_behind_standard_output_is_one_line(
    file: Path, command: tuple[str, ...]
) -> None:
    words = [str(file) if word == "FILE" else word for word in command]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "skbviewer", *words],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    text = "skbviewer: standard output: cannot write: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, text)


def test_the_command_in_the_table_makes_it_anew(file: Path, tmp_path: Path) -> None:
    first = tmp_path / "first.csv"
    words = ("--lanes", "layer", "--range", "0.1,0.4", "--size", "900x600", "--title", "My title")
    assert export(file, "--csv", str(first), *words).returncode == 0
    comment = rows_of(first)[0][-1]
    command = comment.partition("skbviewer export ")[2]
    done = subprocess.run(
        f"{sys.executable} -m skbviewer export {command}",
        shell=True,
        cwd=file.parent,
        check=True,
        capture_output=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0
    assert (file.parent / "timeline.csv").read_bytes() == first.read_bytes()


def test_the_command_names_the_inputs_of_what_was_not_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    inputs = [tmp_path / "a b" / "handshake.pcap", tmp_path / "handshake.kbl"]
    inputs[0].parent.mkdir()
    for path in inputs:
        shutil.copy(SAMPLE / path.name, path)
    first = tmp_path / "first.csv"
    words = ("--packet", "3-5,1", "--lanes", "packet")
    done = export(inputs[0], str(inputs[1]), "--csv", str(first), *words)
    assert done.returncode == 0, done.stderr
    command = rows_of(first)[0][-1].partition("skbviewer export ")[2]
    assert command.startswith("'a b/handshake.pcap' handshake.kbl --csv timeline.csv")
    assert "--packet 3-5,1" in command
    words_anew = f"{sys.executable} -m skbviewer export {command}"
    subprocess.run(words_anew, shell=True, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "timeline.csv").read_bytes() == first.read_bytes()


def test_an_empty_filter_is_the_whole_packet_list(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "p.csv"
    assert export(file, "--csv", str(out), "--filter", "").returncode == 0
    assert len(rows_of(out)[1]) == Session.open(file).packets.count()


def test_the_boxes_of_all_lanes_are_all_calls(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.csv"
    assert export(file, "--csv", str(out), "--lanes", "cpu", "--size", "2000x30000").returncode == 0
    comments, rows = rows_of(out)
    calls = [row for row in rows if row["lane"].startswith("CPU")]
    wires = [row for row in rows if row["lane"].startswith("wire")]
    session = Session.open(file)
    assert sum(int(row["count"]) for row in wires) == session.packets.count()
    boxes = len(session.timeline.lanes("cpu").boxes.begin) - session.packets.count()
    assert sum(int(row["count"]) for row in calls) == boxes
    assert sum("SHA-256" in line for line in comments) == 2


def test_a_filter_alone_is_the_packet_list(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "p.csv"
    assert export(file, "--csv", str(out), "--filter", "arp").returncode == 0
    comments, rows = rows_of(out)
    assert "# filter: arp" in comments
    assert {row["protocol_name"] for row in rows} == {"ARP"}


def test_a_range_may_have_one_limit(file: Path, tmp_path: Path) -> None:
    out, found = tmp_path / "x.folded", list[str]()
    for part in ("0.01,", "0.01,100", ",0.01", "-100,0.01"):
        assert export(file, "--folded", str(out), f"--range={part}").returncode == 0
        found.append(out.read_text())
    assert found[0] == found[1] != found[2] == found[3] and all(found)
    table, spans = tmp_path / "x.csv", list[str]()
    for part in ("0.01,", ",0.01"):
        words = ("--csv", str(table), "--lanes", "cpu", f"--range={part}")
        assert export(file, *words).returncode == 0
        comments, _ = rows_of(table)
        assert any(line.endswith(f"--range={part}") for line in comments)
        spans.append(next(line for line in comments if " s to " in line))
    assert spans[0].startswith("# 0.01 s to ") and spans[1].startswith("# 0 s to 0.01 s ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--lanes", "cpu", "--range", ","), "does not have the form 'A,B', 'A,' or ',B'"),
        (("--lanes", "cpu", "--range", "1"), "does not have the form"),
        (("--lanes", "cpu", "--range", "0.3,0.1"), "--range: 0.3,0.1 ends before it begins"),
        (("--lanes", "packet", "--packet", "1,5-3"), "--packet: 5-3 ends before it begins"),
        (("--lanes", "cpu", "--size", "10x10"), "invalid size 10x10 (expected WxH"),
        (("--lanes", "moon"), "invalid choice"),
        (("--lanes", "packet", "--packet", "999"), "no packet 999"),
        (("--lanes", "packet", "--packet", "1,K999"), "no packet K999"),
        (("--lanes", "packet", "--packet", "1-9999999999"), "more than 1000"),
        (("--packet", "1,x"), "'1,x' is not a list of packet numbers"),
        (("--packet", "2-3"), "a path belongs to one packet"),
        (("--packet", "1", "--filter", "tcp"), "--packet and --filter exclude each other"),
        (("--filter", "tcp.prot == 1"), "tcp.prot"),
    ],
)
def test_a_wrong_word_is_reported_in_a_line(
    file: Path, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = export(file, "--csv", str(tmp_path / "x"), *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x").exists()


def test_stacks_are_of_packets_not_of_the_timeline(file: Path, tmp_path: Path) -> None:
    for form in ("folded", "speedscope"):
        done = export(file, f"--{form}", str(tmp_path / "x"), "--lanes", "cpu")
        said = f"skbviewer: --{form} cannot export the timeline: use '--packet' or '--filter'\n"
        assert (done.returncode, done.stderr) == (2, said)
        assert not list(tmp_path.iterdir())


def test_stacks_of_a_range_and_of_some_rows(file: Path, tmp_path: Path) -> None:
    """--range and --packet choose packets together with --filter, as for all formats."""
    out = tmp_path / "x.folded"
    sums = []
    for words in (("--range", "0,100"), ("--filter", ""), ("--filter", "tcp", "--packet", "1-3")):
        assert export(file, "--folded", str(out), *words).returncode == 0
        sums.append(sum(int(line.rsplit(" ", 1)[1]) for line in out.read_text().splitlines()))
    assert 0 < sums[2] < sums[0] <= sums[1]
    assert export(file, "--folded", str(out), "--range", "900,901").returncode == 1
    assert out.read_text() == ""


def test_markers_keep_their_order(file: Path, tmp_path: Path) -> None:
    """A may stand after B: the difference is negative then, as in the window."""
    out = tmp_path / "t.csv"
    words = ("--lanes", "cpu", "--markers", "0.3,0.1")
    assert export(file, "--csv", str(out), *words).returncode == 0
    comments = rows_of(out)[0]
    assert any(line.startswith("# B − A = −200") for line in comments), comments
    assert comments[-1].endswith("--lanes cpu --markers=0.3,0.1")


@pytest.mark.parametrize(
    "words",
    [("--csv", "--packet", "3"), ("--csv", "--filter", "tcp"), ("--png", "--packet", "3")],
)
def test_a_dash_is_standard_output(
    file: Path, tmp_path: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    form, *rest = words
    out = tmp_path / f"out.{form[2:]}"
    assert export(file, form, str(out), *rest).returncode == 0
    monkeypatch.chdir(tmp_path)
    done = export(file, form, "-", *rest)
    assert done.output == out.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [out.name]


def test_standard_output_needs_no_temporary_file(file: Path, tmp_path: Path) -> None:
    wanted = [
        ("--pcapng",), ("--pcap",), ("--jsonl",), ("--perfetto",), ("--html",),
        ("--folded", "--packet", "1"), ("--speedscope", "--filter", ""),
        ("--csv", "--filter", "tcp"), ("--svg", "--lanes", "cpu"),
        ("--pcapng", "--retis"),
    ]  # fmt: skip
    wholes = []  # made first, so that compiled loops are cached when no file can grow
    for form, *rest in wanted:
        out = tmp_path / f"out{FORMS[form[2:]].suffixes[0]}"
        assert export(file, form, str(out), *rest).returncode == 0
        wholes.append(out.read_bytes())
    commands = [["export", str(file), form, "-", *rest] for form, *rest in wanted]
    for done, whole in zip(run_apart(commands, prepare=no_file_can_grow), wholes, strict=True):
        assert (done.returncode, done.stderr) == (0, "")
        assert done.output == whole


def no_file_can_grow() -> None:
    limits.setrlimit(limits.RLIMIT_FSIZE, (0, 0))


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("--png", "x.txt"),
        ("--svg", "x.png"),
        ("--csv", "x.png"),
        ("--folded", "x.json"),
        ("--speedscope", "x.csv"),
    ],
)
def test_a_name_of_another_format_is_refused(
    file: Path, tmp_path: Path, form: str, name: str
) -> None:
    done = export(file, form, str(tmp_path / name))
    assert done.returncode == 2 and f"{name}: the file name must end in" in done.stderr
    assert not list(tmp_path.iterdir())


def test_pictures_need_no_display_whatever_the_environment_says(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "k.png"
    done = subprocess.run(
        [sys.executable, "-m", "skbviewer", "export", str(file), "--png", str(out)],
        env=os.environ | {"QT_QPA_PLATFORM": "xcb", "DISPLAY": ":none"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert out.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("form", "every"),
    [
        ("csv", ("--filter", "")),
        ("folded", ("--filter", "")),
        ("speedscope", ("--filter", "")),
        ("png", ("--lanes", "packet")),
    ],
)
def test_a_note_says_that_only_packet_1_is_written(
    file: Path, tmp_path: Path, form: str, every: tuple[str, str]
) -> None:
    words = {"alone": (), "one": ("--packet", "1"), "every": every}
    out = {name: tmp_path / f"{name}{FORMS[form].suffixes[0]}" for name in words}
    done = {name: export(file, f"--{form}", str(out[name]), *words[name]) for name in words}
    assert out["alone"].read_bytes() == out["one"].read_bytes() != out["every"].read_bytes()
    assert {each.returncode for each in done.values()} == {0}
    assert done["alone"].stderr.startswith("note: only packet 1: ")
    assert " ".join(every).strip() in done["alone"].stderr
    assert (done["one"].stderr, done["every"].stderr) == ("", "")


def test_a_row_of_the_kernel_is_exported(file: Path, tmp_path: Path) -> None:
    for form in ("csv", "png"):
        out = tmp_path / f"k.{form}"
        done = export(file, f"--{form}", str(out), "--packet", "K1")
        assert done.returncode == 0 and out.stat().st_size > 1000, done.stderr
        done = export(file, f"--{form}", str(out), "--packet", "K9999")
        assert (done.returncode, done.stderr) == (2, "skbviewer: no packet K9999\n")


def test_tables_as_parquet_and_json_lines(file: Path, tmp_path: Path) -> None:
    words = ("--filter", "tcp", "--packet", "3,4", "--range", "0,100", "--no-payload")
    done = export(file, "--parquet", str(tmp_path / "tables"), *words)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    packets = parquet.read_table(tmp_path / "tables/packets.parquet")["number"].to_pylist()
    assert packets == [3, 4]
    assert not (tmp_path / "tables/packet_bytes.parquet").exists()
    lines = export(file, "--jsonl", "-", *words[:-1], "--snaplen", "14").stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["number"] for row in rows if row["table"] == "packets"] == packets
    assert [row["number"] for row in rows if row["table"] == "packet_bytes"] == packets


def test_a_folder_is_not_standard_output(file: Path) -> None:
    done = export(file, "--parquet", "-")
    error = "skbviewer: --parquet writes a folder, so its output cannot be standard output\n"
    assert (done.returncode, done.stderr) == (2, error)
