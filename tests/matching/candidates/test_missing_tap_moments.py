# SPDX-License-Identifier: MIT
"""Packets whose moment a log may lack: what it declares, and for how long."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from skbviewer.matching.candidates.missing_tap_moments import lacking
from skbviewer.matching.clock.capture_point_distances import Place
from skbviewer.matching.legs.capture_points import SOCKET
from skbviewer.matching.legs.declared_losses import LOSS_DTYPE, of_calls
from skbviewer.matching.legs.tap_moments import MOMENT_DTYPE
from skbviewer.records import HOLE

PLACE = Place(100, 2, None, SOCKET)
PROBE = SimpleNamespace(id=1, name="tpacket_rcv", address=1, error=0)
MS = 1_000_000


def _kernel(losses: Any = None, lost: int = 0, **meta: str) -> Any:
    """A log with these losses, and one call of 30 ms; it counts `lost` records as lost."""
    moments = np.zeros(1, MOMENT_DTYPE)
    moments["socket"], moments["end"] = True, 30 * MS
    none = np.zeros(0, LOSS_DTYPE) if losses is None else losses
    log = SimpleNamespace(complete=True, meta=meta, probes={1: PROBE}, lost_records=lost)
    return SimpleNamespace(log=log, losses=none, moments=moments)


def _unknown(since: int) -> Any:
    """The loss of a packet socket's call from 50 to 51 ms; its skb arrived at `since` (ns)."""
    log: Any = SimpleNamespace(records={"ts": np.array([50 * MS]), "exit_ts": np.array([51 * MS])})
    return of_calls(log, np.array([0]), np.array([since]))


def test_a_packet_socket_call_of_an_unknown_skb_hides_no_packet_after_it() -> None:
    call = _unknown(50 * MS)
    at = np.array([10, 49, 50, 51, 52]) * MS + 1
    missing, _ = lacking(_kernel(call), PLACE, at, np.zeros(5, np.int64))
    assert missing.tolist() == [False, False, True, False, False]
    call["reason"] = HOLE  # a call may have been written there when it returned
    missing, _ = lacking(_kernel(call), PLACE, at, np.zeros(5, np.int64))
    assert missing.tolist() == [False, True, True, False, False]


def test_a_call_of_an_unknown_skb_hides_packets_stamped_while_the_skb_waited() -> None:
    """A packet may be stamped when its skb arrives, long before the packet socket's call."""
    at = np.array([46, 47, 49, 51, 52]) * MS + 1
    missing, _ = lacking(_kernel(_unknown(47 * MS)), PLACE, at, np.zeros(5, np.int64))
    assert missing.tolist() == [False, True, True, False, False]


def test_a_call_of_an_unknown_skb_is_not_one_of_the_lost_records() -> None:
    """Otherwise a loss without a time would seem to have the time of the call."""
    kernel = _kernel(_unknown(47 * MS), lost=1)
    _, any_time = lacking(kernel, PLACE, np.array([5 * MS]), np.zeros(1, np.int64))
    assert any_time.tolist() == [True]


@pytest.mark.parametrize(
    ("meta", "perhaps"),
    [
        ({}, False),
        ({"counters.filtered": "0"}, False),
        ({"filter": "udp"}, True),
        ({"counters.filtered": "3"}, True),  # the filter was set in debugfs while recording
    ],
)
def test_a_filtered_log_may_lack_any_packet(meta: dict[str, str], perhaps: bool) -> None:
    kernel = _kernel(None, 0, **meta)
    _, any_time = lacking(kernel, PLACE, np.array([5 * MS]), np.zeros(1, np.int64))
    assert any_time.tolist() == [perhaps]


def test_a_log_that_counts_more_losses_than_it_dates_may_lack_any_packet() -> None:
    rows = np.zeros(1, LOSS_DTYPE)
    rows["first_ns"], rows["last_ns"], rows["count"], rows["reason"] = 90 * MS, 91 * MS, 7, HOLE
    at, error = np.array([5 * MS]), np.zeros(1, np.int64)
    found = [lacking(_kernel(rows, lost), PLACE, at, error) for lost in (7, 8)]
    assert [surely.tolist() + perhaps.tolist() for surely, perhaps in found] == [
        [False, False],
        [False, True],
    ]
