# SPDX-License-Identifier: MIT
"""Fields of control protocols, for Wireshark's colouring rules; few packets have them.

Files are read only for packets that may have one of these fields, judging by the columns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...records.protocols import SCTP, TCP, UDP
from ...records.types import Bools
from .field_definition import Field, Kind, Values
from .field_source_tables import PACKET, Array, View
from .packet_byte_fields import blocks, numbers, progress_of
from .packet_fields import is_eth, is_vlan

OSPF = 89
ISMP = 0x81FD  # EtherType
HSRP_PORT, HSRP_ADVERTISE = 1985, 3  # RFC 2281; an Advertise has no state
HSRP_1 = 0xE0000002  # 224.0.0.2; version 2 uses 224.0.0.102 and another format
BPDU, NETBIOS, SNAP = 0x4242, 0xF0F0, 0xAAAA  # DSAP and SSAP (IEEE 802.2)
SAPS = 0xFEFE  # mask without the lowest bits, which stand for group and response
UNNUMBERED = 0x03  # control field of frames with unnumbered information
CDP = 0x00000C2000  # OUI and protocol of SNAP
GARP_GROUPS = 0x0180C2000020  # to ...2f (IEEE 802.1D, 12.5): not used by spanning trees
GVRP_GROUP = 0x0180C2000021
SMB = 0xFF534D42
NBSS_PORTS, NBDGM_PORT, NBDGM_SMB = (139, 445), 138, 82  # NBDGM_SMB: offset of SMB in a datagram
MOST_CHUNKS = 32  # most SCTP chunks in a packet


def some_numbers(view: View, where: Bools, layer: str, begin: int, size: int) -> Values:
    """Return what numbers() returns, but only for the packets that `where` marks.

    Packets that `where` does not mark have no known value.  A number begins at byte `begin` of the
    header `layer`, and has `size` bytes.
    """
    low, known = np.full(view.size, -1, np.int64), np.zeros(view.size, np.bool_)
    rows = np.flatnonzero(where)
    if len(rows) and view.table == PACKET:
        found = numbers(subview(view, rows), layer, begin, size, progress_of(view))
        low[rows], known[rows] = found.low, found.present()
    return Values(low, known)


def subview(view: View, rows: Array) -> View:
    """Return a view of only the packets with the indices `rows` in `view`."""
    return View(view.data, PACKET, rows if view.rows is None else view.rows[rows])


def _llc(view: View, begin: int, size: int, where: Bools | None = None) -> Values:
    """Return the number in `size` bytes of each LLC header, from byte `begin` on.

    A frame has an LLC header if it has a length instead of an EtherType.
    """
    plain = is_eth(view) & (view.column("ethertype") < 0)
    plain = plain if where is None else plain & where
    low, known = np.full(view.size, -1, np.int64), np.zeros(view.size, np.bool_)
    for tag, mask in ((0, plain & ~is_vlan(view)), (4, plain & is_vlan(view))):
        found = some_numbers(view, mask, "eth", 14 + tag + begin, size)
        low[mask], known[mask] = found.low[mask], found.present()[mask]
    return Values(low, known)


def _sap(view: View, sap: int) -> Bools:
    header: Values = view.cached("llc", lambda view: _llc(view, 0, 3))
    found: Bools = header.present() & (header.low >> 8 & SAPS == sap)
    return found


def _bpdu(view: View) -> Bools:
    garp = view.column("eth_dst").astype(np.int64) >> 4 == GARP_GROUPS >> 4
    found: Bools = _sap(view, BPDU) & ~garp
    return found


def _netbios(view: View) -> Bools:
    control = view.cached("llc", lambda view: _llc(view, 0, 3)).low & 0xFF
    found: Bools = _sap(view, NETBIOS) & ((control & 1 == 0) | (control & 0xEF == UNNUMBERED))
    return found


def _gvrp(view: View) -> Bools:
    found: Bools = _sap(view, BPDU) & (view.column("eth_dst") == GVRP_GROUP)
    return found


def _cdp(view: View) -> Bools:
    protocol = _llc(view, 3, 5, _sap(view, SNAP))
    found: Bools = protocol.present() & (protocol.low == CDP)
    return found


def _ismp(view: View) -> Bools:
    found: Bools = view.column("ethertype") == ISMP
    return found


def _smb(view: View) -> Bools:
    """Return for each packet whether it is SMB, by its first bytes after NetBIOS (RFC 1002)."""

    def either(ports: tuple[int, ...]) -> Bools:
        found: Bools = np.isin(view.column("sport"), ports) | np.isin(view.column("dport"), ports)
        return found

    protocol = view.column("protocol")
    session = (protocol == TCP) & either(NBSS_PORTS)
    datagram = (protocol == UDP) & either((NBDGM_PORT,))
    said = some_numbers(view, session, "tcp.payload", 4, 4)
    sent = some_numbers(view, datagram, "udp.payload", NBDGM_SMB, 4)
    found: Bools = (said.low == SMB) | (sent.low == SMB)
    return found


def _stp_type(view: View) -> list[Values]:
    return [_llc(view, 6, 1, _bpdu(view))]


def _ospf_message(view: View) -> list[Values]:
    return [some_numbers(view, view.column("protocol") == OSPF, "ospf", 1, 1)]


def _hsrp_state(view: View) -> list[Values]:
    ours = (view.column("protocol") == UDP) & (view.column("dport") == HSRP_PORT)
    ours &= view.column("daddr_lo") == HSRP_1
    head = some_numbers(view, ours, "udp.payload", 1, 2)
    return [Values(head.low & 0xFF, head.present() & (head.low >> 8 < HSRP_ADVERTISE))]


def _chunk_types(view: View) -> list[Values]:
    """Return the types of the SCTP chunks (RFC 9260, 3.2) of each packet."""
    rows = np.flatnonzero(view.column("protocol") == SCTP)
    found: list[Values] = [Values(np.full(view.size, -1), np.zeros(view.size, np.bool_))]
    if not len(rows) or view.table != PACKET:
        return found
    for block in blocks(subview(view, rows), progress_of(view)):
        at, end = (place.copy() for place in block.extents["sctp"])
        at[at >= 0] += 12
        for number in range(MOST_CHUNKS):
            there = (at >= 0) & (at + 4 <= end)
            if not there.any():
                break
            if number == len(found):
                found.append(Values(np.full(view.size, -1), np.zeros(view.size, np.bool_)))
            mine, first = rows[block.rows[there]], at[there]
            low, known = found[number].low, found[number].present()
            low[mine], known[mine] = block.data[first], True
            size = block.data[first + 2].astype(np.int64) << 8 | block.data[first + 3]
            at[there] = np.where(size >= 4, first + (size + 3 & ~3), -1)
            at[~there] = -1
    return found


def _label(name: str, text: str, of: Callable[[View], Bools]) -> Field:
    def make(view: View) -> list[Values]:
        there = of(view)
        return [Values(there, there)]

    return Field(name, Kind.LABEL, text, make)


_U = Kind.UNSIGNED
CONTROL_FIELDS: tuple[Field, ...] = (
    _label("stp", "Spanning Tree Protocol: a bridge's LLC frame", _bpdu),
    Field(
        "stp.type",
        _U,
        "BPDU type: 0 configuration, 2 rapid, 0x80 topology change",
        _stp_type,
        bits=8,
    ),
    _label("gvrp", "GARP VLAN registration", _gvrp),
    _label("cdp", "Cisco Discovery Protocol", _cdp),
    _label("ismp", "EtherType 0x81fd", _ismp),
    _label("netbios", "NetBIOS frames: LLC of SAP 0xf0", _netbios),
    _label("smb", "SMB 1, on TCP ports 139 and 445 and on UDP port 138", _smb),
    Field(
        "hsrp.state",
        _U,
        "HSRP state: 0 initial, 8 standby, 16 active (version 1)",
        _hsrp_state,
        bits=8,
    ),
    Field(
        "ospf.msg",
        _U,
        "OSPF packet type: 1 hello, 2 description, 3 request, 4 update",
        _ospf_message,
        bits=8,
    ),
    Field(
        "sctp.chunk_type",
        _U,
        "Types of the SCTP chunks: 0 DATA, 1 INIT, 6 ABORT; one value for each chunk",
        _chunk_types,
        bits=8,
    ),
)
