# SPDX-License-Identifier: MIT
"""Packets that were dropped, by reason and place."""

from __future__ import annotations

import numpy as np

from ....records.kbl_layout import KblEvent
from ....records.types import Int64s
from ...breakdown.lost_packets import CHECKSUM_WRONG, FULL, REPEATED, Key
from ...breakdown.packets_for_other_hosts import OTHERS, ROUTED
from ...scope import Scope
from ...words.event_text import hook_text
from .. import required_data, wording
from ..drop_events import Drops, drops_of
from ..finding import CRITICAL, EVENT, NOTE, PACKET, Evidence, Finding, Rule
from ..neighbour_waits import FAILURE
from ..rule_inputs import EXAMPLES, Case

NAME = "drop"
NO_ROUTE = "IP_INNOROUTES"
OTHER = "The source code at the place of the drop shows which check failed."
ADVICE = {
    "NETFILTER_DROP": "A netfilter rule at this hook drops these packets: see 'nft list ruleset' "
    "or 'iptables -vnL'.",
    "NO_SOCKET": "No socket is bound to the destination: check whether the program runs, and on "
    "which address and port it listens ('ss -lnp').",
    "NEIGH_FAILED": "No host answered ARP or neighbour discovery for the next hop: check its "
    "address, the VLAN, and whether the next hop is up ('ip neigh').",
    "QDISC_DROP": "The queueing discipline dropped these packets: see 'tc -s qdisc' for its limit "
    "and its counters.",
    "IP_RPFILTER": "The reply would leave by another device: see net.ipv4.conf.*.rp_filter.",
    "TCP_CSUM": "The checksums of these packets are wrong: check the sender's offloads and the "
    "network.",
    "UDP_CSUM": "The checksums of these packets are wrong: check the sender's offloads and the "
    "network.",
    "IPV6DISABLED": "IPv6 is switched off on the receiving device: see "
    "net.ipv6.conf.*.disable_ipv6.",
    "CPU_BACKLOG": "The CPU's backlog is full: raise net.core.netdev_max_backlog, or spread the "
    "load over more CPUs (RPS).",
    "OTHERHOST": "The packets are for another host's hardware address. This is normal on a host "
    "that also receives packets for other hosts (tcpdump, mirrored ports). Otherwise the sender "
    "has a wrong hardware address for the next hop ('ip neigh' on the sender).",
    "PKT_TOO_BIG": "The packets are larger than the MTU of the next link, and must not be "
    "fragmented: see 'ip link' for the MTU, and let the kernel's ICMP answers reach the sender.",
    "IP_INHDR": "The IP header is wrong. In ip_forward, the packet's time to live was over: look "
    "for a routing loop (traceroute).",
    NO_ROUTE: "No route leads to the destination: see 'ip route get' and the sysctl "
    "net.ipv4.ip_forward.",
}
# Functions that drop for one cause, but may not name it, and the reason with the same advice.
UNNAMED_CAUSES = {
    FAILURE: "NEIGH_FAILED",
    "ip_error": NO_ROUTE,
    **dict.fromkeys(CHECKSUM_WRONG, "UDP_CSUM"),
}
# By function that drops what nobody wants, without what a compiler adds to its name.
NOBODY_JOINED = (
    "These packets are for multicast groups that nobody on this host has joined: this is normal."
)
UNWANTED = {"ip6_mc_input": NOBODY_JOINED, **dict.fromkeys(ROUTED, NOBODY_JOINED)}
FOR_OTHERS = (
    "These packets were for another host and reached that host, too, so nothing was lost. A switch "
    "sends a packet to all ports if it does not know the port of its destination: see 'bridge fdb'."
)
NOT_LOST = (
    "The receiver already has the data of these packets, so nothing was lost. Find out why the "
    "data arrived twice."
)
DISCARDED = (
    "These segments carried no data, or data that the receiver already has, so nothing was lost. "
    "This is normal after the end of a connection."
)
HOOK, VERDICTS = 0xFFFF, 16  # NF_HOOK: data = hook | pf << 8 | (verdict + 1) << 16


def _find(case: Case) -> list[Finding]:
    found = []
    drops = drops_of(case)
    for key in drops.keys:
        if key.reason in FULL:
            continue
        every = drops.positions(key)
        for needless in (False, True):
            mine = every[drops.needless[every] == needless]
            if len(mine):
                found.append(_finding(case, drops, mine, key, needless))
    return found


def _finding(case: Case, drops: Drops, mine: Int64s, key: Key, needless: bool) -> Finding:
    events, (reason, place) = drops.event[mine], key
    where = f" in {place.split('+')[0]}" if place else ""
    hooks = sorted(set(_hooks(case.scope, events)))
    at = f", at the netfilter hook {' and '.join(hooks)}" if hooks else ""
    shown = drops.packet[mine][:EXAMPLES].tolist()
    named = [wording.packet(number) for number in shown if number]
    how = "discarded as repeated" if reason in REPEATED else "dropped"
    by_tcp = needless and key.may_be_needless
    how = "discarded by TCP" if by_tcp else how
    number = wording.packets_at_least(len(mine), case.may_lack_records)
    text = f"{number} {wording.were(len(mine))} {how}: {reason}{where}{at}."
    text = text[0].upper() + text[1:]
    evidence = [
        Evidence(EVENT, int(event) + 1, f"{reason} at {place or 'an unknown place'}", int(ts))
        for event, ts in zip(events[:EXAMPLES], drops.ts[mine], strict=False)
    ]
    evidence += [
        Evidence(PACKET, number, name)
        for number, name in zip((n for n in shown if n), named, strict=True)
    ]
    advice = DISCARDED if by_tcp else _advice(key, needless)
    severity = NOTE if needless else CRITICAL
    first = next((number for number in shown if number), None)
    found = Finding(NAME, severity, first, len(mine), None, text, tuple(evidence), advice)
    return found._replace(rows=drops.rows(mine))


def _advice(key: Key, needless: bool) -> str:
    if needless and key.reason == OTHERS:
        return FOR_OTHERS
    if key.reason in REPEATED:
        return NOT_LOST
    known = ADVICE.get(UNNAMED_CAUSES.get(key.function, key.reason), OTHER)
    return UNWANTED.get(key.function.split(".")[0], known) if needless else known


def _hooks(scope: Scope, events: Int64s) -> list[str]:
    """Return the netfilter hooks that dropped the packets of the drop events `events`."""
    columns = scope.columns
    kind = np.asarray(columns.array("event", "event"))
    hooks = np.flatnonzero(kind == int(KblEvent.NF_HOOK))
    if not len(hooks):
        return []
    mine = hooks[np.isin(scope.of_event("leg", hooks), scope.of_event("leg", events))]
    data = np.asarray(columns.take("event", "data", mine), np.int64)
    dropped = data[((data >> VERDICTS) & HOOK) == 1]
    return [hook_text(int(one) & HOOK) for one in np.unique(dropped).tolist()]


RULE = Rule(
    NAME,
    (required_data.events("drop", KblEvent.DROP, KblEvent.CONSUME),),
    _find,
    absence=(required_data.headers(),),
)
