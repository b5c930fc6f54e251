# SPDX-License-Identifier: MIT
"""NetSlice, Figures 4 and 7(b), formulas (2) and (4): events of probes and of layers; idle time.

The event is an executed instruction, which the emulator counts: a guest without hardware
acceleration has no performance counter.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from skbviewer.analysis.words.function_layers import layer_of, layers
from tests.instructions.counts import ENTRY, EXIT, Counts, column
from tests.instructions.joined_calls import Joined, join
from tests.instructions.recorded import SERIES, Phase, recorded
from tests.instructions.touched_run import KERNEL, touched

from .markdown import percent, table
from .touched_memory import data_paths

SENT = "tx"
WAITING = ("tcp_sendmsg", "tcp_recvmsg")


class ProbeEvents(NamedTuple):
    """Instructions of a pair of probes: those inside the call, and all of them."""

    inside: int  # n_o
    pair: int  # n_beta


@functools.cache
def probe_events(series: str) -> ProbeEvents:
    """Return the most frequent numbers in the loop of three functions, which have no packet."""
    counts: Counts = recorded(series).counts[Phase.PROBED_TWICE]
    marks = counts.marks[np.isin(counts.marks["kind"], (ENTRY, EXIT))]
    probe = column(marks, "probe").reshape(-1, 6)  # entries from outside, returns from inside
    return ProbeEvents(
        _most_frequent(probe[:, 3] - probe[:, 2]),
        _most_frequent(probe[:, 4] - probe[:, 1] - (probe[:, 3] - probe[:, 2])),
    )


def _most_frequent(values: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> int:
    found, often = np.unique(values, return_counts=True)
    return int(found[often.argmax()])


def probe_costs_in_events() -> str:
    """Figure 4: the instructions of our probes."""
    rows = [(f"Linux {series}", *probe_events(series)) for series in SERIES]
    return table(("kernel", "inside the call (n_o)", "a pair of probes (n_beta)"), rows)


class Own(NamedTuple):
    """Instructions of a call outside the calls inside it, by what they are."""

    recorded: int  # with those of probes
    formula: int  # without those of probes, by NetSlice's formulas
    kernel: int  # without those of probes, as the emulator divided them


def own_events(joined: Joined, probe: ProbeEvents) -> dict[tuple[str, int], Own]:
    """Return the numbers of each call by function and time of entry."""
    leave = joined.entry_ns + joined.dur_ns
    whole, kernel = joined.kernel + joined.probe, joined.kernel.copy()
    own, inner = whole.copy(), np.zeros(len(whole), np.int64)
    stack = list[int]()
    for at in np.argsort(joined.entry_ns).tolist():
        stack = [row for row in stack if leave[row] > joined.entry_ns[at]]
        around = [row for row in stack if leave[row] > leave[at]]
        if around:
            own[around[-1]] -= whole[at]
            kernel[around[-1]] -= joined.kernel[at]
            inner[around[-1]] += 1
        stack.append(at)
    formula = own - inner * (probe.pair - probe.inside) - probe.inside
    keys = zip(joined.function, joined.entry_ns.tolist(), strict=True)
    parts = zip(own.tolist(), formula.tolist(), kernel.tolist(), strict=True)
    return {key: Own(*one) for key, one in zip(keys, parts, strict=True)}


@functools.cache
def _joined() -> Joined:
    return join(touched().counts, touched().log)


def sent_by_layer() -> dict[str, list[Own]]:
    """Return the calls that sent the packets with data, by layer."""
    events, found = own_events(_joined(), probe_events(KERNEL)), defaultdict[str, list[Own]](list)
    for path in data_paths():
        for call in (call for leg in path.legs if leg.kind == SENT for call in leg.calls):
            if call.executed_self is not None:
                found[layer_of(call.function)].append(events[call.function, call.entry_ns])
    return found


def layer_events() -> str:
    """Figure 7(b): the instructions of each layer while packets with data were sent."""
    found, rows = sent_by_layer(), list[tuple[str, ...]]()
    for layer in (style.name for style in layers() if style.name in found):
        rows.append((layer, *_sums(found[layer])))
    rows.append(("all", *_sums([one for some in found.values() for one in some])))
    head = ("layer", "calls", "recorded", "formulas (2) and (4)", "executed by the kernel",
            "off by (%)")  # fmt: skip
    return table(head, rows)


def _sums(some: list[Own]) -> tuple[str, ...]:
    recorded, formula, kernel = (sum(part) for part in zip(*some, strict=True))
    off = percent(abs(formula - kernel), kernel)
    return (f"{len(some)}", f"{recorded:,}", f"{formula:,}", f"{kernel:,}", off)


def idle_time() -> str:
    """Return what the CPU did during calls that sent and received the data."""
    joined = _joined()
    rows = [
        (f"`{joined.function[at]}`",
         *(f"{int(part[at]):,}" for part in (joined.dur_ns, joined.kernel, joined.probe,
                                             joined.user, joined.idle_ns)))
        for at in np.argsort(joined.entry_ns).tolist() if joined.function[at] in WAITING
    ]  # fmt: skip
    head = ("call", "recorded (ns)", "kernel", "probes", "programs", "idle (ns)")
    return table(head, rows)
