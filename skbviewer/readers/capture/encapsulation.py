# SPDX-License-Identifier: MIT
"""Skip headers between link and network header: tags, LLC, tunnels of Ethernet, MPLS, PPPoE.

Input: frames whose `kind` is an EtherType or a length.  Output: frames positioned at their network
header.  Layouts: IEEE 802.1Q (VLAN, PBB), 802.1AE (MACsec), 802.1BR (E-tag), 802.1CB (R-tag), IEC
62439-3 (HSR), RFC 1042 and 2684 (SNAP), 6325 (TRILL), 8300 (NSH); for VN-Tag, FabricPath and
Arista's time stamps, Wireshark's dissectors.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...records.types import UInt8s
from ..numbers_in_bytes import Frames, Rows, Wire, all_frames, fill
from .ethertypes import (
    ETH_P_802_3_MIN,
    ETH_P_8021AD,
    ETH_P_8021Q,
    ETH_P_ARISTA,
    ETH_P_ETAG,
    ETH_P_FABRICPATH,
    ETH_P_HSR,
    ETH_P_IP,
    ETH_P_IPV6,
    ETH_P_JUMBO_LLC,
    ETH_P_LLC,
    ETH_P_MACSEC,
    ETH_P_MPLS_MC,
    ETH_P_MPLS_UC,
    ETH_P_NSH,
    ETH_P_PBB,
    ETH_P_PPPOE_SESSION,
    ETH_P_QINQ1,
    ETH_P_RTAG,
    ETH_P_TEB,
    ETH_P_TRILL,
    ETH_P_VNTAG,
    NAMES,
    UNREAD,
    UNREAD_LINK,
    by_version,
)
from .ppp import ethertype_of

MAX_HEADERS = 16  # headers between link and network header; only an attack has more
MOST_LABELS = 8
VLAN_TPIDS = (ETH_P_8021Q, ETH_P_8021AD, ETH_P_QINQ1)
TAGS = {
    ETH_P_VNTAG: 6,
    ETH_P_HSR: 6,
    ETH_P_RTAG: 6,
    ETH_P_ETAG: 8,
}  # bytes; the last two are an EtherType
SNAP, LLC_IP = 0xAAAA03, 0x060603  # DSAP, SSAP, unnumbered information
OUI_ETHERTYPE = (0x000000, 0x0000F8)  # their protocol numbers are EtherTypes
OUI_BRIDGED, BRIDGED_ETHERNET = 0x0080C2, (1, 7)  # with and without frame check sequence
SECTAG, SCI, ICV = 6, 8, 16  # bytes of MACsec: tag, an optional part, check value at the end
HAS_SCI, ENCRYPTED, CHANGED = 0x20, 0x08, 0x04  # bits of MACsec's first byte
NSH_NEXT = {1: ETH_P_IP, 2: ETH_P_IPV6, 3: ETH_P_TEB, 4: ETH_P_NSH, 5: ETH_P_MPLS_UC}
TIMESTAMP = 1  # an Arista subtype
STAMPS = {0x0010: 12, 0x0110: 12, 0x0020: 10, 0x0120: 10}  # version: bytes before the EtherType

MPLS = (ETH_P_MPLS_UC, ETH_P_MPLS_MC)
# What to do with a kind: stop (network header or unknown), dissect here, name in a warning, ...
ENDS, NESTED, STOPS, LABELS, SESSION = range(5)

Step = Callable[[Wire, Rows, Frames], Frames]


def to_network(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Skip all headers before the network header; fill the columns `vlan` and `ethertype`.

    Returns the frames with the network header's position in `at`.  `ethertype` is the last
    EtherType found.  IP inside MPLS or PPPoE is found as well.  If a frame cannot be dissected, its
    `kind` stays at or above UNREAD.
    """
    frames = _unwrapped(wire, packets, frames)
    known = frames.selected(frames.kind >= ETH_P_802_3_MIN)
    state = _state(known)
    ends = state == ENDS
    if ends.all():
        fill(packets, known.rows, ethertype=known.kind)
        return known
    named = (state == STOPS) & (known.kind < UNREAD)
    kind = np.where(named, known.kind | UNREAD, known.kind)
    known = known._replace(kind=kind)
    understood = known.selected(kind < UNREAD_LINK)
    fill(packets, understood.rows, ethertype=understood.kind & 0xFFFF)
    mpls, pppoe = known.selected(state == LABELS), known.selected(state == SESSION)
    ends |= (state == STOPS) | (state == NESTED)
    return all_frames([known.selected(ends), _skip_mpls(wire, mpls), _skip_pppoe(wire, pppoe)])


def _state(frames: Frames) -> UInt8s:
    """Return for each frame, by its kind, the next step: one of the states above."""
    found: UInt8s = np.take(_STATES, frames.kind + 1, mode="clip")
    return found


def _unwrapped(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    done = []
    for _ in range(MAX_HEADERS):
        nested = _state(frames) == NESTED
        if not nested.any():
            break
        done.append(frames.selected(~nested))
        frames = frames.selected(nested)
        kind = np.where(frames.kind < ETH_P_802_3_MIN, ETH_P_LLC, frames.kind)
        steps = [
            STEPS[one](wire, packets, frames.selected(kind == one))
            for one in np.unique(kind).tolist()
        ]
        frames = all_frames(steps)
    return all_frames([*done, frames]) if done else frames


def _vlan(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    frames = frames.with_bytes(4)
    outermost = frames.selected(packets["vlan"][frames.rows] < 0)
    fill(packets, outermost.rows, vlan=wire.u16(outermost.at) & 0x0FFF)
    return frames.after_header(4, wire.u16(frames.at + 2))


def _tag(size: int) -> Step:
    def step(wire: Wire, packets: Rows, frames: Frames) -> Frames:
        frames = frames.with_bytes(size)
        return frames.after_header(size, wire.u16(frames.at + size - 2))

    return step


def _llc(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Dissect LLC.  SNAP contains an EtherType; the service access point of IP implies one."""
    frames = frames.with_bytes(8)
    head = wire.u32(frames.at)
    bare = frames.selected(head >> 8 == LLC_IP)
    snap = frames.selected(head >> 8 == SNAP)
    return all_frames(
        [bare.after_header(3, np.full(len(bare.rows), ETH_P_IP)), skip_snap(wire, snap, 3, 2)]
    )


def skip_snap(wire: Wire, frames: Frames, begin: int, pad: int) -> Frames:
    """Skip the SNAP header that begins `begin` bytes after each frame's position.

    If a bridged frame follows, its padding (`pad` bytes) is skipped, too.
    """
    oui = wire.u32(frames.at + begin) >> 8
    protocol = wire.u16(frames.at + begin + 3)
    good = np.isin(oui, OUI_ETHERTYPE) & (protocol >= ETH_P_802_3_MIN)
    bridged = (oui == OUI_BRIDGED) & np.isin(protocol, BRIDGED_ETHERNET)
    kind = np.select([good, bridged], [protocol, ETH_P_TEB], -1)
    return frames.after_header(begin + 5 + pad * bridged, kind)


def _llc_follows(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    return frames.after_header(0, np.full(len(frames.rows), ETH_P_LLC))


def _ethernet(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Skip an inner Ethernet header; the columns keep the addresses of the outer one."""
    frames = frames.with_bytes(14)
    return frames.after_header(14, wire.u16(frames.at + 12))


def _ethernet_follows(size: int) -> Step:
    return lambda wire, packets, frames: frames.after_header(
        size, np.full(len(frames.rows), ETH_P_TEB)
    )


def _fabricpath(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Dissect FabricPath.

    The outer addresses of FabricPath are numbers of switches, so the inner addresses are used.
    """
    frames = frames.with_bytes(16)
    fill(packets, frames.rows, eth_dst=wire.u48(frames.at + 2), eth_src=wire.u48(frames.at + 8))
    return frames.after_header(2, np.full(len(frames.rows), ETH_P_TEB))


def _trill(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    frames = frames.with_bytes(6)
    options = (wire.u16(frames.at) >> 6 & 0x1F) * 4
    return frames.after_header(6 + options, np.full(len(frames.rows), ETH_P_TEB))


def _macsec(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Dissect MACsec headers of frames that are not encrypted."""
    fill(packets, frames.rows, ethertype=frames.kind)
    frames = frames.with_bytes(SECTAG)
    flags = wire.u8(frames.at)
    size = SECTAG + np.where(flags & HAS_SCI, SCI, 0) + 2
    plain = (flags & (ENCRYPTED | CHANGED) == 0) & (frames.at + size <= frames.end)
    frames, size = frames.selected(plain), size[plain]
    stop = frames.stop - ICV
    frames = frames._replace(stop=stop, end=np.minimum(frames.end, stop))
    return frames.after_header(size, wire.u16(frames.at + size - 2))


def _nsh(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    frames = frames.with_bytes(8)
    size = (wire.u16(frames.at) & 0x3F) * 4
    following, kind = wire.u8(frames.at + 3), np.full(len(frames.rows), ETH_P_NSH | UNREAD)
    for number, ethertype in NSH_NEXT.items():
        kind[(following == number) & (size >= 8)] = ethertype
    return frames.after_header(np.where(kind < UNREAD, size, 0), kind)


def _arista(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    frames = frames.with_bytes(4)
    subtype, version = wire.u16(frames.at), wire.u16(frames.at + 2)
    size = np.zeros(len(frames.rows), np.int64)
    for number, length in STAMPS.items():
        size[(subtype == TIMESTAMP) & (version == number)] = length
    unread = frames.selected(size == 0)
    unread = unread.after_header(0, np.full(len(unread.rows), ETH_P_ARISTA | UNREAD))
    stamped = (size > 0) & (frames.at + size + 2 <= frames.end)
    frames, size = frames.selected(stamped), size[stamped]
    return all_frames([unread, frames.after_header(size + 2, wire.u16(frames.at + size))])


def _skip_mpls(wire: Wire, frames: Frames) -> Frames:
    done = []
    for _ in range(MOST_LABELS):
        frames = frames.with_bytes(5)
        bottom = (wire.u32(frames.at) >> 8 & 1).astype(bool)
        frames = frames.after_header(4, by_version(wire.u8(frames.at + 4)))
        done.append(frames.selected(bottom))
        frames = frames.selected(~bottom)
    return all_frames(done)


def _skip_pppoe(wire: Wire, frames: Frames) -> Frames:
    frames = frames.with_bytes(8)
    return frames.after_header(8, ethertype_of(wire.u16(frames.at + 6)))


STEPS: dict[int, Step] = {
    **dict.fromkeys(VLAN_TPIDS, _vlan),
    **{kind: _tag(size) for kind, size in TAGS.items()},
    ETH_P_LLC: _llc,
    ETH_P_JUMBO_LLC: _llc_follows,
    ETH_P_TEB: _ethernet,
    ETH_P_PBB: _ethernet_follows(4),
    ETH_P_FABRICPATH: _fabricpath,
    ETH_P_TRILL: _trill,
    ETH_P_MACSEC: _macsec,
    ETH_P_NSH: _nsh,
    ETH_P_ARISTA: _arista,
}


def _states() -> UInt8s:
    """Return an array with the state of each kind of header; kind k is at index k + 1.

    The first element is for unknown kinds, and the last one for UNREAD and all kinds above it.
    """
    states = np.full(UNREAD + 2, ENDS, np.uint8)
    states[1 : ETH_P_802_3_MIN + 1] = NESTED
    for kinds, state in ((NAMES, STOPS), (STEPS, NESTED), (MPLS, LABELS)):
        states[np.array(list(kinds)) + 1] = state
    states[ETH_P_PPPOE_SESSION + 1] = SESSION
    states[UNREAD + 1] = STOPS
    return states


_STATES = _states()
