# SPDX-License-Identifier: MIT
"""Packets whose thread or interrupt had to wait for a lock of the kernel."""

from __future__ import annotations

import numpy as np

from .....records.kbl_layout import KblEvent
from ....words.event_text import lock_address, lock_kind
from ....words.wait_kinds import NAMES, OFF
from ... import required_data, wording
from ...finding import EVENT, WARNING, Evidence, Finding, Rule
from ...lock_waits import Locks, holders, locks_of
from ...rule_inputs import EXAMPLES, Case
from ...wait_findings import examples

NAME = "lock-contention"
ADVICE = (
    "Several CPUs needed the same lock. The wait becomes shorter if fewer CPUs share a queue, "
    "socket or table (RPS, XPS, SO_REUSEPORT, a queueing discipline without a lock)."
)


def _find(case: Case) -> list[Finding]:
    locks = locks_of(case)
    ns = locks.of_packets(len(case.rows))
    which = case.waited(ns)
    if not which.any():
        return []
    worst = case.worst(ns, which)
    first, number, total = int(worst[0]), int(which.sum()), int(ns[which].sum())
    mine = locks.selected(np.isin(locks.row, np.flatnonzero(which)))
    longest = locks.longest_of(first)
    name = wording.packet(case.ids(worst[:1])[0])
    text = (
        f"{wording.packets(number)} waited for locks, {wording.time(total)} altogether. "
        f"{name[0].upper()}{name[1:]} waited {wording.time(int(ns[first]))}"
        f"{_share(case, locks, first)}; the longest time {_where(locks, longest)}."
        f"{holders(case, locks, longest)}"
    )
    order = np.argsort(-mine.waits.ns, kind="stable")[:EXAMPLES].tolist()
    evidence = [
        Evidence(
            EVENT, int(mine.waits.event[at]) + 1, _where(mine, at), int(mine.waits.begin[at]),
            int(mine.waits.ns[at]),
        )
        for at in order
    ]  # fmt: skip
    evidence += examples(case, worst, ns, "waiting for locks")
    explains = (*sorted({case.function(int(call)) for call in mine.call if call >= 0}), NAMES[OFF])
    return [
        Finding(
            NAME, WARNING, case.ids(worst[:1])[0], number, total, text, tuple(evidence), ADVICE,
            case.rows[np.flatnonzero(which)], explains,
        )
    ]  # fmt: skip


def _share(case: Case, locks: Locks, row: int) -> str:
    """Return a phrase with the share of a packet's time in kernel that it waited for locks.

    A program may also wait for a lock later, while it reads the packet.
    """
    mine = locks.selected(locks.row == row)
    if (mine.waits.begin >= case.of_leg("end_ns", mine.leg)).any():
        return ", partly while the program read it"
    share = wording.share(int(mine.waits.ns.sum()), int(case.kernel_ns[row]))
    return f", {share} of its time in kernel"


def _where(locks: Locks, at: int) -> str:
    """Return a phrase such as "in rtnl_lock for the mutex 0xffff888000005000, 12 µs"."""
    data = int(locks.waits.data[at])
    function = locks.functions[at] or "an unknown function"
    kind = f"{lock_kind(data)} 0x{lock_address(data):x}"
    return f"in {function} for the {kind}, {wording.time(int(locks.waits.ns[at]))}"


RULE = Rule(
    NAME,
    (required_data.calls(), required_data.events("lock", KblEvent.LOCK_WAIT, KblEvent.LOCK_GOT)),
    _find,
)
