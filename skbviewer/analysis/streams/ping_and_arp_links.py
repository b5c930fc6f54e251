# SPDX-License-Identifier: MIT
"""Relations between packets: pings and their answers, and addresses that two hosts claim.

Input: the columns of a session, and the bytes of ARP packets.  Output: the relations of each
packet, by Wireshark's rules.  A reply answers the last unanswered request that has the same
identifier, number and hosts.  The hardware address that was captured first for an IPv4 address
counts as the right one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records import BadInput
from ...records.protocols import ICMP, ICMPV6
from ...records.types import Bools, Int64s
from ..fields.field_source_tables import PACKET, Array, Data, View
from ..fields.packet_byte_fields import BYTE_FIELDS
from ..words.packet_info import address, mac

ARP = 2054
REQUESTS, REPLIES = {ICMP: 8, ICMPV6: 128}, {ICMP: 0, ICMPV6: 129}
ARP_REQUEST = 1
DESTINATION_KINDS = ("", "multicast", "broadcast")
ECHOES, CLAIMS = "echoes", "address claims"  # names under which results are cached
MULTICAST_BIT = 1 << 40
_HARDWARE = {field.name: field.make for field in BYTE_FIELDS if field.name.endswith(".hw_mac")}


class Claim(NamedTuple):
    """An ARP packet says that `mac` has `ip`, but packet `first` said that `other` has it."""

    ip: str
    mac: str
    other: str
    first: int


class Link(NamedTuple):
    """How a packet is related to other packets: a ping and its answer, or conflicting ARP claims.

    `request` says that the packet is a ping.  `partner` is the packet number of the ping's answer,
    or of the ping that was answered; 0 = none.  `many` is "multicast" or "broadcast" if the ping
    was sent to more than one host.
    """

    request: bool = False
    partner: int = 0  # 0 = none
    many: str = ""
    claim: Claim | None = None

    @property
    def text(self) -> str:
        """Return what Wireshark's Info ends with, such as " (reply in 4)"."""
        if self.claim is not None:
            return f" (duplicate use of {self.claim.ip} detected!)"
        if not self.partner:
            return f" ({self.many or 'no response found!'})" if self.request else ""
        return f" ({'reply' if self.request else 'request'} in {self.partner})"


class _Echoes(NamedTuple):
    """Pings and their answers, sorted by 0-based packet row.

    `request` says whether the packet is a ping.  `partner` is the row of the ping's answer, or of
    the ping that the answer is for (-1 = none).  `many` says to how many hosts the packet was sent,
    as an index of DESTINATION_KINDS.
    """

    rows: Array
    request: Bools
    partner: Int64s
    many: Int64s


def links_of(data: Data, numbers: Int64s) -> dict[int, Link]:
    """Return the links of `numbers` (packet numbers) to other packets, by packet number.

    Packets without a link are left out.
    """
    echoes: _Echoes = data.cached(ECHOES, lambda: _echoes(data))
    rows = numbers - 1
    at = np.minimum(np.searchsorted(echoes.rows, rows), max(len(echoes.rows) - 1, 0))
    found: dict[int, Link] = {}
    if len(echoes.rows):
        there = np.flatnonzero(echoes.rows[at] == rows)
        for row, place in zip(rows[there].tolist(), at[there].tolist(), strict=True):
            partner = int(echoes.partner[place]) + 1
            many = DESTINATION_KINDS[int(echoes.many[place])]
            found[row + 1] = Link(bool(echoes.request[place]), partner, many)
    try:
        claims: dict[int, Claim] = data.cached(CLAIMS, lambda: _claims(data))
    except BadInput:  # the capture file has moved
        return found
    double = ((number, claims.get(number)) for number in numbers.tolist()) if claims else ()
    return found | {number: Link(claim=claim) for number, claim in double if claim}


def _echoes(data: Data) -> _Echoes:
    """Find pings and their answers in the columns of packets.

    For ICMP, the column sport has type and code, dport the identifier, and seq the number.
    """
    view = data.packets()
    protocol = view.column("protocol")
    rows = np.flatnonzero((protocol == ICMP) | (protocol == ICMPV6))
    kind, of = view.column("sport")[rows].astype(np.int64) >> 8, protocol[rows]
    request, reply = (
        np.logical_or.reduce([(of == p) & (kind == k) for p, k in kinds.items()])
        for kinds in (REQUESTS, REPLIES)
    )
    meant = np.flatnonzero((request | reply) & (view.column("seq")[rows] >= 0))
    rows, request = rows[meant], request[meant]
    partner, many = np.full(len(rows), -1, np.int64), _many(view, rows)
    if not len(rows):
        return _Echoes(rows, request, partner, many)
    keys = _keys(view, rows, request)
    order = np.lexsort((rows, *keys))
    same = np.logical_and.reduce([key[order][1:] == key[order][:-1] for key in keys])
    answered = same & request[order][:-1] & ~request[order][1:]
    asked, answer = order[:-1][answered], order[1:][answered]
    partner[asked], partner[answer] = rows[answer], rows[asked]
    return _Echoes(rows, request, partner, many)


def _many(view: View, rows: Int64s) -> Int64s:
    """Return for each packet the kind of its destination, as an index of DESTINATION_KINDS."""
    version = view.column("ip_version")[rows]
    low, high = (view.column(f"daddr_{part}")[rows].astype(np.int64) for part in ("lo", "hi"))
    group = (version == 4) & (low & 0xF0000000 == 0xE0000000)
    group |= (version == 6) & (high >> 56 & 0xFF == 0xFF)
    return np.select([group, (version == 4) & (low & 0xFFFFFFFF == 0xFFFFFFFF)], [1, 2], 0)


def _keys(view: View, rows: Int64s, request: Bools) -> list[Int64s]:
    """Return keys (hosts, identifier, number) that are the same for a ping and its answer."""
    columns = {
        name: view.column(name)[rows].astype(np.int64)
        for name in ("saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo", "dport", "seq", "source")
    }
    keys = [columns["source"], columns["dport"], columns["seq"]]
    for part in ("hi", "lo"):
        sender, receiver = columns[f"saddr_{part}"], columns[f"daddr_{part}"]
        keys += [np.where(request, sender, receiver), np.where(request, receiver, sender)]
    return keys


def _claims(data: Data) -> dict[int, Claim]:
    """Return the conflicting ARP claims, by packet number.

    Raises BadInput if a capture file is gone.
    """
    whole = data.packets()
    rows = np.flatnonzero((whole.column("ethertype") == ARP) & (whole.column("seq") >= 0))
    view = View(data, PACKET, rows)
    claimed = []  # index in rows, 0 = sender or 1 = target, IP address, hardware address
    for side, column, name in ((0, "seq", "arp.src.hw_mac"), (1, "ack", "arp.dst.hw_mac")):
        (sender,) = _HARDWARE[name](view)
        ip = view.column(column).astype(np.int64)
        usable = sender.present() & (ip > 0) & (sender.low > 0) & (sender.low & MULTICAST_BIT == 0)
        if side:
            usable &= view.column("sport") != ARP_REQUEST
        at = np.flatnonzero(usable)
        claimed.append(np.stack([at, np.full(len(at), side), ip[at], sender.low[at]]))
    at, side, ip, hardware = np.concatenate(claimed, axis=1)
    order = np.lexsort((side, at, ip))
    at, ip, hardware = at[order], ip[order], hardware[order]
    _, first, group = np.unique(ip, return_index=True, return_inverse=True)
    right = first[group.reshape(-1)]
    found: dict[int, Claim] = {}
    for place in np.flatnonzero(hardware != hardware[right]).tolist():
        number, before = int(rows[at[place]]) + 1, int(right[place])
        claim = Claim(
            address(4, 0, int(ip[place])) or "",
            mac(int(hardware[place])),
            mac(int(hardware[before])),
            int(rows[at[before]]) + 1,
        )
        found[number] = claim
    return found
