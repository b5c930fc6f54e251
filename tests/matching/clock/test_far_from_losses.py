# SPDX-License-Identifier: MIT
"""Pairs of packets and lifetimes near lost records may be wrong, so they fix no clock."""

from __future__ import annotations

import numpy as np

from skbviewer.matching.clock.capture_point_fit import NEAR_NS, far_from_losses
from skbviewer.matching.legs.declared_losses import ANY, LOSS_DTYPE
from skbviewer.matching.legs.tap_moments import MOMENT_DTYPE
from skbviewer.records import HOLE, ColumnTable

MS, COUNT, OFFSET = 1_000_000, 40, 1_700_000_000_000_000_000
KERNEL = np.arange(COUNT, dtype=np.int64) * 50 * MS + 7_000_000_000
EVERY = np.arange(COUNT, dtype=np.int64)


def kept(series: list[int], *lost: tuple[int, int]) -> list[int]:
    """Return the packets whose pairs are used; of each packet is given its lifetime."""
    rows = np.zeros(COUNT, MOMENT_DTYPE)
    rows["series"], rows["after"], rows["before"] = EVERY, KERNEL, KERNEL + MS // 10
    moments = ColumnTable(MOMENT_DTYPE, {name: rows[name] for name in MOMENT_DTYPE.names or ()})
    losses = np.array([(*span, 0, ANY, 1, HOLE) for span in lost], LOSS_DTYPE)
    of = np.array(series, np.int64)
    packet, found = far_from_losses(KERNEL + OFFSET, EVERY, of, moments, losses)
    assert found.tolist() == of[packet].tolist()
    return [int(one) for one in packet]


def around(number: int) -> tuple[int, int]:
    """A loss at the time of the packet with this number."""
    return int(KERNEL[number]), int(KERNEL[number]) + MS


def test_pairs_recorded_near_a_loss_are_left_out() -> None:
    own = EVERY.tolist()
    assert kept(own) == own
    assert kept(own, around(5)) == [n for n in own if n != 5]
    near = (int(KERNEL[5]) + NEAR_NS - MS, int(KERNEL[5]) + NEAR_NS)
    far = (int(KERNEL[5]) + NEAR_NS + MS, int(KERNEL[5]) + NEAR_NS + 2 * MS)
    assert 5 not in kept(own, near)
    assert kept(own, far) == own


def test_a_packet_captured_near_a_loss_may_have_anothers_lifetime() -> None:
    """The lifetime of packet 5 is lost; a later one has its identity and is nowhere near."""
    series = EVERY.tolist()
    series[5] = 30
    assert kept(series, around(5)) == [n for n in range(COUNT) if n != 5]


def test_if_records_are_lost_everywhere_all_pairs_remain() -> None:
    own = EVERY.tolist()
    assert kept(own, (int(KERNEL[0]), int(KERNEL[30]))) == own
