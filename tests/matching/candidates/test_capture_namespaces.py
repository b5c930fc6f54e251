# SPDX-License-Identifier: MIT
"""In which namespaces the packet socket of a capture of all devices may be."""

from __future__ import annotations

from typing import Any

import numpy as np

from skbviewer.matching.candidates.capture_namespaces import in_other_namespaces
from skbviewer.matching.candidates.tap_moment_conditions import Edges
from skbviewer.matching.clock.possible_capture_devices import MIN_STAMPS
from skbviewer.matching.legs.tap_moments import MOMENT_DTYPE

HERE, THERE, LOST = 100, 200, -1  # namespaces; LOST: the record that shows the device is lost


def excluded(*packets: tuple[int, ...], incomplete: tuple[int, ...] = ()) -> set[int]:
    """Return the namespaces that are excluded; of each packet are given those of its moments."""
    rows: Any = np.zeros(sum(map(len, packets)), MOMENT_DTYPE)
    rows["netns"] = [netns for some in packets for netns in some]
    rows["ifindex"] = np.where(rows["netns"] == LOST, -1, 2)
    owner = np.repeat(np.arange(len(packets)), [len(some) for some in packets])
    every = np.arange(len(rows))
    complete = np.ones(len(packets), np.bool_)
    complete[list(incomplete)] = False
    edges = Edges(owner, every, every)
    return set(rows["netns"][in_other_namespaces(rows, edges, complete)].tolist())


def test_packets_that_never_came_there_exclude_a_namespace() -> None:
    both, only = (HERE, THERE), (HERE,)
    assert excluded(both, *[only] * MIN_STAMPS) == {THERE}
    assert excluded(both, *[only] * (MIN_STAMPS - 1)) == set()
    assert excluded(*[both] * 20) == set()


def test_packets_of_two_sockets_exclude_none() -> None:
    """mergecap can write the packets of two namespaces as those of one interface."""
    assert excluded(*[(HERE,)] * 20, *[(THERE,)] * 20) == set()
    assert excluded(*[(HERE,)] * 20, (THERE,)) == set()


def test_packets_whose_records_are_missing_exclude_none() -> None:
    only, number = (HERE,), MIN_STAMPS + 2
    assert excluded((HERE, THERE), *[only] * MIN_STAMPS, incomplete=(1,)) == set()
    assert excluded(*[(HERE, THERE)] * 2, *[(HERE, LOST)] * number) == set()
    assert excluded((THERE,), *[only] * number, incomplete=(0,)) == {THERE}
    assert excluded() == set()
