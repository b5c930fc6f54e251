# SPDX-License-Identifier: MIT
"""Events as text: a word for each kind of event, and one line for each event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..readers import KblChange, KblEvent
from .info import address, mac
from .names import MASK64, Names

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


class Told(NamedTuple):
    """One event: columns of its record, and rows with its details."""

    event: int
    data: int
    hook: int = -1  # DROP_DTYPE
    change: Any = None  # CHANGE_DTYPE
    syscall: Any = None  # SYSCALL_DTYPE
    name: str = ""
    netns: int = -1  # of the packet, if known


def event_word(event: int) -> str:
    """ "qdisc_enqueue", as kbl.h names it."""
    return KblEvent(event).name.lower() if event in set(KblEvent) else f"event_{event}"


def event_text(told: Told, names: Names) -> str:
    """The event's word and its details: "drop NO_SOCKET at udp_rcv+0x1c"."""
    say = _TEXTS.get(told.event)
    rest = say(told, names) if say else ""
    return f"{event_word(told.event)} {rest}".rstrip()


def _of_skb(told: Told, names: Names) -> str:
    return f"0x{told.data & MASK64:x}"


def _drop(told: Told, names: Names) -> str:
    hook = f" in netfilter {hook_text(told.hook)}" if told.hook >= 0 else ""
    return f"{names.drop_reason(told.data & MASK32)}{_at(told, names)}{hook}"


def _at(told: Told, names: Names) -> str:
    place = names.place(told.data >> 32)
    return f" at {place}" if place else ""


def hook_text(hook: int) -> str:
    """ "IPv4 INPUT" for hook | pf << 8."""
    family, number = hook >> 8 & 0xFF, hook & 0xFF
    known = HOOKS.get(family, IP_HOOKS)
    text = known[number] if number < len(known) else f"hook {number}"
    return f"{FAMILIES.get(family, f'family {family}')} {text}"


def _nf_hook(told: Told, names: Names) -> str:
    verdict = (told.data >> 16 & 0xFFFF) - 1
    known = 0 <= verdict < len(HOOK_VERDICTS)
    return f"{hook_text(told.data & 0xFFFF)}{': ' + HOOK_VERDICTS[verdict] if known else ''}"


def _qdisc(told: Told, names: Names) -> str:
    handle, ifindex = told.data & MASK32, told.data >> 32 & MASK32
    devices = {name for (_, index), name in names.devices.items() if index == ifindex}
    one = devices.pop() if len(devices) == 1 else f"if{ifindex}"  # the event has no namespace
    device = names.devices.get((told.netns, ifindex), one)
    return f"{handle >> 16:x}:{handle & 0xFFFF:x} on {device}" if told.data else ""


def _napi(told: Told, names: Names) -> str:
    work, budget = told.data & MASK32, told.data >> 32 & MASK32
    device = _device(told, names)
    return f"{work} of {budget} packets{f' on {device}' if device else ''}"


def _device(told: Told, names: Names) -> str:
    if told.change is None:
        return ""
    netns = told.change.netns if told.change.netns > 0 else told.data >> 32 & MASK32
    return told.name or names.device(netns, told.change.ifindex)


def _syscall_entry(told: Told, names: Names) -> str:
    call, text = told.syscall, names.syscall(told.data)
    if call is None:
        return text
    socket = SOCKETS.get(call.family, f"family {call.family}") if call.family > 0 else ""
    file = f"fd {call.fd}" if call.fd >= 0 else ""
    sock = f"sock 0x{call.sk & MASK64:x}" if call.sk else ""
    return f"{text}({', '.join(part for part in (file, socket, sock) if part)})"


def _irq(told: Told, names: Names) -> str:
    returned = told.data >> 32 & 3 if told.event == KblEvent.IRQ_EXIT else -1
    done = {-1: "", 0: " not ours", 1: " handled", 2: " wakes its thread"}.get(returned, "")
    return f"{told.data & MASK32}{f' {told.name}' if told.name else ''}{done}"


def _softirq(told: Told, names: Names) -> str:
    return SOFTIRQS[told.data] if 0 <= told.data < len(SOFTIRQS) else str(told.data)


def _gone(told: Told) -> bool:
    return told.data & MASK32 == KblChange.GONE


def _address(change: Any) -> str:
    version = {2: 4, 10: 6}.get(change.family, 0)
    return address(version, change.addr_hi, change.addr_lo) or ""


def _neigh(told: Told, names: Names) -> str:
    if told.change is None:
        return ""
    state = NUD.get(told.change.state, f"state 0x{told.change.state:x}")
    known = told.change.lladdr > 0
    where = f"{_address(told.change)} on {_device(told, names)}"
    at = f" is at {mac(told.change.lladdr)}" if known else ""
    return f"{where} gone" if _gone(told) else f"{where}{at} ({state})"


def _addr(told: Told, names: Names) -> str:
    if told.change is None:
        return ""
    text = f"{_address(told.change)}/{told.change.prefix_len} on {_device(told, names)}"
    return f"{text} gone" if _gone(told) else text


def _route(told: Told, names: Names) -> str:
    change = told.change
    if change is None:
        return ""
    gateway = address(change.gateway, change.gateway_hi, change.gateway_lo)
    parts = [f"{_address(change)}/{change.prefix_len}", f"via {gateway}" if gateway else ""]
    device = _device(told, names)
    parts += [f"dev {device}" if device else "", f"table {TABLES.get(change.state, change.state)}"]
    parts.append("gone" if _gone(told) else "")
    return " ".join(part for part in parts if part)


def _link(told: Told, names: Names) -> str:
    if told.change is None or _gone(told):
        return f"{told.name} gone"
    flags = told.change.state
    running = " running" if flags & IFF_RUNNING else ""
    return f"{_device(told, names)} {'up' if flags & IFF_UP else 'down'}{running}"


def _module(told: Told, names: Names) -> str:
    return f"{told.name} {'unloaded' if _gone(told) else 'loaded'}"


def _carry(told: Told, names: Names) -> str:
    rest = told.data >> 32 & MASK32
    more = f", {rest} more are not shown" if rest else ""
    return f"packet {(told.data & MASK32) + 1} of a call whose record is lost{more}"


_TEXTS: dict[int, Callable[[Told, Names], str]] = {
    KblEvent.ALLOC: lambda told, names: f"{told.data} bytes",
    KblEvent.CLONE: lambda told, names: f"as {_of_skb(told, names)}",
    KblEvent.COPY: lambda told, names: f"as {_of_skb(told, names)}",
    KblEvent.SEGMENT: lambda told, names: f"as {_of_skb(told, names)}",
    KblEvent.CONSUME: lambda told, names: _at(told, names).strip(),
    KblEvent.DROP: _drop,
    KblEvent.TASK: lambda told, names: f"{told.name} of process {told.data}".strip(),
    KblEvent.GRO_MERGE: lambda told, names: f"into {_of_skb(told, names)}" if told.data else "",
    KblEvent.COALESCE: lambda told, names: f"into {_of_skb(told, names)}" if told.data else "",
    KblEvent.MORPH: lambda told, names: f"with the content of {_of_skb(told, names)}",
    KblEvent.QDISC_ENQUEUE: _qdisc,
    KblEvent.QDISC_DEQUEUE: _qdisc,
    KblEvent.SOCK_ENQUEUE: lambda told, names: f"sock {_of_skb(told, names)}" if told.data else "",
    KblEvent.COPY_TO_USER: lambda told, names: f"{told.data} bytes",
    KblEvent.XMIT: lambda told, names: f"= {told.data}",
    KblEvent.NAPI_POLL: _napi,
    KblEvent.SYSCALL_ENTRY: _syscall_entry,
    KblEvent.SYSCALL_EXIT: lambda told, names: f"= {told.data}",
    KblEvent.IRQ_ENTRY: _irq,
    KblEvent.IRQ_EXIT: _irq,
    KblEvent.SOFTIRQ_ENTRY: _softirq,
    KblEvent.SOFTIRQ_EXIT: _softirq,
    KblEvent.NEIGH: _neigh,
    KblEvent.ADDR: _addr,
    KblEvent.ROUTE: _route,
    KblEvent.LINK: _link,
    KblEvent.MODULE: _module,
    KblEvent.CLOCK_SET: lambda told, names: f"to {told.data} ns beyond the log's clock",
    KblEvent.CARRY: _carry,
    KblEvent.NF_HOOK: _nf_hook,
}
