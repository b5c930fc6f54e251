# SPDX-License-Identifier: MIT
"""Passes are of one class if their functions are first called in the same order (docs/times.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skbviewer.analysis.breakdown.path_classes import packet_paths
from skbviewer.analysis.breakdown.timed_packets import Units
from skbviewer.analysis.comparison.call_sums import call_sums
from skbviewer.analysis.comparison.path_classes import PathClasses, described, path_classes
from skbviewer.analysis.comparison.time_blocks import time_blocks
from skbviewer.analysis.stats import Scope
from skbviewer.records.kbl_layout import KblEvent
from skbviewer.session import Session, import_files
from tests.matching.story import HOST, SOFTIRQ, Story, udp4

SAMPLES = Path("resources/samples").absolute()
SKB = 0xFFFF888000001000

# Each packet: (function, begin, end) since it arrived.
PLAIN = (("__netif_receive_skb", 0, 900), ("ip_rcv", 100, 800), ("udp_rcv", 200, 700))
SLOWER = (("__netif_receive_skb", 0, 990), ("ip_rcv", 300, 800), ("udp_rcv", 310, 700))
TWICE = (*PLAIN, ("udp_rcv", 710, 790))
FLAT = (("__netif_receive_skb", 0, 900), ("ip_rcv", 100, 150), ("udp_rcv", 200, 700))
SHORT = PLAIN[:2]
SWAPPED = (PLAIN[0], ("udp_rcv", 100, 800), ("ip_rcv", 200, 700))
DROPPED = (*PLAIN, ("", 750, 750))


def session_of(folder: Path, *packets: tuple[tuple[str, int, int], ...]) -> Session:
    story = Story()
    for number, calls in enumerate(packets):
        at, skb = 1000 + 10_000 * number, SKB + 0x1000 * number
        for function, begin, end in calls:
            if not function:
                story.event(at + begin, KblEvent.DROP, skb, data=2, context=SOFTIRQ)
                continue
            known: dict[str, Any] = {"ipv4": udp4(number + 1), "skbinfo": HOST} if not begin else {}
            story.call(function, at + begin, at + end, skb, context=SOFTIRQ, **known)
    story.log(folder)
    out = folder / "story.skbv"
    import_files([folder / "story.kbl"], out)
    return Session.open(out)


def classes_of(scope: Scope) -> PathClasses:
    return path_classes(scope, call_sums(scope, time_blocks(scope)))


def test_classes(tmp_path: Path) -> None:
    session = session_of(tmp_path, PLAIN, SLOWER, TWICE, FLAT, SHORT, DROPPED)
    scope = session.stats.scope()
    classes = classes_of(scope)
    plain, slower, twice, flat, short, dropped = classes.of_leg.tolist()
    assert plain == slower == twice == flat
    assert len({plain, short, dropped}) == 3
    assert sorted(classes.number.tolist()) == [1, 1, 4]
    steps = described(scope, classes, classes.names)
    assert steps[classes.names[plain]].steps == (
        (0, "__netif_receive_skb"),
        (1, "ip_rcv"),
        (2, "udp_rcv"),
    )
    assert steps[classes.names[short]].steps == steps[classes.names[plain]].steps[:2]
    assert (steps[classes.names[dropped]].kind, steps[classes.names[dropped]].dropped) == (
        "rx",
        True,
    )
    assert not steps[classes.names[plain]].dropped
    session.close()


def test_names_do_not_depend_on_the_recording(tmp_path: Path) -> None:
    names = []
    for number, packets in enumerate(((PLAIN, SHORT), (SWAPPED, SHORT, SHORT))):
        folder = tmp_path / str(number)
        folder.mkdir()
        session = session_of(folder, *packets)
        names.append(set(classes_of(session.stats.scope()).names))
        session.close()
    assert len(names[0] & names[1]) == 1


@pytest.mark.parametrize("name", ["bulk", "drops", "nat"])
def test_passes_and_packets_have_the_same_paths(name: str, tmp_path: Path) -> None:
    """The breakdown numbers paths in a loop of its own, by the same rule."""
    files = [file for file in (SAMPLES / name).iterdir() if file.suffix in (".kbl", ".pcap")]
    out = tmp_path / "sample.skbv"
    import_files(sorted(files), out)
    session = Session.open(out)
    scope = session.stats.scope()
    path = call_sums(scope, time_blocks(scope)).path
    every = np.arange(len(scope.legs))
    number, _ = packet_paths(scope, Units(every, every, np.arange(len(every) + 1), every))
    usable = scope.legs & ~scope.gaps
    assert np.count_nonzero(usable) > 20
    assert number[usable].tolist() == path[usable].tolist()
    session.close()
