# SPDX-License-Identifier: MIT
"""skbviewer dataset: what its commands print, and their exit codes."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from skbviewer.cli import main
from tests.dataset.recordings import Both, make_both, pair

Captured = pytest.CaptureFixture[str]
DASK_PORT = 8787  # where Dask offers its web page
BLOCKED = """
import sys
sys.modules[sys.argv.pop(1)] = None
from skbviewer.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return make_both(tmp_path_factory.mktemp("cli"))


def test_add_reports_each_pair(tmp_path: Path) -> None:
    bad = tmp_path / "bad.pcap"
    bad.write_bytes(b"no capture")
    folder, (log, capture) = tmp_path / "dataset", pair("handshake")
    with socket.socket() as other:
        with contextlib.suppress(OSError):  # another program uses it
            other.bind(("", DASK_PORT))
            other.listen()
        found = _add(folder, f"{log}+{capture}", str(bad))
    text = f"{_shown(log)} + handshake.pcap: host lab, 16 packets, 4042 calls\n"
    assert (found.returncode, found.stdout[34:]) == (1, text)
    assert found.stderr.startswith(
        f"warning: not added: {_shown(bad)}: {bad}: the file is neither pcap"
    )
    found = _add(folder, str(log))
    assert found.returncode == 1
    assert f"warning: {log}: counts 2 times, in the sessions " in found.stderr
    assert _add(folder, str(bad)).returncode == 2


def test_a_pair_that_is_not_added_is_named_in_one_line(tmp_path: Path) -> None:
    """Each host's files may have the same names, and the fault may be in the second file."""
    for host in ("a", "b\x1b[31m\nc"):
        (tmp_path / host).mkdir()
        shutil.copy(pair("handshake")[0], tmp_path / host / "log.kbl")
        (tmp_path / host / "eth0.pcap").write_bytes(b"no capture")
    pairs = [f"{folder}/log.kbl+{folder}/eth0.pcap" for folder in sorted(tmp_path.iterdir())]
    found = _add(tmp_path / "dataset", *pairs)
    assert (found.returncode, found.stdout) == (2, "")
    lines = [line.removeprefix(f"warning: not added: {tmp_path}") for line in _lines(found.stderr)]
    assert lines == [
        f"{name}/log.kbl + eth0.pcap: {tmp_path}{name}/eth0.pcap: the file is neither pcap, "
        "pcapng, KBL nor a retis log (first bytes: 6e 6f 20 63)"
        for name in ("/a", "/b\\x1b[31m\\nc")
    ]  # fmt: skip


def test_the_same_capture_twice_in_one_session_is_a_warning(tmp_path: Path) -> None:
    log, capture = (Path(shutil.copy(path, tmp_path)) for path in pair("handshake"))
    again = Path(shutil.copy(capture, tmp_path / "again.pcap"))
    found = _add(tmp_path / "dataset", f"{log}+{capture}+{again}")
    session = found.stdout.split()[0]
    assert f"warning: {again}: counts 2 times, in session {session}" in _lines(found.stderr)


def _lines(text: str) -> list[str]:
    return sorted(text.splitlines())


def _shown(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _add(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "skbviewer", "dataset", "add", str(folder), "--jobs", "1"]
    return subprocess.run([*command, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("find", "DIR", "--packet", "x:3", "--within", "nan"), "'nan' is not a number of seconds"),
        (("find", "DIR", "--packet", "x:3", "--within", "1e300"), "'1e300' is not a number of"),
        (("add", "DIR", "a.kbl", "--jobs", "0"), "'0' is not a whole number above 0"),
    ],
)
def test_impossible_numbers(words: tuple[str, ...], message: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["dataset", *words])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_info(made: Both, capsys: Captured) -> None:
    assert main(["dataset", "info", str(made.folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["count"], found["hosts"], found["packets"]) == (6, ["lab"], 359)
    assert found["calls"] == sum(s.columns.length("call") for s in made.sessions.values())
    assert {each["session"] for each in found["sessions"]} == set(made.sessions)
    assert main(["dataset", "info", str(made.folder)]) == 0
    assert "packets   359" in capsys.readouterr().out.splitlines()


def test_packets_are_in_order_of_time(made: Both, capsys: Captured) -> None:
    assert main(["dataset", "packets", str(made.folder), "--csv", "--filter", "udp"]) == 0
    listed = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    times = [int(row["ts_ns"]) for row in listed]
    assert times == sorted(times)
    wanted = [session.packets.select("udp") for session in made.sessions.values()]
    assert len(listed) == sum(len(ids) for ids in wanted if ids is not None)


def test_stats_and_query(made: Both, capsys: Captured) -> None:
    assert main(["dataset", "stats", str(made.folder), "functions", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert main(["dataset", "query", str(made.folder), "--json", "SELECT 1 AS a, NULL AS b"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"a": 1, "b": None}]
    assert rows[0]["total_ns"] >= rows[1]["total_ns"] > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["packets", "{}", "--filter", "eth.src == 0:1:2:3:4:5"], "eth.src works only on a"),
        (["packets", "{}", "--filter", "tcp.prt == 1"], "unknown field tcp.prt"),
        (["stats", "{}", "clock"], "clock is not one of"),
        (["query", "{}", "COPY packets TO 'x'"], "query: only one SELECT is allowed"),
        (["info", "{}/none"], "is no dataset: it has no dataset.json"),
        (["drop", "{}", "--before", "then"], "then: expected a time such as"),
        (["open", "{}", "--host", "x", "--range", "2026-01-01", "-o", "s"], "expected 'A,B'"),
        (["add", "{}/tables", "x.kbl"], "the folder holds other files, such as"),
    ],
)
def test_wrong_words_get_one_answer(
    made: Both, capsys: Captured, words: list[str], message: str
) -> None:
    assert main(["dataset", *(word.format(made.folder) for word in words)]) == 2
    assert message in capsys.readouterr().err


def test_drop_and_open(made: Both, tmp_path: Path, capsys: Captured) -> None:
    copy, out = tmp_path / "copy", tmp_path / "s.skbv"
    shutil.copytree(made.folder, copy)
    words = ["--host", "lab", "--range", "2026-11-21T17:52,2026-11-21T17:53", "-o", str(out)]
    assert main(["dataset", "open", str(copy), *words]) == 0
    assert main(["packets", str(out), "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 16
    for part, code in (("2026-11-21T17:52,", 0), (",2026-11-21T17:53", 0), (",2026-11-20", 2)):
        more = ["--host", "lab", "--range", part, "-o", str(tmp_path / f"{len(part)}{code}.skbv")]
        assert main(["dataset", "open", str(copy), *more]) == code
    capsys.readouterr()
    assert main(["dataset", "drop", str(copy), "--before", "2026-11-21T17:54"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5


@pytest.mark.parametrize(
    ("library", "words"),
    [
        ("duckdb", ("query", "SELECT 1")),
        ("duckdb", ("stats", "functions")),
        ("distributed", ("add", "x.kbl")),
        ("pyarrow", ("add", "x.kbl")),
    ],
)
def test_a_missing_library_is_named(made: Both, library: str, words: tuple[str, str]) -> None:
    found = subprocess.run(
        [sys.executable, "-c", BLOCKED, library, "dataset", words[0], str(made.folder), words[1]],
        capture_output=True,
        text=True,
        check=False,
    )
    wanted = f"datasets need {library}: pip install 'skbviewer[dataset]'"
    assert (found.returncode, wanted in found.stderr) == (2, True), found.stderr
