# SPDX-License-Identifier: MIT
"""All rules of a diagnosis, in the order in which they are judged."""

from __future__ import annotations

from .busy_in import Work
from .causes import (
    conntrack,
    copies,
    drops,
    interrupted,
    lost_records,
    neighbour,
    netfilter,
    other_packets,
    probe_cost,
    queue_overflow,
    queueing_discipline,
    reassembly,
    reordering,
    retransmission,
    segmentation,
    send_queue,
    slow_packets,
    softirq_wait,
    software_checksum,
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

# The rules about the time that packets spend in some functions.
WORKS: tuple[Work, ...] = tuple(
    rule.WORK for rule in (segmentation, software_checksum, netfilter, conntrack, copies)
)
RULE_TABLE: tuple[Rule, ...] = (
    slow_packets.RULE,
    drops.RULE,
    queue_overflow.RULE,
    softirq_wait.RULE,
    ksoftirqd.RULE,
    queueing_discipline.RULE,
    neighbour.RULE,
    late_reader.RULE,
    retransmission.RULE,
    reordering.RULE,
    interrupted.RULE,
    other_packets.RULE,
    switched_out.RULE,
    socket_lock.RULE,
    lock_contention.RULE,
    send_queue.RULE,
    reassembly.RULE,
    segmentation.RULE,
    software_checksum.RULE,
    netfilter.RULE,
    conntrack.RULE,
    copies.RULE,
    cpu_migration.RULE,
    probe_cost.RULE,
    lost_records.RULE,
)
