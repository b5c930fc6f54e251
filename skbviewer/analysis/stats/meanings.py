# SPDX-License-Identifier: MIT
"""The meaning of each column of STATISTICS, for `stats --help` and the window's tooltips.

Several columns may share a line.  Names lack the ending _ns.  A test compares them with the rows.
"""

from __future__ import annotations

SPREAD = {
    "total": "sum",
    "mean": "arithmetic mean",
    "p50, p95, p99": "percentiles: 50 %, 95 %, 99 % of the values are at most this",
    "max": "the largest value",
}

COLUMNS: dict[str, dict[str, str]] = {
    "conversations": {
        "kind": "Ethernet, IPv4, IPv6, TCP or UDP",
        "address_a, port_a": "one end; ports only for TCP and UDP",
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
        "address, port": "the end; port only for TCP and UDP",
        "packets, bytes": "packets sent or received, and their bytes on the wire",
        "tx_packets, tx_bytes": "sent by this end",
        "rx_packets, rx_bytes": "received by this end",
    },
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
    "processes": {
        "process": "the program whose system calls sent or received the packets",
        "host": "the number of the kernel log among the files, from 1",
        "legs": "passes of packets through a stack in which the program had calls",
        "count": "calls in the program's own context; their self time is summed, without calls "
        "during which the CPU ran another task",
    },
    "drops": {
        "reason": "the kernel's drop reason",
        "function, layer": "the function that dropped the packets, with the offset inside it",
        "count": "drops",
        "wire": "dropped packets that a capture holds",
        "packets": "the first numbers of these packets",
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


def meaning(name: str, key: str) -> str:
    """Return the meaning of the column `key` of the statistic `name`; "" if it has none."""
    word = "count" if key == "number" else key.removesuffix("_ns")
    for names, text in (COLUMNS.get(name, {}) | SPREAD).items():
        if word in names.split(", "):
            return text
    return ""
