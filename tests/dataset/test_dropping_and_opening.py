# SPDX-License-Identifier: MIT
"""Old sessions are dropped; a session is made anew from the originals, if these are still there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from skbviewer.dataset import dataset_paths, session_manifests
from skbviewer.dataset.add_task import add_pair
from skbviewer.dataset.drop_sessions import drop, time_ns
from skbviewer.dataset.open_as_session import original_files, sessions_of
from skbviewer.dataset.packet_sessions import sessions_of_packet
from skbviewer.records import BadInput, Silent
from skbviewer.session import Session, import_files
from tests.dataset.recordings import Both, files_of, named, pair, rows

ALWAYS = (time_ns("2000-01-01"), time_ns("2100-01-01"))


def open_range(dataset: Path, host: str, times: tuple[int, int], out: Path) -> None:
    """What `dataset open` does."""
    sessions = sessions_of(dataset, host, *times)
    import_files(original_files(dataset, sessions, Silent()), out)


def test_times() -> None:
    assert time_ns("1970-01-01T00:00:01.5") == 1_500_000_000
    assert time_ns("1970-01-01T01:00+01:00") == 0
    with pytest.raises(KeyError, match="tomorrow: expected a time"):
        time_ns("tomorrow")


def test_a_folder_that_is_no_dataset_stays_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is no dataset"):
        drop(tmp_path, time_ns("2100-01-01"))
    assert not list(tmp_path.iterdir())


def test_what_ended_before_a_time_is_gone(both: Both, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(both.folder, copy)
    found = session_manifests.read_all(copy)
    limit = sorted(each.end_ns for each in found)[3]
    gone = drop(copy, limit)
    assert {each.session for each in gone} == {e.session for e in found if e.end_ns < limit}
    assert len(gone) == 3
    assert {path for path in files_of(copy) if path.suffix == ".parquet"} == named(copy)
    left = {name for (name,) in rows(copy, "SELECT DISTINCT session FROM calls")}
    assert left == {each.session for each in found} - {each.session for each in gone}
    assert drop(copy, limit) == []


def test_a_session_is_made_anew(both: Both, tmp_path: Path) -> None:
    (found,) = (
        e for e in session_manifests.read_all(both.folder) if "drops" in e.originals[0].path
    )
    out = tmp_path / "s.skbv"
    open_range(both.folder, "lab", (found.begin_ns, found.end_ns), out)
    made, wanted = Session.open(out), both.sessions[found.session]
    assert [each.sha256 for each in made.sources()] == [each.sha256 for each in wanted.sources()]
    assert made.packets.count() == wanted.packets.count()


def test_sessions_that_overlap_become_one(both: Both, tmp_path: Path) -> None:
    out = tmp_path / "s.skbv"
    open_range(both.folder, "lab", ALWAYS, out)
    assert Session.open(out).packets.count() == 359


def test_missing_and_changed_originals_are_named(tmp_path: Path) -> None:
    log, capture = (Path(shutil.copy(path, tmp_path)) for path in pair("drops"))
    made, out = tmp_path / "dataset", tmp_path / "s.skbv"
    dataset_paths.make(made)
    assert add_pair(made, (log, capture)).added
    log.unlink()
    capture.write_bytes(capture.read_bytes()[:-1])
    with pytest.raises(BadInput) as raised:
        open_range(made, "lab", ALWAYS, out)
    lines = str(raised.value).splitlines()
    assert lines[1].startswith(f"{log}: is not where it was")
    assert lines[2].startswith(f"{capture}: has changed since")
    assert not out.exists()


def test_an_unknown_host_or_range(both: Both, tmp_path: Path) -> None:
    for host, times in (("elsewhere", ALWAYS), ("lab", (0, 1))):
        with pytest.raises(BadInput, match=r"no session of host \w+ in this range; hosts: lab"):
            open_range(both.folder, host, times, tmp_path / "s.skbv")


def test_the_sessions_that_a_packet_touches(both: Both, tmp_path: Path) -> None:
    """A recording and a part of its capture are two sessions with the same packets."""
    made = tmp_path / "dataset"
    dataset_paths.make(made)
    log, capture = pair("drops")
    part = tmp_path / "part.pcap"
    shutil.copy(capture, part)
    other = pair("nat")
    whole, alone, elsewhere = (
        add_pair(made, files).session for files in ((log, capture), (part,), other)
    )
    assert len({whole, alone, elsewhere}) == 3
    for own in (whole, alone):
        found = sessions_of_packet(made, f"{own}:9", 10**9, Silent())
        assert {each.session for each in found} == {whole, alone}
    files = original_files(made, found, Silent())
    assert len(files) == 2  # part.pcap has the capture's bytes
    assert log in files
    with pytest.raises(KeyError, match="there is no such packet"):
        sessions_of_packet(made, f"{whole}:999999", 10**9, Silent())
