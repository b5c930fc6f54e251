# SPDX-License-Identifier: MIT
"""A packet that GRO merged, and the large skb that sent it on the same host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skbviewer.matching import AMBIGUOUS, EXACT, matcher
from skbviewer.matching.rules import BY_TIME
from tests.readers import build
from tests.readers.build_kbl import Ipv4

from .joined import ANCHOR_FRAMES, ANCHORS, MS, A, join, sent
from .story import HOST, SOFTIRQ, Story, tcp4

SENT, GOT, MSS = A + 0x10000, A + 0x20000, 1448
DATA, HEADERS = MSS + 104, 40
GONE = 20 * MS  # when the large skb is sent
HERE = 26 * MS  # when the merged packet is at the sniffer
FRAME = build.ethernet(
    build.ipv4(
        "10.0.0.1", "10.0.0.2", 6, build.tcp(1000, 2000, 5000, 1, payload=bytes(DATA)), ip_id=77
    )
)


def sender(story: Story) -> None:
    """A large skb that is freed after the merged packet; the log does not show its device."""
    story.alloc(GONE - 100, SENT)
    info = HOST._replace(ifindex=0, len=DATA + HEADERS, gso_size=MSS, gso_segs=2)
    story.call("__ip_queue_xmit", GONE, GONE + 50, SENT, skbinfo=info, ipv4=header(0))
    story.lost(510 * MS, 20, 500 * MS)
    story.free(HERE + 2 * MS, SENT)


def header(tot_len: int) -> Ipv4:
    return tcp4(77, seq=5000)._replace(
        saddr="10.0.0.1", daddr="10.0.0.2", sport=1000, dport=2000, tot_len=tot_len
    )


def receiver(story: Story) -> None:
    """The merged packet: the log has the length that its first segment had in the IP header."""
    story.alloc(HERE - 200, GOT, context=SOFTIRQ, cpu=1)
    info = HOST._replace(ifindex=3, len=DATA + HEADERS, gso_size=MSS, gso_segs=2)
    shown: dict[str, Any] = {
        "skbinfo": info,
        "ipv4": header(MSS + HEADERS),
        "context": SOFTIRQ,
        "cpu": 1,
    }
    story.call("__netif_receive_skb_core", HERE - 50, HERE + 100, GOT, **shown)
    story.free(HERE + 200, GOT, context=SOFTIRQ, cpu=1)


def verdicts(folder: Path, received: bool) -> set[tuple[int, int]]:
    story = sent(ANCHORS)
    sender(story)
    if received:
        receiver(story)
    found = join(folder, story, [*ANCHOR_FRAMES, (HERE, FRAME)])
    return {pair[2:4] for pair in found.pairs() if pair[0] == len(ANCHORS)}


def test_it_may_be_the_skb_that_was_merged_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matcher, "doubt_merged", lambda packets, kernel, pairs, clock: pairs)
    (before,) = verdicts(tmp_path, received=True)
    assert before[0] == EXACT, before
    monkeypatch.undo()
    assert verdicts(tmp_path, received=True) == {(AMBIGUOUS, BY_TIME)}


def test_without_such_an_skb_it_is_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = verdicts(tmp_path, received=False)
    monkeypatch.setattr(matcher, "doubt_merged", lambda packets, kernel, pairs, clock: pairs)
    assert verdicts(tmp_path, received=False) == found
