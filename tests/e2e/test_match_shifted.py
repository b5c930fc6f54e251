# SPDX-License-Identifier: MIT
"""Every packet of every recording finds its life, whatever the sniffer's clock was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.analysis import reason
from skbviewer.analysis.ingest.kernel_only_rows import WIRE_ONLY
from skbviewer.matching import AMBIGUOUS, EXACT, Matches
from skbviewer.matching.match_rule_numbers import LACKING
from skbviewer.records import PACKET_DTYPE, Packets, resource
from skbviewer.session import Session, import_files
from tests.lab.fixture import Lab
from tests.lab.fixture import lab as lab
from tests.lab.samples import SAMPLES

from .treated import (
    TREATMENTS,
    Index,
    Kernel,
    follow,
    matched,
    owners,
    packets_of,
    rewrite,
    wrong,
)

# Not copies: four of its ten packets are known by identity alone, too few for a drift or a step.
CAPTURES = (
    *("basic", "loopback", "drops", "nat-inside", "nat", "bulk", "segments"),
    *("merge-sent", "merge"),  # before and behind GRO
)
NAMES = [sample.name for sample in SAMPLES]
# What two packets of one capture that are equal in every header have in common.
WIRE_IDENTITY = tuple(name for name in PACKET_DTYPE.names or () if name not in (
    "ts", "caplen", "len", "offset", "interface", "linktype", "eth_src", "eth_dst", "vlan", "ttl",
    "window", "payload"))  # fmt: skip
CLEAR = 10  # residuals of the clock
TWINS = 4  # packets of a capture that may be ambiguous since another is equal in every header
# IP packets that are not exact, each with its reason: (kernel or sample, capture, packet, why).
# ARP has no identity: where a slow machine spreads the times of the sniffer over milliseconds it
# may be ambiguous, which is never wrong.
EXCEPTIONS: tuple[tuple[str, str, int, str], ...] = ()


class Case(NamedTuple):
    """A capture after one treatment, with the truth about it."""

    name: str  # of the recording
    capture: str
    plain: Packets
    packets: Packets
    found: Matches
    owner: Index


def cases(name: str, kernel: Kernel, pcaps: Sequence[Path], folder: Path) -> Iterator[Case]:
    """All captures under all treatments."""
    for pcap in pcaps:
        plain = packets_of(pcap)
        device = matched(plain, kernel).sniffer
        assert device is not None
        owner = owners(kernel, plain, device)
        for treatment in TREATMENTS.values():
            packets = packets_of(rewrite(pcap, folder / "treated.pcap", treatment))
            yield Case(name, pcap.stem, plain, packets, matched(packets, kernel), owner)


def missed_by_probes(case: Case) -> npt.NDArray[np.bool_]:
    """Packets of which the log does not even show the call of the packet socket that caught them.

    On 6.1 an interrupt that comes while a kprobe's handler runs has its calls missed, softirq and
    all.  The kernel counts them, and check() allows no more than that.
    """
    return np.asarray((case.owner < 0) & (case.packets["ip_version"] != 0))


def twins(case: Case) -> npt.NDArray[np.bool_]:
    """Packets too close in time, on the sniffer's clock, to another one equal in every header.

    Resets that answer several segments have no identification, and one sequence number.
    """
    packets, clock = case.packets, case.found.clock
    assert clock is not None
    residual = max(segment.residual_ns for segment in clock.segments)
    order = np.lexsort([packets[name] for name in ("ts", *WIRE_IDENTITY)])
    rows, made = packets[list(WIRE_IDENTITY)][order], np.zeros(len(packets), np.bool_)
    near = np.diff(case.plain["ts"][order]) < CLEAR * residual
    at = np.flatnonzero((rows[1:] == rows[:-1]) & near)
    made[order[at]] = made[order[at + 1]] = True
    return np.asarray(made & (packets["ip_version"] != 0))


def verdicts(case: Case) -> Index:
    """Of each packet."""
    made = np.full(len(case.packets), WIRE_ONLY, np.int64)
    np.minimum.at(made, case.found.rows["packet"], case.found.rows["verdict"])
    return made


def not_exact(case: Case) -> list[tuple[str, str, int, str]]:
    """The packets that are not exact, but for ambiguous ones without identity, and missed ones."""
    verdict, rung = verdicts(case), np.zeros(len(case.packets), np.int64)
    rung[case.found.rows["packet"]] = case.found.rows["rung"]
    rung[case.found.contested] = -1
    blurred = (case.packets["ip_version"] == 0) | twins(case) | (rung == LACKING)
    fine = np.where(verdict == AMBIGUOUS, blurred, missed_by_probes(case))
    return [
        (case.name, case.capture, number, reason(int(verdict[number]), int(rung[number])))
        for number in np.flatnonzero((verdict != EXACT) & ~fine).tolist()
    ]


def check(case: Case, kernel: Kernel) -> None:
    """No match is wrong or missing, and the clock is where the fit puts it."""
    assert np.count_nonzero(missed_by_probes(case)) <= kernel.missed
    assert wrong(kernel, case.found, case.owner) == []
    assert set(not_exact(case)) <= set(EXCEPTIONS)
    assert np.count_nonzero(verdicts(case)[twins(case)] == AMBIGUOUS) <= TWINS
    clock, every = case.found.clock, np.arange(len(case.packets))
    assert clock is not None
    ts: Index = case.packets["ts"]
    plain: Index = case.plain["ts"]
    error = np.abs(clock.to_kernel(ts, every) + kernel.epoch_ns - plain)
    stated = np.array([segment.residual_ns for segment in clock.segments])
    assert (error <= stated[clock.segment_of(every)]).all()


@pytest.mark.parametrize("name", NAMES)
def test_every_packet_of_a_sample(name: str, tmp_path: Path) -> None:
    folder = resource(f"samples/{name}")
    kernel = follow(folder / f"{name}.kbl")
    number = 0
    for case in cases(name, kernel, [folder / f"{name}.pcap"], tmp_path):
        check(case, kernel)
        number += 1
    assert number == len(TREATMENTS)


@pytest.mark.lab
def test_every_packet_of_a_scenario(lab: Lab, tmp_path: Path) -> None:
    kernel = follow(lab.out / "lab.kbl")
    packets = 0
    for case in cases(lab.series, kernel, [lab.out / f"{c}.pcap" for c in CAPTURES], tmp_path):
        check(case, kernel)
        packets += len(case.packets)
    assert packets > 20_000


@pytest.mark.parametrize("name", NAMES)
def test_session_time_is_the_hosts_wall_clock(name: str, tmp_path: Path) -> None:
    """One session with the capture as it is and as it would be under each treatment."""
    folder = resource(f"samples/{name}")
    pcap, out = folder / f"{name}.pcap", tmp_path / "all.skbv"
    files = [
        rewrite(pcap, tmp_path / f"{number}.pcap", treatment)
        for number, treatment in enumerate(TREATMENTS.values())
    ]
    import_files([*files, folder / f"{name}.kbl"], out)
    session = Session.open(out)
    timebase, plain = session.timebase(), packets_of(pcap)["ts"]
    for source, file in enumerate(files, start=1):
        ts: Index = packets_of(file)["ts"]
        at = timebase.to_session(source, ts)
        assert np.abs(at - plain).max() <= timebase.error(source)
        assert np.abs(timebase.to_source(source, at) - ts).max() <= 1
    fits = {clock["source"]: clock["segments"] for clock in session.info()["clock"]}
    assert [len(fits[source]) for source in range(1, len(files) + 1)] == [1, 1, 1, 1, 2]
    step = fits[5][1]["offset_ns"] - fits[5][0]["offset_ns"]
    assert abs(step - 5 * 10**9) <= fits[5][0]["residual_ns"] + fits[5][1]["residual_ns"]
    assert session.info()["matches"]["exact"] == len(plain) * len(files)


def test_one_wire_packet_is_in_all_captures_of_it(tmp_path: Path) -> None:
    """Both captures match each packet to equal legs."""
    folder = resource("samples/handshake")
    pcap, out = folder / "handshake.pcap", tmp_path / "twice.skbv"
    late = rewrite(pcap, tmp_path / "late.pcap", TREATMENTS["2 s ahead"])
    import_files([pcap, late, folder / "handshake.kbl"], out)
    session = Session.open(out)
    half = session.packets.count() // 2
    for number in range(1, half + 1):
        legs = [
            [leg.series for leg in session.paths.path(packet=n).legs]
            for n in (number, number + half)
        ]
        assert legs[0] == legs[1] != []
