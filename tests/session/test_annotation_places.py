# SPDX-License-Identifier: MIT
"""Notes and flags persist while views read, and are found again in a new import."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from skbviewer.records import Annotation, BadInput, resource
from skbviewer.session import Session, import_files, open_files

SAMPLE = resource("samples/handshake")
CAPTURE, KBL = SAMPLE / "handshake.pcap", SAMPLE / "handshake.kbl"


@pytest.fixture
def session(tmp_path: Path) -> Session:
    import_files([CAPTURE, KBL], tmp_path / "s.skbv")
    return Session.open(tmp_path / "s.skbv")


def a_call(session: Session) -> int:
    """The id of a call in the middle."""
    return int(session.info()["calls"]) // 2


def test_notes_on_everything_come_back(session: Session) -> None:
    life = session.packets.kernel_only(1, 1)[0].series if session.packets.kernel_only_count() else 1
    wanted = [
        Annotation("comment", "the SYN", packet=3),
        Annotation("comment", "a life", series=life),
        Annotation("call_note", "slow", call=a_call(session)),
        Annotation("range_note", "retransmits", source=2, begin_ns=5, end_ns=7_000_000_000_000_000),
        Annotation("view", '{"zoom": [1, 2]}'),
    ]
    kept = [session.notes.keep(note) for note in wanted]
    assert [note._replace(id=0) for note in kept] == wanted
    assert session.notes.all() == kept
    assert session.notes.all("comment") == kept[:2]


def test_a_note_is_replaced_and_removed(session: Session) -> None:
    note = session.notes.keep(Annotation("comment", "first", packet=1))
    other = session.notes.keep(note._replace(text="second"))
    assert other.id == note.id
    assert [n.text for n in session.notes.all()] == ["second"]
    session.notes.remove(note.id)
    assert session.notes.all() == []


def test_flags_are_set_and_cleared(session: Session) -> None:
    session.notes.set_flags("mark", np.array([2, 5, 9]))
    session.notes.set_flags("mark", np.array([5]), False)
    session.notes.set_flags("ignore", np.array([16]))
    assert session.notes.flags("mark").tolist() == [2, 9]
    assert session.notes.flags("ignore").tolist() == [16]
    assert session.notes.flags("time_ref").tolist() == []


def test_kernel_only_rows_carry_flags(tmp_path: Path) -> None:
    import_files([KBL], tmp_path / "k.skbv")
    session = Session.open(tmp_path / "k.skbv")
    session.notes.set_flags("mark", np.array([-1, -7]))
    assert session.notes.flags("mark").tolist() == [-7, -1]


def test_records_of_an_old_session_were_counted_by_time(tmp_path: Path) -> None:
    """Version 3 named the n-th record in order of time; its table of records maps it."""
    import_files([KBL], tmp_path / "new.skbv")
    session = Session.open(tmp_path / "new.skbv")
    call = a_call(session)
    note = session.notes.keep(Annotation("call_note", "slow", call=call))
    session.notes.set_flags("mark", np.array([-3]))
    session.close()
    old = tmp_path / "old.skbv"
    shutil.copy(tmp_path / "new.skbv", old)
    with closing(sqlite3.connect(old)) as db, db:
        (ordinal,) = db.execute("SELECT ordinal FROM annotation").fetchone()
        (marked,) = db.execute("SELECT ordinal FROM series WHERE kernel_only = 3").fetchone()
        db.execute("DELETE FROM record")
        db.execute("DELETE FROM flag")
        names = [row[1] for row in db.execute("PRAGMA table_info(record)")]
        insert = f"INSERT INTO record VALUES ({', '.join('?' * len(names))})"  # noqa: S608
        for record in ({"id": 41, "ordinal": ordinal}, {"id": 42, "ordinal": marked}):
            db.execute(insert, [record.get(name, 0) for name in names])
        db.execute("UPDATE source SET first = 1")
        db.execute("UPDATE annotation SET ordinal = 40")
        bits = np.zeros(1 << 16, np.uint8)
        bits[41] = 1
        row = ("mark", session.sources()[0].sha256, "record", 0, np.packbits(bits).tobytes())
        db.execute("INSERT INTO flag (kind, source, anchor, first, bits) VALUES (?,?,?,?,?)", row)
        db.execute("PRAGMA user_version = 3")
    import_files([KBL], tmp_path / "again.skbv", keep=[old])
    again = Session.open(tmp_path / "again.skbv")
    assert [(n.call, n.text) for n in again.notes.all()] == [(call, note.text)]
    assert again.notes.flags("mark").tolist() == [-3]


def test_annotations_outlast_a_rebuild_and_another_import_order(session: Session) -> None:
    call = a_call(session)
    session.notes.keep(Annotation("comment", "here", packet=4))
    session.notes.keep(Annotation("call_note", "there", call=call))
    session.notes.set_flags("mark", np.array([4, 12]))
    import_files([KBL, CAPTURE], session.file)
    again = Session.open(session.file)
    found = {note.kind: note for note in again.notes.all()}
    assert found["comment"].packet == 4
    assert found["call_note"].call == call
    assert again.notes.flags("mark").tolist() == [4, 12]


def test_a_file_that_joins_does_not_lose_the_notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    alone = open_files([CAPTURE])
    alone.notes.keep(Annotation("comment", "kept", packet=2))
    alone.notes.set_flags("mark", np.array([2]))
    joined = open_files([CAPTURE, KBL], keep=[alone.file])
    assert [note.packet for note in joined.notes.all()] == [2]
    assert joined.notes.flags("mark").tolist() == [2]


def test_a_capture_that_grew_keeps_its_marks(tmp_path: Path) -> None:
    whole, capture, out = CAPTURE.read_bytes(), tmp_path / "live.pcap", tmp_path / "s.skbv"
    capture.write_bytes(whole[:-300])
    import_files([capture], out)
    Session.open(out).notes.set_flags("mark", np.array([3]))
    capture.write_bytes(whole)
    import_files([capture], out)
    assert Session.open(out).notes.flags("mark").tolist() == [3]


def test_writing_while_others_read(session: Session) -> None:
    stop = threading.Event()
    failed: list[BaseException] = []

    def read() -> None:
        try:
            while not stop.is_set():
                assert len(session.packets.numbered(1, 16)) == 16
        except BaseException as error:  # noqa: BLE001 - raised in the test's thread
            failed.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(1, 17):
        session.notes.set_flags("mark", np.array([number]))
    stop.set()
    for reader in readers:
        reader.join()
    assert failed == []
    assert session.notes.flags("mark").tolist() == list(range(1, 17))


def test_what_cannot_be_kept_is_reported(session: Session) -> None:
    with pytest.raises(KeyError, match="no packet 99"):
        session.notes.keep(Annotation("comment", "x", packet=99))
    os.rename(session.file, session.file.with_suffix(".moved"))
    with pytest.raises(BadInput, match="cannot save the change"):
        session.notes.remove(1)


def test_many_flags_take_little_room(session: Session) -> None:
    before = session.file.stat().st_size
    session.notes.set_flags("mark", np.arange(1, 17))
    assert session.file.stat().st_size - before < 50_000


CRASH = """
import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA cache_size = 4")  # so that it writes before it commits
db.execute("BEGIN")
for number in range(200):
    db.execute(
        "INSERT INTO annotation (kind, source, anchor, ordinal, text) VALUES (?, ?, ?, ?, ?)",
        ("comment", "", "session", -1, "x" * 9000),
    )
os._exit(1)
"""


def test_a_change_cut_short_by_a_crash_is_taken_back(session: Session) -> None:
    session.notes.keep(Annotation("comment", "before", packet=1))
    session.close()
    subprocess.run([sys.executable, "-c", CRASH, str(session.file)], check=False)
    assert session.file.with_name(session.file.name + "-journal").exists()
    again = Session.open(session.file)
    assert [note.text for note in again.notes.all()] == ["before"]
    assert again.packets.count() == 16
