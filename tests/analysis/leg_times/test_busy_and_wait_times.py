# SPDX-License-Identifier: MIT
"""Every nanosecond of a leg is busy, a wait with its name, or unknown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skbviewer.analysis.stats import layer_table
from skbviewer.readers import KblEvent
from skbviewer.session import Session
from tests.matching.story import HARDIRQ, HOST, OTHER, SOFTIRQ, TASK, Story, udp4

from ..stats.test_tables import opened

A, B = 0xFFFF888003A1C500, 0xFFFF888003A1C600


def spent(story: Story, folder: Path) -> Iterator[tuple[Session, dict[str, int]]]:
    """Yield ns by name for the first skb lifetime in each version of the story."""
    for session in opened(story, folder):
        (leg, *_) = session.paths.path(series=1).legs
        made = {wait.what: 0 for wait in leg.waits} | {"busy": leg.busy_ns or 0}
        for wait in leg.waits:
            made[wait.what] += min(wait.dur_ns, leg.end_ns - wait.begin_ns)
        assert sum(made.values()) == leg.kernel_ns
        yield session, made


def test_what_a_call_does_for_other_packets_is_theirs(tmp_path: Path) -> None:
    story = Story()
    story.alloc(990, A, context=SOFTIRQ)
    story.call("ip_rcv", 1000, 9000, A, context=SOFTIRQ, ipv4=udp4(1))
    story.call("ip_output", 2000, 7000, B, context=SOFTIRQ, ipv4=udp4(2))
    for _, made in spent(story, tmp_path):
        assert made == {"busy": 3010, "other packets": 5000}


def test_interrupts_and_other_threads_are_waits(tmp_path: Path) -> None:
    story = Story()
    story.alloc(990, A, pid=7)
    story.call("udp_send_skb", 1000, 9000, A, pid=7, ipv4=udp4(1))
    story.call("eth_header", 2000, 2300, B, pid=7, context=HARDIRQ, ipv4=udp4(2))
    story.call("ip_output", 3000, 4000, A, pid=7)
    story.call("ip_rcv", 5000, 5500, B, pid=8, ipv4=udp4(2))
    story.call("ip_finish_output2", 6000, 7000, A, pid=7)
    for _, made in spent(story, tmp_path):
        assert made["interrupts"] == 300
        assert made["switched out"] == 2000  # between two calls of its thread, all of it
        assert made["busy"] == 8010 - 2300


def test_a_queue_is_named_by_what_takes_the_packet_next(tmp_path: Path) -> None:
    story = Story()
    story.alloc(990, A, context=SOFTIRQ)
    story.call("tcp_v4_rcv", 1000, 2000, A, context=SOFTIRQ, ipv4=udp4(1))
    story.call("tcp_v4_do_rcv", 8000, 9000, A, pid=7)
    for session, made in spent(story, tmp_path):
        assert made == {"busy": 2010, "socket backlog": 6000}
        rows = {row.layer: row.total_ns for row in layer_table(session.stats.scope()).rows}
        assert rows["socket backlog"] == 6000


def test_only_tcp_has_a_backlog(tmp_path: Path) -> None:
    """A thread of the kernel continues with a packet that IPsec has decrypted."""
    story = Story()
    story.alloc(990, A, context=SOFTIRQ)
    story.call("ip_local_deliver", 1000, 2000, A, context=SOFTIRQ, ipv4=udp4(1))
    story.call("ip_local_deliver", 8000, 9000, A, pid=7)
    for _, made in spent(story, tmp_path):
        assert made == {"busy": 2010, "queue": 6000}


def test_between_two_calls_of_a_thread_nothing_is_known_of_long_times(tmp_path: Path) -> None:
    story = Story()
    story.alloc(990, A, pid=7)
    story.call("udp_send_skb", 1000, 2000, A, pid=7, ipv4=udp4(1))
    story.call("ip_output", 2500, 4000, A, pid=7)
    story.call("ip_finish_output2", 904_000, 905_000, A, pid=7)
    for _, made in spent(story, tmp_path):
        assert made == {"busy": 10 + 3000 + 1000, "outside probed functions": 900_000}


@pytest.mark.parametrize(
    ("before", "following", "name"),
    [
        ("tcp_write_xmit", "tcp_retransmit_skb", "send queue"),
        ("__tcp_transmit_skb", "skb_release_data", "send queue"),
        ("__tcp_transmit_skb", "skb_can_shift", "send queue"),
        ("tcp_insert_write_queue_after", "tcp_skb_fragment_eor", "send queue"),
        ("tcp_set_skb_tso_segs", "tcp_set_skb_tso_segs", "send queue"),
        ("tcp_event_new_data_sent", "skb_can_shift", "send queue"),
        ("tcp_rbtree_insert", "tcp_rate_skb_delivered", "send queue"),
        ("tcp_skb_fragment_eor", "tcp_set_skb_tso_segs", "outside probed functions"),
        ("netem_skb_cb", "netem_skb_cb", "qdisc"),
        ("__netif_receive_skb", "skb_release_data", "outside probed functions"),
        ("tcp_v4_rcv", "tcp_try_coalesce", "socket queue"),
        ("ip_rcv", "skb_try_coalesce", "reassembly"),
        ("napi_gro_receive", "tcp_try_coalesce", "outside probed functions"),
        ("skb_orphan_partial", "sch_direct_xmit", "qdisc"),
        ("__netif_receive_skb", "napi_gro_receive", "softirq"),
        ("skb_flow_limit", "__netif_receive_skb", "softirq"),
        ("skb_scrub_packet", "skb_scrub_packet", "queue"),
        ("skb_scrub_packet", "skb_push", "outside probed functions"),
        ("skb_push", "skb_scrub_packet", "outside probed functions"),
        ("eth_type_trans", "napi_gro_receive", "outside probed functions"),
        ("napi_gro_receive", "netif_receive_skb_list_internal", "NAPI list"),
        ("napi_gro_receive", "inet_gro_complete", "NAPI list"),
        ("eth_type_trans", "netif_receive_skb_list_internal", "outside probed functions"),
        ("__netif_receive_skb", "inet_gro_complete", "outside probed functions"),
        ("skb_orphan_partial", "validate_xmit_skb", "outside probed functions"),
    ],
)
def test_a_wait_is_named_only_by_what_shows_it(
    before: str, following: str, name: str, tmp_path: Path
) -> None:
    story = Story()
    story.function("__dev_queue_xmit")
    story.alloc(990, A, context=SOFTIRQ)
    story.call(before, 1000, 2000, A, context=SOFTIRQ, ipv4=udp4(1))
    story.call(following, 902_000, 903_000, A, context=SOFTIRQ)
    for _, made in spent(story, tmp_path):
        assert made == {"busy": 10 + 1000 + 1000, name: 900_000}


def test_two_scrubs_show_no_queue_if_a_call_between_may_be_unprobed(tmp_path: Path) -> None:
    story = Story()
    story.alloc(990, A, context=SOFTIRQ)
    for begin in (1000, 902_000):
        story.call("skb_scrub_packet", begin, begin + 1000, A, context=SOFTIRQ, ipv4=udp4(1))
    for _, made in spent(story, tmp_path):
        assert made == {"busy": 10 + 1000 + 1000, "outside probed functions": 900_000}


@pytest.mark.parametrize(
    ("thread", "context", "name"),
    [
        ("kpktgend_0", TASK, "queue"),
        ("kpktgend_0", SOFTIRQ, "outside probed functions"),
        ("ksoftirqd/0", TASK, "outside probed functions"),
    ],
)
def test_the_kernels_generator_holds_a_packet_until_it_is_due(
    thread: str, context: int, name: str, tmp_path: Path
) -> None:
    story = Story()
    story.thread(500, 7, thread)
    story.alloc(990, A, pid=7, context=context)
    story.call("skb_put", 1000, 2000, A, pid=7, context=context, ipv4=udp4(1))
    story.call("veth_xmit", 902_000, 903_000, A, pid=7, context=context)
    for _, made in spent(story, tmp_path):
        assert made == {"busy": 10 + 1000 + 1000, name: 900_000}


def test_in_a_call_the_generator_holds_no_packet(tmp_path: Path) -> None:
    story = Story()
    story.thread(500, 7, "kpktgend_0")
    story.enter(900, "netif_receive_skb", B, pid=7)
    story.alloc(990, A, pid=7)
    story.call("skb_put", 1000, 2000, A, pid=7, ipv4=udp4(1))
    story.call("veth_xmit", 902_000, 903_000, A, pid=7)
    story.leave(990_000, "netif_receive_skb", B, pid=7)
    for leg, made in spent(story, tmp_path):
        assert "queue" not in made, leg


def test_a_packet_in_a_list_waits_for_others_first(tmp_path: Path) -> None:
    story = Story()
    story.alloc(990, A, context=SOFTIRQ)
    story.call("napi_gro_receive", 1000, 2000, A, context=SOFTIRQ, ipv4=udp4(1))
    story.call("napi_gro_receive", 202_000, 302_000, B, context=SOFTIRQ, ipv4=udp4(2))
    story.call("netif_receive_skb_list_internal", 902_000, 903_000, A, context=SOFTIRQ)
    for _, made in spent(story, tmp_path):
        assert made["NAPI list"] + made["other packets"] == 900_000
        assert made["other packets"] == 100_000


def test_a_call_with_several_packets_works_for_each(tmp_path: Path) -> None:
    """This includes a further packet of the call, in another leg."""
    story = Story()
    story.version = 3
    story.alloc(500, B, context=SOFTIRQ)
    story.alloc(990, A, context=SOFTIRQ)
    story.call("ip_rcv", 1000, 9000, A, context=SOFTIRQ, ipv4=udp4(1), skbinfo=HOST)
    story.call("ip_output", 2000, 8000, A, context=SOFTIRQ, ipv4=udp4(1), skbinfo=OTHER)
    story.call("tcp_try_coalesce", 3000, 5000, B, context=SOFTIRQ, ipv4=udp4(2))
    story.event(3000, KblEvent.CARRY, A, 1, context=SOFTIRQ)
    for session in opened(story, tmp_path):
        first, second = session.paths.path(series=2).legs
        assert [call.function for call in second.calls] == ["ip_output", "tcp_try_coalesce"]
        assert not first.waits and first.busy_ns == first.kernel_ns
