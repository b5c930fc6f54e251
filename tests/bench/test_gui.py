# SPDX-License-Identifier: MIT
"""The window's benchmark runs on a small recording and prints every number."""

from __future__ import annotations

from pathlib import Path

import pytest

from .gui import Sample, lines, main
from .gui_goals import GOALS


def test_it_measures_everything(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["--scale", "0.0002", "--runs", "2", "--size", "1280x800", "--out", str(tmp_path)]
    assert main(words) == 0
    printed = capfd.readouterr().out
    for goal in GOALS:
        assert goal.name in printed


def test_medians_percentiles_and_goals_stand_in_the_table() -> None:
    samples = [Sample(wall / 1000, 0.004) for wall in range(1, 101)]
    head, row = lines({"scroll frame": samples})
    assert head.split() == ["median", "95", "%", "CPU", "goal", "runs"]
    assert row.split() == ["scroll", "frame,", "ms", "50.5", "95.0", "4.0", "16", "100"]
