# SPDX-License-Identifier: MIT
"""What the emulator counted in recorded runs: sums, marks, and the truth of durations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.instructions.compensation_truth import decades, judge
from tests.instructions.counts import EXIT, MAGIC, WATCH, column, read
from tests.instructions.joined_calls import join
from tests.instructions.page import PAGE, with_tables
from tests.instructions.recorded import SERIES, Phase, recorded

LOOPS = {Phase.BARE_ONCE: 50, Phase.BARE_TWICE: 100, Phase.PROBED_ONCE: 50, Phase.PROBED_TWICE: 100}
ENOUGH = 100  # calls
LEVELS = 3  # watched functions that a round calls
MOST_INTERRUPTED = 1  # rounds between which the timer's interrupt came


@pytest.mark.parametrize("series", SERIES)
def test_a_round_takes_as_many_kernel_instructions_with_probes_as_without(series: str) -> None:
    lengths = set()
    for phase, rounds in LOOPS.items():
        begins = recorded(series).counts[phase].of_kind(WATCH)[::LEVELS]
        lasted, often = np.unique(np.diff(column(begins, "kernel")), return_counts=True)
        assert len(begins) == rounds
        assert often.max() >= rounds - 1 - MOST_INTERRUPTED
        lengths.add(int(lasted[often.argmax()]))
    assert len(lengths) == 1


@pytest.mark.parametrize("series", SERIES)
@pytest.mark.parametrize("phase", [Phase.DATAGRAMS, Phase.TRAFFIC])
def test_marks_and_records_correspond_one_to_one(series: str, phase: Phase) -> None:
    run = recorded(series)
    joined = join(run.counts[phase], run.log)
    assert len(joined.function) == len(run.counts[phase].of_kind(EXIT)) > 10_000
    assert (joined.kernel > 0).all() and (joined.probe > 0).all()


@pytest.mark.parametrize("series", SERIES)
def test_the_stated_error_holds_the_truth(series: str) -> None:
    """For 95 of 100 calls, also of those of each decade of duration that has enough calls."""
    judged = judge(recorded(series))
    assert len(judged.truth) > 10_000
    enough = [(title, some) for title, some in decades(judged) if len(some.truth) >= ENOUGH]
    assert len(enough) >= 6
    for title, some in enough:
        assert np.mean(some.held) >= 0.95, title


def test_the_page_has_the_tables_of_the_recordings() -> None:
    text = PAGE.read_text("utf-8")
    assert with_tables(text) == text, "python -m tests.instructions"


def test_what_is_no_count_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "counts.1"
    for raw in (b"", b"something else", MAGIC + b"\0" * 88):
        path.write_bytes(raw)
        with pytest.raises(ValueError, match=r"counts\.1"):
            read(path)
