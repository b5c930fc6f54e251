# SPDX-License-Identifier: MIT
"""The recordings of `make bench-fleet` hold what the bench compares a dataset with."""

from __future__ import annotations

from pathlib import Path

from skbviewer.dataset import dataset_paths, session_manifests
from skbviewer.dataset.add_task import add_pair
from skbviewer.dataset.file_groups import pairs_of

from .fleet_recordings import make_fleet


def test_sums_and_hosts(tmp_path: Path) -> None:
    fleet = make_fleet(tmp_path, 2, 300, 3000)
    made = tmp_path / "dataset"
    dataset_paths.make(made)
    pairs = pairs_of([str(path) for path in fleet.files])
    assert [add_pair(made, pair).error for pair in pairs] == ["", ""]
    found = session_manifests.read_all(made)
    assert {each.host for each in found} == {"host00", "host01"}
    assert sum(each.rows("packets") for each in found) == fleet.packets
    assert sum(each.rows("calls") for each in found) == fleet.calls
    assert sum(each.records for each in found) == fleet.records + fleet.packets
