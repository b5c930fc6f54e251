# SPDX-License-Identifier: MIT
"""Every kind of event has a word, and a line that describes it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from skbviewer.analysis import EventFacts, Names, event_text, event_word
from skbviewer.readers import KblEvent
from skbviewer.records.kbl_layout import KblLock
from tests.readers.build_kbl import STEXT

SKB = 0xFFFF888000001000 - (1 << 64)
AT = STEXT + 0x1004C - (1 << 64)
NAMES = Names(
    {AT: "tcp_v4_rcv+0x4c"},
    {7: "ping"},
    {(5, 3): "veth0", (6, 3): "veth0", (5, 2): "eth0", (6, 2): "eth1"},
    {"stext": str(STEXT), "arch": "x86_64", "drop_reason.3": "NO_SOCKET"},
)
FOUR = SimpleNamespace(family=2, prefix_len=24, ifindex=3, netns=5, addr_hi=0, addr_lo=0x0A090002,
                       gateway=4, gateway_hi=0, gateway_lo=0x0A090001, state=254,
                       lladdr=0x020000000009)  # fmt: skip
SIX = SimpleNamespace(family=10, prefix_len=64, ifindex=9, netns=-1, addr_hi=-(0x180 << 48),
                      addr_lo=1, gateway=0, gateway_hi=-1, gateway_lo=-1, state=7,
                      lladdr=-1)  # fmt: skip
CALL = SimpleNamespace(family=2, fd=5, sk=SKB, arg1=0, arg2=0)
GONE, SET, NETNS = 2, 1, 5 << 32
LOCK = 0x00888000002000  # the low 56 bits of its address
E = KblEvent

TEXTS = [
    (EventFacts(E.ALLOC, 256), "alloc 256 bytes"),
    (EventFacts(E.CLONE, SKB), "clone as 0xffff888000001000"),
    (EventFacts(E.COPY, SKB), "copy as 0xffff888000001000"),
    (EventFacts(E.SEGMENT, SKB), "segment as 0xffff888000001000"),
    (EventFacts(E.FREE, 0), "free"),
    (EventFacts(E.CONSUME, 0x1004C << 32), "consume at tcp_v4_rcv+0x4c"),
    (EventFacts(E.CONSUME, 0), "consume"),
    (EventFacts(E.DROP, 0x1004C << 32 | 3), "drop NO_SOCKET at tcp_v4_rcv+0x4c"),
    (EventFacts(E.DROP, 99, hook=2 << 8 | 3), "drop reason 99 in netfilter IPv4 OUTPUT"),
    (EventFacts(E.DROP, 99, hook=3 << 8 | 2), "drop reason 99 in netfilter ARP FORWARD"),
    (EventFacts(E.DROP, 99, hook=99 << 8 | 9), "drop reason 99 in netfilter family 99 hook 9"),
    (EventFacts(E.TASK, 40, name="ping"), "task ping of process 40"),
    (EventFacts(E.TASK, 40), "task of process 40"),
    (EventFacts(E.GRO_MERGE, SKB), "gro_merge into 0xffff888000001000"),
    (EventFacts(E.GRO_MERGE, 0), "gro_merge"),
    (EventFacts(E.COALESCE, SKB), "coalesce into 0xffff888000001000"),
    (EventFacts(E.MORPH, SKB), "morph with the content of 0xffff888000001000"),
    (EventFacts(E.DEFER_FREE, 0), "defer_free"),
    (EventFacts(E.QDISC_ENQUEUE, 0x80010002 | 3 << 32), "qdisc_enqueue 8001:2 on veth0"),
    (EventFacts(E.QDISC_DEQUEUE, 0x80010002 | 2 << 32), "qdisc_dequeue 8001:2 on if2"),
    (EventFacts(E.QDISC_DEQUEUE, 0x10000 | 2 << 32, netns=6), "qdisc_dequeue 1:0 on eth1"),
    (EventFacts(E.SOCK_ENQUEUE, SKB), "sock_enqueue sock 0xffff888000001000"),
    (EventFacts(E.SOCK_ENQUEUE, 0), "sock_enqueue"),
    (EventFacts(E.COPY_TO_USER, 31), "copy_to_user 31 bytes"),
    (EventFacts(E.RECEIVE, 0), "receive"),
    (EventFacts(E.QUEUE, 0), "queue"),
    (EventFacts(E.START_XMIT, 0), "start_xmit"),
    (EventFacts(E.XMIT, -16), "xmit = -16"),
    (EventFacts(E.NAPI_POLL, 2 | 64 << 32), "napi_poll 2 of 64 packets"),
    (EventFacts(E.NAPI_POLL, 2 | 64 << 32, change=FOUR), "napi_poll 2 of 64 packets on veth0"),
    (EventFacts(E.SYSCALL_ENTRY, 44), "syscall_entry sendto"),
    (EventFacts(E.SYSCALL_ENTRY, 44, syscall=CALL),
     "syscall_entry sendto(fd 5, inet, sock 0xffff888000001000)"),
    (EventFacts(E.SYSCALL_ENTRY, 9999), "syscall_entry syscall 9999"),
    (EventFacts(E.SYSCALL_EXIT, -11), "syscall_exit = -11"),
    (EventFacts(E.IRQ_ENTRY, 24, name="virtio0-input"), "irq_entry 24 virtio0-input"),
    (EventFacts(E.IRQ_EXIT, 24 | 1 << 32), "irq_exit 24 handled"),
    (EventFacts(E.SOFTIRQ_ENTRY, 3), "softirq_entry NET_RX"),
    (EventFacts(E.SOFTIRQ_EXIT, 77), "softirq_exit 77"),
    (EventFacts(E.NEIGH, SET | NETNS,
                change=SimpleNamespace(**vars(FOUR) | {"state": 2, "netns": -1})),
     "neigh 10.9.0.2 on veth0 is at 02:00:00:00:00:09 (reachable)"),
    (EventFacts(E.NEIGH, GONE, change=SIX), "neigh fe80::1 on if9 gone"),
    (EventFacts(E.NEIGH, SET, change=SIX), "neigh fe80::1 on if9 (state 0x7)"),
    (EventFacts(E.ADDR, SET | NETNS, change=FOUR), "addr 10.9.0.2/24 on veth0"),
    (EventFacts(E.ADDR, GONE, change=SIX), "addr fe80::1/64 on if9 gone"),
    (EventFacts(E.ROUTE, SET, change=FOUR), "route 10.9.0.2/24 via 10.9.0.1 dev veth0 table main"),
    (EventFacts(E.ROUTE, GONE, change=SIX), "route fe80::1/64 dev if9 table 7 gone"),
    (EventFacts(E.LINK, SET, change=SimpleNamespace(**vars(FOUR) | {"state": 0x1043}), name="lo"),
     "link lo up running"),
    (EventFacts(E.LINK, SET, change=SimpleNamespace(**vars(FOUR) | {"state": 0x1002})),
     "link veth0 down"),
    (EventFacts(E.LINK, GONE, name="lo"), "link lo gone"),
    (EventFacts(E.MODULE, SET, name="sch_netem"), "module sch_netem loaded"),
    (EventFacts(E.MODULE, GONE, name="sch_netem"), "module sch_netem unloaded"),
    (EventFacts(E.CLOCK_SET, 5), "clock_set to 5 ns ahead of the log's clock"),
    (EventFacts(E.FOOTPRINT, 0), "footprint"),
    (EventFacts(E.CARRY, 3 | 9 << 32),
     "carry packet 4 of a call whose record is lost, 9 more are not shown"),
    (EventFacts(E.NF_HOOK, 0 | 2 << 8 | 2 << 16), "nf_hook IPv4 PREROUTING: accept"),
    (EventFacts(E.NF_HOOK, 1 | 5 << 8 | 1 << 16), "nf_hook netdev EGRESS: drop"),
    (EventFacts(E.NF_HOOK, 4 | 10 << 8), "nf_hook IPv6 POSTROUTING"),
    (EventFacts(E.SCHED_SWITCH, 7), "sched_switch to ping (7), goes on later"),
    (EventFacts(E.SCHED_SWITCH, 1 << 32), "sched_switch to the idle task, sleeps"),
    (EventFacts(E.WAKE, 7), "wake ping (7)"),
    (EventFacts(E.LOCK_WAIT, LOCK | KblLock.MUTEX << 56),
     "lock_wait sleeps for mutex 0xff00888000002000"),
    (EventFacts(E.LOCK_GOT, LOCK), "lock_got 0xff00888000002000"),
    (EventFacts(E.PAGE_FAULT, 0x7F0000001000 | 6),
     "page_fault write of a missing page at 0x7f0000001000"),
    (EventFacts(E.QUEUE_LENGTH, 3 | 1500 << 32), "queue_length 3 packets, 1500 bytes"),
    (EventFacts(E.SOCK_LENGTH, 3 | 1500 << 32), "sock_length 3 packets, 1500 bytes"),
    (EventFacts(200, 5), "event_200"),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_text(facts: EventFacts, text: str) -> None:
    assert event_text(facts, NAMES) == text


def test_no_kind_is_forgotten() -> None:
    assert {facts.event for facts, _ in TEXTS} >= set(KblEvent)
    assert event_word(KblEvent.NF_HOOK) == "nf_hook"


@pytest.mark.parametrize("event", list(KblEvent))
def test_a_change_whose_details_are_missing_is_shown_as_far_as_known(event: KblEvent) -> None:
    assert event_text(EventFacts(event, 1), NAMES).startswith(event_word(event))
