# SPDX-License-Identifier: MIT
"""The drops that lost their packets, from the records of a log (docs/times.md, Drops)."""

from __future__ import annotations

from collections.abc import Callable

from .calls import MISSED
from .compare import Made
from .layout import EVENT
from .lifetimes import Record, Series
from .passes import RX
from .segments import Segments

NOTHING_LOST = {"skb_release_data", "sctp_recvmsg"}
WRONG = {
    "__first_packet_length", "first_packet_length", "udp_read_skb", "udp_recvmsg", "udpv6_recvmsg",
}  # fmt: skip
NOBODY_S = {"ip6_mc_input"}  # of groups that nobody has joined
FINDS_NO_ROUTE = ("ip_rcv_finish_core", "ip_rcv_finish")
V4_IDENTITY, GROUPS = 11, range(224, 240)  # bytes; the first of the destination
KNOWN = {"TCP_OLD_DATA", "TCP_OLD_SEQUENCE", "TCP_RFC7323_PAWS", "DUP_FRAG"}
MASK32 = 0xFFFFFFFF
NOT_DISCARDED = {"SOCKET_RCVBUFF", "SOCKET_BACKLOG", "PROTO_MEM"}


def place_of(made: Made, record: Record) -> str:
    """Return the function in which a drop happened, with the offset; "" if unknown."""
    log, offset = made.calls.log, record.data >> 32
    offset -= (1 << 32) * (offset >> 31)
    return log.symbol(log.stext + offset) if offset else ""


def _for_group(made: Made, leg: int) -> bool:
    """Return whether the packet of a leg is for a group of IPv4."""
    known = [one.footprint.identity for one in made.passes.legs[leg - 1].series.records]
    first = next((one for one in known if one), b"")
    return len(first) == V4_IDENTITY and first[4] in GROUPS


def _taken(made: Made, leg: int, refused: set[int]) -> bool:
    """Return whether another namespace received a copy, in a leg that is not in `refused`."""
    legs = made.passes.legs
    received = {one.series.number for one in legs if one.kind == RX}

    def original(of: Series) -> int:
        while of.parent is not None and of.parent.number in received:
            of = of.parent
        return of.number

    mine = legs[leg - 1]
    others = (one for one in legs if one.kind == RX and one.number not in refused)
    return any(
        0 < one.place("netns") != mine.place("netns") > 0
        and original(one.series) == original(mine.series)
        for one in others
    )


def losing(made: Made, reason: Callable[[int], str], segments: Segments) -> set[int]:
    """Return the numbers of the records of drops that lost their packets."""
    dropped = {leg for record, leg, _ in made.passes.events if record.event == EVENT.DROP}
    queued: dict[int, list[int]] = {}  # by series: when a socket received it or a copy
    for record, leg, _ in made.passes.events:
        if record.event == EVENT.SOCK_ENQUEUE and leg > 0:
            series = made.passes.legs[leg - 1].series
            for one in (series, series.parent):
                if one is not None:
                    queued.setdefault(one.number, []).append(record.ts)
    losses = [loss for loss in made.calls.log.losses if loss.reason != MISSED]
    begins: dict[int, int] = {}
    for each in made.passes.legs:
        number = each.series.number
        begins[number] = min(each.begin, begins.get(number, each.begin))
    failed = {
        leg for leg in dropped if leg > 0 and made.passes.legs[leg - 1].series.number not in queued
    }
    refused = {
        leg for record, leg, _ in made.passes.events
        if record.event == EVENT.DROP and leg > 0 and reason(record.data & MASK32) == "OTHERHOST"
    }  # fmt: skip
    found = set()
    for record, leg, _ in made.passes.events:
        if record.event != EVENT.DROP or leg <= 0:
            continue
        series = made.passes.legs[leg - 1].series
        function = place_of(made, record).split("+")[0]
        delivered = any(when <= record.ts for when in queued.get(series.number, ()))
        begin = begins[series.number]
        unsure = any(loss.begin <= record.ts and loss.end >= begin for loss in losses)
        why = reason(record.data & MASK32)
        if why == "OTHERHOST" and _taken(made, leg, refused):
            continue
        no_route = why == "NOT_SPECIFIED" and function.split(".")[0] in FINDS_NO_ROUTE
        if no_route and _for_group(made, leg):
            continue
        unsure = unsure and why == "NOT_SPECIFIED"
        if function in NOBODY_S or why in KNOWN:
            continue
        if function not in NOTHING_LOST and not unsure and (not delivered or function in WRONG):
            by_tcp = function.startswith("tcp_") and why not in NOT_DISCARDED and "CSUM" not in why
            if not (by_tcp and segments.is_needless(leg, failed)):
                found.add(record.number)
    return found
