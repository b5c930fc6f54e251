# SPDX-License-Identifier: MIT
"""Rules about work, in bundled recordings where it is real, but too short for a finding.

Without thresholds, each rule must find the packets whose paths have these functions, and no others.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from skbviewer.analysis.breakdown.time_parts import Breakdown
from skbviewer.analysis.diagnosis.causes import (
    gso_and_gro,
    lost_records,
    netfilter,
    software_checksum,
)
from skbviewer.analysis.diagnosis.finding import Finding, Rule
from skbviewer.analysis.diagnosis.rule_inputs import Case
from skbviewer.analysis.diagnosis.rule_table import RULE_TABLE
from skbviewer.records import resource
from skbviewer.session import Session, open_files

CHECKSUMS = {
    "skb_csum_hwoffload_help", "udp4_hwcsum", "__skb_checksum", "__skb_checksum_complete",
    "nf_checksum", "nf_ip_checksum",
}  # fmt: skip
HOOKS = {"nf_hook_slow", "nf_hook_slow_list", "nf_reroute", "nf_queue"}
CASES = [
    ("drops", software_checksum.RULE, CHECKSUMS),
    ("handshake", software_checksum.RULE, CHECKSUMS),
    ("ipv6-and-fragments", software_checksum.RULE, CHECKSUMS),
    ("nat", software_checksum.RULE, CHECKSUMS),
    ("nat", netfilter.RULE, HOOKS),
    ("drops", netfilter.RULE, HOOKS),
]
SEGMENTED = "skb_segment"


@pytest.fixture(autouse=True, params=[3], ids=["v3"])
def version(request: pytest.FixtureRequest) -> int:
    """Samples have one version only."""
    number: int = request.param
    return number


def case_of(name: str) -> tuple[Session, Case]:
    log = resource(f"samples/{name}/{name}.kbl")
    session = open_files([log, log.with_suffix(".pcap")])
    scope = session.stats.scope()
    made = Breakdown(scope)
    return session, Case(scope, made, np.arange(len(made.units.id)))


@pytest.fixture
def without_thresholds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Case, "matters", lambda self, ns, least=0: ns > 0)


def only(case: Case, rule: Rule) -> Finding:
    assert all(need.is_there(case) for need in rule.needs)
    (found,) = rule.find(case)
    return found


def spent(session: Session, number: int, does: Callable[[str], bool]) -> int:
    """Self times of a packet's calls of some functions, from its path."""
    return sum(
        call.self_ns or 0
        for leg in session.paths.path(packet=number).certain_legs
        for call in leg.calls
        if does(call.function) and leg.begin_ns <= call.entry_ns < leg.end_ns
    )


@pytest.mark.usefixtures("without_thresholds")
@pytest.mark.parametrize(("name", "rule", "functions"), CASES)
def test_packets_are_those_with_the_work(name: str, rule: Rule, functions: set[str]) -> None:
    session, case = case_of(name)
    found = only(case, rule)
    ids = np.asarray(case.made.units.id)
    packets = {row: spent(session, row, functions.__contains__) for row in ids[ids > 0].tolist()}
    mine = ids[found.packets]
    assert sorted(mine[mine > 0].tolist()) == sorted(row for row, ns in packets.items() if ns)
    # The cost of the probes is no work of these functions.
    assert found.cost_ns is not None and case.made.calibrated
    if (mine > 0).all():
        assert 0 < found.cost_ns < sum(packets.values())
    assert set(found.explains) <= functions


@pytest.mark.usefixtures("without_thresholds")
def test_segments_that_the_cpu_cut() -> None:
    """TCP gives the device eleven large packets, which no capture has."""
    session, case = case_of("bulk")
    found = only(case, gso_and_gro.RULE)
    table = session.stats.table("functions")
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    (cut,) = [row for row in rows if row["function"] == SEGMENTED]
    assert found.number == cut["count"] == 11
    assert SEGMENTED in found.explains and "__skb_gso_segment" in found.explains


@pytest.mark.parametrize("name", ["bulk", "nat"])
def test_short_work_is_no_finding(name: str) -> None:
    _, case = case_of(name)
    for rule in (gso_and_gro.RULE, software_checksum.RULE, netfilter.RULE):
        assert rule.find(case) == []


def test_without_its_probe_connection_tracking_is_not_judged() -> None:
    """The recording has NAT, so the kernel tracked its connections; no record shows it."""
    _, case = case_of("nat")
    (rule,) = [one for one in RULE_TABLE if one.name == "conntrack"]
    assert [need.name for need in rule.needs if not need.is_there(case)] == [
        "a probe of nf_conntrack_in"
    ]


def test_packets_that_a_damaged_log_does_not_show(tmp_path: Path) -> None:
    """Then nothing is known about their drops."""
    log = resource("samples/drops/drops.kbl")
    data = bytearray(log.read_bytes())
    at = len(data) // 2
    data[at : at + 64] = bytes(byte ^ 0xFF for byte in data[at : at + 64])
    damaged = tmp_path / "damaged.kbl"
    damaged.write_bytes(data)
    session = open_files([damaged, log.with_suffix(".pcap")])
    scope = session.stats.scope()
    made = Breakdown(scope)
    found = only(Case(scope, made, np.arange(len(made.units.id))), lost_records.RULE)
    lacking = session.info()["matches"]["wire_only"]
    assert lacking > 5
    said = f"{lacking} captured packets may have passed the kernel while records were lost"
    assert said in found.text
    ids = np.asarray(made.units.id, np.int64)
    complete = ids[ids > 0][:1]
    assert not lost_records.RULE.find(Case(scope, made, made.units.rows_of(complete), complete))
    session.close()
