# SPDX-License-Identifier: MIT
"""What a Scope is made of: the user's choice, the logs of a session, and facts about events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...matching import Sample
from ...records.types import Int64s
from ..words.kernel_log_names import Names


class Chosen(NamedTuple):
    """The user's choice: rows of the packet list, and a range of session time.

    `packets` are rows of the packet list: n for packet n, -n for row K<n>.  If `packets` is None,
    all rows are chosen, and also lifetimes without a row.  A leg or call is in the range of time if
    it begins at a time t with begin_ns <= t < end_ns.  A drop is in the range of time if it
    happened at a time t with begin_ns <= t < end_ns.  None means no limit.  A packet without a time
    is not in any range.  Lifetimes without network identity (netlink, unix sockets) are selected
    only if `everything` is true.  `interval_ns` is the length of the intervals of `stats io`; if it
    is None, a suitable length is used.  If `inner` is false, calls of functions without an skb are
    left out, and their self time counts for the calls around them.
    """

    packets: Int64s | None = None
    begin_ns: int | None = None
    end_ns: int | None = None
    everything: bool = False
    interval_ns: int | None = None
    inner: bool = True


class Kernel(NamedTuple):
    """One KBL: its names, its functions by probe id, and the (begin_ns, end_ns) of its losses.

    `sample` says which part of the connections the KBL has; None means all of them.  `unarmed` are
    the functions on which the recorder could not set a probe.
    """

    names: Names
    functions: Mapping[int, str]
    losses: Sequence[tuple[int, int]]
    sample: Sample | None = None
    unarmed: frozenset[str] = frozenset()


class QueueOf(NamedTuple):
    """The queue whose length an event reports; with ifindex 0 it is the CPU's backlog.

    `state` is the handle of the queueing discipline.
    """

    netns: int
    ifindex: int
    state: int


class Details(NamedTuple):
    """Functions that read further facts about events when they are needed.

    frames() returns rows (event, address), the innermost frame first. queues() returns the queue of
    each event.  Events are numbered as in table event.
    """

    frames: Callable[[], Int64s] = lambda: np.zeros((0, 2), np.int64)
    queues: Callable[[], Mapping[int, QueueOf]] = dict


NO_DETAILS = Details()
