# SPDX-License-Identifier: MIT
"""Datasets with a missing or cut file, and datasets in folders with unusual names."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from skbviewer.dataset.adding import add_pair
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
