# SPDX-License-Identifier: MIT
"""Rules about work in functions, about the recording, and about what no rule covers."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.analysis.diagnosis.causes import (
    conntrack,
    gso_and_gro,
    netfilter,
    skb_copies,
    software_checksum,
)
from tests.matching.story import HOST, SOFTIRQ, Story, udp4

from .stories import US, causes, diagnosed, freed, many, not_judged, only, received, skb

WORK = {
    "software-checksum": "__skb_checksum",
    "netfilter": "nf_hook_slow",
    "conntrack": "nf_conntrack_in",
    "copies": "pskb_expand_head",
    "segmentation": "skb_segment",
}

# Functions of netfilter, and the rules that judge them.
NETFILTERS = {
    "nf_ip_checksum": "software-checksum",
    "nf_ip6_checksum": "software-checksum",
    "nf_confirm": "conntrack",
    "ipv4_confirm": "conntrack",
    "nf_ct_frag6_gather": "conntrack",
    "nf_ct_deliver_cached_events": "conntrack",
    "nf_conntrack_tcp_packet": "conntrack",
    "nf_nat_inet_fn": "netfilter",
    "ipt_do_table": "netfilter",
}


def worked(function: str, ns: int) -> Story:
    """Twelve packets of 20 us; in the work on packet 1 a function takes some ns."""
    story = Story()
    many(story)
    end = received(story, 1, 1500, core=40)
    where = {"context": SOFTIRQ, "pid": 0}
    begin = (end - 35) * US
    story.call(function, begin, begin + ns, skb(1), **where)
    freed(story, 1, end + 1)
    return story


@pytest.mark.parametrize("rule", WORK)
def test_a_function_that_takes_long(rule: str, tmp_path: Path) -> None:
    made = diagnosed(worked(WORK[rule], 30 * US), tmp_path)
    assert causes(made) == {rule}
    found = only(made, rule)
    assert found.cost_ns == 30 * US and WORK[rule] in found.text


@pytest.mark.parametrize("rule", WORK)
def test_a_function_that_takes_a_little(rule: str, tmp_path: Path) -> None:
    """The packet is as slow, but another function is the reason."""
    made = diagnosed(worked(WORK[rule], 1 * US), tmp_path)
    assert causes(made) == set()
    assert rule not in not_judged(made)


@pytest.mark.parametrize("rule", WORK)
def test_a_function_without_a_probe_cannot_be_judged(rule: str, tmp_path: Path) -> None:
    made = diagnosed(worked("ip_local_deliver", 30 * US), tmp_path)
    assert rule in not_judged(made)


def test_no_function_is_the_work_of_two_rules() -> None:
    """Costs of findings are different parts of a packet's time."""
    lines = Path("kmod/probes.txt").read_text(encoding="utf-8").splitlines()
    probes = [line.split()[0] for line in lines if line and not line.startswith("#")]
    works = [one.WORK for one in (conntrack, skb_copies, netfilter, gso_and_gro, software_checksum)]
    assert len(probes) > 200
    for function in (*probes, *NETFILTERS):
        doers = [work.rule for work in works if work.does(function)]
        assert len(doers) < 2, function
        assert function not in NETFILTERS or doers == [NETFILTERS[function]]


@pytest.mark.parametrize("function", ["nf_ip_checksum", "nf_confirm"])
def test_work_inside_netfilter_that_has_a_rule_of_its_own(function: str, tmp_path: Path) -> None:
    story = worked(function, 30 * US)
    for probed in ("nf_hook_slow", "__skb_checksum", "nf_conntrack_in"):
        story.function(probed)
    made = diagnosed(story, tmp_path)
    assert causes(made) == {NETFILTERS[function]}
    assert "netfilter" not in not_judged(made)


def test_a_probe_that_could_not_be_set_judges_nothing(tmp_path: Path) -> None:
    """The log lists the function, but has none of its calls."""
    story = worked("ip_rcv", 30 * US)
    story.kbl.probe("nf_conntrack_in", addr=0, error=-2)
    assert "conntrack" in not_judged(diagnosed(story, tmp_path))


def test_slow_packets_are_compared_with_the_median_packet(tmp_path: Path) -> None:
    story = Story()
    many(story, 8)
    freed(story, 1, received(story, 1, 1500, core=120) + 1)
    made = diagnosed(story, tmp_path)
    found = only(made, "slow-packets")
    assert (found.number, found.cost_ns) == (1, 100 * US)
    assert "ip_rcv in receive: protocol stack (100 %)" in found.text
    assert only(made, "unexplained").cost_ns == 100 * US


def test_the_unexplained_part_is_not_the_whole_excess(tmp_path: Path) -> None:
    """The packet took 600 us longer; its wait explains 500 us of them."""
    story = Story()
    many(story)
    freed(story, 1, received(story, 1, 1500, 501, core=120) + 1)
    found = only(diagnosed(story, tmp_path), "unexplained")
    assert found.cost_ns == 100 * US
    assert "1 packet took 600.0 µs longer than the median packet of its path." in found.text
    assert "No rule explains 100.0 µs of this time. The largest part is ip_rcv." in found.text
    assert [fact.ns for fact in found.evidence if fact.kind == "part"] == [100 * US]


def test_packets_that_are_alike_are_not_slow(tmp_path: Path) -> None:
    story = Story()
    for n in range(10):
        freed(story, n, received(story, n, 100 + 200 * n, core=120 + n) + 1)
    made = diagnosed(story, tmp_path)
    assert made.findings == ()
    assert "slow-packets" not in not_judged(made)


def test_a_packet_without_others_like_it_cannot_be_compared(tmp_path: Path) -> None:
    story = Story()
    freed(story, 1, received(story, 1, 1500, core=120) + 1)
    made = diagnosed(story, tmp_path)
    assert "slow-packets" in not_judged(made)


def calibrated(empty: int, nested: int) -> Story:
    """Return a story of ten packets, in a log whose probes cost `empty` and `nested` ns."""
    story = Story()
    story.kbl.calibration = {
        "tau_empty": empty, "tau_pair": nested, "tau_nested": nested, "tau_skb_empty": empty,
        "tau_skb_pair": nested, "tau_skb_nested": nested, "rounds": 101, "mechanism": 1,
    }  # fmt: skip
    many(story, 10)
    return story


def test_probes_that_take_a_third(tmp_path: Path) -> None:
    made = diagnosed(calibrated(3000, 4000), tmp_path)
    found = only(made, "probe-cost")
    # 3 us in ip_rcv; the other calls and stretches are shorter than their probes' cost.
    assert found.cost_ns == 10 * (10 + 1000 + 100 + 3000 + 100 + 10)
    assert "±" in found.text


def test_probes_that_take_little(tmp_path: Path) -> None:
    made = diagnosed(calibrated(50, 60), tmp_path)
    assert not [one for one in made.findings if one.rule == "probe-cost"]
    assert "probe-cost" not in not_judged(made)


def test_without_calibration_the_probes_cannot_be_judged(tmp_path: Path) -> None:
    story = Story()
    many(story, 10)
    assert "probe-cost" in not_judged(diagnosed(story, tmp_path))


def test_nothing_is_claimed_about_packets_with_lost_records(tmp_path: Path) -> None:
    story = Story()
    many(story)
    freed(story, 1, received(story, 1, 1500, 500) + 1)
    story.lost(1700 * US, 5, 1600 * US)
    made = diagnosed(story, tmp_path)
    assert causes(made) == set()
    assert "Records were lost 1 time" in only(made, "lost-records").text


def test_losses_beside_the_packets_do_not_matter(tmp_path: Path) -> None:
    story = Story()
    many(story)
    story.lost(9000 * US, 5, 8000 * US)
    made = diagnosed(story, tmp_path)
    assert made.findings == ()


def test_two_causes_at_once_are_both_found_in_their_order(tmp_path: Path) -> None:
    story = Story()
    many(story)
    end = received(story, 1, 1500, 500, core=200)
    where = {"context": SOFTIRQ, "pid": 0}
    story.call("nf_hook_slow", (end - 150) * US, (end - 30) * US, skb(1), **where)
    freed(story, 1, end + 1)
    made = diagnosed(story, tmp_path)
    assert [one.rule for one in made.findings if one.rule in causes(made)] == [
        "softirq-wait",
        "netfilter",
    ]


def test_one_packet_alone(tmp_path: Path) -> None:
    story = Story()
    many(story)
    freed(story, 1, received(story, 1, 1500, 500) + 1)
    story.call("ip_rcv", 10 * US, 12 * US, skb(2), ipv4=udp4(2), skbinfo=HOST)
    made = diagnosed(story, tmp_path, packet=-2)
    assert made.time.packets == 1
    assert causes(made) == set()
