# SPDX-License-Identifier: MIT
"""The parts of packets' times and their path classes, in stories that can be computed by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from skbviewer.analysis.breakdown.time_parts import Breakdown, Part
from skbviewer.analysis.breakdown.timed_packets import chosen_rows
from skbviewer.analysis.stats import Chosen, Scope
from skbviewer.analysis.stats.leg_stages import stage_times
from skbviewer.analysis.stats.time_in_kernel_table import time_table
from skbviewer.records import resource
from skbviewer.session import Session, import_files
from tests.lab.samples import SAMPLES
from tests.matching.story import HOST, OTHER, SOFTIRQ, Story, udp4, udp4_frame
from tests.readers.build import write_pcap

A, SOFT = 0xFFFF888000001000, {"context": SOFTIRQ, "pid": 0}


def scope_of(story: Story, folder: Path, *captures: str, chosen: Chosen | None = None) -> Scope:
    story.log(folder)
    out = folder / "story.skbv"
    import_files([folder / name for name in ("story.kbl", *captures)], out)
    return Session.open(out).stats.scope(chosen)


def parts_of(scope: Scope, row: int = 0) -> dict[tuple[str, str, str], int]:
    """ns of one packet by kind, name and stage."""
    made = Breakdown(scope)
    found = made.divided(np.array([row]))
    named = [made.part_at(place) for place in found.place.tolist()]
    return {
        (part.kind, part.name, part.stage): ns
        for part, ns in zip(named, found.ns.tolist(), strict=True)
    }


def received(story: Story, skb: int, at: int, number: int, wait: int = 300) -> None:
    story.alloc(at - 100, skb, **SOFT)
    story.call("netif_rx_internal", at, at + 100, skb, ipv4=udp4(number), skbinfo=HOST, **SOFT)
    story.call("__netif_receive_skb", at + 100 + wait, at + 1000 + wait, skb, **SOFT)
    story.call("ip_rcv", at + 200 + wait, at + 900 + wait, skb, **SOFT)
    story.free(at + 1100 + wait, skb, **SOFT)


def test_a_packet_is_divided_by_function_wait_and_stage(tmp_path: Path) -> None:
    story = Story()
    received(story, A, 5000, 1)
    driver, stack = "receive: driver", "receive: protocol stack"
    assert parts_of(scope_of(story, tmp_path)) == {
        ("busy", "__alloc_skb", driver): 10,
        ("busy", "functions without a probe", driver): 90,  # between alloc and the driver
        ("busy", "netif_rx_internal", driver): 100,
        ("wait", "softirq", driver): 300,
        ("busy", "__netif_receive_skb", stack): 200,
        ("busy", "ip_rcv", stack): 700,
        ("busy", "functions without a probe", stack): 100,
        ("busy", "kfree_skbmem", stack): 10,
    }


def test_two_legs_at_the_same_time_count_once(tmp_path: Path) -> None:
    """The other end of a veth pair has the packet before the driver's function returns."""
    story = Story()
    story.alloc(100, A)
    story.call("dev_hard_start_xmit", 300, 900, A, skbinfo=HOST, ipv4=udp4(1))
    story.call("__netif_rx", 400, 500, A, skbinfo=OTHER, ipv4=udp4(1))
    story.call("__netif_receive_skb", 1000, 1500, A, skbinfo=OTHER, **SOFT)
    story.free(1600, A, **SOFT)
    story.lasting(0)
    write_pcap(tmp_path / "story.pcap", [(450, udp4_frame(1))])
    scope = scope_of(story, tmp_path, "story.pcap")
    found = parts_of(scope)
    assert sum(found.values()) == int(scope.columns.array("packet", "kernel_ns")[0])
    assert sum(ns for (kind, *_), ns in found.items() if kind == "busy") == int(
        scope.columns.array("packet", "busy_ns")[0]
    )
    assert found["wait", "softirq", "receive: driver"] == 100  # from 900, not from 500


def test_the_cost_of_probes_is_taken_from_the_function_that_it_is_in(tmp_path: Path) -> None:
    story = Story()
    story.kbl.calibration = {
        "tau_empty": 20, "tau_pair": 50, "tau_nested": 50, "tau_skb_empty": 20,
        "tau_skb_pair": 60, "tau_skb_nested": 60, "rounds": 101, "mechanism": 1,
    }  # fmt: skip
    received(story, A, 5000, 1)
    found = parts_of(scope_of(story, tmp_path))
    stack = "receive: protocol stack"
    assert found["busy", "ip_rcv", stack] == 700 - 20
    # Its own probe takes 20 ns inside, that of ip_rcv 40 ns around.
    assert found["busy", "__netif_receive_skb", stack] == 200 - 20 - 40
    assert found["busy", "netif_rx_internal", "receive: driver"] == 100 - 20
    assert found["busy", "functions without a probe", "receive: driver"] == 90


def test_packets_on_the_same_path_are_one_class(tmp_path: Path) -> None:
    story = Story()
    for n in range(9):
        received(story, A + n * 0x1000, 5000 + 5000 * n, n + 1, wait=100 * (n + 1))
    other = A + 0x100000
    story.alloc(90_000, other)
    story.call("dev_hard_start_xmit", 90_100, 90_200, other, ipv4=udp4(50), skbinfo=HOST)
    story.free(90_300, other)
    made = Breakdown(scope_of(story, tmp_path))
    classes = made.classes
    assert classes.sizes.tolist() == [9, 1]
    assert np.asarray(classes.number).tolist() == [0] * 9 + [1]
    assert classes.median[classes.peers[0]] == 4  # of nine the fifth
    assert classes.comparable.tolist() == [True] * 9 + [False]


def test_a_repeated_function_is_the_same_path_and_a_new_one_is_not(tmp_path: Path) -> None:
    story = Story()
    for n, more in enumerate(("ip_rcv", "ip_rcv_core", None)):
        skb = A + n * 0x1000
        at = 5000 + 5000 * n
        received(story, skb, at, n + 1)
        if more:
            story.call(more, at + 700, at + 800, skb, **SOFT)
    number = np.asarray(Breakdown(scope_of(story, tmp_path)).classes.number).tolist()
    assert number[0] == number[2] != number[1]


def test_few_packets_are_compared_with_those_of_the_same_layers(tmp_path: Path) -> None:
    story = Story()
    for n in range(9):
        received(story, A + n * 0x1000, 5000 + 5000 * n, n + 1, wait=100 * (n + 1))
    skb = A + 0x100000
    received(story, skb, 90_000, 50, wait=2000)
    story.call("ip_rcv_core", 92_400, 92_500, skb, **SOFT)
    classes = Breakdown(scope_of(story, tmp_path)).classes
    assert classes.sizes.tolist() == [9, 1]
    peers = int(classes.peers[9])
    assert (int(classes.size[peers]), int(classes.median[peers])) == (10, 4)


def test_a_range_chooses_packets_by_their_begin(tmp_path: Path) -> None:
    story = Story()
    for n in range(3):
        received(story, A + n * 0x1000, 5000 + 5000 * n, n + 1)
    scope = scope_of(story, tmp_path)
    begin = int(scope.clock.to_session(1, np.array([9000]))[0])
    scope = Session.open(tmp_path / "story.skbv").stats.scope(Chosen(None, begin, begin + 5000))
    made = Breakdown(scope)
    assert chosen_rows(scope, made.units).tolist() == [1]
    assert time_table(scope).packets == 1


@pytest.fixture(scope="module", params=[sample.name for sample in SAMPLES])
def sample(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    name: str = request.param
    log = resource(f"samples/{name}/{name}.kbl")
    out = tmp_path_factory.mktemp("parts") / f"{name}.skbv"
    import_files([log, log.with_suffix(".pcap")], out)
    session = Session.open(out)
    yield session
    session.close()


def test_in_recordings_all_parts_add_up(sample: Session) -> None:
    made = Breakdown(sample.stats.scope())
    parts = made.divided(np.arange(len(made.units.id)))
    total = np.zeros(len(made.units.id), np.int64)
    np.add.at(total, parts.unit, parts.ns)
    assert total.tolist() == np.asarray(made.units.kernel_ns).tolist()
    assert int(parts.ns.min()) > 0


def test_in_recordings_stages_are_those_of_the_table_of_layers(sample: Session) -> None:
    """Only packets with one leg are compared: where legs overlap, a stage may be shorter."""
    scope = sample.stats.scope()
    made = Breakdown(scope)
    single = np.flatnonzero(np.diff(made.units.at) == 1)
    for row in single.tolist():
        parts = made.divided(np.array([row]))
        found: dict[str, int] = {}
        for place, ns in zip(parts.place.tolist(), parts.ns.tolist(), strict=True):
            part: Part = made.part_at(place)
            found[part.stage] = found.get(part.stage, 0) + ns
        leg = int(made.units.legs_of(np.array([row]))[0][0])
        only = np.arange(len(scope.legs)) == leg
        stages = {name: int(ns.sum()) for name, ns in stage_times(scope, only).items()}
        wanted = {name: ns for name, ns in stages.items() if ns > 0}
        wanted.pop("receive: receiving process", None)
        assert found == wanted


def test_in_recordings_some_legs_have_the_stages_that_they_have_among_all(
    sample: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = sample.stats.scope()
    wanted = scope.legs & (np.arange(len(scope.legs)) % 3 == 1)
    found = []
    for block in (1 << 18, 3):  # all legs are read together, or a few at a time
        monkeypatch.setattr("skbviewer.analysis.stats.leg_stages.BLOCK", block)
        found.append({name: ns.tolist() for name, ns in stage_times(scope, wanted).items()})
    assert found[0] == found[1] and any(found[0].values())
    nothing = stage_times(scope, np.zeros_like(wanted))
    assert nothing and not any(map(len, nothing.values()))
