# SPDX-License-Identifier: MIT
"""Writes made-up traffic as a pcap file with ns times, as a sniffer on the host would."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .traffic import ICMP, TCP, UDP, Ints, Packets, Random

WALL_EPOCH = 1_760_000_000_000_000_000  # wall clock at 0 of the kernel's clock
SNIFFER_AHEAD = 2_345_678_901  # the sniffer's clock differs
DRIFT = 12e-6
MISSED = 0.001  # of the packets the sniffer did not catch; as many the kernel did not see
DELAY_NS = 200  # mean delay of a time stamp
MAX_DELAY_NS = 1500
BLOCK = 1 << 19  # packets built at once

HEADERS = np.dtype(  # pcap record header, Ethernet, IPv4, and 20 bytes of TCP, UDP or ICMP
    [
        ("seconds", "<u4"),
        ("fraction", "<u4"),
        ("caplen", "<u4"),
        ("len", "<u4"),
        ("eth_dst", "u1", (6,)),
        ("eth_src", "u1", (6,)),
        ("ethertype", ">u2"),
        ("version", ">u2"),
        ("tot_len", ">u2"),
        ("ip_id", ">u2"),
        ("frag_off", ">u2"),
        ("ttl", "u1"),
        ("protocol", "u1"),
        ("checksum", ">u2"),
        ("saddr", ">u4"),
        ("daddr", ">u4"),
        ("l4", "u1", (20,)),
    ]
)
TCP_HEADER = np.dtype(
    [("sport", ">u2"), ("dport", ">u2"), ("seq", ">u4"), ("ack", ">u4"), ("off", "u1")]
    + [("flags", "u1"), ("window", ">u2"), ("checksum", ">u2"), ("urgent", ">u2")]
)
UDP_HEADER = np.dtype(
    [("sport", ">u2"), ("dport", ">u2"), ("len", ">u2"), ("checksum", ">u2"), ("pad", "V12")]
)
ICMP_HEADER = np.dtype(
    [("type_code", ">u2"), ("checksum", ">u2"), ("id", ">u2"), ("seq", ">u2"), ("pad", "V12")]
)


class Sightings(NamedTuple):
    """Rows of the capture: the packet that each shows, -1 = none of the kernel's, and its time."""

    packet: Ints
    ts: Ints


def sniff(rng: Random, wire_ns: Ints) -> Sightings:
    """Return a sniffer's packets, in the order of its file; they pass it at `wire_ns`."""
    seen = np.flatnonzero(rng.random(len(wire_ns)) >= MISSED)
    delay = np.minimum(rng.exponential(DELAY_NS, len(seen)).astype(np.int64), MAX_DELAY_NS)
    at = wire_ns[seen] + delay
    foreign = len(wire_ns) - len(seen)
    low, high = (int(wire_ns.min()), int(wire_ns.max())) if len(wire_ns) else (0, 1)
    times = np.concatenate([at, rng.integers(low, high + 1, foreign)])
    packet = np.concatenate([seen, np.full(foreign, -1)])
    order = np.argsort(times, kind="stable")
    since = times[order] - low
    wall = WALL_EPOCH + SNIFFER_AHEAD + times[order] + (since * DRIFT).astype(np.int64)
    return Sightings(packet[order], wall)


def write_pcap(path: Path, packets: Packets, seen: Sightings) -> None:
    """Write the sightings; a foreign one becomes a UDP packet between two other hosts."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))
        for first in range(0, len(seen.packet), BLOCK):
            rows, ts = seen.packet[first : first + BLOCK], seen.ts[first : first + BLOCK]
            file.write(_block(packets, rows, ts).data)


def _block(packets: Packets, rows: Ints, ts: Ints) -> npt.NDArray[np.uint8]:
    known = packets.view(f"V{packets.dtype.itemsize}")[np.maximum(rows, 0)].view(packets.dtype)
    foreign = rows < 0
    known["protocol"][foreign] = UDP
    known["saddr"][foreign], known["daddr"][foreign] = 0xC0A80001, 0xC0A80002
    headers = np.zeros(len(rows), HEADERS)
    sizes = np.select([known["protocol"] == TCP], [20], 8) + known["payload"].astype(np.int64)
    headers["seconds"], headers["fraction"] = ts // 10**9, ts % 10**9
    headers["caplen"] = headers["len"] = 34 + sizes
    ours, theirs = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
    for name, first, second in (("eth_src", ours, theirs), ("eth_dst", theirs, ours)):
        headers[name] = np.where(known["out"][:, None], list(first), list(second))
    headers["ethertype"], headers["version"], headers["tot_len"] = 0x0800, 0x4500, 20 + sizes
    headers["frag_off"], headers["ttl"] = 0x4000, 64
    for name in ("ip_id", "protocol", "saddr", "daddr"):
        headers[name] = known[name]
    headers["checksum"] = _ip_checksum(headers)
    _transport(headers, known)
    return _joined(headers, 50 + sizes)


def _ip_checksum(headers: npt.NDArray[np.void]) -> Ints:
    """Return the checksum of RFC 791: the complement of the sum of the header's 16-bit words."""
    total = sum(headers[name].astype(np.int64) for name in ("version", "tot_len", "ip_id"))
    total += headers["frag_off"].astype(np.int64) + (64 << 8) + headers["protocol"]
    for name in ("saddr", "daddr"):
        total += (headers[name] >> 16).astype(np.int64) + (headers[name] & 0xFFFF)
    total = (total >> 16) + (total & 0xFFFF)
    return np.asarray(~((total >> 16) + total) & 0xFFFF, np.int64)


def _transport(headers: npt.NDArray[np.void], known: Packets) -> None:
    for protocol, dtype in ((TCP, TCP_HEADER), (UDP, UDP_HEADER), (ICMP, ICMP_HEADER)):
        mine = np.flatnonzero(known["protocol"] == protocol)
        some = known.view(f"V{known.dtype.itemsize}")[mine].view(known.dtype)
        header = np.zeros(len(mine), dtype)
        if protocol == ICMP:
            header["type_code"], header["id"], header["seq"] = (
                some["sport"],
                some["dport"],
                some["seq"],
            )
        else:
            header["sport"], header["dport"] = some["sport"], some["dport"]
        if protocol == UDP:
            header["len"] = 8 + some["payload"]
        if protocol == TCP:
            header["seq"], header["ack"], header["flags"] = some["seq"], some["ack"], some["flags"]
            header["off"], header["window"] = 0x50, 502
        headers["l4"][mine] = header.view(np.uint8).reshape(-1, 20)


def _joined(headers: npt.NDArray[np.void], sizes: Ints) -> npt.NDArray[np.uint8]:
    """Return the packets behind each other; payload is zeros."""
    begin = np.cumsum(sizes) - sizes
    data = np.zeros(int(sizes.sum()) + HEADERS.itemsize, np.uint8)
    whole = f"V{HEADERS.itemsize}"
    count = len(data) - HEADERS.itemsize + 1
    places: npt.NDArray[np.void] = np.ndarray((count,), whole, data.data, strides=(1,))
    # A header of 20 bytes where there are 8 reaches into the next packet, which comes after it.
    places[begin] = headers.view(whole)
    return data[: len(data) - HEADERS.itemsize]
