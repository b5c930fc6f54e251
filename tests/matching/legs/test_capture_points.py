# SPDX-License-Identifier: MIT
"""Between which times a stamp may have been made at a point."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skbviewer.matching import build_legs, build_series
from skbviewer.matching.legs.capture_points import EARLY, SOCKET, WIRE, build
from skbviewer.matching.legs.declared_losses import losses_declared_by
from skbviewer.records.kbl_layout import KblEvent

from ..joined import MS, A
from ..story import HOST, SOFTIRQ, Story, udp4

US = 1000
LOWER, UPPER = HOST._replace(ifindex=2), HOST._replace(ifindex=3)


def macvlan() -> Story:
    """An skb at macvlan's device and at the device below; each has a sniffer's socket."""
    story, shown = Story(), {"context": SOFTIRQ, "ipv4": udp4(1)}
    below: dict[str, Any] = shown | {"skbinfo": LOWER}
    above: dict[str, Any] = shown | {"skbinfo": UPPER}
    story.function("skb_clone")  # else each skb may be a sniffer's own copy
    story.alloc(MS - US, A, context=SOFTIRQ)
    story.enter(MS, "netif_rx_internal", A, **below)
    story.leave(MS + 5 * US, "netif_rx_internal", A, context=SOFTIRQ)
    story.enter(MS + 10 * US, "__netif_receive_skb_core", A, **below)
    story.call("tpacket_rcv", MS + 20 * US, MS + 30 * US, A, **below)
    story.call("tpacket_rcv", MS + 40 * US, MS + 50 * US, A, **above)
    story.call("ip_rcv", MS + 60 * US, MS + 70 * US, A, **above)
    story.leave(MS + 80 * US, "__netif_receive_skb_core", A, context=SOFTIRQ)
    story.free(MS + 90 * US, A, context=SOFTIRQ)
    return story


def test_a_socket_at_another_device_does_not_bound_the_stamp(tmp_path: Path) -> None:
    log = macvlan().log(tmp_path)
    series = build_series(log)
    legs = build_legs(log, series)
    points = build(log, series, legs, losses_declared_by(log)).points
    before = {
        (int(row["how"]), int(row["ifindex"])): int(row["before"]) - MS
        for row in points[np.arange(len(points))]
    }
    assert before[SOCKET, 2] == 30 * US
    assert before[SOCKET, 3] == 50 * US
    (device,) = {ifindex for how, ifindex in before if how != SOCKET}
    assert before[WIRE, device] == before[EARLY, device] == before[SOCKET, device]
    assert device == 3


def segmented(release: int | None) -> Story:
    """A sent skb that is cut into segments and released; its call returns 6 ms later."""
    shown: dict[str, Any] = {"ipv4": udp4(1), "skbinfo": LOWER}
    story = Story()
    story.alloc(MS - US, A)
    story.enter(MS, "__dev_queue_xmit", A, **shown)
    if release:
        story.event(release, KblEvent.CONSUME, A)
    story.leave(MS + 6 * MS, "__dev_queue_xmit", A)
    return story


@pytest.mark.parametrize(("release", "last"), [(MS + 9 * US, MS + 9 * US), (None, 7 * MS)])
def test_an_skb_is_not_stamped_after_its_release(
    tmp_path: Path, release: int | None, last: int
) -> None:
    log = segmented(release).log(tmp_path)
    series = build_series(log)
    legs = build_legs(log, series)
    seen = build(log, series, legs, losses_declared_by(log))
    assert legs.rows["end_ns"].tolist() == [7 * MS]
    assert seen.moments["before"].tolist() == seen.moments["end"].tolist() == [last]
    assert set(seen.points["before"].tolist()) == {last}
