# SPDX-License-Identifier: MIT
"""All rules of a diagnosis, in the order in which they are judged."""

from __future__ import annotations

from .causes import (
    busy_with_other_packets,
    conntrack,
    drops,
    gso_and_gro,
    interrupted_packets,
    lost_records,
    neighbour_resolution,
    netfilter,
    probe_overhead,
    queueing_discipline,
    reassembly,
    reordering,
    retransmission,
    skb_copies,
    slow_packets,
    socket_queue_overflow,
    softirq_wait,
    software_checksum,
    tcp_send_queue,
)
from .causes.threads import (
    cpu_migration,
    ksoftirqd,
    late_reader,
    lock_contention,
    socket_lock,
    switched_out,
)
from .finding import Rule
from .slow_function_findings import Work

# The rules about the time that packets spend in some functions.
WORKS: tuple[Work, ...] = tuple(
    rule.WORK for rule in (gso_and_gro, software_checksum, netfilter, conntrack, skb_copies)
)
RULE_TABLE: tuple[Rule, ...] = (
    slow_packets.RULE,
    drops.RULE,
    socket_queue_overflow.RULE,
    softirq_wait.RULE,
    ksoftirqd.RULE,
    queueing_discipline.RULE,
    neighbour_resolution.RULE,
    late_reader.RULE,
    retransmission.RULE,
    reordering.RULE,
    interrupted_packets.RULE,
    busy_with_other_packets.RULE,
    switched_out.RULE,
    socket_lock.RULE,
    lock_contention.RULE,
    tcp_send_queue.RULE,
    reassembly.RULE,
    gso_and_gro.RULE,
    software_checksum.RULE,
    netfilter.RULE,
    conntrack.RULE,
    skb_copies.RULE,
    cpu_migration.RULE,
    probe_overhead.RULE,
    lost_records.RULE,
)
