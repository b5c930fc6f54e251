# SPDX-License-Identifier: MIT
"""A pair is in a dataset whole, once, or not at all."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from skbviewer.dataset import add_task, dataset_paths, session_manifests, session_writer
from skbviewer.dataset.add_task import Outcome, add_pair
from skbviewer.dataset.file_groups import Pair
from skbviewer.export.parquet import CONVERSATION
from skbviewer.matching import RULES
from skbviewer.records import BadInput, Cancelled
from skbviewer.session.file_hash import sha256
from tests.dataset.recordings import Both, files_of, named, pair, rows

COUNTS = {"packets": "packet", "calls": "call", "legs": "leg", "lifetimes": "series"}


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    made = tmp_path / "dataset"
    dataset_paths.make(made)
    return made


def test_its_rows_are_those_of_the_sessions(both: Both) -> None:
    for table, stored in COUNTS.items():
        found = dict(both.rows(f"SELECT session, count(*) FROM {table} GROUP BY session"))
        assert found == {
            name: session.columns.length(stored) for name, session in both.sessions.items()
        }


def test_manifests_keep_hosts_times_and_hashes_of_the_originals(both: Both) -> None:
    for manifest in session_manifests.read_all(both.folder):
        session = both.sessions[manifest.session]
        assert manifest.host == "lab"
        assert (manifest.begin_ns, manifest.end_ns) == session.span_ns()
        assert [each.sha256 for each in manifest.originals] == [
            sha256(Path(each.path)) for each in session.sources()
        ]


def test_only_what_manifests_name_is_written(both: Both) -> None:
    parquet = {path for path in files_of(both.folder) if path.suffix == ".parquet"}
    assert parquet == named(both.folder)
    assert not list((both.folder / "writing").iterdir())


def test_packets_of_one_conversation_follow_each_other(both: Both) -> None:
    for manifest in session_manifests.read_all(both.folder):
        for table in ("packets", "lifetimes"):
            (file,) = manifest.files(table)
            read = parquet.read_table(both.folder / file, columns=list(CONVERSATION))
            found = list(zip(*(column.to_pylist() for column in read.columns), strict=True))
            changes = sum(one != other for one, other in pairwise(found))
            assert changes == len(set(found)) - 1


def test_the_same_input_again_changes_nothing(both: Both) -> None:
    before = {path: path.stat().st_mtime_ns for path in files_of(both.folder)}
    log, capture = pair("drops")
    for files in ((log, capture), (capture, log)):
        outcome = add_pair(both.folder, files)
        assert not outcome.added and not outcome.error
    assert before == {path: path.stat().st_mtime_ns for path in files_of(both.folder)}


def test_a_copy_under_another_name_is_the_same_input(both: Both, tmp_path: Path) -> None:
    log, capture = (Path(shutil.copy(path, tmp_path)) for path in pair("drops"))
    assert not add_pair(both.folder, (log, capture)).added


def test_a_pipe_is_not_waited_for(empty: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.kbl")
    assert "is not a regular file" in add_pair(empty, (tmp_path / "pipe.kbl",)).error


def test_bad_input_fails_alone(empty: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.kbl"
    bad.write_bytes(b"no log")
    outcome = add_pair(empty, (bad, pair("drops")[1]))
    assert str(bad) in outcome.error and "\n" not in outcome.error
    assert not session_manifests.read_all(empty)
    assert not [path for path in files_of(empty) if path.name not in ("dataset.json", "lock")]


def test_two_writers_of_one_pair_publish_it_once(empty: Path) -> None:
    found: list[Outcome] = []
    begin = threading.Barrier(2)

    def add() -> None:
        begin.wait()
        found.append(add_pair(empty, pair("handshake")))

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcome.added for outcome in found) == [False, True]
    assert {path for path in files_of(empty) if path.suffix == ".parquet"} == named(empty)
    assert rows(empty, "SELECT count(*) FROM packets") == [(16,)]


def test_cleaning_leaves_a_living_writer_alone(empty: Path) -> None:
    with session_writer.writer(empty) as made:
        (made.work / "packets.parquet").write_bytes(b"half")
        assert session_writer.clean(empty) == 0
        assert made.work.is_dir()
    assert not list((empty / "writing").iterdir())


def test_a_private_folder_without_its_writer_is_removed(empty: Path) -> None:
    """A task leaves such a folder if it writes a share after its writer has ended."""
    late = empty / "writing" / "0123456789abcdef" / "share1-01234567"
    late.mkdir(parents=True)
    (late / "calls.parquet").write_bytes(b"late")
    assert session_writer.clean(empty) == 1
    assert not list((empty / "writing").iterdir())


def test_tables_that_no_manifest_names_are_removed(both: Both, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(both.folder, copy)
    lost = session_manifests.read_all(copy)[0]
    session_manifests.place_of(copy, lost.key).unlink()  # as if its writer had been killed before
    assert rows(copy, f"SELECT count(*) FROM calls WHERE session = '{lost.session}'") == [(0,)]
    assert session_writer.clean(copy) == len(lost.tables)
    assert {path for path in files_of(copy) if path.suffix == ".parquet"} == named(copy)


def test_a_session_of_newer_rules_replaces_the_older_one(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = add_pair(empty, pair("handshake")).session
    monkeypatch.setattr(session_manifests, "RULES", RULES + 1)
    new = add_pair(empty, pair("handshake"))
    assert new.added and new.session != old
    assert rows(empty, "SELECT DISTINCT session FROM calls") == [(new.session,)]
    assert {path for path in files_of(empty) if path.suffix == ".parquet"} == named(empty)


def test_a_full_disk_leaves_nothing(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28), "packets.parquet")

    monkeypatch.setattr(session_writer, "_move", full)
    assert "No space left" in add_pair(empty, pair("handshake")).error
    assert not [path for path in files_of(empty) if path.name not in ("dataset.json", "lock")]


def test_a_disk_that_is_full_at_the_manifest_leaves_nothing(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28), "manifest")

    monkeypatch.setattr(
        "skbviewer.dataset.dataset_paths.os.rename", _but_manifests(os.rename, full)
    )
    assert "No space left" in add_pair(empty, pair("handshake")).error
    assert not [path for path in files_of(empty) if path.name not in ("dataset.json", "lock")]


def _but_manifests(
    rename: Callable[[Path, Path], None], instead: Callable[[Path, Path], None]
) -> Callable[[Path, Path], None]:
    return lambda old, new: (instead if Path(new).suffix == ".json" else rename)(old, new)


def test_a_manifest_that_was_not_finished_is_removed(empty: Path) -> None:
    (empty / "manifests" / ".0123456789abcdef.json.17.tmp").write_text("{")
    assert session_writer.clean(empty) == 1
    assert not list((empty / "manifests").iterdir())


def test_cancelling_leaves_nothing(empty: Path) -> None:
    class Stop:
        def report(self, what: str, done: int, total: int) -> None:
            if what.startswith("writing"):
                raise Cancelled

    with pytest.raises(Cancelled):
        add_pair(empty, pair("handshake"), Stop())
    assert not [path for path in files_of(empty) if path.name not in ("dataset.json", "lock")]


def test_a_file_that_changes_while_it_is_read_is_refused(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(add_task, "sha256", lambda path, progress: f"{len(str(path)):064x}")
    files: Pair = pair("handshake")
    assert "changed while it was read" in add_pair(empty, files).error


def test_a_folder_with_other_files_is_no_dataset(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match=r"notes\.txt"):
        dataset_paths.make(tmp_path)
    with pytest.raises(BadInput, match="is no dataset"):
        session_manifests.read_all(tmp_path)


def test_a_manifest_cannot_name_files_elsewhere(both: Both, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(both.folder, copy)
    place = next((copy / "manifests").iterdir())
    place.write_text(place.read_text().replace('"session": "', '"session": "../../'))
    with pytest.raises(BadInput, match="it contains a file name that is not allowed"):
        manifests.read_all(copy)
