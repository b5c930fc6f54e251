# SPDX-License-Identifier: MIT
"""The command that opens exported packets: a stand-in for Wireshark writes down what it gets."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from skbviewer.analysis.display_filter import FilterError
from skbviewer.export import Request
from skbviewer.export.wireshark.install import folders, install
from skbviewer.export.wireshark.wireshark_command import command_for_wireshark
from skbviewer.records.resource_files import resource
from skbviewer.session import Session, import_files, open_files

STAND_IN = """#!/bin/sh
echo "$@" > {0}/arguments
for last; do :; done
cp "$last" {0}/shown.pcapng
"""


@pytest.fixture
def handshake(tmp_path: Path) -> Iterator[Session]:
    folder, saved = resource("samples/handshake"), tmp_path / "handshake.skbv"
    import_files([folder / "handshake.kbl", folder / "handshake.pcap"], saved)
    session = open_files([saved])
    yield session
    session.close()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def run(session: Session, folder: Path, where: dict[str, Path]) -> list[str]:
    """Run the command; returns the arguments of the stand-in, without folders."""
    program = folder / "wireshark"
    program.write_text(STAND_IN.format(folder))
    program.chmod(0o755)
    command = command_for_wireshark(session, Request(filter="tcp"), str(program), where)
    subprocess.run(command, check=True)
    words = (folder / "arguments").read_text().split()
    return [word.rsplit("/", 1)[-1] for word in words]


def test_without_an_installation_the_script_comes_along(
    handshake: Session, tmp_path: Path, temporary: Path
) -> None:
    words = run(handshake, tmp_path, folders({}, tmp_path))
    assert words == ["-X", "skbviewer.lua", "-r", "skbviewer.pcapng"]
    assert (tmp_path / "shown.pcapng").stat().st_size > 1000
    assert list(temporary.iterdir()) == []


def test_with_an_installation_the_profile_is_used(
    handshake: Session, tmp_path: Path, temporary: Path
) -> None:
    where = folders({}, tmp_path)
    install(where)
    assert run(handshake, tmp_path, where) == ["-C", "skbviewer", "-r", "skbviewer.pcapng"]


def test_a_filter_that_fails_leaves_nothing(
    handshake: Session, tmp_path: Path, temporary: Path
) -> None:
    with pytest.raises(FilterError):
        command_for_wireshark(handshake, Request(filter="nonsense =="), "x", {})
    assert list(temporary.iterdir()) == []
