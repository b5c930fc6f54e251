# SPDX-License-Identifier: MIT
"""Which moments a capture of one device may show, where records are lost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from skbviewer.matching.candidates.missing_tap_moments import hidden
from skbviewer.matching.candidates.tap_moment_conditions import (
    Edges,
    eligible,
    of_one_ethertype,
    sent_as_other,
)
from skbviewer.matching.clock.capture_point_distances import Place
from skbviewer.matching.clock.capture_point_fit import Located
from skbviewer.matching.legs.capture_points import EARLY, SOCKET
from skbviewer.matching.legs.declared_losses import ANY, LOSS_DTYPE
from skbviewer.matching.legs.tap_moments import MOMENT_DTYPE, WAIT_NS
from skbviewer.records import HOLE

HERE, THERE = (100, 2), (100, 3)  # netns, ifindex
MS = 1_000_000


def moments(*rows: tuple[tuple[int, int], bool, int]) -> Any:
    """Moments by device, whether the socket's call shows them, and when they were over, ns."""
    made = np.zeros(len(rows), MOMENT_DTYPE)
    for row, (device, socket, before) in zip(made, rows, strict=True):
        row["netns"], row["ifindex"] = device
        row["socket"], row["met"] = socket, True
        row["after"], row["before"] = before - MS, before
    return made


def test_a_call_whose_device_is_lost_may_be_of_any_device() -> None:
    kernel: Any = SimpleNamespace(
        moments=moments((HERE, True, MS), (THERE, True, MS), ((-1, -1), True, MS))
    )
    where = Located(None, Place(*HERE, None, SOCKET), (HERE,))
    for lossless in (True, False):
        here = eligible(kernel, where, lossless, several_devices=False)
        assert here.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("how", "at_calls", "legs"), [(SOCKET, False, []), (EARLY, True, []), (EARLY, False, [2])]
)
def test_a_capture_of_packet_sockets_shows_no_leg_without_their_call(
    how: int, at_calls: bool, legs: list[int]
) -> None:
    """Wherever the clock fits best: stamps lie in calls, or at arrival, or anywhere before."""
    rows = moments((HERE, True, MS), ((0, 0), False, MS), (HERE, False, MS))
    rows["met"][1] = False  # the leg shows no device
    kernel: Any = SimpleNamespace(moments=rows)
    where = Located(None, Place(*HERE, None, how), (HERE,), at_calls=at_calls)
    here = eligible(kernel, where, sockets_only=True, several_devices=False)
    assert np.flatnonzero(here).tolist() == [0, *legs]
    here = eligible(kernel, where, sockets_only=False, several_devices=False)
    assert here.all()


def test_a_call_may_be_lost_until_its_packet_waited_for_long() -> None:
    lost = np.array([(50 * MS, 60 * MS, 0, ANY, 1, HOLE)], LOSS_DTYPE)
    times = (40 * MS, 50 * MS - WAIT_NS, 49 * MS - WAIT_NS, 62 * MS)
    kernel: Any = SimpleNamespace(
        log=SimpleNamespace(complete=True),
        losses=lost,
        moments=moments(*((HERE, False, before) for before in times)),
    )
    assert hidden(kernel).tolist() == [True, True, False, False]


IPV4, ODD = 0x800, 0x4800


def test_bytes_may_have_another_ethertype_than_the_skb_that_is_sent() -> None:
    """netem changes bits of the header that the sender's tap shows, and not skb->protocol."""
    rows = moments((HERE, True, MS), (THERE, True, 2 * MS))
    rows["leg"], rows["sends"] = [0, 1], [1, 0]
    legs = SimpleNamespace(rows={"ethertype": np.array([IPV4, ODD])})
    kernel: Any = SimpleNamespace(moments=rows, legs=legs)
    packets: Any = {"ip_version": np.array([0]), "ethertype": np.array([ODD])}
    edges = Edges(np.zeros(2, np.int64), np.arange(2), np.zeros(2, np.int64))
    assert of_one_ethertype(packets, kernel, edges).moment.tolist() == [1]
    assert sent_as_other(packets, kernel, edges).tolist() == [0]
    rows["sends"] = 0
    assert sent_as_other(packets, kernel, edges).tolist() == []
