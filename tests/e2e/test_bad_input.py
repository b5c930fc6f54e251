# SPDX-License-Identifier: MIT
"""Broken input: one clear error line, an exit code, whole parts kept, no partial file left."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from skbviewer.records import resource
from skbviewer.session import Session

SAMPLE = resource("samples/handshake")
PCAP, KBL = SAMPLE / "handshake.pcap", SAMPLE / "handshake.kbl"
TOP = Path(__file__).resolve().parents[2]


def skbviewer(*words: object) -> subprocess.CompletedProcess[str]:
    """Run the program as a user would."""
    return subprocess.run(
        [sys.executable, "-m", "skbviewer", *map(str, words)],
        cwd=TOP,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def refused(done: subprocess.CompletedProcess[str], *said: str) -> None:
    """Exit code 2 and exactly one line on stderr that says all of `said`."""
    assert done.returncode == 2, done
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    for word in said:
        assert word.lower() in lines[0].lower()


def test_empty_file(tmp_path: Path) -> None:
    bad = tmp_path / "empty.pcap"
    bad.touch()
    refused(skbviewer("import", "-o", tmp_path / "s.skbv", bad), str(bad), "empty")
    assert os.listdir(tmp_path) == ["empty.pcap"]


def test_random_bytes(tmp_path: Path) -> None:
    bad = tmp_path / "noise"
    bad.write_bytes(bytes((i * 7919 + (i * i >> 3)) & 0xFF for i in range(1024)))
    refused(skbviewer("import", "-o", tmp_path / "s.skbv", bad), str(bad))
    assert os.listdir(tmp_path) == ["noise"]


def test_capture_cut_in_a_packet(tmp_path: Path) -> None:
    bad = tmp_path / "cut.pcap"
    bad.write_bytes(PCAP.read_bytes()[:-20])
    done = skbviewer("import", "-o", tmp_path / "s.skbv", bad)
    assert done.returncode == 1
    assert str(bad) in done.stderr and "byte" in done.stderr
    whole = Session.open(tmp_path / "s.skbv")
    assert whole.packets.count() == 15


def test_kbl_cut_in_a_chunk(tmp_path: Path) -> None:
    bad = tmp_path / "cut.kbl"
    data = KBL.read_bytes()
    bad.write_bytes(data[: len(data) * 2 // 3])
    done = skbviewer("import", "-o", tmp_path / "s.skbv", bad)
    assert done.returncode == 1
    assert str(bad) in done.stderr and "byte" in done.stderr
    assert Session.open(tmp_path / "s.skbv").info()["records"] > 100


def test_kbl_of_a_later_version(tmp_path: Path) -> None:
    bad = tmp_path / "later.kbl"
    data = bytearray(KBL.read_bytes())
    data[4] = 200
    bad.write_bytes(data)
    refused(skbviewer("import", "-o", tmp_path / "s.skbv", bad), str(bad), "version 200")


def test_folder(tmp_path: Path) -> None:
    refused(skbviewer("import", "-o", tmp_path / "s.skbv", tmp_path), str(tmp_path), "directory")


def test_missing_file(tmp_path: Path) -> None:
    bad = tmp_path / "nothing.pcap"
    refused(skbviewer("import", "-o", tmp_path / "s.skbv", bad), str(bad), "No such file")


def test_file_without_read_permission(tmp_path: Path) -> None:
    bad = tmp_path / "secret.pcap"
    bad.write_bytes(PCAP.read_bytes())
    bad.chmod(0)
    if os.geteuid() == 0:  # root may read everything: take the right away instead
        done = _without_root("import", "-o", tmp_path / "s.skbv", bad)
    else:
        done = skbviewer("import", "-o", tmp_path / "s.skbv", bad)
    refused(done, str(bad), "Permission denied")


def _without_root(*words: object) -> subprocess.CompletedProcess[str]:
    """The program without the capabilities by which root reads everything."""
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    command = [*drop, sys.executable, "-m", "skbviewer", *map(str, words)]
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("command", ["info", "packets"])
def test_session_that_is_no_database(tmp_path: Path, command: str) -> None:
    bad = tmp_path / "old.skbv"
    bad.write_text("not a database")
    refused(skbviewer(command, bad), str(bad), "not a session")


def test_import_does_not_overwrite_a_foreign_file(tmp_path: Path) -> None:
    bad = tmp_path / "old.skbv"
    bad.write_text("my thesis")
    refused(skbviewer("import", "-o", bad, PCAP), str(bad), "not overwritten")
    assert bad.read_text() == "my thesis"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 300 KB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(disk)], check=True, timeout=10
    )
    yield disk
    subprocess.run(["umount", str(disk)], check=True, timeout=10)


def test_full_disk(small_disk: Path) -> None:
    out = small_disk / "s.skbv"
    refused(skbviewer("import", "-o", out, PCAP, KBL), str(out), "disk is full")
    assert os.listdir(small_disk) == []


def test_full_disk_keeps_an_older_session(small_disk: Path) -> None:
    out = small_disk / "s.skbv"
    assert skbviewer("import", "-o", out, PCAP).returncode == 0
    before = out.read_bytes()
    refused(skbviewer("import", "-o", out, PCAP, KBL), str(out), "disk is full")
    assert out.read_bytes() == before
    assert os.listdir(small_disk) == ["s.skbv"]


def test_headless_commands_do_not_load_qt(tmp_path: Path) -> None:
    code = (
        "import sys; from skbviewer.cli import main; "
        f"rc = main(['import', '-o', {str(tmp_path / 's.skbv')!r}, {str(PCAP)!r}]); "
        "sys.exit(rc or any(m.startswith(('PySide6', 'pyqtgraph')) for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=TOP, check=False).returncode == 0
