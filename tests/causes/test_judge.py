# SPDX-License-Identifier: MIT
"""Test which findings count as found, missing or false, and the kernel's own counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skbviewer.analysis.diagnosis.rule_table import RULE_TABLE

from .judge import judge, kernels_count, scores
from .scenarios import PROVOKED, SYMPTOMS, Provoked, named

RULE_NAMES = {"unexplained", *(rule.name for rule in RULE_TABLE)}
FULL = Provoked("full", "A queue is full.", ("receive-queue-full",), ("late-reader",),
                counter=("server.counters", "Udp.RcvbufErrors"))  # fmt: skip
SNMP = "Udp: InDatagrams NoPorts RcvbufErrors\nUdp: 40 0 7\n"


def said(*rules: str, packets: int = 7, severity: str = "critical") -> dict[str, Any]:
    findings = [
        {"rule": rule, "rank": rank, "packets": packets, "severity": severity, "advice": rule}
        for rank, rule in enumerate(rules, start=1)
    ]
    return {"findings": findings, "judged": [{"rule": "conntrack", "judged": False}]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "server.counters").write_text(SNMP)
    for when in "01":
        (tmp_path / f"ksoftirqd.{when}").write_text("12 3 4\n")
    return tmp_path


def test_what_was_provoked_and_what_is_a_symptom_is_right(folder: Path) -> None:
    made = judge(FULL, 1, folder, said("receive-queue-full", "late-reader", "unexplained"))
    assert (made.missing, made.false, made.counts) == ((), (), (7, 7))
    assert made.unjudged == ("conntrack",)


def test_findings_with_the_same_advice_are_counted_together(folder: Path) -> None:
    several = said("receive-queue-full", "receive-queue-full", "receive-queue-full", packets=3)
    several["findings"][2]["advice"] = "another"
    assert judge(FULL, 1, folder, several).counts == (6, 7)


def test_anything_else_is_false_and_what_was_not_found_is_missing(folder: Path) -> None:
    made = judge(FULL, 1, folder, said("netfilter", "ksoftirqd"))
    assert made.missing == ("receive-queue-full",)
    assert made.false == ("netfilter", "ksoftirqd")
    made_of = {one.rule: one[1:] for one in scores([made], {"full": FULL})}
    assert made_of == {
        "ksoftirqd": (0, 0, 1),
        "netfilter": (0, 0, 1),
        "receive-queue-full": (1, 0, 0),
    }


def test_ksoftirqd_is_right_if_the_kernel_ran_it(folder: Path) -> None:
    (folder / "ksoftirqd.1").write_text("900 3 5\n")
    assert judge(FULL, 1, folder, said("receive-queue-full", "ksoftirqd")).false == ()


def test_a_drop_by_which_nothing_was_lost_does_not_count(folder: Path) -> None:
    assert judge(FULL, 1, folder, said("drop", severity="note")).false == ()


def test_counts_of_rules_and_disciplines(folder: Path) -> None:
    (folder / "client.qdisc").write_text(
        " Sent 9 bytes 2 pkt (dropped 5, overlimits 0 requeues 0)\n"
    )
    (folder / "server.rules").write_text("  30  3840 DROP  udp -- * * 0.0.0.0/0 udp dpt:9\n")
    assert kernels_count(folder, "client.qdisc", "dropped") == 5
    assert kernels_count(folder, "server.rules", "dpt:9") == 30


def test_scenarios_name_rules_and_scripts_that_exist() -> None:
    for one in PROVOKED:
        assert {*one.must, *one.may} <= RULE_NAMES
        assert one.script.is_file()
        assert named(one.name) is one
    assert RULE_NAMES >= SYMPTOMS


@pytest.mark.parametrize(
    ("found", "ordered"),
    [
        (("drop", "late-reader"), True),
        (("drop", "unexplained", "late-reader"), True),
        (("late-reader", "drop"), False),
        (("drop",), False),
    ],
)
def test_two_causes_have_an_order(found: tuple[str, ...], ordered: bool, folder: Path) -> None:
    two = Provoked("two", "A rule drops, a reader sleeps.", ("drop", "late-reader"), ordered=True)
    assert judge(two, 1, folder, said(*found)).ordered == ordered
    assert judge(two._replace(ordered=False), 1, folder, said(*found)).ordered is None
