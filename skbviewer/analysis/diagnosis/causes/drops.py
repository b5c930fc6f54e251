# SPDX-License-Identifier: MIT
"""Packets that were dropped, by reason and place."""

from __future__ import annotations

import numpy as np

from ....records.kbl_layout import KblEvent
from ....records.types import Int64s
from ...breakdown.lost_packets import CHECKSUM_WRONG, FULL, REPEATED, Key
from ...scope import Scope
from ...words.event_text import hook_text
from .. import needs, wording
from ..case import EXAMPLES, Case
from ..drop_events import Drops, drops_of
from ..finding import CRITICAL, EVENT, NOTE, PACKET, Evidence, Finding, Rule
from ..neighbour_questions import FAILURE

NAME = "drop"
OTHER = "The place of the drop shows which check failed: see the source code there."
ADVICE = {
    "NETFILTER_DROP": "A rule of netfilter drops these packets: see nft list ruleset or "
    "iptables -vnL at this hook.",
    "NO_SOCKET": "No socket is bound to the destination: check whether the program runs, and its "
    "address and port (ss -lnp).",
    "NEIGH_FAILED": "Nobody answered for the next hop's address: check the address, the VLAN and "
    "whether the host is up (ip neigh).",
    "QDISC_DROP": "The queueing discipline dropped these packets: see tc -s qdisc for its limit "
    "and its counters.",
    "IP_RPFILTER": "The reply would leave by another device: see net.ipv4.conf.*.rp_filter.",
    "TCP_CSUM": "Checksums are wrong: check the sender's offloads and the network.",
    "UDP_CSUM": "Checksums are wrong: check the sender's offloads and the network.",
    "IPV6DISABLED": "IPv6 is switched off on the receiving device: see "
    "net.ipv6.conf.*.disable_ipv6.",
    "CPU_BACKLOG": "The CPU's backlog is full: raise net.core.netdev_max_backlog, or spread the "
    "load over more CPUs (RPS).",
    "OTHERHOST": "The packets are for another host's hardware address.",
}
# Functions that drop for one cause, but may not name it, and the reason with the same advice.
UNNAMED_CAUSES = {FAILURE: "NEIGH_FAILED", **dict.fromkeys(CHECKSUM_WRONG, "UDP_CSUM")}
# By function of lost_packets.UNWANTED.
UNWANTED = {
    "ip6_mc_input": "These packets are for multicast groups that nobody on this host has joined: "
    "this is normal.",
}
NOT_LOST = (
    "The receiver has these data already, so nothing was lost. Find out why the data arrived twice."
)
DISCARDED = (
    "These segments carried no data, or data that the receiver has already, so nothing was lost. "
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
    by_tcp = needless and not key.is_needless
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
    function = place.split("+")[0]
    known = ADVICE.get(UNNAMED_CAUSES.get(function, reason), OTHER)
    advice = NOT_LOST if reason in REPEATED else UNWANTED.get(function, known)
    advice = DISCARDED if by_tcp else advice
    severity = NOTE if needless else CRITICAL
    first = next((number for number in shown if number), None)
    found = Finding(NAME, severity, first, len(mine), None, text, tuple(evidence), advice)
    return found._replace(rows=drops.rows(mine))


def _hooks(scope: Scope, events: Int64s) -> list[str]:
    """Return the netfilter hooks that decided to drop the packets of these events."""
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
    (needs.events("drop", KblEvent.DROP, KblEvent.CONSUME),),
    _find,
    absence=(needs.headers(),),
)
