# SPDX-License-Identifier: MIT
"""Packets of a capture, as dpkt reads them, looked up in the records of a KBL.

The key of an IPv4 packet: addresses, protocol, identification, fragment offset and flags, and
of TCP and UDP the ports, of TCP the sequence number.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import dpkt
import numpy as np

from skbviewer.records import kbl_layout as layout
from tests.lab.columns import I64, Columns, Large
from tests.lab.kbl_check import Kbl, Kind, Type, one, probes

KEY = np.dtype(
    [
        ("saddr", "u1", (4,)),
        ("daddr", "u1", (4,)),
        ("protocol", "u1"),
        ("l4_valid", "u1"),
        ("ip_id", "<u2"),
        ("frag_off", "<u2"),
        ("sport", "<u2"),
        ("dport", "<u2"),
        ("seq", "<u4"),
    ]
)
WINDOW_NS = 2_000_000_000
OFFSET_BITS = 44  # of a time in a recording, ns: five hours


class Frame(NamedTuple):
    """An IPv4 packet of a capture."""

    number: int
    mono_ns: int
    key: bytes


def epoch_offset_ns(kbl: Kbl) -> int:
    """Return the offset (ns) that converts the file's times to time since 1970."""
    clock = one(kbl.tables[Type.CLOCK], layout.KBL_CLOCK)
    return int(clock["real_ns"]) - int(clock["mono_ns"])


def key_of(header: dpkt.ip.IP) -> bytes:
    """Return the key of a packet that dpkt has read."""
    ports = (0, 0, 0, 0)
    if isinstance(header.data, dpkt.tcp.TCP):
        ports = (1, header.data.sport, header.data.dport, header.data.seq)
    elif isinstance(header.data, dpkt.udp.UDP):
        ports = (1, header.data.sport, header.data.dport, 0)
    fragment = header.rf << 15 | header.df << 14 | header.mf << 13 | header.offset
    rest = struct.pack("<BBHHHHI", header.p, ports[0], header.id, fragment, *ports[1:])
    return bytes(header.src) + bytes(header.dst) + rest


def frames(pcap: Path) -> Iterator[tuple[int, dpkt.ethernet.Ethernet]]:
    """Yield the time in ns since 1970 and the frame, of each packet of a nanosecond pcap."""
    with pcap.open("rb") as file:
        reader = dpkt.pcap.Reader(file)
        for when, raw in reader:
            yield int(when * 10**9), dpkt.ethernet.Ethernet(raw)


def ipv4_frames(pcap: Path, kbl: Kbl) -> list[Frame]:
    """Return the IPv4 packets of a capture on the recording's clock."""
    offset = epoch_offset_ns(kbl)
    return [
        Frame(number, when - offset, key_of(frame.data))
        for number, (when, frame) in enumerate(frames(pcap), 1)
        if isinstance(frame.data, dpkt.ip.IP)
    ]


def footprints(records: Columns) -> tuple[I64, list[bytes]]:
    """Return the FOOTPRINT events that tell an IPv4 identity, as head indices, and their keys."""
    shown = (records.kind == Kind.EVENT) & (records.second == layout.KblEvent.FOOTPRINT)
    heads = np.flatnonzero(shown & (records.ext == 2))
    slots = records.slots[records.at[heads] + 2]
    ipv4 = slots[:, 1] == layout.KblExtType.IPV4
    view = np.ascontiguousarray(slots[ipv4]).view(layout.KBL_EXT_IPV4).reshape(-1)
    keys = np.zeros(len(view), KEY)
    for name in KEY.names or ():
        keys[name] = view[name]
    ports = (view["l4_valid"] != 0) & np.isin(view["protocol"], [6, 17])
    for name in ("l4_valid", "sport", "dport", "seq"):
        keys[name][~ports] = 0
    keys["seq"][view["protocol"] != 6] = 0
    return heads[ipv4], [row.tobytes() for row in keys]


def footprint_before(records: Columns) -> I64:
    """Return, for each head, the FOOTPRINT event of its skb which holds at its ts; -1 if none."""
    prints = np.flatnonzero(
        (records.kind == Kind.EVENT) & (records.second == layout.KblEvent.FOOTPRINT)
    )
    places, group = np.unique(
        np.stack([records.entry_cpu, records.skb], axis=1), axis=0, return_inverse=True
    )
    start = int(records.ts.min(initial=0))
    assert len(places) < 1 << (63 - OFFSET_BITS)
    key = group.reshape(-1).astype(np.int64) << OFFSET_BITS | records.ts - start
    order = np.argsort(key[prints], kind="stable")
    found = np.searchsorted(key[prints][order], key, side="right") - 1
    holder = np.where(found >= 0, prints[order][found], -1)
    same = (holder >= 0) & (group.reshape(-1)[holder] == group.reshape(-1))
    return np.where(same, holder, -1)


def named(large: Large, names: Sequence[str]) -> set[int]:
    """Return the ids of the armed functions among these; at least one must be."""
    table = probes(large.kbl)
    ids = {int(table[name]["id"]) for name in names if name in table and table[name]["addr"]}
    assert ids, f"none of {names} is armed"
    return ids


def unrecorded(large: Large, pcap: Path, names: Sequence[str]) -> list[int]:
    """Return the numbers of the IPv4 packets which none of these functions had in its hands."""
    records = large.records
    heads, keys = footprints(records)
    identity = dict(zip(heads.tolist(), keys, strict=True))
    wanted = np.isin(records.func, list(named(large, names)))
    holder = footprint_before(records)
    passed: dict[bytes, list[int]] = {}
    for when, at in zip(records.ts[wanted].tolist(), holder[wanted].tolist(), strict=True):
        if at in identity:
            passed.setdefault(identity[at], []).append(when)
    return [
        frame.number
        for frame in ipv4_frames(pcap, large.kbl)
        if not any(abs(when - frame.mono_ns) < WINDOW_NS for when in passed.get(frame.key, []))
    ]
