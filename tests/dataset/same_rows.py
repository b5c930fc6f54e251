# SPDX-License-Identifier: MIT
"""A dataset that was written in shares has the rows of one import, and no other files."""

from __future__ import annotations

from pathlib import Path

from skbviewer.dataset import session_manifests
from skbviewer.dataset.dataset_paths import MANIFESTS
from skbviewer.export.parquet import SORTED
from skbviewer.store.views.declared_views import VIEWS
from tests.dataset.recordings import Both, files_of, named, only, rows

EMPTY = {"dataset.json", "lock"}  # the files of a dataset without sessions


def check(both: Both, made: Path, out: Path) -> None:
    """Compare all rows of all tables, in their order; `out` is for copies of single sessions."""
    for manifest in session_manifests.read_all(made):
        assert manifest.cut["calls"] > 2
        one = only(both, manifest.session, out / manifest.session)
        for table in VIEWS:
            every = f"SELECT * FROM {table} WHERE session = '{manifest.session}'"
            if table in SORTED:  # within a row group
                every += " ORDER BY source, id" if table == "lifetimes" else " ORDER BY number"
            assert rows(made, every) == rows(one, every), table
            assert manifest.rows(table) == len(rows(one, every))
    check_files(made)


def check_files(made: Path) -> None:
    """Check that there is no file that no manifest names, and nothing half written."""
    others = {path for path in files_of(made) - named(made) if path.name not in EMPTY}
    assert {path.parent.name for path in others} <= {MANIFESTS}
    assert len(others) == len(session_manifests.read_all(made))
    assert not list((made / "writing").iterdir())
