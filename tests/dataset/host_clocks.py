# SPDX-License-Identifier: MIT
"""The clocks of the ten hosts: each drifts and wanders, and its wall clock is set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tests.dataset.host_traffic import EPOCH, HOSTS, T0, T1, TAPS, Ints, Random

SECOND = 1_000_000_000
WANDER = 20e-6  # greatest change of a clock's rate


class Clock(NamedTuple):
    """A host's clock. The log's clock begins at `boot`; the wall clock is set at times `set_at`."""

    boot: int
    rate: float
    period: float
    wall: int
    set_at: Ints
    set_by: Ints

    def log(self, real: Ints) -> Ints:
        """Return the time on the log's clock, ns."""
        away = real.astype(np.float64)
        wave = np.sin(2 * np.pi * away / self.period) * WANDER * self.period / (2 * np.pi)
        ahead = np.rint(away * self.rate + wave).astype(np.int64)
        return np.asarray(real + self.boot + ahead, np.int64)

    def wall_at(self, real: Ints) -> Ints:
        """Return the time on the wall clock, ns since 1970."""
        steps = np.append(0, np.cumsum(self.set_by))
        piece = np.searchsorted(self.set_at, real, "right")
        return np.asarray(self.log(real) - self.boot + EPOCH + self.wall + steps[piece], np.int64)

    def pieces(self, last: int) -> list[tuple[int, int]]:
        """Return (real time at its begin, wall - log) of each piece between two settings."""
        begins = [0, *(int(at) for at in self.set_at if at < last)]
        sums = np.append(0, np.cumsum(self.set_by))
        return [(at, EPOCH + self.wall - self.boot + int(sums[n])) for n, at in enumerate(begins)]


def make_clocks(rng: Random, duration: int) -> list[Clock]:
    """Return a clock for each host."""
    made = []
    for host in range(len(HOSTS)):
        steps = 3 if host in TAPS else int(rng.integers(0, 4))
        at = np.sort(rng.integers(duration // 10, duration - duration // 10, steps))
        by = rng.choice([-1, 1], steps) * rng.integers(30_000_000, 5 * SECOND, steps)
        if host == T0:
            by[0] = 1800 * SECOND
        if host == T1:
            by[1] = 9_000_000  # less than what shows at first sight
        made.append(
            Clock(
                int(rng.integers(SECOND, 10**6 * SECOND)), float(rng.uniform(-80e-6, 80e-6)),
                float(rng.integers(20, 200)) * SECOND, int(rng.integers(-3 * SECOND, 3 * SECOND)),
                at, by,
            )
        )  # fmt: skip
    return made
