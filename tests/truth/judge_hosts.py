# SPDX-License-Identifier: MIT
"""Judge pairs of packets across the three guests, by their bytes, the witness and shared memory.

A packet is the same packet on another host if its bytes are, except ttl and checksum; a translated
datagram has a marked payload.  When a packet passed a device, the witness saw; how the clocks of
two guests relate, the guests saw in shared memory.  Nothing here imports the product.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .judge_join import network
from .running import Recording
from .shared_clocks import Ints, line, seen

IPV4, UDP, TRANSLATED = 0x0800, 17, 9
LENGTHS = {UDP: 6, 6: 16, 1: 8}  # of headers by protocol, up to the checksum
HOSTS = ("a", "r", "b")


class Truth(NamedTuple):
    """Captured packets.  `key` is of the bytes, `header` of those of the headers that no router
    changes; "" if another packet of the capture has them as well.  `ns` is when the witness saw the
    packet on CLOCK_MONOTONIC, 0 if it did not."""

    key: list[bytes]
    header: list[bytes]
    ns: Ints


class Claim(NamedTuple):
    """A claim of skbviewer: two packets are one, and the second follows within these times.

    A packet is named by (host, capture, number from 0).
    """

    one: tuple[str, str, int]
    other: tuple[str, str, int]
    least_ns: int
    most_ns: int


class Verdict(NamedTuple):
    """`wrong` claims join two packets; `outside`: by no possible relation of the clocks can both
    times be right; `slack_ns` is by how much they would be outside at most if they were exact."""

    judged: int
    wrong: int
    unjudged: int  # equal bytes twice in one capture
    timed: int
    outside: int
    widths_ns: Ints  # of the truth's interval, by timed claim
    claimed_ns: Ints  # of the claimed interval, of those with two ends


def truth_of(recording: Recording, capture: str) -> Truth:
    """Return the truth about a capture's packets."""
    found = recording.found[capture]
    parts = [_bytes(*network(frame), frame.data) for frame in found.frames]
    times = [found.hits[hit].row.ns if hit >= 0 else 0 for hit in found.join.hits]
    keys, headers = (_once([part[of] for part in parts]) for of in (0, 1))
    return Truth(keys, headers, np.array(times, np.int64))


def _once(keys: list[bytes]) -> list[bytes]:
    count = Counter(keys)
    return [key if count[key] == 1 else b"" for key in keys]


def _bytes(kind: int, at: int, data: bytes) -> tuple[bytes, bytes]:
    """Return the bytes of a packet that no host changes, and those of its headers."""
    if kind != IPV4:
        return b"", b""
    packet = data[at : at + int.from_bytes(data[at + 2 : at + 4], "big")]
    whole = packet[:8] + packet[9:10] + packet[12:]  # without ttl and checksum
    header = whole[: 17 + LENGTHS.get(packet[9], 0)]
    if packet[9] == UDP and int.from_bytes(packet[22:24], "big") == TRANSLATED:
        whole = packet[28:]
    return whole, header


def judge(recordings: dict[str, Recording], claims: list[Claim]) -> Verdict:
    """Compare claims with the truth."""
    truths = {
        (host, capture): truth_of(recording, capture)
        for host, recording in recordings.items()
        for capture in recording.captures
    }
    judged = [claim for claim in claims if all(truths[p[:2]].key[p[2]] for p in claim[:2])]
    right = [
        c for c in judged if len({truths[p[:2]].key[p[2]] for p in (c.one, c.other)}) == 1
    ]  # fmt: skip
    timed = list(_timed(recordings, truths, right))
    outside = sum(low > c.most_ns or high < c.least_ns for c, low, high in timed)
    widths = np.array([high - low for _, low, high in timed], np.int64)
    claimed = np.array([c.most_ns - c.least_ns for c, _, _ in timed], np.int64)
    return Verdict(len(judged), len(judged) - len(right), len(claims) - len(judged), len(timed),
                   outside, widths, claimed)  # fmt: skip


def _timed(
    recordings: dict[str, Recording], truths: dict[tuple[str, str], Truth], claims: list[Claim]
) -> Iterator[tuple[Claim, int, int]]:
    """Yield claims with the least and the most that their packets can truly be apart."""
    clocks = {host: recording.folder / "clocks" for host, recording in recordings.items()}
    for one in HOSTS:
        for other in HOSTS:
            mine = [c for c in claims if (c.one[0], c.other[0]) == (one, other)]
            times = np.array([[truths[p[:2]].ns[p[2]] for p in c[:2]] for c in mine], np.int64)
            if not len(times):
                continue
            between = line(
                seen(clocks[one], HOSTS.index(other)), seen(clocks[other], HOSTS.index(one))
            )
            least, most = between.between(times[:, 1])
            for claim, (begin, end), low, high in zip(mine, times, least, most, strict=True):
                if begin and end:
                    yield claim, int(low - begin), int(high - begin)


def possible(recordings: dict[str, Recording]) -> set[tuple[str, str, bytes]]:
    """Return all pairs of hosts that captured the same packet with one header, and that header."""
    held: dict[bytes, set[str]] = {}
    for host, recording in recordings.items():
        for capture in recording.captures:
            for key in truth_of(recording, capture).header:
                held.setdefault(key, set()).add(host)
    return {
        (one, other, key)
        for key, hosts in held.items()
        for one in hosts
        for other in hosts
        if key and HOSTS.index(one) < HOSTS.index(other)
    }
