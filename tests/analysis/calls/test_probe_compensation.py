# SPDX-License-Identifier: MIT
"""The cost of probes is subtracted from a call's time, however deep inside it they were."""

from __future__ import annotations

from pathlib import Path

from skbviewer.analysis.calls.probe_cost_per_record import DROP_COST
from skbviewer.records.kbl_layout import KblEvent
from tests.matching.story import HARDIRQ, SOFTIRQ, Story, udp4

from .test_call_building import A, B, Calls

EMPTY, NESTED, SKB_EMPTY, SKB_NESTED = 10, 20, 13, 25
ERROR = SKB_EMPTY - EMPTY


def sending() -> Story:
    """A call of a packet, 10 us, with one of the same packet inside.

    In version 3, two events are recorded at its entry: its footprint, and its thread.
    """
    story = Story()
    story.kbl.calibration = {
        "tau_empty": EMPTY,
        "tau_nested": NESTED,
        "tau_skb_empty": SKB_EMPTY,
        "tau_skb_nested": SKB_NESTED,
    }
    story.call("ip_output", 1000, 11000, A, pid=7, ipv4=udp4(1))
    story.call("eth_header", 1100, 1200, A, pid=7)
    return story


def costs(calls: int, with_skb: int, events: int = 0) -> tuple[int, int]:
    """Return the cost of the probes inside a call with a packet, and its possible error."""
    cost = SKB_EMPTY + calls * NESTED + with_skb * (SKB_NESTED - NESTED)
    events_cost = events * SKB_EMPTY
    return cost + events_cost, max(ERROR, (cost + 1) // 2) + events_cost


def added(number: int) -> int:
    """Return a number of events that only logs of version 3 have."""
    return number if Story.version == 3 else 0


def times_of(story: Story, folder: Path, name: str = "ip_output") -> tuple[int, int]:
    """Return the compensation that was subtracted from the call, and its error, both in ns."""
    call = Calls(story, folder)[name]
    return int(call["dur_ns"] - call["comp_ns"]), int(call["comp_err_ns"])


def test_calls_inside_it_cost(tmp_path: Path) -> None:
    assert times_of(sending(), tmp_path) == costs(1, 1, added(2))


def test_calls_in_interrupts_inside_it_cost_as_much(tmp_path: Path) -> None:
    """Inner calls at any depth cost, with any packet or without one."""
    story = sending()
    story.call("ip_rcv", 2000, 4000, B, pid=7, context=SOFTIRQ)
    story.call("ip_rcv_core", 2100, 2200, B, pid=7, context=SOFTIRQ)
    story.call("rt6_lookup", 2300, 2400, 0, pid=7, context=SOFTIRQ)
    story.call("netif_rx", 2500, 2600, B, pid=7, context=HARDIRQ)
    story.call("netif_rx_internal", 6000, 6100, 0, pid=7, context=HARDIRQ)
    calls = Calls(story, tmp_path)
    whole, softirq = calls["ip_output"], calls["ip_rcv"]
    assert (whole["dur_ns"] - whole["comp_ns"], whole["comp_err_ns"]) == costs(6, 4, added(2))
    assert (softirq["dur_ns"] - softirq["comp_ns"], softirq["comp_err_ns"]) == costs(3, 2)
    assert whole["irq_ns"] == 2000 + 100
    assert whole["self_ns"] == 10000 - 2100 - 100  # as recorded


def test_interrupts_beside_it_do_not_cost_it(tmp_path: Path) -> None:
    """Before, behind, of another CPU; in no call can come what begins when it returns."""
    story = sending()
    story.call("ip_rcv", 800, 900, B, pid=7, context=SOFTIRQ)
    story.call("ip_rcv", 10500, 11000, B, pid=7, context=SOFTIRQ)
    story.call("ip_rcv", 11000, 11500, B, pid=7, context=SOFTIRQ)
    story.call("ip_rcv", 3000, 4000, B, cpu=1, pid=8, context=SOFTIRQ)
    assert times_of(story, tmp_path) == costs(2, 2, added(1))  # the thread was known before


def test_what_its_interrupts_cost_is_no_less_than_nothing(tmp_path: Path) -> None:
    story = sending()
    for at in range(500):
        story.call("ip_rcv", 2000 + 10 * at, 2005 + 10 * at, B, pid=7, context=SOFTIRQ)
    call = Calls(story, tmp_path)["ip_output"]
    assert call["comp_ns"] == 0
    cost, unsure = costs(501, 501, added(2))
    assert call["comp_err_ns"] == max(unsure, cost - 10_000)


def test_events_inside_it_cost_and_drops_most(tmp_path: Path) -> None:
    """Events in interrupts cost, too. Events before or after the call, or on other CPUs, do not."""
    story = sending()
    story.event(2000, KblEvent.QUEUE, A, pid=7)
    story.call("ip_rcv", 3000, 4000, B, pid=7, context=SOFTIRQ)
    story.event(3500, KblEvent.RECEIVE, B, pid=7, context=SOFTIRQ)
    story.event(3600, KblEvent.DROP, B, pid=7, context=SOFTIRQ)
    for ts, cpu in ((900, 0), (11000, 0), (5000, 1)):
        story.event(ts, KblEvent.RECEIVE, B, cpu=cpu, pid=7, context=SOFTIRQ)
    calls = Calls(story, tmp_path)
    whole, softirq = calls["ip_output"], calls["ip_rcv"]
    assert (whole["dur_ns"] - whole["comp_ns"], whole["comp_err_ns"]) == costs(
        2, 2, added(2) + 2 + DROP_COST
    )
    assert (softirq["dur_ns"] - softirq["comp_ns"], softirq["comp_err_ns"]) == costs(
        0, 0, 1 + DROP_COST
    )
