# SPDX-License-Identifier: MIT
"""The generated files are read without warnings, and their contents equal the truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skbviewer import readers
from skbviewer.records import Capture, KernelLog, Silent

from .generate import Generated, calls_for, generate

ENTRY, EXIT, EVENT = 1, 2, 4
ALLOC, CLONE, FREE = 1, 2, 5
PACKETS, RECORDS = 3000, 30_000


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    return generate(tmp_path_factory.mktemp("made"), PACKETS, calls_for(RECORDS, PACKETS))


@pytest.fixture(scope="module")
def capture(made: Generated) -> Capture:
    read = readers.read(made.capture, Silent())
    assert isinstance(read, Capture)
    return read


@pytest.fixture(scope="module")
def log(made: Generated) -> KernelLog:
    read = readers.read(made.log, Silent())
    assert isinstance(read, KernelLog)
    return read


def test_files_are_sound(made: Generated, capture: Capture, log: KernelLog) -> None:
    assert (capture.warnings, log.warnings) == ((), ())
    assert len(capture.packets) == made.packets
    assert len(log.records) == made.written.slots
    assert made.written.rows == pytest.approx(RECORDS, rel=0.02)  # entries and exits
    assert np.count_nonzero(log.records["kind"] == ENTRY) == made.written.calls
    assert log.meta["counters.written"] == str(made.written.slots)


def test_no_address_has_two_lives_at_once(log: KernelLog) -> None:
    records = log.records
    events = records[(records["kind"] == EVENT) & (records["skb"] != 0)]
    born = np.isin(events["event"], (ALLOC, CLONE))
    address = np.where(events["event"] == CLONE, events["data"], events["skb"])
    life = born | (events["event"] == FREE)
    order = np.lexsort((events["ts"][life], address[life]))
    turns = born[life][order]
    first = np.r_[True, np.diff(address[life][order]) != 0]
    assert turns[first].all()
    assert (turns[1:] != turns[:-1])[~first[1:]].all()
    assert len(np.unique(address[life])) < PACKETS / 5


def test_no_two_calls_of_a_cpu_begin_at_once(log: KernelLog) -> None:
    entries = log.records[log.records["kind"] == ENTRY]
    assert len(np.unique(entries[["cpu", "ts"]])) == len(entries)


def test_truth_is_what_the_packets_say(made: Generated, capture: Capture, log: KernelLog) -> None:
    truth = np.load(made.truth)
    records = log.records
    footprints = records[(records["kind"] == ENTRY) & (records["ip_version"] == 4)]
    lives = np.flatnonzero(truth["packet"] >= 0)
    order = np.lexsort((footprints["ts"], footprints["skb"]))
    footprints = footprints[order]
    wanted = np.stack([truth["skb"][lives], truth["born"][lives]], axis=1)
    for column in ("saddr_lo", "daddr_lo", "ip_id", "tot_len", "sport", "dport"):
        rows = [
            int(np.searchsorted(footprints["skb"], skb) + np.searchsorted(
                footprints["ts"][footprints["skb"] == skb], born))
            for skb, born in wanted[:200].tolist()
        ]  # fmt: skip
        seen = capture.packets[column][truth["packet"][lives[:200]]]
        assert footprints[column][rows].tolist() == seen.tolist()
    assert np.array_equal(truth["life"][truth["packet"][lives]], lives)


def test_traffic_is_hard_to_match(capture: Capture) -> None:
    packets = capture.packets
    assert 0.02 < np.mean(packets["ip_id"] == 0) < 0.1
    key = packets[["saddr_lo", "daddr_lo", "ip_id", "protocol"]]
    assert len(np.unique(key)) < 0.99 * len(packets)
    tcp = packets[(packets["protocol"] == 6) & (packets["payload"] > 0)]
    assert len(np.unique(tcp[["saddr_lo", "sport", "dport", "seq"]])) < len(tcp)
    assert set(np.unique(packets["protocol"])) == {1, 6, 17}


def test_same_seed_same_files(tmp_path: Path, made: Generated) -> None:
    again = generate(tmp_path, PACKETS, calls_for(RECORDS, PACKETS))
    assert again.capture.read_bytes() == made.capture.read_bytes()
    assert again.log.read_bytes() == made.log.read_bytes()
