# SPDX-License-Identifier: MIT
"""The bundled recordings as a dataset, made once for all tests of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.dataset import dataset_paths, parallel_table_writing
from skbviewer.store.views import view_blocks
from tests.dataset.recordings import Both, make_both


@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return make_both(tmp_path_factory.mktemp("samples"))


@pytest.fixture
def cut_small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a new dataset, to which logs are added in shares of 2,000 rows."""
    monkeypatch.setattr(parallel_table_writing, "ROWS", 2000)
    monkeypatch.setattr(view_blocks, "BLOCK", 97)
    made = tmp_path / "dataset"
    dataset_paths.make(made)
    return made
