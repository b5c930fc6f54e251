# SPDX-License-Identifier: MIT
"""What is found in the bundled recordings, whose causes their README files name."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.analysis.diagnosis import Diagnosis
from skbviewer.analysis.stats import drop_rows
from skbviewer.records import PacketRow, resource
from skbviewer.session import Session, import_files

from .stories import GENERAL

FOUND = {
    "handshake": {"neighbour", "other-packets", "switched-out"},
    "nat": {"neighbour", "other-packets"},
    "drops": {"drop", "neighbour"},
    "arp-and-neighbour": {"drop", "neighbour", "other-packets"},
    "ipv6-and-fragments": {
        "drop", "neighbour", "other-packets", "reassembly", "softirq-wait",
    },
    "bulk": {
        "interrupts", "late-reader", "neighbour", "other-packets", "send-queue", "socket-lock",
        "softirq-wait",
    },
}  # fmt: skip
DROPS = {
    "drops": [("NETFILTER_DROP", 22), ("QDISC_DROP", 3), ("NO_SOCKET", 1), ("NO_SOCKET", 1)],
    "arp-and-neighbour": [
        ("IPV6DISABLED", 2), ("NEIGH_FAILED", 1), ("NOT_SPECIFIED", 1), ("NOT_SPECIFIED", 13),
    ],
}  # fmt: skip


@pytest.fixture(autouse=True, params=[3], ids=["v3"])
def version(request: pytest.FixtureRequest) -> int:
    """Samples have one version only."""
    number: int = request.param
    return number


@pytest.fixture(scope="module", params=FOUND)
def diagnosis(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Diagnosis, Path]:
    name: str = request.param
    log = resource(f"samples/{name}/{name}.kbl")
    out = tmp_path_factory.mktemp("samples") / f"{name}.skbv"
    import_files([log, log.with_suffix(".pcap")], out)
    session = Session.open(out)
    made = session.stats.diagnosis()
    session.close()
    return name, made, out


def test_each_recording_has_its_causes(diagnosis: tuple[str, Diagnosis, Path]) -> None:
    name, made, _ = diagnosis
    assert {one.rule for one in made.findings} - GENERAL == FOUND[name]


def test_drops_are_those_that_lost_packets(diagnosis: tuple[str, Diagnosis, Path]) -> None:
    name, made, _ = diagnosis
    found = [one for one in made.findings if one.rule == "drop"]
    if name in DROPS:
        assert sorted(one.number for one in found) == sorted(n for _, n in DROPS[name])
        for reason, number in DROPS[name]:
            assert [one for one in found if one.number == number and reason in one.text]


def test_statistics_count_the_same_drops(diagnosis: tuple[str, Diagnosis, Path]) -> None:
    """Drops that lost packets: in statistics, in findings that are no notes, and in the list."""
    name, made, out = diagnosis
    session = Session.open(out)
    rows = drop_rows(session.stats.scope())
    dropped = session.packets.listed("kbl.lost", None, True)
    assert dropped is not None
    listed = session.packets.rows(dropped)
    session.close()
    lost = sum(row.lost for row in rows)
    rules = ("drop", "receive-queue-full")
    found = [one for one in made.findings if one.rule in rules]
    assert lost == sum(one.number for one in found if one.severity != "note")
    assert lost == sum(row.lost for row in listed)
    for one in found:
        red = {row.number for row in listed if row.lost and isinstance(row, PacketRow)}
        assert (one.packet in red) == (one.severity != "note") or (one.packet or -1) < 0
    if name == "drops":
        assert [(row.number, row.lost) for row in rows] == [
            (22, 22), (3, 3), (1, 1), (1, 0), (1, 1),
        ]  # fmt: skip


def test_waits_during_questions_count_once(diagnosis: tuple[str, Diagnosis, Path]) -> None:
    """Packet 3 of nat asks twice, for 104,332 and 104,936 ns, as its calls say.

    It waits 176,710 ns for other packets, of which 33,075 and 91,546 ns lie in these times.
    Besides, its CPU handled interrupts for 61,103 ns in these times; in the rest, functions ran for
    it.
    """
    name, made, _ = diagnosis
    if name == "nat":
        costs = {
            (one.rule, evidence.id): evidence.ns
            for one in made.findings
            for evidence in one.evidence
            if evidence.kind == "packet"
        }
        assert costs["neighbour", 3] == 33_075 + 91_546 + 61_103
        assert costs["other-packets", 3] == 176_710 - 33_075 - 91_546


def test_a_part_that_is_longer_than_the_whole_says_why(
    diagnosis: tuple[str, Diagnosis, Path],
) -> None:
    """While a packet of bulk waits for the softirq in one leg, its other leg is busy for 346 ns.

    So the wait of the leg is longer than that of the packet.
    """
    name, made, _ = diagnosis
    if name == "bulk":
        (one,) = (one for one in made.findings if one.rule == "softirq-wait")
        longest, worst = one.evidence[0], next(e for e in one.evidence if e.kind == "packet")
        assert longest.ns is not None and worst.ns is not None and longest.ns - worst.ns == 346
        rest = "of which 346 ns are counted as other parts of the packet's time in kernel"
        assert longest.text == f"longest wait: softirq 829.9 µs, {rest}"


def test_the_parts_add_up_to_the_time_in_kernel(diagnosis: tuple[str, Diagnosis, Path]) -> None:
    _, made, out = diagnosis
    session = Session.open(out)
    columns = session.columns
    known = columns.array("packet", "kernel_ns")
    total = int(known[known >= 0].sum())
    alone = columns.array("series", "kernel_only") > 0
    alone &= columns.array("series", "identity") >= 0
    total += int(columns.array("series", "kernel_ns")[alone].sum())
    session.close()
    assert sum(row.total_ns for row in made.time.rows) == total


def test_the_excess_is_divided_without_a_rest(diagnosis: tuple[str, Diagnosis, Path]) -> None:
    _, made, _ = diagnosis
    for one in (one for one in made.findings if one.rule == "slow-packets"):
        parts = [fact.ns for fact in one.evidence if fact.kind == "part"]
        assert sum(ns for ns in parts if ns is not None) == one.cost_ns
