# SPDX-License-Identifier: MIT
"""The meaning of each column of `skbviewer stats`, as --help shows it.

A test compares the names.
"""

from __future__ import annotations

import textwrap

SPREAD = {
    "total": "sum",
    "mean": "arithmetic mean",
    "p50, p95, p99": "percentiles: 50 %, 95 %, 99 % of the values are at most this",
    "max": "the largest value",
}

COLUMNS: dict[str, dict[str, str]] = {
    "functions": {
        "function, layer": "the function, and the layer of the stack it belongs to",
        "count": "calls; a call counts once, however many packets it handled",
        "open": "calls without a known duration, because no exit was recorded",
        "self": "total without the calls and the interrupts inside, if known",
        "comp_mean": "mean less the cost of the probes; - if that was not measured",
        "comp_err": "possible error of comp_mean, in either direction",
        "switched_out": "calls during which the CPU ran another task",
        "interrupted": "calls during which an interrupt ran",
        "gaps": "calls during which records were lost: their self and comp_mean are not counted",
    },
    "layers": {
        "kind": "busy: self time of a layer's functions; wait: time in a queue, on the wire or "
        "while the CPU did other work; stage: a part of a leg, including its waits",
        "layer": "the layer, the wait or the stage",
        "calls": "calls that were counted",
        "count": "legs (passes of a packet through a stack) that have it; times are per leg",
    },
    "drops": {
        "reason": "the kernel's drop reason",
        "function, layer": "the function that dropped the packets, with the offset inside it",
        "count": "drops",
        "wire": "dropped packets that a capture holds",
        "packets": "the first numbers of these packets",
    },
    "processes": {
        "process": "the program whose system calls sent or received the packets",
        "host": "the number of the kernel log among the files, from 1",
        "legs": "passes of packets through a stack in which the program had calls",
        "count": "calls in the program's own context; their self time is summed, without calls "
        "during which the CPU ran another task",
    },
    "clock": {
        "source, kbl": "the numbers of the capture and of the kernel log among the files",
        "offset": "the capture's clock less the kernel log's",
        "drift_ppm": "how much faster the capture's clock runs, in parts per million",
        "residual": "possible error of the fit, in either direction",
        "pairs": "number of packet pairs that the fit is based on",
        "interface": "the interface of the capture, if each interface has its own clock",
    },
}


def _table(name: str, columns: dict[str, str]) -> str:
    lines = [f"{name}:"]
    for names, meaning in columns.items():
        lines += textwrap.wrap(
            meaning, 96, initial_indent=f"  {names:<16} ", subsequent_indent=" " * 19
        )
    return "\n".join(lines)


HELP = "\n\n".join(
    [
        "Times are microseconds (column_us); in JSON and CSV, nanoseconds (column_ns).",
        _table("every table of times", SPREAD),
        *(_table(name, columns) for name, columns in COLUMNS.items()),
    ]
)
