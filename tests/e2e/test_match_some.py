# SPDX-License-Identifier: MIT
"""Some packets of a recording, by a clock that drifts: few pairs, far apart, leave it unsure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from skbviewer.matching import EXACT
from skbviewer.records import Packets, resource
from tests.lab.samples import SAMPLES

from .treated import Index, Kernel, follow, matched, owners, packets_of, wrong

NAMES = [sample.name for sample in SAMPLES]
PPM = (5, 15, -20, 50, -100, 200)
DRAWS = 60


class Some(NamedTuple):
    """Packets of a capture, on a sniffer's clock that drifts; `owner`: whose they are."""

    plain: Packets
    packets: Packets
    owner: Index


def draw(rng: np.random.Generator, every: Packets, owner: Index) -> Some:
    """Any of the packets, or those of the beginning and later only what time must tell."""
    keep = rng.random(len(every)) < rng.choice([0.3, 0.6, 0.9])
    if rng.random() < 0.5:
        early = np.arange(len(every)) < rng.integers(4, len(every))
        keep = early | (every["ip_version"] == 0) | (every["ip_id"] <= 0)
    rows = np.flatnonzero(keep)
    plain, packets = every[rows], every[rows].copy()
    packets["ts"] += (plain["ts"] - plain["ts"][:1]) * rng.choice(PPM) // 1_000_000
    return Some(plain, packets, owner[rows])


def is_off(kernel: Kernel, some: Some) -> bool:
    """Return whether the clock's error exceeds its stated error. Fails if a match is wrong."""
    found = matched(some.packets, kernel)
    assert wrong(kernel, found, some.owner) == []
    if found.clock is None:
        return False
    every = np.arange(len(some.packets))
    ts: Index = some.packets["ts"]
    plain: Index = some.plain["ts"]
    error = np.abs(found.clock.to_kernel(ts, every) + kernel.epoch_ns - plain)
    return bool((error > found.clock.error(ts, every)).any())


@pytest.mark.parametrize("name", NAMES)
def test_what_the_clock_does_not_tell_is_left_open(name: str) -> None:
    folder = resource(f"samples/{name}")
    kernel, every = follow(folder / f"{name}.kbl"), packets_of(folder / f"{name}.pcap")
    whole = matched(every, kernel)
    assert whole.sniffer is not None
    owner, rng = owners(kernel, every, whole.sniffer), np.random.default_rng(20261123)
    drawn = [draw(rng, every, owner) for _ in range(DRAWS)]
    off = [is_off(kernel, some) for some in drawn if len(some.packets) > 3]
    assert sum(off) <= len(off) // 50  # two or three pairs may be of the wrong device


def test_a_fragment_is_not_taken_for_another_that_ends_in_the_whole() -> None:
    """Where the datagram is put together its first fragment is also in the last one's life."""
    folder = resource("samples/ipv6-and-fragments")
    kernel = follow(folder / "ipv6-and-fragments.kbl")
    every = packets_of(folder / "ipv6-and-fragments.pcap")
    device = matched(every, kernel).sniffer
    assert device is not None
    owner = owners(kernel, every, device)
    rows = np.array([0, 2, 5, 11, 12, 13, 17, 22, 29, 30, 33, 34, 35])
    packets = every[rows].copy()
    packets["ts"] -= (packets["ts"] - packets["ts"][0]) // 10_000
    found = matched(packets, kernel)
    assert wrong(kernel, found, owner[rows]) == []
    assert np.count_nonzero(found.rows["verdict"] == EXACT) > 0
