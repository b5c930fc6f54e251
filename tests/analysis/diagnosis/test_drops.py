# SPDX-License-Identifier: MIT
"""Rules about packets that were lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skbviewer.records.kbl_layout import KblEvent
from tests.matching.story import HOST, SOFTIRQ, Story, udp4
from tests.readers.build_kbl import STEXT

from .stories import (
    READER,
    US,
    causes,
    delivered,
    diagnosed,
    freed,
    not_judged,
    only,
    received,
    skb,
)

REASONS = {
    2: "NOT_SPECIFIED",
    3: "NO_SOCKET",
    4: "NETFILTER_DROP",
    5: "SOCKET_RCVBUFF",
    6: "NEIGH_FAILED",
}
UNNAMED, NO_SOCKET, NETFILTER, RCVBUFF, FAILED = REASONS
INPUT_DROPPED = 1 | 2 << 8 | 1 << 16  # NF_HOOK: hook | pf << 8 | (verdict + 1) << 16


def story() -> Story:
    """A story whose log names the reasons of drops."""
    made = Story()
    made.kbl.meta |= {f"drop_reason.{number}": name for number, name in REASONS.items()}
    return made


def dropped(made: Story, number: int, at: int, reason: int) -> None:
    """Receive a packet and drop it."""
    end = received(made, number, at)
    made.event((end - 1) * US, KblEvent.DROP, skb(number), reason, context=SOFTIRQ, pid=0)
    freed(made, number, end + 1)


def test_drops_are_counted_by_reason(tmp_path: Path) -> None:
    made = story()
    for n in range(3):
        dropped(made, n, 100 * n + 10, NO_SOCKET)
    found = diagnosed(made, tmp_path)
    assert causes(found) == {"drop"}
    finding = only(found, "drop")
    assert (finding.number, finding.severity, finding.packet) == (3, "critical", -1)
    assert "NO_SOCKET" in finding.text and "No socket is bound" in finding.advice
    assert len([fact for fact in finding.evidence if fact.kind == "event"]) == 3


def test_a_packet_that_was_delivered_before_is_not_lost(tmp_path: Path) -> None:
    made = story()
    end = delivered(made, 1, 100)
    made.event((end + 5) * US, KblEvent.DROP, skb(1), NO_SOCKET, context=SOFTIRQ, pid=0)
    freed(made, 1, end + 6)
    assert causes(diagnosed(made, tmp_path)) == set()


def test_a_datagram_whose_checksum_is_wrong_is_lost_in_the_queue(tmp_path: Path) -> None:
    """UDP computes the checksum when a program asks for the datagram, and names no reason."""
    made = story()
    made.kbl.symbol(STEXT + 0x2000 - 8, "__first_packet_length")
    end = delivered(made, 1, 100)
    where = UNNAMED | 0x2000 << 32
    made.event((end + 5) * US, KblEvent.DROP, skb(1), where, context=SOFTIRQ, pid=0)
    freed(made, 1, end + 6)
    found = only(diagnosed(made, tmp_path), "drop")
    assert (found.number, found.severity) == (1, "critical")
    assert (
        "__first_packet_length" in found.text
        and "The checksums of these packets are wrong" in found.advice
    )


def test_a_drop_of_netfilter_names_the_hook(tmp_path: Path) -> None:
    made = story()
    end = received(made, 1, 100)
    where = {"context": SOFTIRQ, "pid": 0}
    made.call("nf_hook_slow", (end - 3) * US, (end - 1) * US, skb(1), **where)
    made.event((end - 2) * US, KblEvent.DROP, skb(1), NETFILTER, **where)
    made.event((end - 1) * US - 1, KblEvent.NF_HOOK, skb(1), INPUT_DROPPED, **where)
    freed(made, 1, end + 1)
    found = diagnosed(made, tmp_path)
    assert causes(found) == {"drop"}
    assert "at the netfilter hook IPv4 INPUT" in only(found, "drop").text


def test_a_full_receive_queue_is_named(tmp_path: Path) -> None:
    made = story()
    dropped(made, 1, 100, RCVBUFF)
    found = diagnosed(made, tmp_path)
    assert causes(found) == {"receive-queue-full"}
    assert "1 packet was dropped (SOCKET_RCVBUFF)" in only(found, "receive-queue-full").text


def test_a_drop_for_another_reason_is_no_full_queue(tmp_path: Path) -> None:
    made = story()
    dropped(made, 1, 100, NETFILTER)
    assert causes(diagnosed(made, tmp_path)) == {"drop"}


def test_what_a_program_has_read_is_not_lost(tmp_path: Path) -> None:
    """SCTP frees it with kfree_skb(), and has a queue of its own."""
    for function, rules in (("sctp_recvmsg", set()), ("sctp_rcv", {"drop"})):
        folder = tmp_path / function
        folder.mkdir()
        made = story()
        end = received(made, 1, 100)
        place = made.inside(function) - STEXT
        made.event((end + 5) * US, KblEvent.DROP, skb(1), place << 32 | UNNAMED, pid=READER)
        freed(made, 1, end + 6)
        assert causes(diagnosed(made, folder)) == rules


def test_losses_allow_no_claim_that_nothing_was_dropped(tmp_path: Path) -> None:
    made = story()
    made.event(90 * US, KblEvent.CONSUME, skb(9), 0, context=SOFTIRQ, pid=0)
    freed(made, 1, received(made, 1, 100) + 1)
    made.lost(400 * US, 5, 300 * US)
    found = diagnosed(made, tmp_path)
    assert {"drop", "receive-queue-full", "other-packets"} <= not_judged(found)
    (why,) = [one for one in found.judged if one.rule == "drop"]
    assert why.missing == ("records that were lost",)


def test_with_losses_a_drop_is_one_of_perhaps_more(tmp_path: Path) -> None:
    made = story()
    dropped(made, 1, 100, RCVBUFF)
    made.lost(400 * US, 5, 300 * US)
    found = diagnosed(made, tmp_path)
    assert "at least 1 packet was dropped" in only(found, "receive-queue-full").text
    assert "drop" in not_judged(found)


def test_a_complete_packet_was_not_dropped_whatever_was_lost(tmp_path: Path) -> None:
    made = story()
    made.event(90 * US, KblEvent.CONSUME, skb(9), 0, context=SOFTIRQ, pid=0)
    freed(made, 1, received(made, 1, 100) + 1)
    made.lost(400 * US, 5, 300 * US)
    assert "drop" not in not_judged(diagnosed(made, tmp_path, packet=-1))


def events_only() -> Story:
    """A story of one drop, and nothing else."""
    made = story()
    made.event(90 * US, KblEvent.DROP, skb(9), 3, context=SOFTIRQ, pid=0)
    return made


def test_a_log_of_events_only_does_not_say_that_no_packet_was_dropped(tmp_path: Path) -> None:
    found = diagnosed(events_only(), tmp_path)
    (why,) = [one for one in found.judged if one.rule == "drop"]
    assert why.missing == ("headers of the dropped packets",)
    assert causes(found) == set() and "receive-queue-full" in not_judged(found)


def test_a_listed_skb_without_headers_was_dropped(tmp_path: Path) -> None:
    found = only(diagnosed(events_only(), tmp_path, packet=-1), "drop")
    assert (found.number, found.rows.tolist()) == (1, [-1])


def test_a_dropped_skb_of_another_family_is_no_packet(tmp_path: Path) -> None:
    made = story()
    freed(made, 1, received(made, 1, 100) + 1)
    made.event(190 * US, KblEvent.DROP, skb(9), 3, context=SOFTIRQ, pid=0)
    found = diagnosed(made, tmp_path)
    assert causes(found) == set() and "drop" not in not_judged(found)


def test_without_events_nothing_is_said_about_drops(tmp_path: Path) -> None:
    made = story()
    freed(made, 1, received(made, 1, 100) + 1)
    found = diagnosed(made, tmp_path)
    assert {"drop", "receive-queue-full"} <= not_judged(found)


def asked(made: Story, number: int, at: int, again: int | None) -> None:
    """Send a packet whose next hop is asked for; `again`: when it is handed on, us."""
    mine, where = skb(number), {"pid": READER}
    made.alloc(at * US - 20, mine, **where)
    facts: dict[str, Any] = {"ipv4": udp4(number), "skbinfo": HOST}
    made.call("ip_output", at * US, (at + 20) * US, mine, **where, **facts)
    made.call("neigh_resolve_output", (at + 1) * US, (at + 19) * US, mine, **where)
    made.call("__neigh_event_send", (at + 2) * US, (at + 3) * US, mine, **where)
    if again is None:
        made.call("dev_hard_start_xmit", (at + 4) * US, (at + 8) * US, mine, **where)
        made.free((at + 21) * US, mine, **where)


def test_a_packet_that_waits_for_a_hardware_address(tmp_path: Path) -> None:
    made = story()
    asked(made, 1, 100, 600)
    where = {"context": SOFTIRQ, "pid": 0}
    made.call("neigh_resolve_output", 600 * US, 610 * US, skb(1), **where)
    made.call("dev_hard_start_xmit", 602 * US, 608 * US, skb(1), **where)
    freed(made, 1, 611)
    found = diagnosed(made, tmp_path)
    assert causes(found) == {"neighbour"}
    finding = only(found, "neighbour")
    assert finding.cost_ns == (600 - 120) * US  # ip_output ran until 120
    assert "then the packet was sent" in finding.text


def test_an_old_address_does_not_delay(tmp_path: Path) -> None:
    """The kernel asks for the address again, and sends at once."""
    made = story()
    asked(made, 1, 100, None)
    assert "neighbour" not in causes(diagnosed(made, tmp_path)) | not_judged(
        diagnosed(made, tmp_path)
    )


def test_a_next_hop_that_does_not_answer(tmp_path: Path) -> None:
    made = story()
    asked(made, 1, 100, 3000)
    made.event(3000 * US, KblEvent.DROP, skb(1), FAILED, context=SOFTIRQ, pid=0)
    freed(made, 1, 3001)
    found = diagnosed(made, tmp_path)
    assert causes(found) == {"drop", "neighbour"}
    assert "no host answered" in only(found, "neighbour").text
