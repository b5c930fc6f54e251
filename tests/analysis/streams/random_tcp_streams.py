# SPDX-License-Identifier: MIT
"""Captures of random TCP streams with many faults; the same seed makes the same capture."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import NamedTuple

import dpkt

FIN, SYN, RST, PSH, ACK = 0x01, 0x02, 0x04, 0x08, 0x10
CLIENT, SERVER = 1, 2
PAUSES_NS = (1_000, 100_000, 1_000_000, 5_000_000, 30_000_000)
AT_ONCE, PORTS = 4, 12
SCALE = b"\x01\x03\x03\x02"  # NOP, window scale 2


class Segment(NamedTuple):
    """`sender` is CLIENT or SERVER."""

    sender: int
    seq: int
    ack: int
    flags: int
    window: int
    data: bytes = b""
    options: bytes = b""


class Stream:
    """One connection; `c` and `s` are the next numbers of client and server."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.c, self.s = (
            chance.choice([2**32 - chance.randrange(1, 1000), chance.randrange(2**32)])
            for _ in "cs"
        )
        self.window = chance.choice([500, 8000, 60000])
        self.acked = self.c + 1
        self.segments: list[Segment] = []
        options = chance.choice([b"", SCALE])
        self.say(CLIENT, self.c, 0, SYN, options=options)
        if chance.random() < 0.2:
            self.say(CLIENT, self.c, 0, SYN, options=options)
        self.say(SERVER, self.s, self.c + 1, SYN | ACK, options=options)
        self.c, self.s = self.c + 1, self.s + 1
        self.say(CLIENT, self.c, self.s, ACK)
        for _ in range(chance.choice([3, 10, 40])):
            chance.choices(self.STEPS, self.WEIGHTS)[0](self)
        self.close()

    def say(self, sender: int, seq: int, ack: int, flags: int, **more: object) -> None:
        fields = {"window": self.window, **more}
        self.segments.append(Segment(sender, seq, ack, flags, **fields))  # type: ignore[arg-type]

    def bytes(self) -> bytes:
        size = self.chance.choice([1, 10, 100, 500])
        return bytes(self.chance.randrange(97, 123) for _ in range(size))

    def send(self) -> None:
        data = self.bytes()
        self.say(CLIENT, self.c, self.s, PSH | ACK, data=data)
        self.c += len(data)

    def acknowledge(self) -> None:
        self.say(SERVER, self.s, self.c, ACK)
        self.acked = self.c

    def acknowledge_again(self) -> None:
        self.say(SERVER, self.s, self.acked, ACK)

    def fast(self) -> None:
        for _ in range(3):
            self.acknowledge_again()
        if self.c > self.acked:
            data = self.bytes()[: self.c - self.acked]
            self.say(CLIENT, self.acked, self.s, PSH | ACK, data=data)

    def repeat(self) -> None:
        sent = [segment for segment in self.segments if segment.data and segment.sender == CLIENT]
        if sent:
            self.segments.append(self.chance.choice(sent))

    def lose(self) -> None:
        self.c += len(self.bytes())

    def shut_window(self) -> None:
        self.say(SERVER, self.s, self.c, ACK, window=0)
        self.say(CLIENT, self.c, self.s, ACK, data=b"x")
        self.say(SERVER, self.s, self.c, ACK, window=0)
        self.acknowledge()

    def keep_alive(self) -> None:
        data = self.chance.choice([b"", b"k"])
        self.say(CLIENT, self.c - 1, self.s, ACK, data=data)
        self.acknowledge()

    def widen(self) -> None:
        self.say(SERVER, self.s, self.c, ACK, window=self.window + 100)
        self.acked = self.c

    def answer(self) -> None:
        data = self.bytes()
        self.say(SERVER, self.s, self.c, PSH | ACK, data=data)
        self.s, self.acked = self.s + len(data), self.c

    def swap(self) -> None:
        data = self.bytes()
        for seq in (self.c + len(data), self.c):
            self.say(CLIENT, seq, self.s, PSH | ACK, data=data)
        self.c += 2 * len(data)

    def close(self) -> None:
        if self.chance.random() < 0.3:
            self.say(CLIENT, self.c, self.s, RST | ACK, window=0)
            return
        self.say(CLIENT, self.c, self.s, FIN | ACK)
        self.say(SERVER, self.s, self.c + 1, FIN | ACK)
        self.say(CLIENT, self.c + 1, self.s + 1, ACK)

    STEPS = (
        send, acknowledge, acknowledge_again, fast, repeat, lose, shut_window, keep_alive, widen,
        answer, swap,
    )  # fmt: skip
    WEIGHTS = (45, 15, 6, 4, 4, 3, 3, 4, 3, 6, 7)


def write_streams(path: Path, seed: int, count: int = 30) -> None:
    """Write a pcap (ns, Ethernet) of `count` streams, a few at a time, on ports that are reused."""
    chance = random.Random(seed)
    live = [(30000 + n % PORTS, list(Stream(chance).segments)) for n in range(count)]
    packets: list[tuple[int, bytes]] = []
    ns = 1_700_000_000 * 10**9
    while live:
        stream = chance.choice(live[:AT_ONCE])
        ns += chance.choice(PAUSES_NS)
        packets.append((ns, _frame(stream[0], stream[1].pop(0), len(packets))))
        if not stream[1]:
            live.remove(stream)
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for ts, data in packets:
            file.write(struct.pack("<IIII", ts // 10**9, ts % 10**9, len(data), len(data)) + data)


def _frame(port: int, segment: Segment, ident: int) -> bytes:
    ports = (port, 80) if segment.sender == CLIENT else (80, port)
    tcp = dpkt.tcp.TCP(
        sport=ports[0], dport=ports[1], seq=segment.seq % 2**32, ack=segment.ack % 2**32,
        flags=segment.flags, win=segment.window, opts=segment.options, data=segment.data,
        off=5 + len(segment.options) // 4,
    )  # fmt: skip
    ends = [bytes([10, 0, 0, n]) for n in (segment.sender, 3 - segment.sender)]
    size = 20 + len(bytes(tcp))
    ip = dpkt.ip.IP(src=ends[0], dst=ends[1], p=6, id=ident, ttl=64, len=size, data=tcp)
    macs = [b"\2\0\0\0\0" + bytes([n]) for n in (segment.sender, 3 - segment.sender)]
    return bytes(dpkt.ethernet.Ethernet(src=macs[0], dst=macs[1], type=0x800, data=ip))
