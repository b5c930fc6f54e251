# SPDX-License-Identifier: MIT
"""What the columns of STATISTICS mean: for `stats --help` and the window's tooltips.

Several columns may share a line.  Names are without the ending _ns.  A test compares them with the
rows.
"""

from __future__ import annotations

SPREAD = {
    "total": "sum",
    "mean": "arithmetic mean",
    "p50, p95, p99": "percentiles: half, 95 %, 99 % of the values are at most that",
    "max": "the largest value",
}

COLUMNS: dict[str, dict[str, str]] = {
    "conversations": {
        "kind": "Ethernet, IPv4, IPv6, TCP or UDP",
        "address_a, port_a": "one end; the ports of TCP and UDP only",
        "address_b, port_b": "the other end",
        "packets, bytes": "packets of both directions, and their bytes on the wire",
        "packets_ab, bytes_ab": "from A to B",
        "packets_ba, bytes_ba": "from B to A",
        "begin": "when the first packet was captured",
        "dur": "from the first packet to the last",
        "kernel": "time in kernel of the packets that are matched exactly",
    },
    "endpoints": {
        "kind": "Ethernet, IPv4, IPv6, TCP or UDP",
        "address, port": "the end; the port of TCP and UDP only",
        "packets, bytes": "packets sent or received, and their bytes on the wire",
        "tx_packets, tx_bytes": "sent by it",
        "rx_packets, rx_bytes": "received by it",
    },
    "functions": {
        "function, layer": "the function, and the layer of the stack it belongs to",
        "count": "calls; a call counts once, however many packets it handled",
        "open": "of them calls without a known duration: no exit was recorded",
        "self": "total without the calls and the interrupts inside, where known",
        "comp_mean": "mean less what the probes cost; - where that was never measured",
        "comp_err": "how far comp_mean may be wrong, either way",
        "switched_out": "calls during which the CPU ran another task",
        "interrupted": "calls during which an interrupt ran",
        "gaps": "calls across lost records: their self and comp_mean are not counted",
    },
    "layers": {
        "kind": "busy: self time of a layer's functions; wait: time in a queue, on the wire or "
        "while the CPU served others; stage: a stretch of a leg, waits included",
        "layer": "the layer, the wait or the stage",
        "calls": "calls that were counted",
        "count": "legs (passes of a packet through a stack) that have it; the times are of one leg",
    },
    "processes": {
        "process": "the program whose system calls sent or received the packets",
        "host": "the number of the kernel recording among the files, from 1",
        "legs": "passes of packets through a stack in which it had calls",
        "count": "calls in the program's own context; their self time is summed, without calls "
        "during which the CPU ran another task",
    },
    "drops": {
        "reason": "the kernel's drop reason",
        "function, layer": "what dropped the packets, with the offset inside the function",
        "count": "drops",
        "wire": "of them packets that a capture holds",
        "packets": "the first of these packets' numbers",
    },
    "clock": {
        "source, kbl": "the numbers of the capture and of the kernel recording among the files",
        "offset": "the capture's clock less the kernel recording's",
        "drift_ppm": "how much faster the capture's clock runs, in millionths",
        "residual": "how far the fit may be wrong, either way",
        "pairs": "pairs of packets that the fit comes from",
        "interface": "the interface of the capture, where each has a clock of its own",
    },
}


def meaning(name: str, key: str) -> str:
    """What the column `key` of the statistic `name` holds; "" if nothing is written of it."""
    word = "count" if key == "number" else key.removesuffix("_ns")
    for names, text in (COLUMNS.get(name, {}) | SPREAD).items():
        if word in names.split(", "):
            return text
    return ""
