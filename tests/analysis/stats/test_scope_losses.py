# SPDX-License-Identifier: MIT
"""Losses in a range of time, if the log's clock has one piece or several."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.analysis.stats import Chosen, Kernel, Scope
from skbviewer.analysis.timeline.packet_session_times import Clock
from skbviewer.matching.clock.session_time import Piece, Timebase
from skbviewer.session import Session, import_files
from tests.matching.story import Story

LOG, STEP_NS = 1, 1000


@pytest.mark.parametrize("steps", [0, 1])
def test_losses_in_a_range(steps: int, tmp_path: Path) -> None:
    pieces = [Piece(LOG, 0, 0, at * STEP_NS, at * 10, 0.0, 0) for at in range(steps + 1)]
    clock: Clock = Timebase(pieces)
    found = {}
    for begin, end in ((0, 100), (200, 300), (1500, 2500), (3000, 4000)):
        scope = _scope(tmp_path, clock, Chosen(None, begin, end))
        found[begin] = scope.has_losses
    assert found == {0: False, 200: True, 1500: True, 3000: False}


def _scope(folder: Path, clock: Clock, chosen: Chosen) -> Scope:
    story, out = Story(), folder / "story.skbv"
    story.alloc(1000, 0xFFFF888000001000)
    story.log(folder)
    import_files([folder / "story.kbl"], out)
    session = Session.open(out)
    (kernel,) = session.stats.scope().kernels.values()
    lossy: Kernel = kernel._replace(losses=[(210, 220), (2000, 2100)])
    made = Scope(session.columns, {LOG: lossy}, clock, chosen)
    session.close()
    return made
