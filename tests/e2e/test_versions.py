# SPDX-License-Identifier: MIT
"""A log of version 2 and the same log in version 3 tell of the same calls."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from skbviewer.analysis import build_calls
from skbviewer.matching import build_legs, build_series
from skbviewer.records.kbl_layout import KBL_FLAG_EXT_LOST, KBL_FLAG_SKB_IS_RET
from tests.matching.story import HOST, OTHER, SOFTIRQ, Story, udp4

SKBS = [0xFFFF888000001000 + 0x100 * n for n in range(6)]
FUNCTIONS = ("ip_output", "dev_hard_start_xmit", "__netif_receive_skb", "ip_rcv", "udp_rcv")


class Where(NamedTuple):
    """An execution context: a task that may migrate, or one CPU's softirq."""

    pid: int
    context: int
    cpus: tuple[int, ...]


PLACES = (
    Where(7, 0, (0, 1)),
    Where(8, 0, (0, 1)),
    Where(9, SOFTIRQ, (0,)),
    Where(9, SOFTIRQ, (1,)),
)


def random_story(seed: int) -> Story:
    """Return nested, interleaved calls of several contexts, with births, clones and frees."""
    chance, story = random.Random(seed), Story()
    story.kbl.per_chunk = 7
    open_: dict[Where, list[tuple[str, int]]] = {place: [] for place in PLACES}
    for ts in range(1000, 61_000, 100):
        place = chance.choice(PLACES)
        cpu, calls = chance.choice(place.cpus), open_[place]
        here: dict[str, Any] = {"cpu": cpu, "pid": place.pid, "context": place.context}
        skb = chance.choice(SKBS)
        what = chance.random()
        if calls and (len(calls) > 4 or what < 0.45):
            name, mine = calls.pop()
            story.leave(ts, name, mine, ret=chance.choice((0, -22)), **here)
        elif what < 0.5:
            story.alloc(ts, skb, **here)
        elif what < 0.55:
            story.clone(ts, skb, chance.choice(SKBS), **here)
        elif what < 0.6:
            story.free(ts, skb, **here)
        else:
            name = chance.choice(FUNCTIONS)
            seen = chance.choice((None, HOST, HOST, OTHER))
            ip = udp4(chance.randrange(3)) if seen else None
            story.enter(ts, name, skb, skbinfo=seen, ipv4=ip, **here)
            calls.append((name, skb))
    return story


def calls_of(story: Story, version: int, folder: Path) -> list[tuple[object, ...]]:
    story.version = version
    log = story.log(folder)
    series = build_series(log)
    legs = build_legs(log, series)
    calls = build_calls(log, series, legs)[:]
    other = KBL_FLAG_EXT_LOST | KBL_FLAG_SKB_IS_RET  # version 2: by silence; at the exit
    calls["flags"] &= ~np.uint8(other)
    names = [name for name in calls.dtype.names or () if name not in ("entry", "parent")]
    rows = legs.rows[calls["leg"]]
    return list(zip(calls[names].tolist(), rows.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(40))
def test_both_versions_tell_the_same(tmp_path: Path, seed: int) -> None:
    story = random_story(seed)
    old = calls_of(story, 2, tmp_path)
    assert len(old) > 100
    assert calls_of(random_story(seed), 3, tmp_path) == old
