# SPDX-License-Identifier: MIT
"""Segments that were sent only once, beside a slow reference: every triple of packets."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations
from random import Random

import numpy as np
import pytest

from skbviewer.matching.candidates.segments_sent_once import ACK, FIN, SOON_NS, SYN, acknowledged
from skbviewer.records import PACKET_DTYPE, UNTIMED
from skbviewer.records.protocols import TCP

CLIENT, SERVER = (0x20, 1, 40000), (0x20, 2, 80)
MS = 1_000_000
WRAP = 1 << 32
PacketArray = np.ndarray[tuple[int], np.dtype[np.void]]


@dataclass
class Capture:
    """A capture that grows by segments."""

    rows: list[dict[str, int]] = field(default_factory=list)

    def add(
        self, ms: float, sent: bool, seq: int, ack: int, payload: int = 0, flags: int = ACK
    ) -> int:
        """Add a segment that the client (or the server) sent; return its index."""
        source, to = (CLIENT, SERVER) if sent else (SERVER, CLIENT)
        ends = {"saddr_hi": source[0], "saddr_lo": source[1], "sport": source[2]}
        ends |= {"daddr_hi": to[0], "daddr_lo": to[1], "dport": to[2]}
        tcp = {"seq": seq % WRAP, "ack": ack % WRAP, "tcp_flags": flags, "payload": payload}
        self.rows.append({"ts": int(ms * MS), "protocol": TCP} | ends | tcp)
        return len(self.rows) - 1

    def packets(self) -> PacketArray:
        """Return the capture as packets of IPv6."""
        made = np.full(len(self.rows), -1, np.int64).astype(PACKET_DTYPE)
        made["ip_version"] = 6
        for at, row in enumerate(self.rows):
            for name, value in row.items():
                made[name][at] = value
        return made

    def once(self, without: tuple[int, ...] = ()) -> list[int]:
        """Return the segments sent once, if the log has all packets but `without`."""
        paired = np.ones(len(self.rows), np.bool_)
        paired[list(without)] = False
        return np.flatnonzero(acknowledged(self.packets(), paired)).tolist()


def handshake(isn: int = WRAP - 1, late: float = 0) -> Capture:
    """SYN, SYN-ACK, ACK, and a request with its response, whose numbers wrap around."""
    made = Capture()
    made.add(0, True, isn, 0, flags=SYN)
    made.add(1, False, isn + 5, isn + 1, flags=SYN | ACK)
    made.add(2 + late, True, isn + 1, isn + 6)
    made.add(3 + late, True, isn + 1, isn + 6, payload=100)
    made.add(4 + late, False, isn + 6, isn + 101, payload=900)
    made.add(5 + late, True, isn + 101, isn + 906)
    return made


@pytest.mark.parametrize("isn", [7, WRAP - 1, WRAP // 2 - 3])
def test_what_both_ends_show_to_have_arrived(isn: int) -> None:
    # The response may be sent again: nothing shows that the server got its acknowledgement.
    assert handshake(isn).once() == [0, 1, 3]


def test_an_acknowledgement_that_comes_late_shows_nothing() -> None:
    assert handshake(late=SOON_NS / MS).once() == [3]


@pytest.mark.parametrize(("lacks", "left"), [(0, [1, 3]), (1, [0, 3]), (2, [0, 1, 3]), (4, [0])])
def test_only_packets_of_the_log_show_anything(lacks: int, left: list[int]) -> None:
    """Without SYN-ACK or ACK, other packets show the same."""
    assert handshake().once((lacks,)) == left


def test_a_syn_that_is_sent_again_after_the_log_is_not_sent_once() -> None:
    assert handshake().once((2, 3, 4, 5)) == []


def test_other_packets_count_for_nothing() -> None:
    made = handshake()
    for column, value in (("ts", UNTIMED), ("protocol", 17), ("seq", -1), ("payload", -1)):
        packets = made.packets()
        packets[column] = value
        paired = np.ones(len(packets), np.bool_)
        assert not acknowledged(packets, paired).any()


def drawn(rng: Random) -> Capture:
    """Two ends that send in turn, lose packets and send them again."""
    made, sent, got = Capture(), [rng.randrange(WRAP) for _ in "ab"], [0, 0]
    got = [sent[1], sent[0]]
    ms = 0.0
    for _ in range(rng.randrange(2, 14)):
        ms += rng.choice([1, 60, 150, 250])
        end = rng.randrange(2)
        length = rng.choice([0, 0, 1, 500])
        again = rng.choice([0, 0, 0, 500])
        made.add(
            ms, end == 0, sent[end] - again, got[end], length, rng.choice([ACK, ACK, ACK | FIN])
        )
        if not again:
            last = made.rows[-1]
            sent[end] += length + bool(last["tcp_flags"] & FIN)
        if rng.random() < 0.7:
            got[1 - end] = sent[end]
    return made


def later(one: int, other: int) -> bool:
    """Whether a sequence number is above another one."""
    return 0 < (one - other) % WRAP < WRAP // 2


def reference(made: Capture, without: tuple[int, ...]) -> set[int]:
    """The segments of which three packets show that they were sent once."""
    rows = [row for at, row in enumerate(made.rows) if at not in without]
    end = [
        row["seq"] + row["payload"] + bool(row["tcp_flags"] & SYN) + bool(row["tcp_flags"] & FIN)
        for row in rows
    ]
    found = set()
    for first, second, third in permutations(range(len(rows)), 3):
        if max(first, second) > third:
            continue
        one, two, three = rows[first], rows[second], rows[third]
        if one["saddr_lo"] != three["saddr_lo"] or one["saddr_lo"] == two["saddr_lo"]:
            continue
        if (
            three["ts"] - one["ts"] > SOON_NS
            or end[first] == one["seq"]
            or end[second] == two["seq"]
        ):
            continue
        if not later(end[first], two["ack"]) and not later(end[second], three["ack"]):
            found.add(id(one))
    return {at for at, row in enumerate(made.rows) if id(row) in found}


def test_nothing_is_found_that_no_three_packets_show() -> None:
    """The loop leaves out some that they show, where segments come in another order."""
    rng = Random(1)
    there = 0
    for _ in range(1000):
        made = drawn(rng)
        without = tuple(at for at in range(len(made.rows)) if rng.random() < 0.1)
        once = set(made.once(without))
        shown = reference(made, without)
        assert once <= shown
        there += bool(once)
    assert there > 150
