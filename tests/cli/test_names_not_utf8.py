# SPDX-License-Identifier: MIT
"""A file name that is not UTF-8 is one line in each command, and BadInput in the Python API."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import skbviewer
from skbviewer.cli import main
from skbviewer.cli.main import COMMANDS
from skbviewer.records import BadInput, resource
from skbviewer.session import import_files

SAMPLE = resource("samples/handshake")
BAD = os.fsdecode(b"caf\xe9")
SHOWN = "caf\\xe9"
LINES = {
    "import": ["-o", "s.skbv", "{}.pcap"],
    "info": ["{}.pcap"],
    "packets": ["{}.pcap", "--json"],
    "path": ["{}.pcap", "--packet", "1"],
    "stats": ["{}.pcap", "functions"],
    "compare": ["{}.pcap", "{}.pcap"],
    "diagnose": ["{}.pcap"],
    "disassemble": ["{}.pcap", "f", "--image", "vmlinux"],
    "export": ["{}.pcap", "--pcapng", "out.pcapng"],
    "query": ["{}.pcap", "SELECT 1"],
    "dataset": ["add", "folder", "{}.pcap"],
    "dump": ["{}.pcap"],
    "wireshark": ["{}.pcap"],
    "window": ["{}.pcap"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a capture of a bad name, and a folder of a bad name with a capture."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = tmp_path / "made"
    (made / BAD).mkdir(parents=True)
    shutil.copy(SAMPLE / "handshake.pcap", made / f"{BAD}.pcap")
    shutil.copy(SAMPLE / "handshake.pcap", made / BAD / "a.pcap")
    monkeypatch.chdir(made)
    return made


def test_all_commands_are_tested() -> None:
    assert set(LINES) == {*COMMANDS, "window"}


@pytest.mark.parametrize("command", LINES)
def test_each_command_says_it_in_one_line(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(os.listdir(folder))
    words = [word.format(BAD) for word in LINES[command]]
    assert main(words if command == "window" else [command, *words]) == 2
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert SHOWN in line and "not UTF-8" in line and not printed.out
    assert sorted(os.listdir(folder)) == before


def test_a_bad_folder_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder / BAD)
    for words in (["packets", "a.pcap"], ["import", "-o", "s.skbv", "a.pcap"]):
        assert main(words) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "a.pcap: the name is not UTF-8" in line


def test_the_api_raises_bad_input(folder: Path) -> None:
    for opening in (skbviewer.open, lambda path: import_files([path], folder / "s.skbv")):
        with pytest.raises(BadInput, match="not UTF-8") as raised:
            opening(folder / f"{BAD}.pcap")
        assert str(raised.value).isascii()
