# SPDX-License-Identifier: MIT
"""A packet socket's call whose clone has no birth in the log is no moment of another packet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skbviewer.matching import (
    AMBIGUOUS,
    BY_KEY,
    EXACT,
    build_kernel_side,
    build_legs,
    build_series,
)
from skbviewer.matching.match_rule_numbers import Rung
from skbviewer.records.kbl_layout import KblEvent
from tests.matching.joined import ANCHOR_FRAMES, ANCHORS, MS, join, sent
from tests.matching.story import HOST, Story, udp4, udp4_frame

A, B = 0xFFFF888000001000, 0xFFFF888000002000
US = 1_000
LOOK: dict[str, Any] = {"skbinfo": HOST, "ipv4": udp4(7)}


def moments(folder: Path, story: Story) -> list[int]:
    """Return the skb addresses whose lifetimes have a moment at a packet socket."""
    story.clone(10 * US, A + 0x100, A + 0x200)  # the log shows births of clones
    story.lasting(None)
    log = story.log(folder)
    series = build_series(log)
    made = build_kernel_side(log, series, build_legs(log, series)).moments
    index = np.asarray(made["series"])[np.asarray(made["socket"], np.bool_)]
    skbs = log.records["skb"][np.isin(series.of, index)]
    return sorted({int(skb) & (1 << 64) - 1 for skb in skbs} - {0})


def sending(story: Story, born: bool, caller: int) -> None:
    """Send A; a sniffer gets its clone B, whose birth the probe may have missed."""
    story.alloc(90 * US, A)
    story.enter(100 * US, "dev_hard_start_xmit", A, **LOOK)
    if born:
        story.clone(101 * US, A, B, by="dev_queue_xmit_nit")
    story.call("tpacket_rcv", 102 * US, 110 * US, B, caller=caller, **LOOK)
    story.leave(120 * US, "dev_hard_start_xmit", A)
    story.free(130 * US, A)


@pytest.mark.parametrize("shown_caller", [True, False])
@pytest.mark.parametrize("born", [True, False])
def test_a_senders_clone_of_unknown_birth_is_nobodys(
    tmp_path: Path, born: bool, shown_caller: bool
) -> None:
    story = Story()
    sending(story, born, story.inside("dev_queue_xmit_nit") if shown_caller else 0)
    if not born:
        story.missed(0, 1, 0, "skb_clone", known=False)
    assert moments(tmp_path, story) == [A] * born


@pytest.mark.parametrize("shown", [True, False])
def test_a_packet_that_was_received_keeps_its_moment(tmp_path: Path, shown: bool) -> None:
    story = Story()
    if shown:
        story.event(100 * US, KblEvent.RECEIVE, A, **LOOK)
    story.call("tpacket_rcv", 102 * US, 110 * US, A, **LOOK)
    story.call("ip_rcv", 112 * US, 118 * US, A, **LOOK)
    story.free(130 * US, A)
    story.missed(0, 1, 0, "__alloc_skb", known=False)
    assert moments(tmp_path, story) == [A] * shown


@pytest.mark.parametrize("born", [True, False])
def test_a_packet_is_not_exact_with_what_may_be_a_copy(tmp_path: Path, born: bool) -> None:
    story = sent(ANCHORS)
    if born:
        story.alloc(10 * MS - US, B)
    story.call("skb_push", 10 * MS, 10 * MS + US, B, skbinfo=HOST, ipv4=udp4(9))
    story.lost(20 * MS, 1, 19 * MS)
    found = join(tmp_path, story, [*ANCHOR_FRAMES, (10 * MS, udp4_frame(9))])
    verdicts = {(verdict, rung) for packet, _, verdict, rung in found.pairs() if packet == 5}
    assert verdicts == {(EXACT, BY_KEY) if born else (AMBIGUOUS, Rung.LACKING)}
