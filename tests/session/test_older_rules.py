# SPDX-License-Identifier: MIT
"""A session says which rules made its verdicts, and is matched again without loss."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from skbviewer.matching import RULES, UNNUMBERED
from skbviewer.records import Annotation, BadInput, resource
from skbviewer.session import Session, cached_session, import_files, open_files
from skbviewer.session import opening as opening_module
from skbviewer.session.match_again import match_again, rules_warning

from .older import WRONG, age

SAMPLE = resource("samples/handshake")


def line_of(session: Session) -> str:
    return rules_warning(session.file, session.rules())


@pytest.fixture
def inputs(tmp_path: Path) -> list[Path]:
    return [Path(shutil.copy(SAMPLE / f"handshake.{kind}", tmp_path)) for kind in ("pcap", "kbl")]


@pytest.fixture
def saved(tmp_path: Path, inputs: list[Path]) -> Path:
    """A session of older rules, with a note, a mark and a colour of its own."""
    out = tmp_path / "s.skbv"
    import_files(inputs, out)
    session = Session.open(out)
    assert session.rules() == RULES and line_of(session) == ""
    session.notes.keep(Annotation("comment", "mine", packet=3))
    session.notes.set_flags("mark", np.array([3, 5, -1]))
    session.close()
    age(out)
    return out


def test_it_opens_and_says_so(saved: Path) -> None:
    session = open_files([saved])
    assert session.file == saved
    assert session.rules() == UNNUMBERED
    line = line_of(session)
    assert f"older rules ({UNNUMBERED}, now {RULES})" in line and "\n" not in line
    assert session.info()["rules"] == UNNUMBERED
    assert session.info()["warnings"][0] == line
    assert session.packets.numbered(1, 1)[0].reason == WRONG


def test_newer_rules_are_no_older_ones(saved: Path) -> None:
    match_again(saved)
    age(saved, RULES + 1)
    line = line_of(Session.open(saved))
    assert f"newer rules ({RULES + 1}, here {RULES})" in line and "import" not in line


@pytest.mark.parametrize("value", ["", "-3", "one", "9" * 5000, "1\u0663x"])
def test_a_damaged_number_is_that_of_unnumbered_rules(saved: Path, value: str) -> None:
    with closing(sqlite3.connect(saved)) as db, db:
        db.execute("INSERT INTO meta (source, key, value) VALUES (0, 'rules', ?)", (value,))
    assert Session.open(saved).rules() == UNNUMBERED


def _as_new(saved: Path) -> None:
    session = Session.open(saved)
    assert session.rules() == RULES and line_of(session) == ""
    assert session.packets.numbered(1, 1)[0].reason != WRONG
    assert [(note.text, note.packet) for note in session.notes.all()] == [("mine", 3)]
    assert session.notes.flags("mark").tolist() == [-1, 3, 5]


def test_matched_again_it_keeps_notes_and_flags(saved: Path) -> None:
    match_again(saved)
    _as_new(saved)
    with closing(sqlite3.connect(saved)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_an_import_of_the_session_matches_it_again(saved: Path) -> None:
    import_files([saved], saved)
    _as_new(saved)


def test_it_is_matched_again_from_files_that_moved(saved: Path, inputs: list[Path]) -> None:
    moved = [path.rename(path.with_name(f"moved {path.name}")) for path in inputs]
    before = saved.read_bytes()
    with pytest.raises(BadInput, match=r"handshake\.pcap: is not where it was"):
        match_again(saved)
    assert saved.read_bytes() == before
    match_again(saved, at=moved)
    _as_new(saved)
    assert {Path(source.path) for source in Session.open(saved).sources()} == set(moved)


def test_a_changed_input_is_not_taken_for_the_same(saved: Path, inputs: list[Path]) -> None:
    inputs[0].write_bytes(inputs[0].read_bytes() + b"\0" * 16)
    before = saved.read_bytes()
    for attempt in (lambda: match_again(saved), lambda: import_files([saved], saved)):
        with pytest.raises(
            BadInput, match=r"has other contents than handshake\.pcap had when s\.skbv"
        ):
            attempt()
    assert saved.read_bytes() == before


def test_notes_made_while_it_is_matched_again_stay(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Notes can be added until progress ends: the window still shows the old session."""
    session = open_files([saved])

    class Noting:
        def __init__(self) -> None:
            self.last = ""

        def report(self, what: str, done: int, total: int) -> None:
            if what != self.last:
                session.notes.keep(Annotation("comment", f"during {what}", packet=1))
                self.last = what

    watch = Noting()
    match_again(saved, watch)
    texts = {note.text for note in Session.open(saved).notes.all()}
    assert f"during {watch.last}" in texts and len(texts) > 5


def test_other_rules_have_another_cache(
    inputs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unsaved sessions of other rules are not opened, and their files are not changed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first = open_files(inputs)
    assert cached_session(inputs) == first.file
    monkeypatch.setattr(opening_module, "RULES", RULES + 1)
    assert cached_session(inputs) != first.file
    assert open_files(inputs).file != first.file
    assert first.file.exists()
