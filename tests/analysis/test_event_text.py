# SPDX-License-Identifier: MIT
"""Every kind of event has a word, and a line that says what there is to say."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from skbviewer.analysis import Names, Told, event_text, event_word
from skbviewer.readers import KblEvent
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
E = KblEvent

TEXTS = [
    (Told(E.ALLOC, 256), "alloc 256 bytes"),
    (Told(E.CLONE, SKB), "clone as 0xffff888000001000"),
    (Told(E.COPY, SKB), "copy as 0xffff888000001000"),
    (Told(E.SEGMENT, SKB), "segment as 0xffff888000001000"),
    (Told(E.FREE, 0), "free"),
    (Told(E.CONSUME, 0x1004C << 32), "consume at tcp_v4_rcv+0x4c"),
    (Told(E.CONSUME, 0), "consume"),
    (Told(E.DROP, 0x1004C << 32 | 3), "drop NO_SOCKET at tcp_v4_rcv+0x4c"),
    (Told(E.DROP, 99, hook=2 << 8 | 3), "drop reason 99 in netfilter IPv4 OUTPUT"),
    (Told(E.DROP, 99, hook=3 << 8 | 2), "drop reason 99 in netfilter ARP FORWARD"),
    (Told(E.DROP, 99, hook=99 << 8 | 9), "drop reason 99 in netfilter family 99 hook 9"),
    (Told(E.TASK, 40, name="ping"), "task ping of process 40"),
    (Told(E.TASK, 40), "task of process 40"),
    (Told(E.GRO_MERGE, SKB), "gro_merge into 0xffff888000001000"),
    (Told(E.GRO_MERGE, 0), "gro_merge"),
    (Told(E.COALESCE, SKB), "coalesce into 0xffff888000001000"),
    (Told(E.MORPH, SKB), "morph with the content of 0xffff888000001000"),
    (Told(E.DEFER_FREE, 0), "defer_free"),
    (Told(E.QDISC_ENQUEUE, 0x80010002 | 3 << 32), "qdisc_enqueue 8001:2 on veth0"),
    (Told(E.QDISC_DEQUEUE, 0x80010002 | 2 << 32), "qdisc_dequeue 8001:2 on if2"),
    (Told(E.QDISC_DEQUEUE, 0x10000 | 2 << 32, netns=6), "qdisc_dequeue 1:0 on eth1"),
    (Told(E.SOCK_ENQUEUE, SKB), "sock_enqueue sock 0xffff888000001000"),
    (Told(E.SOCK_ENQUEUE, 0), "sock_enqueue"),
    (Told(E.COPY_TO_USER, 31), "copy_to_user 31 bytes"),
    (Told(E.RECEIVE, 0), "receive"),
    (Told(E.QUEUE, 0), "queue"),
    (Told(E.START_XMIT, 0), "start_xmit"),
    (Told(E.XMIT, -16), "xmit = -16"),
    (Told(E.NAPI_POLL, 2 | 64 << 32), "napi_poll 2 of 64 packets"),
    (Told(E.NAPI_POLL, 2 | 64 << 32, change=FOUR), "napi_poll 2 of 64 packets on veth0"),
    (Told(E.SYSCALL_ENTRY, 44), "syscall_entry sendto"),
    (Told(E.SYSCALL_ENTRY, 44, syscall=CALL),
     "syscall_entry sendto(fd 5, inet, sock 0xffff888000001000)"),
    (Told(E.SYSCALL_ENTRY, 9999), "syscall_entry syscall 9999"),
    (Told(E.SYSCALL_EXIT, -11), "syscall_exit = -11"),
    (Told(E.IRQ_ENTRY, 24, name="virtio0-input"), "irq_entry 24 virtio0-input"),
    (Told(E.IRQ_EXIT, 24 | 1 << 32), "irq_exit 24 handled"),
    (Told(E.SOFTIRQ_ENTRY, 3), "softirq_entry NET_RX"),
    (Told(E.SOFTIRQ_EXIT, 77), "softirq_exit 77"),
    (Told(E.NEIGH, SET | NETNS, change=SimpleNamespace(**vars(FOUR) | {"state": 2, "netns": -1})),
     "neigh 10.9.0.2 on veth0 is at 02:00:00:00:00:09 (reachable)"),
    (Told(E.NEIGH, GONE, change=SIX), "neigh fe80::1 on if9 gone"),
    (Told(E.NEIGH, SET, change=SIX), "neigh fe80::1 on if9 (state 0x7)"),
    (Told(E.ADDR, SET | NETNS, change=FOUR), "addr 10.9.0.2/24 on veth0"),
    (Told(E.ADDR, GONE, change=SIX), "addr fe80::1/64 on if9 gone"),
    (Told(E.ROUTE, SET, change=FOUR), "route 10.9.0.2/24 via 10.9.0.1 dev veth0 table main"),
    (Told(E.ROUTE, GONE, change=SIX), "route fe80::1/64 dev if9 table 7 gone"),
    (Told(E.LINK, SET, change=SimpleNamespace(**vars(FOUR) | {"state": 0x1043}), name="lo"),
     "link lo up running"),
    (Told(E.LINK, SET, change=SimpleNamespace(**vars(FOUR) | {"state": 0x1002})),
     "link veth0 down"),
    (Told(E.LINK, GONE, name="lo"), "link lo gone"),
    (Told(E.MODULE, SET, name="sch_netem"), "module sch_netem loaded"),
    (Told(E.MODULE, GONE, name="sch_netem"), "module sch_netem unloaded"),
    (Told(E.CLOCK_SET, 5), "clock_set to 5 ns beyond the log's clock"),
    (Told(E.FOOTPRINT, 0), "footprint"),
    (Told(E.CARRY, 3 | 9 << 32),
     "carry packet 4 of a call whose record is lost, 9 more are not shown"),
    (Told(E.NF_HOOK, 0 | 2 << 8 | 2 << 16), "nf_hook IPv4 PREROUTING: accept"),
    (Told(E.NF_HOOK, 1 | 5 << 8 | 1 << 16), "nf_hook netdev EGRESS: drop"),
    (Told(E.NF_HOOK, 4 | 10 << 8), "nf_hook IPv6 POSTROUTING"),
    (Told(200, 5), "event_200"),
]  # fmt: skip


@pytest.mark.parametrize(("told", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_text(told: Told, text: str) -> None:
    assert event_text(told, NAMES) == text


def test_no_kind_is_forgotten() -> None:
    assert {told.event for told, _ in TEXTS} >= set(KblEvent)
    assert event_word(KblEvent.NF_HOOK) == "nf_hook"


@pytest.mark.parametrize("event", list(KblEvent))
def test_a_change_whose_details_are_missing_is_told_as_far_as_known(event: KblEvent) -> None:
    assert event_text(Told(event, 1), NAMES).startswith(event_word(event))
