# SPDX-License-Identifier: MIT
"""Files and folders that get their name when they are complete."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skbviewer.export.written_whole import write_parts, written_folder
from skbviewer.records import BadInput


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
