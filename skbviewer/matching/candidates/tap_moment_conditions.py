# SPDX-License-Identifier: MIT
"""Conditions under which a packet may have been captured at a tap moment, one function each.

The conditions concern device, clock, header, content and EtherType; possible_tap_moments.py applies
them.  Input: pairs of packets and series with agreeing identities, the tap moments of a log, and
the packets' times on the log's clock.  Output: the pairs of a packet and a moment that meet a
condition, sorted by packet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...records import ColumnTable, Packets, part
from ...records.compiled import allocation_free
from ...records.types import INT64_MAX, Bools, Int64s
from ..arrays.array_blocks import blocks
from ..arrays.hash_join import by_pair
from ..identity.identity_columns import KNOWN, LENGTH
from ..identity.identity_ladder_loops import FRAGMENT
from ..legs.tap_moments import UNKNOWN
from ..record_kinds import IP, is_among

if TYPE_CHECKING:
    from ..clock.capture_point_fit import Located
    from ..match_types import KernelSide


class Edges(NamedTuple):
    """Pairs of a packet and a moment, each made from a pair (packet, series) with index `pair`."""

    packet: Int64s
    moment: Int64s
    pair: Int64s

    def selected(self, some: Bools | Int64s) -> Edges:
        """Return the pairs that `some` selects; `some` are flags or indices."""
        return Edges(*(column[some] for column in self))


def eligible(
    kernel: KernelSide, where: Located, sockets_only: bool, several_devices: bool
) -> Bools:
    """Return for each moment whether it is at a device whose packets the capture may contain.

    `where` says where the capture was taken; with `several_devices`, no moment is excluded by its
    device.  `sockets_only` means that the log lacks nothing: if it has any calls of packet sockets
    at these devices, only moments with such a call count.  Without `sockets_only`, a moment counts
    even if no call shows it at a device: the log may lack that call, or may have no probe at the
    hand-over.
    """
    moments = kernel.moments
    met, socket = moments["met"], moments["socket"]
    here = np.ones(len(moments), np.bool_)
    if where.devices and not several_devices:
        netns, ifindex = moments["netns"], moments["ifindex"]
        here = np.zeros(len(moments), np.bool_)
        for device in where.devices:
            here |= (netns == device[0]) & (ifindex == device[1])
        here |= np.asarray(ifindex) <= 0  # unknown: the record that shows the device was lost
    at_socket = here & socket
    if sockets_only and at_socket.any() and where.at_sockets:
        return np.asarray(at_socket)
    bare = ~met & (not sockets_only or not (met & ~socket).any())
    return np.asarray(here & met | bare)


def pairs_in_time(
    kernel: KernelSide, packet: Int64s, series: Int64s, at: Int64s, error: Int64s, here: Bools
) -> Edges:
    """Return the pairs of packets and moments that the clock does not contradict.

    `packet` and `series` are the pairs whose identities agree, in any order.  By packet: `at` is
    its time on the log's clock, and `error` the possible error of that time (ns).  By moment:
    `here` is True if the capture may have been taken at its device.
    """
    moments = kernel.moments
    order = by_pair(packet, series)
    owner = np.asarray(moments["series"], np.int64)
    after, before = (np.asarray(moments[name], np.int64) for name in ("after", "before"))
    size = np.bincount(owner, minlength=int(series.max(initial=-1)) + 1)
    first = np.append(0, np.cumsum(size))
    asked = (packet[order], series[order], at, error, first, after, before, here)
    count = int(_between(*asked, *np.zeros((3, 0), np.int64)))
    made = np.empty((3, count), np.int64)
    _between(*asked, *made)
    return Edges(made[0], made[1], order[made[2]])


@allocation_free
def _between(
    packet: Int64s,
    series: Int64s,
    at: Int64s,
    error: Int64s,
    first: Int64s,
    after: Int64s,
    before: Int64s,
    here: Bools,
    out_packet: Int64s,
    out_moment: Int64s,
    out_pair: Int64s,
) -> int:
    """Write the pairs that the clock allows to the last three arrays; return their number.

    If the last three arrays are empty, the loop only counts the pairs.
    """
    count, writes = 0, len(out_packet) > 0
    for i in range(len(packet)):
        p, s = packet[i], series[i]
        low, high = at[p] - error[p], at[p] + error[p]
        for m in range(first[s], first[s + 1]):
            if here[m] and before[m] >= low and after[m] <= high:
                if writes:
                    out_packet[count], out_moment[count], out_pair[count] = p, m, i
                count += 1
    return count


def agreeing_headers(
    packets: Packets, kernel: KernelSide, edges: Edges, may_be_cut_later: bool
) -> Edges:
    """Return the pairs of `edges` in which packet and moment have the same header.

    A header field that is unknown on either side does not exclude a pair.  `may_be_cut_later` means
    that the capture was taken on another host, so that it may show fragments of a packet that was
    whole here.
    """
    shown = np.asarray(kernel.moments["shown"], np.int64)[edges.moment]
    asked = np.flatnonzero((shown != UNKNOWN) & (packets["ip_version"][edges.packet] != 0))
    keep, rows = np.ones(len(shown), np.bool_), kernel.prints.rows
    for block in blocks(len(asked)):
        some = asked[block]
        wire, kern = edges.packet[some], shown[some]
        differs = np.zeros(len(some), np.bool_)
        cut = np.zeros(len(some), np.bool_)
        if may_be_cut_later:
            cut = _is_part(packets["frag_off"][wire]) & ~_is_part(part(rows, "frag_off", kern))
        for name in KNOWN:
            left, right = packets[name][wire], part(rows, name, kern)
            if name == "ip_version" or name.endswith(("_hi", "_lo")):
                differs |= left != right
            else:
                other = (left >= 0) & (right >= 0) & (left != right)
                differs |= other & ~cut if name in LENGTH else other
        differs &= ~_stands_for_more(rows, kern)
        keep[some] = ~differs
    return edges.selected(keep)


def agreeing_contents(packets: Packets, kernel: KernelSide, edges: Edges) -> Edges:
    """Return the pairs of `edges` in which the packet's content equals what the packet socket got.

    If the content of either side is unknown, the pair is not excluded.  If the captured packet is a
    fragment of the packet that the socket got, the pair is kept, too, because another host may have
    captured the fragment.
    """
    given = np.asarray(kernel.moments["content"], np.int64)[edges.moment]
    some = np.flatnonzero((given >= 0) & (packets["content"][edges.packet] >= 0))
    some = some[packets["content"][edges.packet[some]] != given[some]]
    shown = np.asarray(kernel.moments["shown"], np.int64)[edges.moment[some]]
    rows, wire, keep = kernel.prints.rows, edges.packet[some], np.ones(len(given), np.bool_)
    whole = shown == UNKNOWN
    whole |= (part(rows, "tot_len", shown) == packets["tot_len"][wire]) & (
        _is_part(part(rows, "frag_off", shown)) == _is_part(packets["frag_off"][wire])
    )
    keep[some[whole]] = False
    return edges.selected(keep)


def _is_part(frag_off: Int64s) -> Bools:
    """Return for each packet whether flags and offset in its IP header say that it is a fragment.

    `frag_off` holds flags and offset; if it is -1 (header unknown), the result is False.
    """
    return np.asarray((frag_off > 0) & (frag_off & FRAGMENT != 0))


def _stands_for_more(rows: ColumnTable | Packets, kern: Int64s) -> Bools:
    """Return for each footprint whether its header may describe more data than its skb holds."""
    held, length = part(rows, "skb_len", kern), part(rows, "tot_len", kern)
    return np.asarray((held >= 0) & (held + 120 < length))


def of_one_ethertype(packets: Packets, kernel: KernelSide, edges: Edges) -> Edges:
    """Return the pairs of `edges` in which packet and moment have the same EtherType.

    Pairs whose packet has an IP header are all kept.
    """
    return edges.selected(~_of_other_ethertype(packets, kernel, edges))


def sent_as_other(packets: Packets, kernel: KernelSide, edges: Edges) -> Int64s:
    """Return packets without an IP header whose skb was sent while it had a different EtherType.

    A sending device does not read skb->protocol, so the header on the wire may have a different
    EtherType: netem, for example, corrupts the bytes of the header only.
    """
    other = _of_other_ethertype(packets, kernel, edges)
    sends = np.asarray(kernel.moments["sends"])[edges.moment] == 1
    return np.asarray(edges.packet[other & sends], np.int64)


def _of_other_ethertype(packets: Packets, kernel: KernelSide, edges: Edges) -> Bools:
    leg = kernel.moments["leg"][edges.moment]
    kind = kernel.legs.rows["ethertype"][leg]
    blind = packets["ip_version"][edges.packet] == 0
    wanted = packets["ethertype"][edges.packet]
    same = (kind == wanted) & ~is_among(np.asarray(kind), IP)
    return np.asarray(blind & ~same)


def by_packet(edges: Edges, values: Int64s, size: int) -> tuple[Int64s, Int64s]:
    """Return the lowest and the highest value of each packet's pairs, as two int64 arrays.

    values[i] is the value of pair i of `edges`; `size` is the number of packets.  A packet without
    pairs gets INT64_MAX as its lowest value, and -1 as its highest.
    """
    low, high = np.full(size, INT64_MAX), np.full(size, -1, np.int64)
    np.minimum.at(low, edges.packet, values)
    np.maximum.at(high, edges.packet, values)
    return low, high
