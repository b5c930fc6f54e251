# SPDX-License-Identifier: MIT
"""Events as text: a word for each kind of event, and one line for each event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...readers import KblChange, KblEvent
from ...records import counted
from ...records.kbl_layout import KblLock
from ...records.kernel_events import SEEN_AT, WORDS
from .kernel_log_names import MASK64, Names
from .packet_info import address, mac

NETDEV, BRIDGE = 5, 7  # linux/netfilter.h NFPROTO_*
FAMILIES = {1: "inet", 2: "IPv4", 3: "ARP", NETDEV: "netdev", BRIDGE: "bridge", 10: "IPv6"}
IP_HOOKS = ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING")
HOOKS = {3: ("INPUT", "OUTPUT", "FORWARD"), NETDEV: ("INGRESS", "EGRESS")}
HOOK_VERDICTS = ("drop", "accept", "stolen", "queue", "repeat", "stop")
SOFTIRQS = [
    "HI",
    "TIMER",
    "NET_TX",
    "NET_RX",
    "BLOCK",
    "IRQ_POLL",
    "TASKLET",
    "SCHED",
    "HRTIMER",
    "RCU",
]
NUD = {0: "none", 1: "incomplete", 2: "reachable", 4: "stale", 8: "delay", 16: "probe"}
NUD |= {32: "failed", 64: "noarp", 128: "permanent"}
TABLES = {253: "default", 254: "main", 255: "local"}
SOCKETS = {1: "unix", 2: "inet", 10: "inet6", 16: "netlink", 17: "packet", 40: "vsock"}
IFF_UP, IFF_RUNNING = 0x1, 0x40
MASK32 = 0xFFFFFFFF
LOCK_BITS = 56  # of a lock's address; all higher bits are set
LOCK_MASK = (1 << LOCK_BITS) - 1
# arch/x86/include/asm/trap_pf.h
FAULT_PRESENT, FAULT_WRITE, FAULT_USER, FAULT_FETCH = 1, 2, 4, 16
PAGE_BITS = 0xFFF


class EventFacts(NamedTuple):
    """An event: columns of its record, and rows with further details about it."""

    event: int
    data: int
    hook: int = -1  # DROP_DTYPE
    change: Any = None  # CHANGE_DTYPE
    syscall: Any = None  # SYSCALL_DTYPE
    name: str = ""
    netns: int = -1  # the packet's, if known


def event_word(event: int) -> str:
    """Return the word for a kind of event in kbl.h, such as "qdisc_enqueue"."""
    return WORDS.get(event, f"event_{event}")


def event_text(facts: EventFacts, names: Names) -> str:
    """Return an event's word and details, such as "drop NO_SOCKET at udp_rcv+0x1c".

    `facts` are the event's columns; `names` are the names in its log.
    """
    say = _TEXTS.get(facts.event)
    rest = say(facts, names) if say else ""
    return f"{event_word(facts.event)} {rest}".rstrip()


def _of_skb(facts: EventFacts, names: Names) -> str:
    return f"0x{facts.data & MASK64:x}"


def _drop(facts: EventFacts, names: Names) -> str:
    hook = f" in netfilter {hook_text(facts.hook)}" if facts.hook >= 0 else ""
    return f"{names.drop_reason(facts.data & MASK32)}{_at(facts, names)}{hook}"


def _at(facts: EventFacts, names: Names) -> str:
    place = names.symbol_at_offset(facts.data >> 32)
    return f" at {place}" if place else ""


def hook_text(hook: int) -> str:
    """Return the name of a netfilter hook, such as "IPv4 INPUT"; `hook` is hook | pf << 8."""
    family, number = hook >> 8 & 0xFF, hook & 0xFF
    known = HOOKS.get(family, IP_HOOKS)
    text = known[number] if number < len(known) else f"hook {number}"
    return f"{FAMILIES.get(family, f'family {family}')} {text}"


def _nf_hook(facts: EventFacts, names: Names) -> str:
    verdict = (facts.data >> 16 & 0xFFFF) - 1
    known = 0 <= verdict < len(HOOK_VERDICTS)
    return f"{hook_text(facts.data & 0xFFFF)}{': ' + HOOK_VERDICTS[verdict] if known else ''}"


def _qdisc(facts: EventFacts, names: Names) -> str:
    handle, ifindex = facts.data & MASK32, facts.data >> 32 & MASK32
    devices = {name for (_, index), name in names.devices.items() if index == ifindex}
    one = devices.pop() if len(devices) == 1 else f"if{ifindex}"  # the event has no namespace
    device = names.devices.get((facts.netns, ifindex), one)
    return f"{handle >> 16:x}:{handle & 0xFFFF:x} on {device}" if facts.data else ""


def _napi(facts: EventFacts, names: Names) -> str:
    work, budget = facts.data & MASK32, facts.data >> 32 & MASK32
    device = _device(facts, names)
    return f"{work} of {budget} packets{f' on {device}' if device else ''}"


def _device(facts: EventFacts, names: Names) -> str:
    if facts.change is None:
        return ""
    netns = facts.change.netns if facts.change.netns > 0 else facts.data >> 32 & MASK32
    return facts.name or names.device(netns, facts.change.ifindex)


def _syscall_entry(facts: EventFacts, names: Names) -> str:
    call, text = facts.syscall, names.syscall(facts.data)
    if call is None:
        return text
    socket = SOCKETS.get(call.family, f"family {call.family}") if call.family > 0 else ""
    file = f"fd {call.fd}" if call.fd >= 0 else ""
    sock = f"sock 0x{call.sk & MASK64:x}" if call.sk else ""
    return f"{text}({', '.join(part for part in (file, socket, sock) if part)})"


def _irq(facts: EventFacts, names: Names) -> str:
    returned = facts.data >> 32 & 3 if facts.event == KblEvent.IRQ_EXIT else -1
    done = {-1: "", 0: " not ours", 1: " handled", 2: " wakes its thread"}.get(returned, "")
    return f"{facts.data & MASK32}{f' {facts.name}' if facts.name else ''}{done}"


def _softirq(facts: EventFacts, names: Names) -> str:
    return SOFTIRQS[facts.data] if 0 <= facts.data < len(SOFTIRQS) else str(facts.data)


def _gone(facts: EventFacts) -> bool:
    return facts.data & MASK32 == KblChange.GONE


def _address(change: Any) -> str:
    version = {2: 4, 10: 6}.get(change.family, 0)
    return address(version, change.addr_hi, change.addr_lo) or ""


def _neigh(facts: EventFacts, names: Names) -> str:
    if facts.change is None:
        return ""
    state = NUD.get(facts.change.state, f"state 0x{facts.change.state:x}")
    known = facts.change.lladdr > 0
    where = f"{_address(facts.change)} on {_device(facts, names)}"
    at = f" is at {mac(facts.change.lladdr)}" if known else ""
    return f"{where} gone" if _gone(facts) else f"{where}{at} ({state})"


def _addr(facts: EventFacts, names: Names) -> str:
    if facts.change is None:
        return ""
    text = f"{_address(facts.change)}/{facts.change.prefix_len} on {_device(facts, names)}"
    return f"{text} gone" if _gone(facts) else text


def _route(facts: EventFacts, names: Names) -> str:
    change = facts.change
    if change is None:
        return ""
    gateway = address(change.gateway, change.gateway_hi, change.gateway_lo)
    parts = [f"{_address(change)}/{change.prefix_len}", f"via {gateway}" if gateway else ""]
    device = _device(facts, names)
    parts += [f"dev {device}" if device else "", f"table {TABLES.get(change.state, change.state)}"]
    parts.append("gone" if _gone(facts) else "")
    return " ".join(part for part in parts if part)


def _link(facts: EventFacts, names: Names) -> str:
    if facts.change is None or _gone(facts):
        return f"{facts.name} gone"
    flags = facts.change.state
    running = " running" if flags & IFF_RUNNING else ""
    return f"{_device(facts, names)} {'up' if flags & IFF_UP else 'down'}{running}"


def _module(facts: EventFacts, names: Names) -> str:
    return f"{facts.name} {'unloaded' if _gone(facts) else 'loaded'}"


def _carry(facts: EventFacts, names: Names) -> str:
    rest = facts.data >> 32 & MASK32
    more = f", {rest} more are not shown" if rest else ""
    return f"packet {(facts.data & MASK32) + 1} of a call whose record is lost{more}"


def _switch(facts: EventFacts, names: Names) -> str:
    leaves = "sleeps" if facts.data >> 32 & MASK32 else "goes on later"
    return f"to {_thread(facts, names)}, {leaves}"


def _thread(facts: EventFacts, names: Names) -> str:
    pid = facts.data & MASK32
    return f"{names.tasks.get(pid, 'thread')} ({pid})" if pid else "the idle task"


def lock_address(data: int) -> int:
    """Return the address of the lock that the `data` of an event about a lock contains."""
    return data & LOCK_MASK | MASK64 & ~LOCK_MASK


def lock_kind(data: int) -> str:
    """Return the kind of lock in the `data` of an event about a lock, such as "lock to read"."""
    how = data >> LOCK_BITS & 0xFF
    known = {
        KblLock.MUTEX: "mutex",
        KblLock.RT: "rt_mutex",
        KblLock.READ: "lock to read",
        KblLock.WRITE: "lock to write",
    }
    return next((word for bit, word in known.items() if how & bit), "lock")


def _lock_wait(facts: EventFacts, names: Names) -> str:
    waits = "spins for" if facts.data >> LOCK_BITS & KblLock.SPIN else "sleeps for"
    return f"{waits} {lock_kind(facts.data)} 0x{lock_address(facts.data):x}"


def _lock_got(facts: EventFacts, names: Names) -> str:
    gave_up = " gave up" if facts.data >> LOCK_BITS & 0xFF else ""
    return f"0x{lock_address(facts.data):x}{gave_up}"


def fault_text(code: int) -> str:
    """Return what caused a page fault, from x86's error code: "write of a missing page"."""
    did = "fetch" if code & FAULT_FETCH else "write" if code & FAULT_WRITE else "read"
    who = "" if code & FAULT_USER else " by the kernel"
    return f"{did}{who} of a {'protected' if code & FAULT_PRESENT else 'missing'} page"


def _fault(facts: EventFacts, names: Names) -> str:
    return f"{fault_text(facts.data)} at 0x{facts.data & MASK64 & ~PAGE_BITS:x}"


def _length(facts: EventFacts, names: Names) -> str:
    packets, size = facts.data & MASK32, facts.data >> 32 & MASK32
    text = f"{counted(packets, 'packet')}{f', {size} bytes' if size else ''}"
    return text if facts.change is None else f"{text} in {queue_name(facts.change, names)}"


def queue_name(change: Any, names: Names) -> str:
    """Return the name of a queue whose length an event reports: "5:0 on eth0", "the backlog"."""
    if change.ifindex <= 0:
        return "the backlog"
    device = names.device(change.netns, change.ifindex) or f"if{change.ifindex}"
    return f"{change.state >> 16 & 0xFFFF:x}:{change.state & 0xFFFF:x} on {device}"


def _seen(facts: EventFacts, names: Names) -> str:
    return f"at {names.point(facts.data & MASK32)}"


_TEXTS: dict[int, Callable[[EventFacts, Names], str]] = {
    KblEvent.ALLOC: lambda facts, names: f"{facts.data} bytes",
    KblEvent.CLONE: lambda facts, names: f"as {_of_skb(facts, names)}",
    KblEvent.COPY: lambda facts, names: f"as {_of_skb(facts, names)}",
    KblEvent.SEGMENT: lambda facts, names: f"as {_of_skb(facts, names)}",
    KblEvent.CONSUME: lambda facts, names: _at(facts, names).strip(),
    KblEvent.DROP: _drop,
    KblEvent.TASK: lambda facts, names: f"{facts.name} of process {facts.data}".strip(),
    KblEvent.GRO_MERGE: lambda facts, names: f"into {_of_skb(facts, names)}" if facts.data else "",
    KblEvent.COALESCE: lambda facts, names: f"into {_of_skb(facts, names)}" if facts.data else "",
    KblEvent.MORPH: lambda facts, names: f"with the content of {_of_skb(facts, names)}",
    KblEvent.QDISC_ENQUEUE: _qdisc,
    KblEvent.QDISC_DEQUEUE: _qdisc,
    KblEvent.SOCK_ENQUEUE: lambda facts, names: (
        f"sock {_of_skb(facts, names)}" if facts.data else ""
    ),
    KblEvent.COPY_TO_USER: lambda facts, names: f"{facts.data} bytes",
    KblEvent.XMIT: lambda facts, names: f"= {facts.data}",
    KblEvent.NAPI_POLL: _napi,
    KblEvent.SYSCALL_ENTRY: _syscall_entry,
    KblEvent.SYSCALL_EXIT: lambda facts, names: f"= {facts.data}",
    KblEvent.IRQ_ENTRY: _irq,
    KblEvent.IRQ_EXIT: _irq,
    KblEvent.SOFTIRQ_ENTRY: _softirq,
    KblEvent.SOFTIRQ_EXIT: _softirq,
    KblEvent.NEIGH: _neigh,
    KblEvent.ADDR: _addr,
    KblEvent.ROUTE: _route,
    KblEvent.LINK: _link,
    KblEvent.MODULE: _module,
    KblEvent.CLOCK_SET: lambda facts, names: f"to {facts.data} ns ahead of the log's clock",
    KblEvent.CARRY: _carry,
    KblEvent.NF_HOOK: _nf_hook,
    KblEvent.SCHED_SWITCH: _switch,
    KblEvent.WAKE: _thread,
    KblEvent.LOCK_WAIT: _lock_wait,
    KblEvent.LOCK_GOT: _lock_got,
    KblEvent.PAGE_FAULT: _fault,
    KblEvent.QUEUE_LENGTH: _length,
    KblEvent.SOCK_LENGTH: _length,
    SEEN_AT.number: _seen,
}
