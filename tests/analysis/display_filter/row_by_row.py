# SPDX-License-Identifier: MIT
"""The meaning of filters in plain Python: one packet at a time, from paths as views see them.

For each condition: the filter, and a function of a packet's path (or of a row K<n>'s).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ipaddress import ip_address, ip_network

from skbviewer.records import Leg, PacketPath, PathCall

Condition = Callable[[PacketPath], bool]


def calls(path: PacketPath) -> list[PathCall]:
    return [call for leg in path.legs for call in leg.calls]


def drops(path: PacketPath) -> list[str]:
    """Return the drop reasons, taken from the event text "drop REASON at ..."."""
    return [
        event.text.split()[1] for leg in path.legs for event in leg.events if event.event == "drop"
    ]


def any_call(test: Callable[[PathCall], bool]) -> Condition:
    return lambda path: any(test(call) for call in calls(path))


def any_leg(test: Callable[[Leg], bool]) -> Condition:
    return lambda path: any(test(leg) for leg in path.legs)


def dur(call: PathCall) -> int:
    return -1 if call.dur_ns is None else call.dur_ns


def inside(addresses: Iterable[str | None], network: str) -> bool:
    wanted = ip_network(network)
    return any(
        address is not None
        and ip_address(address).version == wanted.version
        and ip_address(address) in wanted
        for address in addresses
    )


def dropped_in(path: PacketPath, function: str) -> bool:
    """Return whether a drop happened directly in a call of `function`."""
    return any(
        event.event == "drop" and event.call >= 0 and leg.calls[event.call].function == function
        for leg in path.legs
        for event in leg.events
    )


KERNEL: dict[str, Condition] = {
    "kbl.func == ip_rcv": any_call(lambda c: c.function == "ip_rcv"),
    'kbl.func contains "udp"': any_call(lambda c: "udp" in c.function),
    'kbl.func matches "^ip_.*rcv"': any_call(
        lambda c: c.function.startswith("ip_") and "rcv" in c.function
    ),
    "kbl.func in {ip_rcv, tcp_v4_rcv}": any_call(lambda c: c.function in ("ip_rcv", "tcp_v4_rcv")),
    "kbl.func[0:3] == tcp": any_call(lambda c: c.function[:3] == "tcp"),
    "len(kbl.func) > 24": any_call(lambda c: len(c.function) > 24),
    'upper(kbl.func) == "IP_RCV"': any_call(lambda c: c.function == "ip_rcv"),
    "kbl.func != ip_rcv": lambda p: (
        bool(calls(p)) and all(c.function != "ip_rcv" for c in calls(p))
    ),
    "kbl.dur > 20us": any_call(lambda c: dur(c) > 20_000),
    "kbl.dur <= 500ns": any_call(lambda c: 0 <= dur(c) <= 500),
    "all kbl.dur < 100us": lambda p: (
        any(dur(c) >= 0 for c in calls(p)) and all(dur(c) < 100_000 for c in calls(p))
    ),
    "kbl.self > 5us": any_call(lambda c: (c.self_ns or 0) > 5_000),
    "kbl.dur == kbl.self": any_call(lambda c: c.dur_ns is not None and c.dur_ns == c.self_ns),
    "kbl.func == ip_rcv && kbl.dur > 30us": lambda p: (
        any(c.function == "ip_rcv" for c in calls(p)) and any(dur(c) > 30_000 for c in calls(p))
    ),
    "call(kbl.func == ip_rcv && kbl.dur > 30us)": any_call(
        lambda c: c.function == "ip_rcv" and dur(c) > 30_000
    ),
    "call(kbl.func == eth_header && !(kbl.context == softirq))": any_call(
        lambda c: c.function == "eth_header" and c.context != "softirq"
    ),
    "call(kbl.depth > 3 and kbl.layer == ip or kbl.layer == socket)": any_call(
        lambda c: (c.depth > 3 and c.layer == "ip") or c.layer == "socket"
    ),
    "call(kbl.drop_reason && kbl.func == sk_skb_reason_drop)": lambda p: dropped_in(
        p, "sk_skb_reason_drop"
    ),
    "call(kbl.dev == vs && kbl.layer == tap)": lambda p: any(
        leg.device == "vs" and call.layer == "tap" for leg in p.legs for call in leg.calls
    ),
    "kbl.layer == netfilter": any_call(lambda c: c.layer == "netfilter"),
    "kbl.caller == __dev_queue_xmit": any_call(lambda c: c.caller.startswith("__dev_queue_xmit+")),
    "kbl.context == softirq": any_call(lambda c: c.context == "softirq"),
    'kbl.comm == "traffic"': any_call(lambda c: c.comm == "traffic"),
    "kbl.pid > 190": any_call(lambda c: c.pid > 190),
    "kbl.cpu == 0": any_call(lambda c: c.cpu == 0),
    "kbl.depth >= 8": any_call(lambda c: c.depth >= 8),
    "kbl.dev == vc": any_leg(lambda leg: leg.device == "vc"),
    "kbl.drop_reason": lambda p: bool(drops(p)),
    "kbl.drop_reason == NETFILTER_DROP": lambda p: "NETFILTER_DROP" in drops(p),
    "!kbl.drop_reason && udp": lambda p: not drops(p) and protocol(p) == 17,
    "kbl.latency > 100us": lambda p: (latency(p) or 0) > 100_000,
    "kbl.latency <= 100us": lambda p: (latency(p) or 10**9) <= 100_000,
    "kbl.matched == 1": lambda p: p.packet is not None and p.packet.verdict != "wire-only",
    "kbl.matched == 0": lambda p: p.packet is None or p.packet.verdict == "wire-only",
    "kbl.verdict == exact": lambda p: p.packet is not None and p.packet.verdict == "exact",
    "kbl.verdict == kernel-only": lambda p: p.packet is None,
    "kbl.confidence > 0.5": lambda p: p.packet is not None and (p.packet.confidence or 0) > 0.5,
    "kbl.functions > 50": lambda p: (functions(p) or 0) > 50,
}


def protocol(path: PacketPath) -> int | None:
    """Return the IP protocol; rows K<n> have none here (the test knows: UDP, ICMP or ARP)."""
    return path.packet.protocol if path.packet else None


def latency(path: PacketPath) -> int | None:
    if path.packet is not None:
        return path.packet.kernel_ns
    spans = sorted((leg.begin_ns, leg.end_ns) for leg in path.legs)
    total, last = 0, 0
    for begin, end in spans:
        total += max(end - max(begin, last), 0)
        last = max(last, end)
    return total


def functions(path: PacketPath) -> int | None:
    if path.packet is not None:
        return path.packet.functions
    return sum(leg.functions or 0 for leg in path.legs)
