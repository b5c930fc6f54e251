# SPDX-License-Identifier: MIT
"""Datasets with a missing or cut file, and datasets in folders with unusual names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from skbviewer.dataset import dataset_paths
from skbviewer.dataset.add_task import add_pair
from skbviewer.dataset.drop_sessions import drop
from skbviewer.dataset.session_manifests import read_all, write
from skbviewer.dataset.session_writer import clean
from skbviewer.records import BadInput
from tests.dataset.recordings import Both, files_of, named, only, pair, rows

COUNT = "SELECT session, host, count(*), sum(len) FROM packets GROUP BY ALL"


@pytest.fixture
def drops(both: Both, tmp_path: Path) -> Path:
    """Return a dataset with the recording of drops."""
    (session,) = (key for key, of in both.sessions.items() if of.sources()[0].path.count("drops"))
    return only(both, session, tmp_path / "dataset")


def _packets(dataset: Path) -> Path:
    (found,) = (path for path in named(dataset) if "/packets/" in str(path))
    return found


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_damaged_file_is_named_and_made_again(drops: Path, is_cut: bool) -> None:
    before, file = rows(drops, COUNT), _packets(drops)
    data = file.read_bytes()
    file.unlink()
    if is_cut:
        file.write_bytes(data[: len(data) // 2])
    with pytest.raises(BadInput, match="is damaged" if is_cut else "is missing") as error:
        rows(drops, COUNT)
    assert error.value.path == file and "\n" not in str(error.value)
    made = add_pair(drops, pair("drops"))
    assert made.added and not made.error
    assert rows(drops, COUNT) == before
    assert clean(drops) == 0
    assert {path for path in files_of(drops) if path.suffix == ".parquet"} == named(drops)
    assert not add_pair(drops, pair("drops")).added


@pytest.mark.parametrize("above", ["date=today", "session=zz", "date=2001-01-01/host=evil"])
def test_folders_above_a_dataset_are_no_partitions(drops: Path, tmp_path: Path, above: str) -> None:
    place = tmp_path / above / "fleet"
    shutil.copytree(drops, place)
    assert rows(place, COUNT) == rows(drops, COUNT)


def test_copies_may_lack_empty_folders(drops: Path, tmp_path: Path) -> None:
    before = rows(drops, COUNT)
    (drops / "writing").rmdir()
    assert drop(drops, 0) == []
    assert not add_pair(drops, pair("drops")).added
    dataset_paths.make(drops)
    assert add_pair(drops, pair("handshake")).added
    assert set(before) < set(rows(drops, COUNT))


def test_without_manifests_no_table_is_removed(drops: Path) -> None:
    (drops / "manifests").rename(drops / "elsewhere")
    there = files_of(drops)
    for ask in (read_all, clean, dataset_paths.make, lambda dataset: drop(dataset, 0)):
        with pytest.raises(BadInput, match="is damaged: it has no folder manifests"):
            ask(drops)
    assert files_of(drops) == there


@pytest.mark.parametrize(
    ("key", "value"), [("host", 5), ("begin_ns", "x"), ("cut", {"calls": 10**9})]
)
def test_a_manifest_of_other_types_is_named(drops: Path, key: str, value: object) -> None:
    (path,) = (drops / "manifests").iterdir()
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(BadInput, match="is no manifest") as error:
        read_all(drops)
    assert error.value.path == path and "\n" not in str(error.value)


def test_a_host_may_be_called_like_a_missing_value(drops: Path) -> None:
    (manifest,) = read_all(drops)
    files = {name: manifest.files(name) for name in manifest.tables}
    named = manifest._replace(host=dataset_paths.NULL)
    for name, paths in files.items():
        for old, new in zip(paths, named.files(name), strict=True):
            (drops / new).parent.mkdir(parents=True)
            (drops / old).rename(drops / new)
    write(drops, named)
    assert rows(drops, "SELECT DISTINCT host FROM packets") == [(dataset_paths.NULL,)]
