# SPDX-License-Identifier: MIT
"""Links between packets: pings and their answers, addresses that two hosts claim.

Input: the columns of a session, and packet bytes for ARP.  Output: the links of each packet, by
Wireshark's rules.  A reply answers the last request with the same identifier, number and hosts that
has no reply yet.  The first hardware address captured for an IPv4 address is the right one.
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
    """An ARP packet claims that `ip` is at `mac`; packet `first` claimed that it is at `other`."""

    ip: str
    mac: str
    other: str
    first: int


class Link(NamedTuple):
    """The relation of a packet to other packets: a ping to its answer, or a conflicting ARP claim.

    `request`: the packet is a ping.  `partner` is the number of the ping's answer, or of the
    answer's ping; 0 = none.  `many` is "multicast" or "broadcast" if a ping was sent to more than
    one host.
    """

    request: bool = False
    partner: int = 0  # 0 = none
    many: str = ""
    claim: Claim | None = None

    @property
    def text(self) -> str:
        """Return the end of Wireshark's Info: " (reply in 4)"."""
        if self.claim is not None:
            return f" (duplicate use of {self.claim.ip} detected!)"
        if not self.partner:
            return f" ({self.many or 'no response found!'})" if self.request else ""
        return f" ({'reply' if self.request else 'request'} in {self.partner})"


class _Echoes(NamedTuple):
    """Pings and their answers, sorted by packet row (0-based).

    `request` says whether a row is a request, and `partner` is the row of its partner (-1 = none).
    `many` is the kind of the row's destination, an index of DESTINATION_KINDS.
    """

    rows: Array
    request: Bools
    partner: Int64s
    many: Int64s


def links_of(data: Data, numbers: Int64s) -> dict[int, Link]:
    """Return the links of the packets `numbers` to other packets, as a map from packet number.

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
    """Find pings: sport, dport and seq hold type and code, identifier and sequence number."""
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
    """Return for each packet the index of the kind of its destination in DESTINATION_KINDS."""
    version = view.column("ip_version")[rows]
    low, high = (view.column(f"daddr_{part}")[rows].astype(np.int64) for part in ("lo", "hi"))
    group = (version == 4) & (low & 0xF0000000 == 0xE0000000)
    group |= (version == 6) & (high >> 56 & 0xFF == 0xFF)
    return np.select([group, (version == 4) & (low & 0xFFFFFFFF == 0xFFFFFFFF)], [1, 2], 0)


def _keys(view: View, rows: Int64s, request: Bools) -> list[Int64s]:
    """Return keys that are equal for a ping and its answer: hosts, identifier and number."""
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
    """Return conflicting claims by packet number.  Raises BadInput if the file has moved."""
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
