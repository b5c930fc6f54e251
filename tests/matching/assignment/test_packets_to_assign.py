# SPDX-License-Identifier: MIT
"""What the order of a file decides if some packets were stamped later than usual."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.matching.assignment.forced_lifetimes import Problem
from skbviewer.matching.assignment.packets_to_assign import first_consistent
from skbviewer.matching.clock.possible_capture_devices import ANY_TIME, CAME

US = 1_000
USUAL, LATE = 30 * US, 650 * US  # from arrival to stamp
NARROW = 200 * US
Int64s = npt.NDArray[np.int64]


@pytest.fixture(autouse=True)
def version() -> int:
    """No log is written here, so there are no versions of it."""
    return 0


def _problem(order: int | None, waited: Int64s) -> tuple[Int64s, Problem]:
    """Packets that waited so long for their stamps, and two lifetimes each: its own and a copy.

    The copy is at another device, where it does not arrive, so it may be stamped at any time.
    """
    count = len(waited)
    at = (np.arange(count, dtype=np.int64) + 1) * 300 * US
    own, copy = at - waited, at - waited - 5 * US
    after = np.concatenate([own, copy])
    before = np.concatenate([at + 20 * US, at + 900 * US])
    end = np.concatenate([np.minimum(own + NARROW, at + 20 * US), before[count:]])
    packet = np.repeat(np.arange(count), 2)
    moment = np.stack([np.arange(count), count + np.arange(count)], axis=1).reshape(-1)
    zero, lack = np.zeros(count, np.int64), np.zeros(count, np.bool_)
    ends = before if order == ANY_TIME else end
    lives = np.arange(2 * count)
    made = Problem(at, zero, lack, lives, after, before, after, ends, packet, moment)
    return lives, made


@pytest.mark.parametrize("late", [USUAL, LATE])
def test_a_late_stamp_does_not_give_a_packet_to_the_copy(late: int) -> None:
    waited = np.full(8, USUAL)
    waited[4] = late
    _, _, made = first_consistent((CAME, ANY_TIME), lambda order: _problem(order, waited))
    assert made.life.tolist() == [-1] * 8
