# SPDX-License-Identifier: MIT
"""What a Scope is made from: the user's choice, the logs of a session, details of events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...matching import Sample
from ...records.types import Int64s
from ..words.kernel_log_names import Names


class Chosen(NamedTuple):
    """Rows of the packet list, and a range of session time.

    `packets` are rows: n for packet n, -n for row K<n>.  None means all rows, and lifetimes without
    a row.  A leg or call is in the range
    if it begins at begin_ns <= t < end_ns, and a drop if it happened then; None means no limit.  A
    packet without a time is in no range.  Lifetimes without network identity (netlink, unix
    sockets) are selected only with `everything`.  `interval_ns` is the length of the intervals of
    `stats io`; None means a suitable one.  Without `inner`, calls of functions without an skb are
    left out, and their self time counts for the calls around them.
    """

    packets: Int64s | None = None
    begin_ns: int | None = None
    end_ns: int | None = None
    everything: bool = False
    interval_ns: int | None = None
    inner: bool = True


class Kernel(NamedTuple):
    """One KBL: its names, `functions` by probe id, and (begin_ns, end_ns) of its losses.

    `sample` says which part of the connections it has; None: all of them.  `unarmed` are the
    functions on which the recorder could set no probe.
    """

    names: Names
    functions: Mapping[int, str]
    losses: Sequence[tuple[int, int]]
    sample: Sample | None = None
    unarmed: frozenset[str] = frozenset()


class QueueOf(NamedTuple):
    """The queue of an event of its length: ifindex 0 is the CPU's backlog; `state`: the handle."""

    netns: int
    ifindex: int
    state: int


class Details(NamedTuple):
    """Details of events, which are read when they are needed.

    `frames` returns rows (event, address), innermost frame first; `queues` the queues of events.
    Events are numbered as in table event.
    """

    frames: Callable[[], Int64s] = lambda: np.zeros((0, 2), np.int64)
    queues: Callable[[], Mapping[int, QueueOf]] = dict


NO_DETAILS = Details()
