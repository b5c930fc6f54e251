# SPDX-License-Identifier: MIT
"""Drops of packets that were for other hosts, or for groups that nobody has joined."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.records.kbl_layout import KblEvent
from tests.matching.story import HOST, OTHER, SOFTIRQ, Story, udp4
from tests.readers.build_kbl import STEXT, SkbInfo

from .stories import US, causes, diagnosed, freed, only, skb

REASONS = {2: "NOT_SPECIFIED", 9: "OTHERHOST"}
UNNAMED, OTHERHOST = REASONS
WHERE = {"context": SOFTIRQ, "pid": 0}
PLACE = 0x2000


def story() -> Story:
    """A story whose log names the reasons of drops."""
    made = Story()
    made.kbl.meta |= {f"drop_reason.{number}": name for number, name in REASONS.items()}
    return made


def received(made: Story, number: int, at: int, by: SkbInfo, to: str = "10.0.0.2") -> None:
    """Let a host receive a packet."""
    facts = udp4(1)._replace(daddr=to)
    made.call(
        "__netif_receive_skb", at * US, (at + 20) * US, skb(number), skbinfo=by, ipv4=facts, **WHERE
    )


def dropped(made: Story, number: int, at: int, reason: int) -> None:
    """Drop a packet."""
    made.event(at * US, KblEvent.DROP, skb(number), reason | PLACE << 32, **WHERE)


@pytest.mark.parametrize("packet", [None, -2])
@pytest.mark.parametrize(
    ("taken", "both", "severity"),
    [(True, False, "note"), (True, True, "critical"), (False, False, "critical")],
)
def test_a_copy_for_another_host_is_not_lost_if_that_host_takes_it(
    taken: bool, both: bool, severity: str, packet: int | None, tmp_path: Path
) -> None:
    """`taken`: the other host has a copy; `both`: it is not for that host, either."""
    made = story()
    made.alloc(100 * US - 20, skb(1), **WHERE)
    received(made, 1, 100, HOST)
    if taken:
        made.clone(101 * US, skb(1), skb(2), context=SOFTIRQ, pid=0)
    else:
        made.alloc(101 * US, skb(2), **WHERE)
    if both:
        dropped(made, 1, 110, OTHERHOST)
    freed(made, 1, 121)
    received(made, 2, 130, OTHER)
    dropped(made, 2, 140, OTHERHOST)
    freed(made, 2, 151)
    found = only(diagnosed(made, tmp_path, packet=packet), "drop")
    assert (found.number, found.severity) == (1 if packet else 1 + both, severity)
    assert ("nothing was lost" in found.advice) == (severity == "note")


@pytest.mark.parametrize(
    ("to", "function", "severity"),
    [
        ("224.0.0.22", "ip_rcv_finish_core.constprop.0", "note"),
        ("10.0.0.2", "ip_rcv_finish_core.constprop.0", "critical"),
        ("224.0.0.22", "ip_local_deliver", "critical"),
    ],
)
def test_nobody_lacks_what_is_for_a_group_that_nobody_joined(
    to: str, function: str, severity: str, tmp_path: Path
) -> None:
    made = story()
    made.kbl.symbol(STEXT + PLACE - 8, function)
    made.alloc(100 * US - 20, skb(1), **WHERE)
    received(made, 1, 100, HOST, to)
    dropped(made, 1, 110, UNNAMED)
    freed(made, 1, 121)
    result = diagnosed(made, tmp_path)
    assert causes(result) == {"drop"}
    found = only(result, "drop")
    assert found.severity == severity
    assert ("nobody on this host has joined" in found.advice) == (severity == "note")
