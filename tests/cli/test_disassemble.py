# SPDX-License-Identifier: MIT
"""skbviewer disassemble: lines, JSON, and one line for what cannot be done."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from skbviewer.cli.main import main
from skbviewer.records import resource
from skbviewer.session import import_files
from tests.readers.build_kernel_image import Function, build

LOG = resource("samples/handshake/handshake.kbl")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("code") / "s.skbv"
    import_files([LOG, LOG.with_suffix(".pcap")], out)
    return out


@pytest.fixture(scope="module")
def image(session: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with sqlite3.connect(session) as db:
        wanted = "SELECT address FROM probe WHERE name = 'tcp_v4_rcv'"
        (address,) = db.execute(wanted).fetchone()
        (stext,) = db.execute("SELECT value FROM meta WHERE key = 'stext'").fetchone()
        wanted = "SELECT name FROM symbol WHERE name LIKE 'tcp_v4_rcv+%'"
        offsets = [int(name.split("+0x")[1], 16) for (name,) in db.execute(wanted)]
    at = address + (1 << 64) - int(stext)
    calls = {offset: f"callee_{offset:x}" for offset in offsets}
    return build(tmp_path_factory.mktemp("image"), [Function("tcp_v4_rcv", at, calls)])


def test_lines(session: Path, image: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["disassemble", str(session), "tcp_v4_rcv", "--image", str(image)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith(f"tcp_v4_rcv in {image}: ") and "alternatives" in out[1]
    assert any(line.endswith("  # tcp_v4_do_rcv: 4 calls") for line in out)
    assert any("<__fentry__>" in line for line in out)
    assert any("code.S:" in line for line in out)


def test_json(session: Path, image: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["disassemble", "--image", str(image), "--json", str(session), "tcp_v4_rcv"]
    assert main(words) == 0
    made = json.loads(capsys.readouterr().out)
    assert set(made) == {
        "function", "image", "recorded", "begin", "end", "notes", "instructions"
    }  # fmt: skip
    rows = made["instructions"]
    assert sum(len(one["bytes"]) // 2 for one in rows) == made["end"] - made["begin"]
    calls = [call for one in rows for call in one["calls"]]
    assert {"function": "tcp_check_req", "calls": 1} in calls
    assert rows[0]["target_name"] == "__fentry__" and rows[0]["kind"] == "call"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nosuch"], "vmlinux: neither the image nor the recording has a function nosuch"),
        (["tcp_v4_rcv", "--image", "nothing"], "nothing: No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    words: list[str], why: str, session: Path, image: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["disassemble", "--image", str(image), str(session), *words]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and said.err.rstrip().endswith(why)


def test_no_image_and_no_recorded_code(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["disassemble", str(session), "tcp_v4_rcv"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "s.skbv: has no machine code of tcp_v4_rcv: give" in said


def test_counts_need_recorded_code(
    session: Path, image: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--image", str(image), "--counts", "a.insns", str(session), "tcp_v4_rcv"]
    assert main(["disassemble", *words]) == 2
    said = capsys.readouterr().err
    assert (
        said.count("\n") == 1
        and "counts can only be shown for code that 'kblrecord --code' recorded" in said
    )


def test_no_function(image: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["disassemble", "--image", str(image), "ip_rcv"]) == 2
    assert "expected a file and a function" in capsys.readouterr().err
