# SPDX-License-Identifier: MIT
"""The notebook of the documents runs, and shows what its cells give."""

from __future__ import annotations

from pathlib import Path

import pytest

from .notebook import read, run


def test_the_cells_give_what_the_notebook_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    notebook = read()
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = list(run(notebook))
    assert len(cells) > 10
    for cell, outputs in cells:
        assert cell["outputs"] == outputs, f"{cell['id']}: run python -m tests.api.notebook"
