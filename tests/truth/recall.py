# SPDX-License-Identifier: MIT
"""Count the packets that could be exact, because no other skb nearby has equal bytes.

For packets that are not exact, find the skbs that they could be.  The bytes are those of the
witness and of the captures.
"""

from __future__ import annotations

import bisect
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from .capture_files import Frame
from .judge import Opinion, Origin, Witnessed
from .judge_join import hit_bytes, network
from .judge_witness import Hit, Witness

UNKNOWN_NS = 50_000  # of a clock that was not fitted
WHOLE = 1 << 16


def identity(data: bytes) -> bytes:
    """Return the part of a packet that a log can know, from its network header on.

    It has addresses, numbers, lengths, ports and sequence numbers, but no TTL, checksums or
    options.
    """
    if data[:1] and data[0] >> 4 == 4 and len(data) >= 20:
        size = (data[0] & 15) * 4
        own = data[2:8] + data[9:10] + data[12:20]
        later = int.from_bytes(data[6:8], "big") & 0x1FFF
        return own if later else own + _transport(data[9], data[size:])
    if data[:1] and data[0] >> 4 == 6:
        return data[1:7] + data[8:40] + data[40:54]
    return data[:28]


def _transport(protocol: int, data: bytes) -> bytes:
    if protocol == 6:
        return data[:12] + data[13:14]
    return data[:2] + data[4:8] if protocol == 1 else data[:6]


def headers(frame: Frame) -> bytes:
    """Return the identity of a captured packet."""
    return identity(frame.data[network(frame)[1] :])


def apart(
    opinions: Sequence[Opinion], origins: Sequence[Origin], error_ns: int | None
) -> dict[str, int]:
    """Return how many packets equal no other one within the clock's error, and how many are exact.

    It compares headers and contents, or headers alone.
    """
    error = UNKNOWN_NS if error_ns is None else error_ns
    frames = [o.found.frames[o.number] for o in origins if o.found]
    exact = [o.verdict == "exact" for o in opinions]
    found = {}
    for name, keys in (
        ("apart", [frame.data for frame in frames]),
        ("apart by headers", [headers(frame) for frame in frames]),
    ):
        alone = _alone(keys, [frame.ts for frame in frames], error)
        found[name] = sum(alone)
        found[f"exact {name}"] = sum(a and e for a, e in zip(alone, exact, strict=True))
    return found


def _alone(keys: list[bytes], times: list[int], error: int) -> list[bool]:
    alone = [True] * len(keys)
    groups = defaultdict(list)
    for number, key in enumerate(keys):
        groups[key].append(number)
    for numbers in groups.values():
        numbers.sort(key=lambda n: times[n])
        for one, two in pairwise(numbers):
            if times[two] - times[one] <= error:
                alone[one] = alone[two] = False
    return alone


class Seen(NamedTuple):
    """The files by which a treated capture was judged."""

    treatment: str
    opinions: list[Opinion]
    origins: list[Origin]
    error_ns: int | None  # of the fitted clock, None: none was fitted
    lost: list[tuple[int, int]]  # stretches in which the log declares that records are missing


def unanimous(packets: list[int], seen: Seen, witness: Witness) -> dict[int, str]:
    """Return for each of these packets why another lifetime fits it as well; "" if unknown."""
    moments = Counter((id(o.found), o.number, o.interface) for o in seen.origins)
    rivals, twins, elsewhere = _Rivals(seen, witness), _twins(seen), _of_several_devices(seen)
    answers = {}
    for packet in packets:
        origin = seen.origins[packet]
        if moments[id(origin.found), origin.number, origin.interface] > 1:
            answers[packet] = "captured twice"
        elif packet in twins:
            answers[packet] = "another packet with the same headers may have its moment"
        elif packet in elsewhere:
            answers[packet] = "packets of several devices as one, another one has its headers"
        else:
            answers[packet] = rivals.why(origin)
    return answers


def _twins(seen: Seen) -> set[int]:
    """Return packets that have the headers of another one of their interface, at nearly its time.

    A merged file has a packet of each device that an skb passed.
    """
    error = UNKNOWN_NS if seen.error_ns is None else seen.error_ns
    groups = defaultdict(list)
    for packet, origin in enumerate(seen.origins):
        if origin.found:
            frame = origin.found.frames[origin.number]
            groups[origin.interface, headers(frame)].append((frame.ts, packet))
    found = set()
    for group in groups.values():
        for one, two in pairwise(sorted(group)):
            if two[0] - one[0] <= 2 * error + UNKNOWN_NS:
                found |= {one[1], two[1]}
    return found


def _of_several_devices(seen: Seen) -> set[int]:
    """Return packets of interfaces that join several captures, if another one has their headers.

    No device of the host passed all packets of such an interface, so another host may have captured
    them at its one device, at another time than the clock says.
    """
    captures, groups = defaultdict(set), defaultdict(list)
    for packet, origin in enumerate(seen.origins):
        if origin.found:
            captures[origin.interface].add(id(origin.found))
            key = origin.interface, headers(origin.found.frames[origin.number])
            groups[key].append(packet)
    return {
        packet
        for (interface, _), group in groups.items()
        if len(group) > 1 and len(captures[interface]) > 1
        for packet in group
    }


class _Rivals:
    """Other skbs that sockets were given, by the bytes that a capture shows of them."""

    def __init__(self, seen: Seen, witness: Witness) -> None:
        self._seen = seen
        cut = re.match(r"snaplen (\d+)", seen.treatment)
        self._size = int(cut[1]) - 14 if cut else WHOLE
        self._hits: dict[bytes, list[tuple[int, int, int, int, bool]]] = defaultdict(list)
        for hits in witness.sockets.values():
            for hit in hits:
                row = (hit.ns, hit.skb, hit.row.get("netns"), hit.row.get("if"), hit.outgoing)
                self._hits[self._key(hit)].append(row)
        for rows in self._hits.values():
            rows.sort()

    def _key(self, hit: Hit) -> bytes:
        return identity(hit_bytes(hit)[: self._size])

    def why(self, origin: Origin) -> str:
        found = origin.found
        number = found.join.hits[origin.number] if found else -1
        if found is None or number < 0:
            return "the witness missed it"
        hit, error = found.hits[number], self._seen.error_ns
        rows = self._hits[self._key(hit)]
        if answer := self._other(hit, rows, error, error is None):
            return answer
        reach = UNKNOWN_NS if error is None else error
        if any(begin - reach <= hit.ns <= end + reach for begin, end in self._seen.lost):
            return "the log declares a loss near the packet, which may include another such skb"
        return ""

    def _other(
        self, hit: Hit, rows: list[tuple[int, int, int, int, bool]], error: int | None, blind: bool
    ) -> str:
        place = (hit.row.get("netns"), hit.row.get("if"), hit.outgoing)
        low, high = 0, len(rows)
        if error is not None:
            low = bisect.bisect_left(rows, (hit.ns - error,))
            high = bisect.bisect_right(rows, (hit.ns + error + 1,))
        near = [row for row in rows[low:high] if row[1] != hit.skb or abs(row[0] - hit.ns) > 10**6]
        if any(row[2:] == place for row in near):
            return "another skb has the same headers, and no packet fixes the clock" if blind else (
                "another skb has the same headers, within the error of the clock")  # fmt: skip
        return "another skb has the same headers, at another device" if near else ""


def joined(found: Witnessed) -> int:
    """Return how many packets of a capture have their hit."""
    return sum(hit >= 0 for hit in found.join.hits)
