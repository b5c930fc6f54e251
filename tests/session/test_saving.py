# SPDX-License-Identifier: MIT
"""A session under another name, inputs that moved, sessions among other files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from skbviewer.records import Annotation, BadInput, Cancelled, Silent, resource
from skbviewer.session import Session, import_files, open_files

SAMPLE = resource("samples/handshake")
CAPTURE, KBL = SAMPLE / "handshake.pcap", SAMPLE / "handshake.kbl"


@pytest.fixture
def session(tmp_path: Path) -> Session:
    capture = tmp_path / "a.pcap"
    capture.write_bytes(CAPTURE.read_bytes())
    import_files([capture], tmp_path / "s.skbv")
    return Session.open(tmp_path / "s.skbv")


class Never:
    def report(self, what: str, done: int, total: int) -> None:
        raise Cancelled


def test_a_copy_has_rows_notes_and_flags(session: Session, tmp_path: Path) -> None:
    session.notes.keep(Annotation("comment", "mine", packet=3))
    session.notes.set_flags("mark", np.array([3]))
    session.save_as(tmp_path / "sitzung 会话.skbv", Silent())
    copy = Session.open(tmp_path / "sitzung 会话.skbv")
    assert copy.packets.numbered(1, 16) == session.packets.numbered(1, 16)
    assert copy.notes.all() == session.notes.all()
    assert copy.notes.flags("mark").tolist() == [3]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_sessions_can_be_read_by_whom_the_umask_allows(
    tmp_path: Path, mask: int, mode: int
) -> None:
    made, saved = tmp_path / "made.skbv", tmp_path / "saved.skbv"
    before = os.umask(mask)
    try:
        import_files([CAPTURE], made)
        Session.open(made).save_as(saved, Silent())
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (made, saved)] == [mode, mode]


def test_a_cancelled_copy_leaves_nothing(session: Session, tmp_path: Path) -> None:
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(Cancelled):
        session.save_as(tmp_path / "out.skbv", Never())
    assert sorted(os.listdir(tmp_path)) == before


def test_a_copy_that_cannot_be_written_is_reported(session: Session, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"out\.skbv"):
        session.save_as(tmp_path / "missing" / "out.skbv", Silent())


def test_a_moved_capture_is_found_again(session: Session, tmp_path: Path) -> None:
    os.rename(tmp_path / "a.pcap", tmp_path / "b.pcap")
    assert session.contents.packet_bytes(1) is None
    with pytest.raises(BadInput, match=r"has other contents than a\.pcap had"):
        session.relocate(1, KBL)
    session.relocate(1, tmp_path / "b.pcap")
    assert session.contents.packet_bytes(1)
    assert Path(session.sources()[0].path) == tmp_path / "b.pcap"


def test_a_session_joins_another_file(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    session.notes.set_flags("mark", np.array([2]))
    joined = open_files([session.file, KBL])
    assert [source.kind for source in joined.sources()] == ["pcap", "kbl"]
    assert joined.notes.flags("mark").tolist() == [2]
    session.notes.set_flags("mark", np.array([5]))
    assert open_files([session.file, KBL]).notes.flags("mark").tolist() == [2, 5]
