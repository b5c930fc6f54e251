# SPDX-License-Identifier: MIT
"""A log whose tables several tasks write has the rows of one import, in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from skbviewer.dataset import parallel_table_writing
from skbviewer.dataset.add_task import Outcome, add_pair
from skbviewer.dataset.dask_cluster import run
from skbviewer.dataset.parallel_table_writing import ShareTask, in_this_process
from skbviewer.dataset.session_writer import clean
from skbviewer.records import BadInput, Progress, Silent
from skbviewer.records.table_columns import Share
from tests.dataset.recordings import NAMES, Both, files_of, pair, workers_here
from tests.dataset.same_rows import check


@pytest.mark.parametrize("name", NAMES)
def test_all_rows_in_the_order_of_one_import(
    both: Both, cut_small: Path, name: str, tmp_path: Path
) -> None:
    assert add_pair(cut_small, pair(name)).added
    check(both, cut_small, tmp_path)
    assert clean(cut_small) == 0


def test_tasks_of_several_workers(both: Both, cut_small: Path, tmp_path: Path) -> None:
    pairs = [pair("bulk"), pair("nat")]
    with workers_here() as address:
        found = list(run(cut_small, pairs, 1, address, Silent()))
    assert [each.error for each in found] == ["", ""]
    check(both, cut_small, tmp_path)


def test_a_share_that_fails_leaves_nothing(cut_small: Path) -> None:
    def failing(listed: Sequence[ShareTask], progress: Progress) -> list[Path]:
        in_this_process(listed[:1], progress)
        raise BadInput(listed[1].session, None, "cannot write")

    found: Outcome = add_pair(cut_small, pair("drops"), None, failing)
    assert "cannot write" in found.error
    assert not [each for each in files_of(cut_small) if each.name not in ("dataset.json", "lock")]


def test_a_share_reports_why_it_failed(tmp_path: Path) -> None:
    (tmp_path / "no.skbv").write_bytes(b"no session")
    result = parallel_table_writing.write_share(ShareTask(tmp_path / "no.skbv", Share(0, 2)))
    with pytest.raises(BadInput, match=r"no\.skbv"):
        parallel_table_writing.written(result)
