# SPDX-License-Identifier: MIT
"""Passes are of one class if they call the same functions, nested alike, in the same order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skbviewer.analysis.comparison.call_sums import call_sums
from skbviewer.analysis.comparison.path_classes import PathClasses, described, path_classes
from skbviewer.analysis.comparison.time_blocks import time_blocks
from skbviewer.analysis.stats import Scope
from skbviewer.session import Session, import_files
from tests.matching.story import HOST, SOFTIRQ, Story, udp4

SKB = 0xFFFF888000001000

# Each packet: (function, begin, end) since it arrived.
PLAIN = (("__netif_receive_skb", 0, 900), ("ip_rcv", 100, 800), ("udp_rcv", 200, 700))
SLOWER = (("__netif_receive_skb", 0, 990), ("ip_rcv", 300, 800), ("udp_rcv", 310, 700))
TWICE = (*PLAIN, ("udp_rcv", 710, 790))
FLAT = (("__netif_receive_skb", 0, 900), ("ip_rcv", 100, 150), ("udp_rcv", 200, 700))
SHORT = PLAIN[:2]


def session_of(folder: Path, *packets: tuple[tuple[str, int, int], ...]) -> Session:
    story = Story()
    for number, calls in enumerate(packets):
        at, skb = 1000 + 10_000 * number, SKB + 0x1000 * number
        for function, begin, end in calls:
            known: dict[str, Any] = {"ipv4": udp4(number + 1), "skbinfo": HOST} if not begin else {}
            story.call(function, at + begin, at + end, skb, context=SOFTIRQ, **known)
    story.log(folder)
    out = folder / "story.skbv"
    import_files([folder / "story.kbl"], out)
    return Session.open(out)


def classes_of(scope: Scope) -> PathClasses:
    return path_classes(scope, call_sums(scope, time_blocks(scope)))


def test_classes(tmp_path: Path) -> None:
    session = session_of(tmp_path, PLAIN, SLOWER, TWICE, FLAT, SHORT)
    scope = session.stats.scope()
    classes = classes_of(scope)
    plain, slower, twice, flat, short = classes.of_leg.tolist()
    assert plain == slower == twice
    assert len({plain, flat, short}) == 3
    assert sorted(classes.number.tolist()) == [1, 1, 3]
    steps = described(scope, classes, classes.names)
    assert steps[classes.names[plain]].steps == (
        (0, "__netif_receive_skb"),
        (1, "ip_rcv"),
        (2, "udp_rcv"),
    )
    assert steps[classes.names[flat]].steps[2] == (1, "udp_rcv")
    assert steps[classes.names[flat]].kind == "rx"
    session.close()


def test_names_do_not_depend_on_the_recording(tmp_path: Path) -> None:
    names = []
    for number, packets in enumerate(((PLAIN, FLAT), (FLAT, SHORT, SHORT))):
        folder = tmp_path / str(number)
        folder.mkdir()
        session = session_of(folder, *packets)
        names.append(set(classes_of(session.stats.scope()).names))
        session.close()
    assert len(names[0] & names[1]) == 1
