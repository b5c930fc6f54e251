# SPDX-License-Identifier: MIT
"""Events, table changes, sockets and compensated times, through a session to the path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skbviewer.records import Leg, PathCall, PathEvent, Silent
from skbviewer.records import kbl_layout as kbl
from skbviewer.records.kbl_layout import KblEvent
from skbviewer.session import Session
from skbviewer.session.importing import Input, store_inputs
from skbviewer.store import Builder
from tests.matching.story import HOST, SOFTIRQ, Story, capture, udp4, udp4_frame
from tests.readers.build_kbl import STEXT, ext

A, B, SOCK = 0xFFFF888000001000, 0xFFFF888000002000, 0xFFFF888000003000
MINE = HOST._replace(sk=SOCK, mark=5)
FOUR = [10, 0, 0, 2] + [0] * 12


def imported(folder: Path, story: Story) -> Session:
    story.kbl.device(100, 2, "veth0")
    story.lasting(10**18 - 2000)
    inputs = [
        Input(story.log(folder), 1, "ab"),
        Input(capture(folder, [(10**18, udp4_frame(1))]), 2, "cd"),
    ]
    with Builder(folder / "a.skbv") as builder:
        store_inputs(inputs, builder, Silent())
        builder.finish()
    return Session.open(folder / "a.skbv")


def leg_of(folder: Path, story: Story) -> Leg:
    (leg,) = imported(folder, story).paths.path(packet=1).legs
    return leg


def receive(story: Story, until: int = 5000) -> dict[str, Any]:
    """The packet comes in, and stays in ip_rcv from 2000 to `until`."""
    place: dict[str, Any] = {"pid": 0, "context": SOFTIRQ}
    story.alloc(1000, A, **place)
    story.call("ip_rcv", 2000, until, A, skbinfo=HOST, ipv4=udp4(1), **place)
    return place


def shown(leg: Leg, word: str) -> PathEvent:
    (event,) = [event for event in leg.events if event.event == word]
    return event


def call_of(leg: Leg, function: str) -> PathCall:
    return next(call for call in leg.calls if call.function == function)


def test_a_drop_says_why_where_in_which_hook_and_by_whom(tmp_path: Path) -> None:
    story = Story()
    story.kbl.meta["drop_reason.6"] = "NETFILTER_DROP"
    place = receive(story)
    base = 0x10000 + 0x1000 * story.function("nf_hook_slow")
    story.call("kfree_skb_reason", 3000, 4000, A, **place)
    type_ = kbl.KblExtType.DROP
    stack = ext(kbl.KBL_EXT_DROP, type_, hook=0x8000 | 2 << 8 | 1, depth=2,
                stack=[base + 4, 0x10004, 0, 0, 0, 0])  # fmt: skip
    story.event(3000, KblEvent.DROP, A, (base + 4) << 32 | 6, extra=(stack,), **place)
    leg = leg_of(tmp_path, story)
    drop = shown(leg, "drop")
    assert drop.text == "drop NETFILTER_DROP at nf_hook_slow+0x4 in netfilter IPv4 INPUT"
    assert drop.stack == ("nf_hook_slow+0x4", "__alloc_skb+0x4")
    assert leg.calls[drop.call].function == "kfree_skb_reason"
    assert call_of(leg, "kfree_skb_reason").note == "drop: NETFILTER_DROP"
    assert not drop.caused


def neigh(state: int = 2) -> Any:
    return ext(kbl.KBL_EXT_NEIGH, kbl.KblExtType.NEIGH, family=2, nud_state=state, ifindex=2,
               addr=FOUR, lladdr=[2, 0, 0, 0, 0, 9])  # fmt: skip


def test_what_a_packet_changed_is_shown_with_it(tmp_path: Path) -> None:
    story = Story()
    place = receive(story)
    story.call("kfree_skb", 3000, 3500, B, **place)  # of another packet, inside
    data = 1 | 100 << 32
    story.event(2500, KblEvent.NEIGH, 0, data, extra=(neigh(),), **place)
    story.event(2500, KblEvent.NEIGH, 0, data, cpu=1, extra=(neigh(),), **place)
    story.event(6000, KblEvent.NEIGH, 0, data, extra=(neigh(),), **place)
    leg = leg_of(tmp_path, story)
    change = shown(leg, "neigh")
    assert change.text == "neigh 10.0.0.2 on veth0 is at 02:00:00:00:00:09 (reachable)"
    assert change.caused and change.ts_ns == 2500
    assert leg.calls[change.call].function == "ip_rcv"


def test_a_wait_for_a_lock_belongs_to_the_packet_in_whose_call_it_is(tmp_path: Path) -> None:
    story = Story()
    place = receive(story)
    stack = ext(kbl.KBL_EXT_STACK, kbl.KblExtType.STACK, depth=1,
                stack=[0x10004, 0, 0, 0, 0, 0])  # fmt: skip
    lock = 0x50 << 40 | 0x20 << 56
    story.event(2500, KblEvent.LOCK_WAIT, 0, lock, extra=(stack,), **place)
    story.event(2600, KblEvent.LOCK_GOT, 0, lock & (1 << 56) - 1, **place)
    leg = leg_of(tmp_path, story)
    wait = shown(leg, "lock_wait")
    assert wait.text == "lock_wait sleeps for mutex 0xff00500000000000"
    assert wait.stack == ("__alloc_skb+0x4",)
    assert not wait.caused
    assert leg.calls[wait.call].function == "ip_rcv"
    assert shown(leg, "lock_got").text == "lock_got 0xff00500000000000"


def test_queues_are_known_by_their_events(tmp_path: Path) -> None:
    story = Story()
    story.alloc(1000, A)
    story.call("dev_queue_xmit", 2000, 3000, A, skbinfo=HOST, ipv4=udp4(1))
    story.event(2900, KblEvent.QDISC_ENQUEUE, A, 0x80010000 | 2 << 32)
    story.event(8000, KblEvent.QDISC_DEQUEUE, A, 0x80010000 | 2 << 32, context=SOFTIRQ)
    story.call("dev_hard_start_xmit", 8100, 9000, A, context=SOFTIRQ, skbinfo=HOST)
    leg = leg_of(tmp_path, story)
    assert [(w.what, w.begin_ns, w.dur_ns) for w in leg.waits if w.dur_ns > 1000] == [
        ("qdisc", 3000, 5100)  # from the end of one call to the start of the next
    ]
    assert shown(leg, "qdisc_enqueue").text == "qdisc_enqueue 8001:0 on veth0"


def test_the_socket_queue_lasts_until_the_reader_has_it(tmp_path: Path) -> None:
    story = Story()
    place = receive(story)
    story.event(4000, KblEvent.SOCK_ENQUEUE, A, SOCK, **place)
    story.giver("__skb_recv_udp", 9000, 9500, A, pid=9)
    story.event(9800, KblEvent.COPY_TO_USER, A, 38, pid=9)
    leg = leg_of(tmp_path, story)
    assert [(w.what, w.begin_ns, w.dur_ns) for w in leg.waits if w.dur_ns > 1000] == [
        ("socket queue", 5000, 4500)  # until the reader's call has it
    ]


def test_a_late_transmit_event_is_that_of_the_start(tmp_path: Path) -> None:
    """When XMIT is recorded, the skb is freed and another packet has its address."""
    story = Story()
    story.alloc(1000, A)
    story.call("dev_hard_start_xmit", 2000, 9000, A, skbinfo=HOST, ipv4=udp4(1))
    story.event(2100, KblEvent.START_XMIT, A)
    story.free(3000, A, cpu=1, context=SOFTIRQ)
    story.alloc(4000, A, cpu=1, context=SOFTIRQ)
    story.event(5000, KblEvent.XMIT, A, 0)
    session = imported(tmp_path, story)
    (leg,) = session.paths.path(packet=1).legs
    assert shown(leg, "xmit").text == "xmit = 0"
    assert session.info()["series"] == 2


def test_socket_calls_stand_around_the_packets(tmp_path: Path) -> None:
    story = Story()
    story.sock_call("tcp_sendmsg", 1000, 9000, SOCK, pid=7)
    story.alloc(2000, A, pid=7)
    story.call("ip_output", 3000, 4000, A, pid=7, skbinfo=MINE, ipv4=udp4(1))
    session = imported(tmp_path, story)
    path = session.paths.path(packet=1)
    (leg,) = path.legs
    assert [(c.function, c.depth) for c in leg.calls] == [
        ("tcp_sendmsg", 0),
        ("__alloc_skb", 1),
        ("ip_output", 1),
    ]
    send = leg.calls[0]
    assert (send.skb, send.sock, send.note) == (0, SOCK, "found via socket")
    assert leg.calls[2].mark == 5
    assert path.packet is not None
    assert leg.functions == path.packet.functions == 3
    assert (leg.begin_ns, leg.end_ns) == (2000, 4000)
    assert leg.waits == ()  # the thread's call around is at work for the packet


def test_a_thread_that_changes_its_cpu_leaves_the_packet_in_no_queue(tmp_path: Path) -> None:
    story = Story()
    story.alloc(2000, A, pid=7)
    story.call("ip_output", 5000, 6000, A, cpu=1, pid=7, skbinfo=MINE, ipv4=udp4(1))
    (leg,) = imported(tmp_path, story).paths.path(packet=1).legs
    assert [wait.what for wait in leg.waits] == ["outside probed functions"]


@pytest.mark.parametrize("skb_cost", [0, 300])
def test_what_the_probes_cost_is_taken_off(tmp_path: Path, skb_cost: int, version: int) -> None:
    """Logs of version 3 have an event for the footprint, which costs as well."""
    story = Story()
    story.kbl.calibration = {"tau_empty": 50, "tau_nested": 200, "tau_skb_nested": skb_cost}
    story.call("ip_rcv", 1000, 5000, A, skbinfo=HOST, ipv4=udp4(1))
    story.call("ip_output", 2000, 3000, A, skbinfo=HOST, ipv4=udp4(1))
    story.call("kfree_skb", 2100, 2120, B)
    story.call("skb_dequeue", 3100, 3200, 0)
    leg = leg_of(tmp_path, story)
    nested, footprint = skb_cost or 200, 50 if version == 3 else 0
    assert call_of(leg, "ip_rcv").comp_ns == 4000 - 50 - 2 * nested - 200 - footprint
    assert call_of(leg, "ip_output").comp_ns == 1000 - 50 - nested
    assert call_of(leg, "ip_rcv").dur_ns == 4000


@pytest.mark.parametrize("skb_empty", [0, 30])
def test_a_call_with_a_packet_loses_what_one_with_a_packet_costs(
    tmp_path: Path, skb_empty: int, version: int
) -> None:
    """Events are inside, too: the ALLOC, and in version 3 both footprints."""
    story = Story()
    story.kbl.calibration = {"tau_empty": 50, "tau_nested": 200, "tau_skb_empty": skb_empty}
    story.sock_call("tcp_sendmsg", 1000, 9000, SOCK, pid=7)
    story.alloc(2000, A, pid=7)
    story.call("ip_output", 3000, 3100, A, pid=7, skbinfo=MINE, ipv4=udp4(1))
    leg = leg_of(tmp_path, story)
    footprint = 50 if version == 3 else 0
    assert call_of(leg, "ip_output").comp_ns == 100 - (skb_empty or 50) - footprint
    assert call_of(leg, "ip_output").comp_err_ns == (20 if skb_empty else 25) + footprint
    assert call_of(leg, "tcp_sendmsg").comp_ns == 8000 - 50 - 2 * 200 - (2 * footprint + 50)


def test_a_call_shorter_than_its_probe_is_wrong_by_what_is_missing(
    tmp_path: Path, version: int
) -> None:
    story = Story()
    story.kbl.calibration = {"tau_empty": 60, "tau_nested": 200, "tau_skb_empty": 50}
    story.call("ip_rcv", 1000, 1100, A, skbinfo=HOST, ipv4=udp4(1))
    story.call("ip_rcv_core", 1040, 1048, A, skbinfo=HOST, ipv4=udp4(1))
    story.call("ip_output", 2000, 2045, A, skbinfo=HOST, ipv4=udp4(1))
    leg = leg_of(tmp_path, story)
    times = {c.function: (c.comp_ns, c.comp_err_ns) for c in leg.calls}
    footprint = 60 if version == 3 else 0
    whole = (0, 150 + footprint)
    assert times == {"ip_rcv": whole, "ip_rcv_core": (0, 42), "ip_output": (0, 25)}


def test_without_a_calibration_nothing_is_taken_off(tmp_path: Path) -> None:
    story = Story()
    receive(story)
    assert all(call.comp_ns is None for call in leg_of(tmp_path, story).calls)


def test_counts_of_events_and_of_the_recorder(tmp_path: Path) -> None:
    story = Story()
    place = receive(story)
    story.kbl.counters = {"written": 9, "lost": 1, "missed": 2, "nested": 3, "filtered": 4}
    story.kbl.counters |= {"open": 5, "unpaired": 6}
    for ts in (10_000, 10_100):
        story.event(ts, KblEvent.IRQ_ENTRY, 0, 24, **place)
    info = imported(tmp_path, story).info()
    assert info["events"] == {"alloc": 1, "irq_entry": 2}
    assert info["lost_records"] == 6
    counters = ("lost", "missed", "nested", "filtered", "open", "unpaired")
    assert [info["recorder"][name] for name in counters] == [1, 2, 3, 4, 5, 6]


def test_the_place_of_a_caller_without_a_name_is_its_address(tmp_path: Path) -> None:
    story = Story()
    place = receive(story)
    story.event(3000, KblEvent.CONSUME, A, (1 << 32) - 0x10 << 32, **place)
    place_ = f"0x{STEXT - 0x10:x}"
    assert shown(leg_of(tmp_path, story), "consume").text == f"consume at {place_}"
