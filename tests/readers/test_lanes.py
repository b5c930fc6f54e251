# SPDX-License-Identifier: MIT
"""The walk in lanes finds what a plain walk finds, whatever the guesses are worth."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from skbviewer import readers
from skbviewer.readers import lanes, pcap, pcapng
from skbviewer.readers.wire import Ints, Mask
from skbviewer.records import Capture, Silent
from tests.readers.build import ethernet, ipv4, tcp, udp, write_pcap, write_pcapng


def chain(dice: random.Random, count: int, damaged: int = -1) -> tuple[Ints, Ints]:
    """Sizes by place (places that are no beginning have sizes too), and the true beginnings."""
    sizes = [dice.randrange(1, 60) for _ in range(count)]
    begins = np.cumsum([0, *sizes])
    by_place = np.array([dice.randrange(0, 60) for _ in range(int(begins[-1]))], np.int64)
    by_place[begins[:-1]] = sizes
    if damaged >= 0:
        by_place[begins[damaged]] = 0
    return by_place, begins[:-1]


@pytest.mark.parametrize("guess", ["right", "anything", "nothing", "sparse"])
@pytest.mark.parametrize("damaged", [-1, 0, 777, 1999])
def test_as_a_plain_walk(guess: str, damaged: int) -> None:
    dice = random.Random(damaged)
    sizes, begins = chain(dice, 2000, damaged)
    end = len(sizes)
    good = np.zeros(end, np.bool_)
    if guess == "right":
        good[begins] = True
    elif guess == "sparse":
        good[dice.sample(range(end), 30)] = True
    else:
        good[:] = guess == "anything"

    def length(at: Ints) -> Ints:
        size = np.where(at < end, sizes[np.minimum(at, end - 1)], 0)
        return np.where(at + size <= end, size, 0)

    def likely(at: Ints) -> Mask:
        return np.asarray(good[at])

    for count in (1, 2, 7, 64):
        found = lanes.walk(0, end, length, likely, count)
        last = damaged if damaged >= 0 else 2000
        assert found.offsets.tolist() == begins[:last].tolist()
        assert found.at == (begins[damaged] if damaged >= 0 else end)


def frames(count: int) -> list[tuple[int, bytes]]:
    """Packets whose payload looks like packets of a capture."""
    dice = random.Random(count)
    fake = b"\0\0\0\0" + b"\1\0\0\0" + b"\x14\0\0\0" * 2 + bytes(20)
    made = []
    for number in range(count):
        payload = fake * dice.randrange(4) + dice.randbytes(dice.randrange(30))
        packet = ipv4("10.0.0.1", "10.0.0.2", 6, tcp(1, 2, number, payload=payload), number)
        if dice.random() < 0.2:
            packet = ipv4("10.0.0.1", "10.0.0.2", 17, udp(1, 2, payload), number)
        made.append((number * 1000, ethernet(packet)))
    return made


def load(path: Path) -> Capture:
    found = readers.read(path, Silent())
    assert isinstance(found, Capture)
    return found


@pytest.mark.parametrize("cut", [0, 1, 17, 5000])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", ["pcap", "pcapng"])
def test_files_read_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, order: str, cut: int
) -> None:
    path = tmp_path / f"a.{kind}"
    write = write_pcap if kind == "pcap" else write_pcapng
    write(path, frames(1500), order=order)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - cut])
    plain = load(path)
    for module in (pcap, pcapng):
        monkeypatch.setattr(module, "WORTHWHILE", 0)
    fast = load(path)
    assert fast.packets.tolist() == plain.packets.tolist()
    assert fast.warnings == plain.warnings
    assert bool(fast.warnings) == bool(cut)
