# SPDX-License-Identifier: MIT
"""Join the hits of a packet socket with the packets of its capture.

The kernel writes packets in the order of the hits, but leaves out what the sniffer's filter
refuses, and a witness may have missed hits.  So a packet and a hit belong together if both their
bytes and their order agree.  Among hits with equal bytes, only the times can decide.
"""

from __future__ import annotations

import bisect
import statistics
from collections import Counter
from typing import NamedTuple

from .capture_files import Frame
from .judge_witness import Hit

ETHERNET, RAW, SLL, SLL2 = 1, 101, 113, 276
COOKED = {SLL: 16, SLL2: 20}
FAR_NS = 400_000_000  # a packet's stamp and the socket's hit: a backlog may lie between
LOOPBACK = 1  # ifindex of lo in every network namespace
OUT_OF_ORDER = 3  # places: two CPUs may give a socket packets in another order than the witness


class Join(NamedTuple):
    """Per packet the number of its hit, -1 where `reasons` says why there is none."""

    hits: list[int]
    reasons: list[str]


def network(frame: Frame) -> tuple[int, int]:
    """Return EtherType of a packet and where its header begins, behind VLAN tags."""
    data = frame.data
    if frame.link in COOKED:
        at = 14 if frame.link == SLL else 0
        return int.from_bytes(data[at : at + 2], "big"), COOKED[frame.link]
    if frame.link != ETHERNET:
        return (0x86DD if data[:1] and data[0] >> 4 == 6 else 0x0800), 0
    at = 12
    while data[at : at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    return int.from_bytes(data[at : at + 2], "big"), at + 2


def packet_key(frame: Frame, scratch: int = 1 << 16) -> bytes:
    """Return the packet's bytes from its network header on, as far as they are certainly linear.

    For TCP, these are only the headers, because the content may be in page fragments.
    """
    kind, at = network(frame)
    return _certain(kind, frame.data[at:])[:scratch]


def _certain(kind: int, data: bytes) -> bytes:
    if kind == 0x0800 and len(data) >= 20:
        size = (data[0] & 15) * 4
        total = int.from_bytes(data[2:4], "big") or len(data)
        later = int.from_bytes(data[6:8], "big") & 0x1FFF
        return data[:total] if data[9] == 17 and not later else _headers(data, data[9], size)
    if kind == 0x86DD and len(data) >= 40:
        return _headers(data, data[6], 40)
    return data[:28] if kind == 0x0806 else data[:20]


def _headers(data: bytes, protocol: int, size: int) -> bytes:
    if protocol == 6 and len(data) > size + 13:
        return data[: size + (data[size + 12] >> 4) * 4]
    return data[: size + 8]


def hit_bytes(hit: Hit) -> bytes:
    """Return what the witness read of the packet, from its network header on."""
    row = hit.row
    skip = row.get("head") + row.get("nh") - row.get("data") if row.get("nh") else 0
    end = row.get("len") - row.get("paged") if "paged" in row.values else len(row.bytes)
    return row.bytes[max(skip, 0) : max(end, 0)]


def agree(frame: Frame, hit: Hit) -> bool:
    """Return whether nothing that is known of both differs."""
    seen, key = hit_bytes(hit), packet_key(frame)
    size = min(len(seen), len(key))
    return seen[:size] == key[:size] and _length(frame, hit) and size > 0


def _length(frame: Frame, hit: Hit) -> bool:
    """Return whether the packet is as long as the skb: both from the network header on."""
    row = hit.row
    inside = row.get("head") + row.get("nh") - row.get("data") if row.get("nh") else 0
    return frame.length - network(frame)[1] == row.get("len") - inside


def _offset(frames: list[Frame], hits: list[Hit]) -> int | None:
    """The sniffer's clock minus the witness's, ns: of packets whose bytes come once."""
    if real := [hit.row.get("real") - hit.row.ns for hit in hits if hit.row.get("real")]:
        return int(statistics.median(real))
    packets = Counter(packet_key(frame, 64) for frame in frames)
    seen = Counter(hit_bytes(hit)[:64] for hit in hits)
    where = {hit_bytes(hit)[:64]: hit for hit in hits}
    apart = [
        frame.ts - where[key].row.ns
        for frame in frames
        if packets[key := packet_key(frame, 64)] == 1 and seen[key] == 1
    ]
    return int(statistics.median(apart)) if len(apart) >= 5 else None


def socket_hits(hits: list[Hit], netns: int = 0) -> list[Hit]:
    """Return the hits that a sniffer made by libpcap can have written: of lo none that goes out.

    A socket of all devices is called for those of other namespaces, too, and takes nothing there
    (tpacket_rcv() in net/packet/af_packet.c).
    """
    return [
        hit
        for hit in hits
        if not (hit.outgoing and hit.row.get("if") == LOOPBACK)
        and not (netns and hit.row.get("netns") not in (0, netns))
    ]


def join(frames: list[Frame], hits: list[Hit]) -> Join:
    """Find each packet's hit among those of its socket.

    A stamp that the kernel put on the skb is the packet's time to the ns, so it names the hit.
    Otherwise, bytes and order decide, and then the time if it is clear.
    """
    offset = _offset(frames, hits)
    if offset is None:
        return Join([-1] * len(frames), ["witness and sniffer have no common clock"] * len(frames))
    chosen = _by_stamp(frames, hits)
    times = [hit.row.ns + offset for hit in hits]
    claims = _claims(frames, hits, times, chosen)
    reasons = [_reason(n, chosen, claims) for n in range(len(frames))]
    for slack in (OUT_OF_ORDER, 0):
        while _settle(claims, chosen, slack):
            pass
    _nearest(frames, times, claims, chosen)
    return Join(chosen, [r if h < 0 else "" for r, h in zip(reasons, chosen, strict=True)])


def _by_stamp(frames: list[Frame], hits: list[Hit]) -> list[int]:
    stamps = {hit.row.get("tstamp"): n for n, hit in enumerate(hits) if hit.row.get("tstamp")}
    found = [stamps.get(frame.ts, -1) for frame in frames]
    once = Counter(found)
    return [
        hit if hit >= 0 and once[hit] == 1 and agree(frame, hits[hit]) else -1
        for frame, hit in zip(frames, found, strict=True)
    ]


def _claims(
    frames: list[Frame], hits: list[Hit], times: list[int], chosen: list[int]
) -> dict[int, tuple[int, ...]]:
    """Return the hits with the bytes of each packet that has none yet."""
    taken = set(chosen)
    found = {}
    for number, frame in enumerate(frames):
        if chosen[number] < 0:
            low = bisect.bisect_left(times, frame.ts - FAR_NS)
            high = bisect.bisect_right(times, frame.ts + FAR_NS)
            near = [h for h in range(low, high) if h not in taken]
            same = tuple(h for h in near if agree(frame, hits[h]))
            found[number] = same or tuple(h for h in near if _may_be(frame, hits[h]))
    return found


def _may_be(frame: Frame, hit: Hit) -> bool:
    """Return whether the skb has the packet's length, and no byte of it was linear.

    virtio_net leaves large packets in page fragments if nothing merges them.  Then only the order
    of the hits shows which packet it is.
    """
    return not hit_bytes(hit) and _length(frame, hit)


def _reason(number: int, chosen: list[int], claims: dict[int, tuple[int, ...]]) -> str:
    if chosen[number] >= 0 or claims[number]:
        return (
            "several hits have the packet's bytes, and neither order nor time shows which one is "
            "the packet's"
        )
    return "the witness has no hit with the packet's bytes"


def _between(claims: dict[int, tuple[int, ...]], chosen: list[int], slack: int) -> None:
    """Leave of each packet's claims those between the hits of its neighbours."""
    low, lows = -1, []
    for hit in chosen:
        lows.append(low)
        low = max(low, hit)
    high = 1 << 62
    for number in range(len(chosen) - 1, -1, -1):
        if chosen[number] >= 0:
            high = min(high, chosen[number])
        elif number in claims:
            begin, end = lows[number] - slack, high + slack
            claims[number] = tuple(h for h in claims[number] if begin <= h <= end)


def _settle(claims: dict[int, tuple[int, ...]], chosen: list[int], slack: int) -> bool:
    """Choose where the claims leave one way; whether any was chosen."""
    _between(claims, chosen, slack)
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, near in claims.items():
        groups.setdefault(near, []).append(number)
    claimants = Counter(hit for near in groups for hit in near)
    done = [
        (numbers, near)
        for near, numbers in groups.items()
        if len(near) == len(numbers) and all(claimants[hit] == 1 for hit in near)
    ]
    for numbers, near in done:
        for number, hit in zip(numbers, near, strict=True):
            chosen[number] = hit
            del claims[number]
    return bool(done)


def _nearest(
    frames: list[Frame], times: list[int], claims: dict[int, tuple[int, ...]], chosen: list[int]
) -> None:
    """Choose by time where packet and hit are four times as near as any rival of either."""
    apart = {
        (number, hit): abs(frames[number].ts - times[hit])
        for number, near in claims.items()
        for hit in near
    }
    for (number, hit), own in apart.items():
        rivals = [ns for pair, ns in apart.items() if (pair[0] == number) != (pair[1] == hit)]
        if not rivals or min(rivals) > 4 * own + 2000:
            chosen[number] = hit
