# SPDX-License-Identifier: MIT
"""Two hosts' logs and captures in one session: a packet is one packet at both ends."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skbviewer.matching import (
    AMBIGUOUS,
    BY_TIME,
    EXACT,
    clock_bounds,
    trips,
    without_early_arrivals,
)
from skbviewer.records import RECORD_DTYPE, KernelLog, RecordTable, resource
from skbviewer.records.column_tables import FOOTPRINT_NAMES
from skbviewer.session import Session, import_files
from tests.lab.fixture import hosts as hosts

from .treated import Index, Kernel, follow, followed, matched, packets_of

AHEAD = 1_234_567_890_123  # the second host's clock shows so much more


def half(kernel: Kernel, keep: Index, ahead_ns: int) -> KernelLog:
    """The log of a host that has these records alone, on its own clock."""
    records = kernel.log.records
    assert isinstance(records, RecordTable)
    names = [name for name in RECORD_DTYPE.names or () if name not in FOOTPRINT_NAMES]
    columns = {name: records.part(name, keep) for name in names}
    columns["ts"] = columns["ts"] + ahead_ns
    table = RecordTable(columns, records.footprint[keep], records.footprints)
    clock = tuple(one._replace(mono_ns=one.mono_ns + ahead_ns) for one in kernel.log.clock)
    return replace(kernel.log, records=table, clock=clock)


def split(kernel: Kernel) -> tuple[Kernel, Kernel]:
    """One machine's two namespaces as two hosts; what is in neither belongs to both."""
    leg = kernel.legs.of
    netns = np.where(leg >= 0, kernel.legs.rows["netns"][leg], 0)
    names = {key: name for key, name in kernel.log.devices.items() if name in ("vc", "vs")}
    first, second = sorted({key[0] for key in names}, key=lambda ns: names[ns, 2])
    a = followed(half(kernel, np.flatnonzero(netns != second), 0))
    b = followed(half(kernel, np.flatnonzero(netns != first), AHEAD))
    return a, b


@pytest.mark.parametrize("name", ["handshake", "bulk", "ipv6-and-fragments"])
def test_a_packet_joins_the_legs_of_both_hosts(name: str) -> None:
    folder = resource(f"samples/{name}")
    packets = packets_of(folder / f"{name}.pcap")
    a, b = split(follow(folder / f"{name}.kbl"))
    found = [matched(packets, kernel) for kernel in (a, b)]
    ip = np.flatnonzero(packets["ip_version"] != 0)
    for one in found:
        exact = np.unique(one.rows["packet"][one.rows["verdict"] == EXACT])
        assert np.isin(ip, exact).mean() >= 0.9
    both = trips(found[0], found[1], a.kernel_side, b.kernel_side)
    assert both.onward.any()
    assert not both.onward.all()
    way = clock_bounds(both)
    assert way is not None
    low, high = way.offset(both.a_ns)
    assert ((low <= AHEAD) & (high >= AHEAD)).all()
    low, high = way.transit_times(both.a_ns, both.b_ns, both.onward)
    there = np.where(both.onward, both.b_ns - both.a_ns - AHEAD, both.a_ns - both.b_ns + AHEAD)
    assert ((low <= there) & (there <= high)).all()
    assert (low >= 0).all()


def test_what_time_decided_says_nothing_of_time() -> None:
    folder = resource("samples/bulk")
    packets = packets_of(folder / "bulk.pcap")
    a, b = split(follow(folder / "bulk.kbl"))
    found = [matched(packets, kernel) for kernel in (a, b)]
    every = trips(found[0], found[1], a.kernel_side, b.kernel_side)
    rows = found[1].rows.copy()
    rows["rung"][rows["packet"] % 2 == 0] = BY_TIME
    some = trips(found[0], found[1]._replace(rows=rows), a.kernel_side, b.kernel_side)
    assert 0 < len(some.a_ns) < len(every.a_ns)
    assert np.isin(some.series_b, every.series_b).all()


def test_what_would_arrive_before_it_was_sent_is_ambiguous() -> None:
    """Of two equal packets, the one that only the sender's log has got the other's arrival."""
    folder = resource("samples/bulk")
    packets = packets_of(folder / "bulk.pcap")
    a, b = split(follow(folder / "bulk.kbl"))
    one, other = (matched(packets, kernel) for kernel in (a, b))
    both = trips(one, other, a.kernel_side, b.kernel_side)
    way = clock_bounds(both)
    assert way is not None
    series = b.legs.rows["series"][other.rows["leg"]]
    got = both.series_b[both.onward]
    first, last = (
        np.flatnonzero(series == got[at])[0] for at in np.argsort(both.a_ns[both.onward])[[0, -1]]
    )
    rows = other.rows.copy()
    for at, leg in ((last, rows["leg"][first]), (first, rows["leg"][first])):
        rows["leg"][at], rows["rung"][at] = leg, BY_TIME
    kept, left = without_early_arrivals(
        one, other._replace(rows=rows), a.kernel_side, b.kernel_side, way
    )
    assert np.array_equal(kept.rows, one.rows)
    assert np.flatnonzero(left.rows["verdict"] != rows["verdict"]).tolist() == [last]
    assert left.rows["verdict"][last] == AMBIGUOUS


@pytest.fixture(scope="module")
def session(hosts: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Both ends' captures and logs in one session: client.pcap, server.pcap, the logs."""
    folder = tmp_path_factory.mktemp("two-hosts")
    files = []
    for suffix in ("pcap", "kbl"):
        for role in ("client", "server"):
            files.append(folder / f"{role}.{suffix}")
            files[-1].symlink_to(hosts[role] / f"two-hosts.{suffix}")
    import_files(files, folder / "all.skbv")
    return Session.open(folder / "all.skbv")


def sightings(session: Session) -> dict[bytes, list[int]]:
    """The IPv4 packets of both captures by all their bytes from the IP header on."""
    found: dict[bytes, list[int]] = defaultdict(list)
    for packet in session.packets.numbered(1, session.packets.count()):
        if packet.ip_id is not None:
            data = session.contents.packet_bytes(packet.number)
            assert data is not None
            found[data[14:]].append(packet.number)
    return found


@pytest.mark.lab
def test_every_packet_has_two_sightings_and_both_hosts_legs(session: Session) -> None:
    paired = 0
    for numbers in sightings(session).values():
        packets = [session.packets.numbered(number, 1)[0] for number in numbers]
        assert {p.number: p.reason for p in packets if p.verdict != "exact"} == {}
        series = [{leg.series for leg in session.paths.path(packet=n).legs} for n in numbers]
        if len({p.source for p in packets}) < 2:
            continue  # the sniffers began and ended at different times
        assert len(numbers) == 2
        kinds = sorted(leg.kind for leg in session.paths.path(packet=numbers[0]).legs)
        assert kinds.count("tx") == 1
        for legs in (session.paths.path(packet=n).legs for n in numbers):
            assert legs[0].kind == "tx"
            assert {leg.log for leg in legs} == {"client.kbl", "server.kbl"}
        # A receiver's last fragment becomes the whole datagram, which is the others' too.
        assert kinds[:-1] in (["rx"], ["rx", "rx"])
        shared, whole = series[0] & series[1], series[0] | series[1]
        assert shared == whole or (len(whole) > 2 and shared)
        paired += 1
    assert paired > 40


@pytest.mark.lab
def test_times_under_way_are_intervals(session: Session) -> None:
    (way,) = session.info()["one_way"]
    assert min(way["packets"]) > 10
    assert way["uncertainty_ns"] >= 0
    seen = 0
    for numbers in sightings(session).values():
        for interval in session.paths.under_way(numbers[0]):
            assert 0 <= interval.low_ns <= interval.middle_ns <= interval.high_ns
            assert interval.high_ns - interval.low_ns <= way["uncertainty_ns"] + 2
            seen += 1
    assert seen > 40


@pytest.mark.lab
def test_both_captures_agree_in_session_time(session: Session) -> None:
    """No packet is seen before it was sent, as far as the errors tell, nor much later."""
    timebase = session.timebase()
    errors = [timebase.error(source) for source in range(1, 5)]
    assert min(errors) >= 0
    error = errors[0] + errors[1]
    for numbers in sightings(session).values():
        rows = [session.packets.numbered(number, 1)[0] for number in numbers]
        if len(rows) == 2 and rows[0].source != rows[1].source:
            at = {
                p.source: int(timebase.to_session(p.source, np.array([p.ts_ns]))[0]) for p in rows
            }
            onward = 1 if rows[0].saddr == "10.9.0.1" else -1
            assert -error <= onward * (at[2] - at[1]) <= 10**9
