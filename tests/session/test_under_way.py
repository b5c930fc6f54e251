# SPDX-License-Identifier: MIT
"""Two hosts' logs in one session, whose clocks drift apart."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.session import Session, import_files
from tests.matching.story import HOST, SOFTIRQ, Story
from tests.readers import build
from tests.readers.build_kbl import Ipv4

SECOND = 1_000_000_000
ADDRESS = 0xFFFF_8880_0000_1000
ENDS = ("10.0.0.1", "10.0.0.2")
PACKETS = 120
Index = npt.NDArray[np.int64]


class Truth(NamedTuple):
    """Packet n is sent at `sent` (first host's clock) and takes `delay`; `ppm` is the drift."""

    sent: Index
    delay: Index
    onward: npt.NDArray[np.bool_]
    ppm: int

    def on_second(self, ts: int) -> int:
        return 5 * SECOND + ts + ts * self.ppm // 1_000_000


def record(truth: Truth, folder: Path) -> Session:
    """Both hosts' logs and the first one's capture: sources 1 and 2, and 3."""
    first, second, frames = Story(), Story(), []
    for n in range(PACKETS):
        sent, onward = int(truth.sent[n]), bool(truth.onward[n])
        got, ends = sent + int(truth.delay[n]), ENDS if onward else (ENDS[1], ENDS[0])
        _seen(first, sent if onward else got, onward, n, ends)
        _seen(second, truth.on_second(got if onward else sent), not onward, n, ends)
        data = build.ipv4(*ends, 17, build.udp(1000, 2000, bytes(10)), n + 1, 0x4000)
        frames.append(((sent if onward else got) + 500 + 100 * SECOND, build.ethernet(data)))
    first.lasting(100 * SECOND)
    second.lasting(95 * SECOND)
    files = []
    for name, story in (("a", first), ("b", second)):
        (folder / name).mkdir()
        story.log(folder / name)
        files.append(folder / name / "story.kbl")
    files.append(build.write_pcap(folder / "a.pcap", sorted(frames)))
    import_files(files, folder / "s.skbv")
    return Session.open(folder / "s.skbv")


def _seen(story: Story, ts: int, sends: bool, n: int, ends: tuple[str, str]) -> None:
    ip, skb = Ipv4(ends[0], ends[1], n + 1, 17, 1000, 2000, tot_len=38), ADDRESS + 0x1000 * n
    what = ("dev_hard_start_xmit", 0) if sends else ("__netif_receive_skb", SOFTIRQ)
    story.alloc(ts - 3000, skb)
    story.call(what[0], ts, ts + 2000, skb, skbinfo=HOST, ipv4=ip, context=what[1])
    story.free(ts + 4000, skb)


@pytest.fixture(scope="module", params=[0, 20, -18])
def two_hosts(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Session, Truth]:
    """30 s of traffic both ways; no packet takes less than 100 us."""
    rng = np.random.default_rng(request.param + 50)
    sent = np.sort(rng.integers(SECOND, 31 * SECOND, PACKETS))
    delay = 100_000 + rng.exponential(100_000, PACKETS).astype(np.int64)
    truth = Truth(sent, delay, rng.random(PACKETS) < 0.5, request.param)
    return record(truth, tmp_path_factory.mktemp("hosts")), truth


def test_what_a_packet_took_lies_in_its_interval(two_hosts: tuple[Session, Truth]) -> None:
    session, truth = two_hosts
    (way,) = session.info()["one_way"]
    # The clock fit leaves out one of twenty that were longer under way than the others.
    assert 0.95 * PACKETS <= sum(way["packets"]) <= PACKETS
    assert way["drift_ppm"][0] <= truth.ppm <= way["drift_ppm"][1]
    for packet in session.packets.numbered(1, PACKETS):
        assert packet.ip_id is not None
        n = packet.ip_id - 1
        took = session.paths.under_way(packet.number)
        if not took:  # it is among those that the clock fit left out
            continue
        (under,) = took
        assert (under.sender, under.receiver) == ((1, 2) if truth.onward[n] else (2, 1))
        assert 0 <= under.low_ns <= truth.delay[n] <= under.high_ns
        assert under.high_ns - under.low_ns <= way["uncertainty_ns"] + 2 < 500_000


def test_session_time_of_the_second_host_is_within_its_error(
    two_hosts: tuple[Session, Truth],
) -> None:
    session, truth = two_hosts
    clock = session.timebase()
    seen = np.array([truth.on_second(ts) for ts in truth.sent.tolist()])
    off = np.abs(clock.to_session(2, seen) - clock.to_session(1, truth.sent))
    assert off.max() <= clock.error(2) < 300_000
