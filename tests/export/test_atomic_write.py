# SPDX-License-Identifier: MIT
"""Files and folders that get their name when they are complete."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skbviewer.cli import main
from skbviewer.export.atomic_write import write_parts, written_folder
from skbviewer.records import BadInput
from skbviewer.session import Session
from tests.e2e.samples import open_sample


def test_a_symbolic_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    real, link = tmp_path / "real.pcap", tmp_path / "link.pcap"
    link.symlink_to(real)
    write_parts(link, [b"new"])
    assert link.is_symlink() and real.read_bytes() == b"new"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.pcap", "real.pcap"]


@pytest.mark.parametrize("name", ["n" * 255, "\u00e9" * 127])
def test_names_may_be_as_long_as_the_file_system_allows(name: str, tmp_path: Path) -> None:
    write_parts(tmp_path / name, [b"new"])
    assert (tmp_path / name).read_bytes() == b"new"
    with pytest.raises(BadInput, match="cannot write: File name too long"):
        write_parts(tmp_path / (name + "nn"), [b"new"])
    assert len(list(tmp_path.iterdir())) == 1


def test_the_current_folder_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with written_folder(Path(), ".parquet") as made:
        (made / "a.parquet").touch()
    assert os.listdir(folder) == ["a.parquet"]
    assert os.listdir(tmp_path) == ["here"]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return open_sample("handshake", tmp_path_factory.mktemp("session"))[0]


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond `size` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(
    "words",
    [
        ("--csv", "--packet", "1"),
        ("--csv", "--filter", ""),
        ("--csv", "--lanes", "cpu"),
        ("--folded", "--filter", ""),
        ("--speedscope", "--packet", "1"),
        ("--svg", "--lanes", "cpu"),
        ("--png", "--lanes", "cpu"),
        ("--png", "--packet", "1"),
        ("--html",),
        ("--jsonl",),
        ("--pcapng",),
        ("--perfetto",),
    ],
)
def test_a_full_disk_leaves_the_old_file(
    session: Session, words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suffix = {"perfetto": "pftrace", "speedscope": "json"}.get(words[0][2:], words[0][2:])
    out = tmp_path / f"out.{suffix}"
    out.write_text("old")
    command = ["export", str(session.file), words[0], str(out), *words[1:]]
    with full_disk(100):
        assert main(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"skbviewer: {out}: cannot write: File too large"
    assert out.read_text() == "old" and os.listdir(tmp_path) == [out.name]
    assert main(command) == 0
    assert out.stat().st_size > 100 and os.listdir(tmp_path) == [out.name]
