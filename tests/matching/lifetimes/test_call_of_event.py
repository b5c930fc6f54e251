# SPDX-License-Identifier: MIT
"""An event recorded when a function returns belongs to the packet the function was given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skbviewer.matching import build_series
from skbviewer.readers import read
from skbviewer.records import KernelLog, Silent
from skbviewer.records.kbl_layout import KblEvent
from tests.readers.build_kbl import KblBuilder

from ..story import SOFTIRQ, Story, find

A = 0xFFFF888000001000
B = 0xFFFF888000002000


def dropped() -> Story:
    """nf_hook_slow frees its packet; another has its address when the verdict is recorded."""
    story = Story()
    story.kbl.probe("unused")
    story._functions["nf_hook_slow"] = story.kbl.probe("nf_hook_slow", KblEvent.NF_HOOK)
    story.alloc(1000, A)
    story.enter(2000, "nf_hook_slow", A)
    story.free(2500, A)
    story.alloc(2600, A, context=SOFTIRQ)
    story.leave(3000, "nf_hook_slow", A)
    story.event(3000, KblEvent.NF_HOOK, A, 1 << 16)
    return story


def one(log: KernelLog, event: int) -> int:
    (index,) = np.flatnonzero(log.records["event"] == event)
    return int(index)


def test_the_call_is_found(tmp_path: Path) -> None:
    log = dropped().log(tmp_path)
    owner_calls = build_series(log).owner_calls
    assert owner_calls[one(log, KblEvent.NF_HOOK)] == find(log, "nf_hook_slow")[0]
    assert owner_calls[one(log, KblEvent.FREE)] == -1


def test_a_late_event_is_of_the_calls_packet(tmp_path: Path) -> None:
    log = dropped().log(tmp_path)
    of = build_series(log).of
    first, second = of[find(log, "__alloc_skb")].tolist()
    assert first != second
    assert of[one(log, KblEvent.NF_HOOK)] == first


def test_an_event_of_no_call_belongs_to_its_address(tmp_path: Path) -> None:
    story = Story()
    story.alloc(1000, A)
    story.event(3000, KblEvent.NF_HOOK, A, 1 << 16)
    log = story.log(tmp_path)
    assert build_series(log).owner_calls.max() == -1
    of = build_series(log).of
    assert of[one(log, KblEvent.NF_HOOK)] == of[find(log, "__alloc_skb")[0]]


@pytest.mark.parametrize("event", [KblEvent.GRO_MERGE, KblEvent.COALESCE])
def test_of_two_packets_the_event_is_the_firsts(tmp_path: Path, event: KblEvent) -> None:
    """A is merged into B: both are in the hands of one call."""
    kbl = KblBuilder(version=3)
    kbl.probe("unused")
    merge = kbl.probe("merge", event)
    for ts, skb in ((1000, A), (1100, B)):
        kbl.event(ts, 0, KblEvent.ALLOC, skb, 256)
    kbl.carry(2000, 0, B, 1)
    kbl.event(2050, 0, event, A, B)
    kbl.call(2000, 0, merge, A, dur=50)
    log = read(kbl.write(tmp_path / "merge.kbl"), Silent())
    assert isinstance(log, KernelLog)
    of, merged = build_series(log).of, one(log, event)
    entered = find(log, "merge")
    assert log.records["skb"][entered].view(np.uint64).tolist() == [A, B]
    assert of[merged] == of[entered[0]] != of[entered[1]]
