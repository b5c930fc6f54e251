# SPDX-License-Identifier: MIT
"""Are compensated durations right?  The instructions that the emulator counted say so.

A duration without probes, in ns, is compared with the instructions of the kernel that were executed
between the call's entry and exit, and with the error that skbviewer states for it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import skbviewer
from skbviewer.session import import_files
from tests.instructions.joined_calls import Joined, join
from tests.instructions.recorded import Phase, Recorded

I64 = npt.NDArray[np.int64]
RECORDED = (Phase.DATAGRAMS, Phase.TRAFFIC)
COLUMNS = ["function", "entry_ns", "comp_ns", "comp_err_ns", "carried"]


class Judged(NamedTuple):
    """Calls of a session: their true and their compensated duration, and its stated error; ns."""

    truth: I64
    shown: I64
    error: I64

    @property
    def wrong_by(self) -> I64:
        """Return the error of each compensated duration, ns."""
        return np.asarray(np.abs(self.shown - self.truth), np.int64)

    @property
    def held(self) -> npt.NDArray[np.bool_]:
        """Return for each call whether its true duration is within the stated error."""
        return self.wrong_by <= self.error

    def between(self, least: int, below: int) -> Judged:
        """Return the calls whose true duration is at least `least` and less than `below`."""
        some = (self.truth >= least) & (self.truth < below)
        return Judged(self.truth[some], self.shown[some], self.error[some])


def judge(run: Recorded) -> Judged:
    """Return all calls of a run that a session has and that were counted, each once."""
    truth: dict[tuple[str, int], int] = {}
    for phase in RECORDED:
        truth |= truths(join(run.counts[phase], run.log))
    session = run.kbl.with_suffix(".skbv")
    import_files([run.kbl], session)
    with skbviewer.open(str(session)) as recording:
        calls = recording.array("calls", COLUMNS)
    calls = calls[(calls["comp_ns"] >= 0) & (calls["carried"] < 0)]
    _, once = np.unique(calls[["function", "entry_ns"]], return_index=True)  # of several packets
    calls = calls[np.sort(once)]
    keys = zip(calls["function"].tolist(), calls["entry_ns"].tolist(), strict=True)
    found = np.array([truth.get(key, -1) for key in keys], np.int64)
    calls, found = calls[found >= 0], found[found >= 0]
    return Judged(found, calls["comp_ns"], calls["comp_err_ns"])


def truths(calls: Joined) -> dict[tuple[str, int], int]:
    """Return the true durations by function and time of entry."""
    keys = zip(calls.function, calls.entry_ns.tolist(), strict=True)
    return dict(zip(keys, calls.truth_ns.tolist(), strict=True))


def decades(judged: Judged) -> list[tuple[str, Judged]]:
    """Return the calls by decade of true duration, each with its title; the last are all."""
    bounds = [0, *(10**power for power in range(1, 9))]
    rows = [
        (f"{least:,} to {below - 1:,}", judged.between(least, below))
        for least, below in pairwise(bounds)
    ]
    return [*(row for row in rows if len(row[1].truth)), ("all", judged)]


def row(title: str, some: Judged) -> tuple[str, ...]:
    """Return a line of the table: shares in percent, errors in instructions."""
    wrong, relative = some.wrong_by, some.wrong_by / np.maximum(some.truth, 1)
    return (
        title,
        f"{len(some.truth):,}",
        f"{100 * np.mean(some.held):.1f}",
        f"{np.median(wrong):,.0f}",
        f"{np.percentile(wrong, 95):,.0f}",
        f"{100 * np.median(relative):.1f}",
        f"{np.median(some.error):,.0f}",
    )


HEAD = ("true duration (instructions)", "calls", "within the stated error (%)",
        "wrong by, median", "wrong by, 95 %", "wrong by, median (%)",
        "stated error, median")  # fmt: skip
