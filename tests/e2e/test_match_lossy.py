# SPDX-License-Identifier: MIT
"""Missing records never make a match wrong; packets that no kernel saw are wire-only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.matching import EXACT, Matches, matcher
from skbviewer.matching.kernel_functions import STAMPS_RECEIVED, STAMPS_SENT
from skbviewer.matching.legs.declared_losses import (
    ANY,
    LOSS_DTYPE,
    MISSED,
    Table,
    losses_declared_by,
)
from skbviewer.records import RECORD_DTYPE, KernelLog, Packets, RecordTable, resource
from skbviewer.records.column_tables import FOOTPRINT_NAMES
from tests.lab.fixture import Lab
from tests.lab.fixture import lab as lab
from tests.lab.samples import SAMPLES

from .treated import Index, Kernel, follow, followed, matched, owners, packets_of, relatives

NAMES = [sample.name for sample in SAMPLES]
SEEDS = range(6)
Rng = np.random.Generator
Kept = npt.NDArray[np.bool_]


def single(kernel: Kernel, rng: Rng) -> Kept:
    """Records here and there are missing."""
    return np.asarray(rng.random(len(kernel.log.records)) >= rng.choice([0.02, 0.2, 0.5, 0.9]))


def whole_lives(kernel: Kernel, rng: Rng) -> Kept:
    """The log is of some packets only."""
    lost = rng.random(len(kernel.series.parent)) < rng.choice([0.1, 0.5, 0.9])
    of = kernel.series.of
    return np.asarray((of < 0) | ~lost[of])


def beginnings(kernel: Kernel, rng: Rng) -> Kept:
    """Return the records without the first ones of some lifetimes, including births."""
    records, of = kernel.log.records, kernel.series.of
    first = np.full(len(kernel.series.parent) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, of, records["ts"])
    return np.asarray(records["ts"] - first[of] >= rng.integers(0, 30_000, len(first))[of])


def chunks(kernel: Kernel, rng: Rng) -> Kept:
    """Return the records without some stretches of time, on one CPU or on all."""
    records = kernel.log.records
    ts, cpu = records["ts"], records["cpu"]
    keep = np.ones(len(records), np.bool_)
    for _ in range(int(rng.integers(1, 20))):
        begin = rng.choice(ts)
        hole = (ts >= begin) & (ts < begin + rng.integers(1_000, 50_000_000))
        keep &= ~(hole & ((cpu == rng.choice(cpu)) | (rng.random() < 0.5)))
    return keep


def functions(kernel: Kernel, rng: Rng) -> Kept:
    """Some functions were not probed."""
    func = kernel.log.records["func"]
    lost: Kept = rng.random(int(func.max()) + 2) < rng.choice([0.2, 0.6, 0.9])
    return np.asarray((func < 0) | ~lost[func])


WAYS: tuple[Callable[[Kernel, Rng], Kept], ...] = (
    single,
    whole_lives,
    beginnings,
    chunks,
    functions,
)


def only(log: KernelLog, keep: Index) -> KernelLog:
    """The log with these records alone."""
    records = log.records
    assert isinstance(records, RecordTable)
    names = [name for name in RECORD_DTYPE.names or () if name not in FOOTPRINT_NAMES]
    columns = {name: records.part(name, keep) for name in names}
    table = RecordTable(columns, records.footprint[keep], records.footprints)
    return replace(log, records=table, lost_records=len(records) - len(keep))


def holders(kernel: Kernel, packet: np.void) -> set[int]:
    """Lives that at some time held a larger packet with this one in it: fragments, segments."""
    prints = kernel.kernel_side.prints
    rows = prints.of(np.arange(len(prints.number)))
    names = ("ip_version", "saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo", "protocol")
    flow = np.all([rows[name] == packet[name] for name in names], axis=0)
    whole = (rows["frag_off"] < 0) | ((rows["frag_off"] & 0x3FFF) == 0)
    fragment = packet["frag_off"] > 0 and packet["frag_off"] & 0x3FFF
    datagram = flow & whole & bool(fragment) & (rows["ip_id"] == packet["ip_id"])
    flow &= (rows["sport"] == packet["sport"]) & (rows["dport"] == packet["dport"])
    into = (packet["seq"] - rows["seq"]) % (1 << 32)
    segment = flow & (rows["gso_segs"] > 1) & (into < rows["gso_size"] * rows["gso_segs"])
    return set(prints.series[datagram | segment].tolist())


def wrong(kernel: Kernel, keep: Index, packets: Packets, owner: Index) -> tuple[int, list[object]]:
    """Match with only the records `keep`; return the number of exact packets, and wrong ones."""
    less = followed(only(kernel.log, keep))
    rows = matched(packets, less).rows
    rows = rows[rows["verdict"] == EXACT]
    series = less.legs.rows["series"][rows["leg"]]
    order = np.argsort(less.series.of, kind="stable")
    ranked = less.series.of[order]
    faults: list[object] = []
    for packet, one in sorted(set(zip(rows["packet"].tolist(), series.tolist(), strict=True))):
        if owner[packet] < 0:
            continue
        low, high = np.searchsorted(ranked, [one, one + 1])
        mine = set(kernel.series.of[keep[order[low:high]]].tolist())
        own = relatives(kernel.series, int(owner[packet]))
        if not mine & own and not mine & holders(kernel, packets[packet]):
            faults.append((packet, int(owner[packet]), mine))
    return len(np.unique(rows["packet"])), faults


def exact_in(found: Matches) -> Index:
    """The captured packets with an exact match."""
    packet: Index = found.rows["packet"]
    return np.unique(packet[found.rows["verdict"] == EXACT])


def truth(kernel: Kernel, packets: Packets) -> Index:
    """The series of each packet, from the whole log."""
    device = matched(packets, kernel).sniffer
    assert device is not None
    return owners(kernel, packets, device)


# Losses without a time leave fewer than eight packets, or exclude no device beside the capture's.
TOO_SMALL = {("handshake", "chunks"), ("arp-and-neighbour", "chunks"), ("nat", "chunks")}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_lost_records_make_no_wrong_match(name: str, way: Callable[[Kernel, Rng], Kept]) -> None:
    folder = resource(f"samples/{name}")
    kernel, packets = follow(folder / f"{name}.kbl"), packets_of(folder / f"{name}.pcap")
    owner, matches = truth(kernel, packets), 0
    for seed in SEEDS:
        keep = np.flatnonzero(way(kernel, np.random.default_rng(seed)))
        exact, faults = wrong(kernel, keep, packets, owner)
        assert faults == [], f"seed {seed}"
        matches += exact
    assert (matches > 0) != ((name, way.__name__) in TOO_SMALL)


@pytest.mark.lab
def test_lost_lives_of_a_scenario_make_no_wrong_match(lab: Lab) -> None:
    """TCP at full speed, merged by GRO, IPv6 and drops; most rivals of each packet are gone."""
    kernel = follow(lab.out / "lab.kbl")
    for capture in ("basic", "drops", "bulk", "merge"):
        packets = packets_of(lab.out / f"{capture}.pcap")
        owner = truth(kernel, packets)
        for seed, way in enumerate((single, whole_lives)):
            keep = np.flatnonzero(way(kernel, np.random.default_rng(seed)))
            assert wrong(kernel, keep, packets, owner)[1] == []


@pytest.mark.parametrize("name", NAMES)
def test_packets_the_kernel_never_saw_are_on_the_wire_only(name: str) -> None:
    """Mix in the packets of all other recordings, at times within this one."""
    mine = resource(f"samples/{name}")
    kernel, packets = follow(mine / f"{name}.kbl"), packets_of(mine / f"{name}.pcap")
    parts = [packets_of(resource(f"samples/{n}") / f"{n}.pcap") for n in NAMES if n != name]
    foreign = np.concatenate(parts)
    rng = np.random.default_rng(7)
    begin, end = packets["ts"].min(), packets["ts"].max()
    foreign["ts"] = np.sort(rng.integers(begin, end, len(foreign)))
    both = np.concatenate([packets, foreign])
    strange = np.arange(len(both)) >= len(packets)
    order = np.argsort(both["ts"], kind="stable")
    both, strange = both[order], strange[order]
    rows = matched(both, kernel).rows
    matches: Index = rows["packet"]
    seen = np.unique(matches[strange[matches]])
    weak = (both["ip_id"][seen] <= 0) & (both["frag_id"][seen] <= 0)
    assert weak.all()  # ARP, and IPv6 packets that a lifetime of another time is equal to
    exact = np.unique(matches[rows["verdict"] == EXACT])
    assert not strange[exact].any()
    ours = np.flatnonzero(~strange & (both["ip_version"] != 0))
    assert set(ours.tolist()) <= set(exact.tolist())


@pytest.mark.lab
def test_a_missed_hit_does_not_hide_when_other_skbs_were_sent(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GSO hands a list of skbs to the driver in one call, which names only the first of them."""
    whole, packets = follow(lab.out / "lab.kbl"), packets_of(lab.out / "merge-sent.pcap")
    lacking = followed(replace(whole.log, lost_records=1))
    before = matched(packets, lacking)  # the guest may have missed hits of its own
    begin, end = (
        int(packets["ts"].min()) - whole.epoch_ns,
        int(packets["ts"].max()) - whole.epoch_ns,
    )
    stamping = STAMPS_SENT | STAMPS_RECEIVED
    funcs = [p.id for p in whole.log.probes.values() if p.name in stamping and p.hits]
    assert len(funcs) > 2 and len(exact_in(before)) > 0.5 * len(packets)
    for func in funcs:
        missed = np.array([(begin, end, ANY, func, 1, MISSED)], LOSS_DTYPE)

        def more(log: KernelLog, row: Table = missed) -> Table:
            rows = np.concatenate([losses_declared_by(log), row])
            return rows[np.argsort(rows["first_ns"], kind="stable")]

        monkeypatch.setattr(matcher, "losses_declared_by", more)
        found = matched(packets, lacking)
        assert found.sniffer == before.sniffer
        assert len(exact_in(found)) >= 0.95 * len(exact_in(before))
