# SPDX-License-Identifier: MIT
"""A capture that keeps only the beginning of its packets: what it lacks contradicts no life."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from skbviewer.analysis.ingest.kernel_only_rows import WIRE_ONLY
from skbviewer.matching import EXACT
from skbviewer.records import resource
from tests.lab.samples import SAMPLES

from .treated import follow, matched, owners, packets_of, wrong

NAMES = [sample.name for sample in SAMPLES]
SNAPLENS = (34, 54, 60, 68, 96)  # IPv4, IPv6 without transport; both with a part of it
# Packets with an IP header that are ambiguous, by sample and snaplen: without their headers only
# two that number their sender's packets are left, of whose times the clock is sure to 2 ms.
AMBIGUOUS = {("ipv6-and-fragments", 34): 2}


def cut(pcap: Path, out: Path, snaplen: int) -> Path:
    """A copy of a little-endian pcap of nanoseconds with less of each packet; returns it."""
    data = pcap.read_bytes()
    assert data[:4] == bytes.fromhex("4d3cb2a1")
    parts, at = [data[:24]], 24
    while at < len(data):
        second, ns, kept, length = struct.unpack_from("<IIII", data, at)
        less = min(kept, snaplen)
        parts += [struct.pack("<IIII", second, ns, less, length), data[at + 16 : at + 16 + less]]
        at += 16 + kept
    out.write_bytes(b"".join(parts))
    return out


@pytest.mark.parametrize("name", NAMES)
def test_packets_cut_short_find_their_lives(name: str, tmp_path: Path) -> None:
    folder = resource(f"samples/{name}")
    kernel, pcap = follow(folder / f"{name}.kbl"), folder / f"{name}.pcap"
    plain = packets_of(pcap)
    device = matched(plain, kernel).sniffer
    assert device is not None
    owner = owners(kernel, plain, device)
    for snaplen in SNAPLENS:
        packets = packets_of(cut(pcap, tmp_path / "cut.pcap", snaplen))
        found = matched(packets, kernel)
        assert wrong(kernel, found, owner) == []
        verdict = np.full(len(packets), WIRE_ONLY)
        np.minimum.at(verdict, found.rows["packet"], found.rows["verdict"])
        assert np.all(verdict[owner >= 0] != WIRE_ONLY)
        unsure = np.count_nonzero((verdict != EXACT) & (packets["ip_version"] != 0))
        assert unsure <= AMBIGUOUS.get((name, snaplen), 0)
