# SPDX-License-Identifier: MIT
"""A packet that GRO merged, and the large skb that sent it on the same host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skbviewer.matching import AMBIGUOUS, build_series
from skbviewer.matching.identity.identity_candidates import candidates, footprints
from tests.readers import build
from tests.readers.build_kbl import Ipv4

from .joined import ANCHOR_FRAMES, ANCHORS, MS, A, join, sent
from .story import HOST, SOFTIRQ, Story, tcp4, wire

SENT, GOT, MSS = A + 0x10000, A + 0x20000, 1448
DATA, HEADERS = MSS + 104, 40
PSH = 0x08
GONE = 20 * MS  # when the large skb is sent
HERE = 26 * MS  # when the merged packet is at the sniffer
FRAME = build.ethernet(
    build.ipv4(
        "10.0.0.1", "10.0.0.2", 6,
        build.tcp(1000, 2000, 5000, 1, 0x10 | PSH, payload=bytes(DATA)), ip_id=77,
    )
)  # fmt: skip


def header(tot_len: int, flags: int) -> Ipv4:
    return tcp4(77, seq=5000, flags=flags)._replace(
        saddr="10.0.0.1", daddr="10.0.0.2", sport=1000, dport=2000, tot_len=tot_len
    )


def sender(story: Story) -> None:
    """A large skb that is freed after the merged packet; the log does not show its device."""
    story.alloc(GONE - 100, SENT)
    info = HOST._replace(ifindex=0, len=DATA + HEADERS, gso_size=MSS, gso_segs=2)
    ip = header(DATA + HEADERS, 0x10 | PSH)
    story.call("__ip_queue_xmit", GONE, GONE + 50, SENT, skbinfo=info, ipv4=ip)
    story.lost(510 * MS, 20, 500 * MS)
    story.free(HERE + 2 * MS, SENT)


def receiver(story: Story, held: int) -> None:
    """An skb with `held` bytes, whose header is that of its first segment."""
    story.alloc(HERE - 200, GOT, context=SOFTIRQ, cpu=1)
    info = HOST._replace(len=held, gso_size=MSS, gso_segs=2)
    shown: dict[str, Any] = {
        "skbinfo": info,
        "ipv4": header(MSS + HEADERS, 0x10),
        "context": SOFTIRQ,
        "cpu": 1,
    }
    story.call("__netif_receive_skb_core", HERE - 50, HERE + 100, GOT, **shown)
    story.free(HERE + 200, GOT, context=SOFTIRQ, cpu=1)


def test_the_skb_that_sent_it_is_not_chosen_instead(tmp_path: Path) -> None:
    story = sent(ANCHORS)
    sender(story)
    receiver(story, DATA + HEADERS)
    pairs = join(tmp_path, story, [*ANCHOR_FRAMES, (HERE, FRAME)]).pairs()
    both = {(len(ANCHORS) + n, AMBIGUOUS) for n in range(2)}
    assert {pair[1:3] for pair in pairs if pair[0] == len(ANCHORS)} == both


@pytest.mark.parametrize(("held", "is_it"), [(DATA + HEADERS, True), (MSS + HEADERS, False)])
def test_the_skb_must_hold_more_than_its_old_header_says(
    tmp_path: Path, held: int, is_it: bool
) -> None:
    story = Story()
    receiver(story, held)
    log = story.log(tmp_path)
    prints = footprints(log.records, build_series(log).of, np.zeros(0, np.int64))
    found = candidates(wire(tmp_path, [(HERE, FRAME)]), prints)
    assert found.series.tolist() == [0] * is_it
