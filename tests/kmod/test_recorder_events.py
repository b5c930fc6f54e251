# SPDX-License-Identifier: MIT
"""kblrecord prints events in the words of ip(8), iptables(8), tc(8) and /proc/softirqs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skbviewer.records import kbl_layout as layout
from tests.kmod.recorder import REAL_MINUS_MONO, Fake, event, ext
from tests.kmod.test_recorder_show import show

E, X = layout.KblEvent, layout.KblExtType
SET, GONE = int(layout.KblChange.SET), int(layout.KblChange.GONE)
NS = 6_000_000_000
NETNS = 4026531840
KblLock = layout.KblLock
LOCK = 0xFFFF888000005000 & (1 << 56) - 1
SENDTO, CONNECT, SOCKET, PPOLL, GETTID = {
    "x86_64": (44, 42, 41, 271, 186),
    "aarch64": (206, 203, 198, 73, 178),
}[os.uname().machine]
OLD_20 = {"x86_64": "getpid", "aarch64": "20"}[os.uname().machine]
SOCKADDR = int.from_bytes(bytes((2, 0, 0, 7, 192, 0, 2, 1)), "little")
MAC = (2, 0, 0, 0, 0, 7)
FOUR = (192, 0, 2, 1, *[0] * 12)


def line_of(number: int, data: int, *slots: bytes) -> bytes:
    """An event with these EXT slots."""
    return event(NS, number, data=data, ext=len(slots), pid=7) + b"".join(slots)


def drop(hook: int, *stack: int) -> bytes:
    """A slot of a drop's stack."""
    return ext("drop", X.DROP, hook=hook, depth=7, stack=stack)


def comm(name: bytes) -> bytes:
    """A name of a device, module or handler."""
    return ext("comm", X.COMM, comm=name)


def link(flags: int) -> bytes:
    """The slot of a device's state."""
    return ext("addr", X.ADDR, ifindex=2, netns=NETNS, flags=flags)


HOOKED = 1 | 2 << 8 | 1 << 15  # INPUT of IPv4
NEIGH = ext("neigh", X.NEIGH, family=2, ifindex=2, nud_state=2, addr=FOUR, lladdr=MAC)
ODD = ext("neigh", X.NEIGH, family=2, ifindex=2, nud_state=3, addr=FOUR, lladdr=MAC)
ROUTE = ext("route", X.ROUTE, family=2, prefix_len=24, ifindex=2, table=254, addr=FOUR)
SOME_TABLE = ext("route", X.ROUTE, family=2, prefix_len=24, ifindex=2, table=77, addr=FOUR)
ADDR = ext("addr", X.ADDR, family=2, prefix_len=28, ifindex=2, addr=FOUR, netns=NETNS)
HERE = NETNS << 32
LINES = [
    (line_of(E.SOFTIRQ_ENTRY, 3), "softirq_entry NET_RX"),
    (line_of(E.SOFTIRQ_EXIT, 77), "softirq_exit 77"),
    (line_of(E.IRQ_ENTRY, 11, comm(b"virtio0")), "irq_entry 11 virtio0"),
    (line_of(E.IRQ_EXIT, 11 | 1 << 32), "irq_exit 11 handled"),
    (line_of(E.SYSCALL_ENTRY, SENDTO, ext("syscall", X.SYSCALL, fd=3, sk=0xFFFF888000005000)),
     "syscall_entry sendto fd 3 sock 0xffff888000005000"),
    (line_of(E.SYSCALL_ENTRY, SENDTO, ext("syscall", X.SYSCALL, fd=3, args=(0x7F00, 64))),
     "syscall_entry sendto fd 3 args 0x7f00 0x40"),
    (line_of(E.SYSCALL_ENTRY, CONNECT, ext("syscall", X.SYSCALL, fd=3, args=(SOCKADDR, 0))),
     "syscall_entry connect fd 3 address 192.0.2.1.7"),
    (line_of(E.SYSCALL_ENTRY, SOCKET, ext("syscall", X.SYSCALL, fd=-1, family=2, args=(1, 6))),
     "syscall_entry socket family 2 type 0x1 protocol 6"),
    (line_of(E.SYSCALL_ENTRY, PPOLL, ext("syscall", X.SYSCALL, fd=4)), "syscall_entry ppoll fd 4"),
    (line_of(E.ALLOC, 76), "alloc 76 bytes"),
    (line_of(E.COPY_TO_USER, 0), "copy_to_user 0 bytes"),
    (line_of(E.XMIT, (1 << 32) - 1), "xmit = -1"),
    (line_of(E.SOCK_ENQUEUE, 0xFFFF888000005000), "sock_enqueue of sock 0xffff888000005000"),
    (line_of(E.SYSCALL_ENTRY, 9999, ext("syscall", X.SYSCALL, fd=-1)), "syscall_entry 9999"),
    (line_of(E.SYSCALL_ENTRY, GETTID), "syscall_entry gettid"),
    (line_of(E.SYSCALL_ENTRY, 463), "syscall_entry 463"),
    (line_of(E.SYSCALL_ENTRY, 20 | layout.KBL_SYSCALL_32BIT), f"syscall_entry {OLD_20} 32-bit"),
    (line_of(E.SYSCALL_EXIT, (1 << 64) - 11), "syscall_exit = -11"),
    (line_of(E.NEIGH, SET | HERE, NEIGH),
     "neigh set 192.0.2.1 at 02:00:00:00:00:07 reachable dev eth0"),
    (line_of(E.NEIGH, GONE | HERE, ODD),
     "neigh gone 192.0.2.1 at 02:00:00:00:00:07 state 0x03 dev eth0"),
    (line_of(E.ADDR, SET | HERE, ADDR), "addr set 192.0.2.1/28 dev eth0"),
    (line_of(E.ROUTE, SET | HERE, ROUTE, ADDR),
     "route set 192.0.2.1/24 table main via 192.0.2.1 dev eth0"),
    (line_of(E.ROUTE, GONE | HERE, SOME_TABLE), "route gone 192.0.2.1/24 table 77 dev eth0"),
    (line_of(E.LINK, SET | HERE, link(0x41), comm(b"eth0")), "link set eth0 up running"),
    (line_of(E.LINK, SET | HERE, link(0), comm(b"eth0")), "link set eth0 down"),
    (line_of(E.MODULE, GONE, comm(b"sch_netem")), "module gone sch_netem"),
    (line_of(E.MODULE, SET, comm(b"nf_conntrack_ne"), comm(b"tlink")),
     "module set nf_conntrack_netlink"),
    (line_of(E.CLOCK_SET, REAL_MINUS_MONO), "clock_set to 2023-11-14 22:13:26.000000000"),
    (line_of(E.NF_HOOK, 4 | 2 << 8 | 2 << 16), "nf_hook IPv4 POSTROUTING: accept"),
    (line_of(E.NF_HOOK, 1 | 3 << 8 | 1 << 16), "nf_hook ARP OUTPUT: drop"),
    (line_of(E.NF_HOOK, 9 | 2 << 8), "nf_hook IPv4 hook 9: verdict -1"),
    (line_of(E.QDISC_ENQUEUE, 0x50001 | 2 << 32), "qdisc_enqueue 5:1 ifindex 2"),
    (line_of(E.CONSUME, 0x3010 << 32), "consume at skb_clone+0x10"),
    (line_of(E.DROP, 0x3010 << 32 | 3, drop(HOOKED, *[0x1001] * 6), drop(HOOKED, 0x2001, *[0] * 5)),
     "drop NO_SOCKET at skb_clone+0x10 in netfilter IPv4 INPUT" + " < ip_rcv+0x1" * 6
     + " < tcp_v4_rcv+0x1"),
    (line_of(E.SCHED_SWITCH, 9 | 1 << 32), "sched_switch to 9, sleeps"),
    (line_of(E.WAKE, 9), "wake 9"),
    (line_of(E.LOCK_WAIT, LOCK | (KblLock.MUTEX | KblLock.SPIN) << 56,
             ext("stack", X.STACK, depth=1, stack=(0x3010, *[0] * 5))),
     "lock_wait spins for mutex 0xffff888000005000 < skb_clone+0x10"),
    (line_of(E.LOCK_GOT, LOCK | 1 << 56), "lock_got 0xffff888000005000 gave up"),
    (line_of(E.PAGE_FAULT, 0x7000 | 6), "page_fault write of a missing page at 0x7000"),
    (line_of(E.QUEUE_LENGTH, 3 | 300 << 32,
             ext("addr", X.ADDR, ifindex=2, netns=NETNS, flags=5 << 16)),
     "queue_length 3 packets 300 bytes in 5:0 dev eth0"),
    (line_of(E.QUEUE_LENGTH, 0, ext("addr", X.ADDR)), "queue_length 0 packets in the backlog"),
    (line_of(E.SOCK_LENGTH, 2 | 768 << 32), "sock_length 2 packets 768 bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "text"), LINES, ids=[text.split()[0] for _, text in LINES])
def test_event_is_shown_in_words(tmp_path: Path, raw: bytes, text: str) -> None:
    fake = Fake(tmp_path / "kbl")
    fake.add(0, raw)
    fake.start("-w", tmp_path / "a.kbl", "-c", 1).end()
    (line,) = show("-r", tmp_path / "a.kbl", "-t").stdout.splitlines()
    assert line.split("* ", 1)[1] == text


def test_interrupts_have_their_name_and_their_time(tmp_path: Path) -> None:
    """A name is recorded when it changes; each CPU has its own begin time."""
    fake = Fake(tmp_path / "kbl")
    first, second = comm(b"i40e-eth0-TxRx-") + comm(b"12"), comm(b"usb1")
    numbers = (E.IRQ_ENTRY, E.IRQ_EXIT, E.IRQ_ENTRY, E.IRQ_EXIT)
    names = (first, b"", second, b"")
    for number, (kind, name) in enumerate(zip(numbers, names, strict=True)):
        data = 11 | (kind == E.IRQ_EXIT) << 32
        fake.add(0, event(NS + 1000 * number, kind, data=data, ext=len(name) // 32) + name)
    fake.add(1, event(NS + 500, E.SOFTIRQ_EXIT, data=3) + event(NS + 4000, E.IRQ_ENTRY, data=11))
    fake.add(1, event(NS + 5500, E.IRQ_EXIT, data=11))
    fake.start("-w", tmp_path / "a.kbl", "-c", 7).end()
    lines = show("-r", tmp_path / "a.kbl", "-t").stdout.splitlines()
    assert [line.split("* ", 1)[1] for line in lines] == [
        "irq_entry 11 i40e-eth0-TxRx-12",
        "softirq_exit NET_RX",
        "irq_exit 11 i40e-eth0-TxRx-12 handled after 1.000 us",
        "irq_entry 11 usb1",
        "irq_exit 11 usb1 handled after 1.000 us",
        "irq_entry 11 usb1",
        "irq_exit 11 usb1 not ours after 1.500 us",
    ]
