# SPDX-License-Identifier: MIT
"""Events that tell of two packets: copies and their originals, what GRO merged and into what."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import dpkt
import numpy as np
import pytest

from skbviewer.records import kbl_layout as layout
from tests.lab.columns import I64, Columns, Large, field
from tests.lab.fixture import Lab, large
from tests.lab.fixture import lab as lab
from tests.lab.identity import KEY, footprint_before, footprints, frames
from tests.lab.kbl_check import Kind, probes

pytestmark = pytest.mark.lab

TCP, UDP, ECHO, DISCARD = 6, 17, 7, 9
COPIED = 4  # of each kind, see scenarios/copies.sh
LARGEST = 1 << 16  # bytes that GRO merges into one packet


class Pair(NamedTuple):
    """The keys (identity.KEY) of an event's two packets; None: no IPv4 header was recorded."""

    skb: np.void | None
    other: np.void | None


@pytest.fixture
def recorded(lab: Lab) -> Large:
    """The recording of all scenarios."""
    return large(lab.series)


def footprint_after(records: Columns, skb: int, when: int) -> int:
    """The first FOOTPRINT of an skb from a time on, any CPU's, as head index; -1 if none."""
    shown = (records.kind == Kind.EVENT) & (records.second == layout.KblEvent.FOOTPRINT)
    later = np.flatnonzero(shown & (records.skb == skb) & (records.ts >= when))
    return int(later[np.argmin(records.ts[later])]) if len(later) else -1


def places(recorded: Large, event: int) -> I64:
    """Head indices of one event."""
    records = recorded.records
    return np.flatnonzero((records.kind == Kind.EVENT) & (records.second == event))


def others(recorded: Large, at: I64) -> I64:
    """The second packet of each event."""
    slots = recorded.records.slots[recorded.records.at[at]]
    return field(slots, layout.KBL_EVENT_SLOT, "data")


def keys(recorded: Large) -> dict[int, np.void]:
    """What each FOOTPRINT with an IPv4 header says, by head index."""
    heads, shown = footprints(recorded.records)
    rows = np.frombuffer(b"".join(shown), KEY)
    return dict(zip(heads.tolist(), rows, strict=True))


def copies(recorded: Large) -> list[Pair]:
    """Originals by their last footprint before the copy, copies by their first one after it."""
    records, key = recorded.records, keys(recorded)
    at, holder = places(recorded, layout.KblEvent.COPY), footprint_before(records)
    after = [
        footprint_after(records, child, int(records.ts[i]))
        for i, child in zip(at, others(recorded, at), strict=True)
    ]
    return [Pair(key.get(int(holder[i])), key.get(j)) for i, j in zip(at, after, strict=True)]


@pytest.mark.parametrize(("protocol", "port"), [(UDP, ECHO), (TCP, DISCARD)], ids=("udp", "tcp"))
def test_copies_are_the_same_packets(recorded: Large, protocol: int, port: int) -> None:
    """A rule copies UDP packets; a qdisc copies TCP packets and corrupts the copies later.

    TCP itself copies a segment that it sends again while the first is still queued
    (__tcp_retransmit_skb), as happens in slow guests.
    """
    pairs = [p for p in copies(recorded) if p.skb is not None and p.skb["protocol"] == protocol]
    assert len(pairs) == COPIED or (protocol == TCP and len(pairs) > COPIED)
    for skb, copy in pairs:
        assert skb is not None and copy is not None
        assert skb.tobytes() == copy.tobytes()
        assert skb["dport"] == port


def sent(pcap: Path) -> int:
    """TCP packets from client to server."""
    client = bytes([10, 9, 0, 1])
    data = [frame.data for _, frame in frames(pcap) if isinstance(frame.data, dpkt.ip.IP)]
    return sum(ip.src == client and isinstance(ip.data, dpkt.tcp.TCP) for ip in data)


def test_every_packet_that_did_not_come_up_was_merged(lab: Lab, recorded: Large) -> None:
    came, went = (sent(lab.out / f"{name}.pcap") for name in ("merge", "merge-sent"))
    merged = places(recorded, layout.KblEvent.GRO_MERGE)
    missed = int(probes(recorded.kbl)["skb_gro_receive"]["missed"])  # on 6.1, see test_scenarios
    assert 0 <= went - came - len(merged) <= missed
    assert len(merged) > 500


def test_a_merged_packet_continues_the_one_it_went_into(recorded: Large) -> None:
    records, key = recorded.records, keys(recorded)
    at = places(recorded, layout.KblEvent.GRO_MERGE)
    into = others(recorded, at)
    assert (records.skb[at] != into).all()
    heads = records._replace(skb=records.skb.copy())
    heads.skb[at] = into
    for merged, head in zip(
        footprint_before(records)[at], footprint_before(heads)[at], strict=True
    ):
        one, other = key[int(merged)], key[int(head)]
        flow = ["saddr", "daddr", "protocol", "sport", "dport"]
        assert one[flow] == other[flow]
        assert 0 < (int(one["seq"]) - int(other["seq"])) % (1 << 32) < LARGEST
