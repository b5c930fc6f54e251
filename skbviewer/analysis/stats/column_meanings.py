# SPDX-License-Identifier: MIT
"""What each column of STATISTICS means, for `stats --help` and for tooltips in the window.

Several columns may share one meaning.  Names of columns are given without the ending _ns.  A test
compares the names with the fields of the rows.
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
        "address_a, port_a": "one endpoint; only TCP and UDP have ports",
        "address_b, port_b": "the other endpoint",
        "packets, bytes": "packets in both directions, and their bytes on the wire",
        "packets_ab, bytes_ab": "packets and bytes from A to B",
        "packets_ba, bytes_ba": "packets and bytes from B to A",
        "begin": "when the first packet was captured",
        "dur": "time from the first packet to the last",
        "kernel": "time in kernel of the packets that are matched exactly",
    },
    "endpoints": {
        "kind": "Ethernet, IPv4, IPv6, TCP or UDP",
        "address, port": "the endpoint; only TCP and UDP have ports",
        "packets, bytes": "packets sent or received, and their bytes on the wire",
        "tx_packets, tx_bytes": "packets and bytes that this endpoint sent",
        "rx_packets, rx_bytes": "packets and bytes that this endpoint received",
    },
    "functions": {
        "function, layer": "the function, and its layer of the stack",
        "count": "calls; a call counts once, however many packets it handled",
        "open": "calls whose duration is unknown, because their exit was not recorded",
        "self": "total self time of these calls: without inner calls and interrupts",
        "comp_mean": "mean minus the cost of the probes; shown as - if this cost was not measured",
        "comp_err": "possible error of comp_mean, in either direction",
        "switched_out": "calls during which the CPU ran another task",
        "interrupted": "calls during which an interrupt ran",
        "gaps": "calls during which records were lost: self and comp_mean leave these calls out",
    },
    "layers": {
        "kind": "busy: self time of a layer's functions; wait: time in a queue or while the CPU "
        "did other work; later wait: the same after the end of the leg, until a process read the "
        "packet, which is no part of the time in kernel; unknown: no record shows where the packet "
        "was; stage: a part of a leg, including its waits, or the wire between two legs",
        "layer": "the layer, the wait or the stage",
        "calls": "calls that were counted",
        "count": "legs (passes of a packet through a stack) with this layer, wait or stage; times "
        "are per leg",
    },
    "time": {
        "kind": "busy: functions ran, by layer; wait: in a queue; other work: the thread or the "
        "CPU worked for others; probes: estimated cost of the probes; unknown: no record shows why",
        "part": "the layer, the wait or the kind of other work",
        "packets": "packets that have this part",
        "total": "sum over the chosen packets; all rows add up to the packets' time in kernel",
        "share": "share of the time in kernel, in percent",
        "median": "total if each packet were like the median packet of its path; paths that too "
        "few packets took are left out",
        "excess": "total minus median, for the packets that have a median packet",
    },
    "paths": {
        "path": "number of the path in the whole recording, from 1, the most frequent one: the "
        "same with --range and --filter, but --all counts more packets; 0 stands for all rarer "
        "paths",
        "legs": "what the kernel did with the packet, leg by leg; dropped: the packet was lost; "
        "freed: a drop that lost no packet, because a socket had received it, for example",
        "count": "packets that took this path",
        "share": "share of the chosen packets whose time in kernel is known, in percent; only "
        "these packets have a path",
        "median": "the packet whose time in kernel is the median",
        "largest": "the largest part of the median packet's time in kernel",
        "slowest": "the slowest packets that are in a capture",
        "name": "name of the path in all recordings: the field kbl.path",
    },
    "latency": {
        "kind": "all packets, path (see stats paths) or stage: times in kernel are counted; "
        "function: durations of calls are counted",
        "name": "the path's number, the stage or the function",
        "count": "packets, legs or calls",
        "min": "the smallest value",
        "p50, p90, p99, p999": "percentiles: 50 %, 90 %, 99 %, 99.9 % of the values are at most "
        "this",
    },
    "io": {
        "after": "time from packet 1 to the start of the interval, negative before it; without a "
        "capture, time from the first leg of the kernel log: the zero of the Time column",
        "packets, bits": "packets captured in the interval, and their bits on the wire",
        "p50, p90, p99": "percentiles of the time in kernel of these packets",
        "drops": "drops in the interval, as column count of stats drops",
    },
    "roundtrip": {
        "packet, acked": "the packet that acknowledges, and the segment that it acknowledges",
        "stream": "the number of the TCP stream, as tcp.stream",
        "rtt": "time between these two packets in the capture: tcp.analysis.ack_rtt of tshark",
        "send": "time in the sender's kernel, from the segment's first record to the wire",
        "outside": "time on the sender's wire from the segment to its acknowledgment",
        "wire": "outside minus peer",
        "peer": "the part of outside at the peer: from the segment's arrival to the departure of "
        "the acknowledgment",
        "receive": "time in the sender's kernel, from the acknowledgment on the wire to the end of "
        "its leg",
    },
    "callgraph": {
        "function": "the function to which the entry belongs",
        "role": "what the other function is: a caller, the function itself, or a callee",
        "other": "the caller, the function itself, or the function called",
        "count": "calls of the function by this caller, or of this callee by the function; in the "
        "line of the function itself, all calls of the function",
        "self": "self time of these calls",
        "total": "duration of these calls, inner calls included",
    },
    "counter": {
        "kind": "function, layer or program; a program's calls are those in its own context",
        "name": "the function, layer or program",
        "count": "calls whose events are known",
        "counted": "events that the counter counted in these calls, without the calls inside them",
        "probes": "events in `counted` that the probes caused, by calibration; 0 if not calibrated",
        "events": "counted minus probes",
        "mean": "events per call",
    },
    "programs": {
        "process": "the program in whose system calls the function ran",
        "host": "the number of the kernel log in the list of files, from 1",
        "function, layer": "the function, and its layer of the stack",
        "count": "calls in the program's own context; the times are self times",
    },
    "interrupts": {
        "kind": "interrupt or softirq",
        "name": "the number of the interrupt, or the name of the softirq",
        "host": "the number of the kernel log in the list of files, from 1",
        "cpu": "the CPU on which it ran",
        "count": "how often it ran; the times are from start to end",
    },
    "syscalls": {
        "process": "the program",
        "host": "the number of the kernel log in the list of files, from 1",
        "syscall": "the system call",
        "count": "calls; the times are from start to end, waiting included",
        "errors": "calls that returned an error",
    },
    "threads": {
        "process": "the program",
        "host": "the number of the kernel log in the list of files, from 1",
        "kind": "ran: it had a CPU; waited for a CPU: it was woken, or had lost the CPU to another "
        "thread; slept: until it was woken",
        "count": "how often; the times are from begin to end",
    },
    "locks": {
        "function": "the function that needed the lock",
        "host": "the number of the kernel log in the list of files, from 1",
        "kind": "the kind of lock; one without a name of its own is a spin lock or semaphore",
        "locks": "different locks",
        "count": "waits; the times are from the begin of a wait to its end",
    },
    "faults": {
        "process": "the program",
        "host": "the number of the kernel log in the list of files, from 1",
        "kind": "what it tried, and whether the page was missing or protected",
        "count": "page faults",
        "pages": "different pages",
        "calls": "page faults inside calls for a packet",
    },
    "queues": {
        "queue": "the handle of a queueing discipline and its device, a CPU's backlog, or a socket",
        "host": "the number of the kernel log in the list of files, from 1",
        "count": "how often the length was recorded; the lengths are numbers of packets",
        "most": "the greatest number of packets",
        "most_bytes": "the greatest number of bytes; for a socket, of memory; 0: unknown",
    },
    "expert": {
        "severity": "critical: packets were lost; warning: time was lost; note: worth knowing",
        "rule": "the rule of skbviewer diagnose, or the field of the display filter",
        "packets": "packets with this finding",
        "packet": "the packet that suffered most, or the first one",
        "cost": "time that these packets lost altogether",
        "text": "the finding",
    },
    "processes": {
        "process": "the program whose system calls sent or received the packets",
        "host": "the number of the kernel log in the list of files, from 1",
        "legs": "passes of packets through a stack in which the program had calls",
        "count": "calls in the program's own context; the times are self times, without the time "
        "in which the CPU ran another task",
    },
    "drops": {
        "reason": "the kernel's drop reason",
        "function, layer": "the function that dropped the packets, with the offset inside it",
        "count": "drops, as the kernel counts them",
        "lost": "drops that lost the packet, as skbviewer diagnose counts them; of the other "
        "packets, a socket had received the data, or nobody lacks them",
        "wire": "dropped packets that are in a capture",
        "packets": "the numbers of the first of these captured packets",
    },
    "clock": {
        "source, kbl": "the numbers of the capture and of the kernel log in the list of files",
        "offset": "the capture's clock minus the kernel log's",
        "drift_ppm": "how much faster the capture's clock runs, in parts per million",
        "residual": "possible error of the fit, in either direction",
        "pairs": "number of packet pairs on which the fit is based",
        "interface": "the interface of the capture, if each interface has its own clock",
    },
}

# With --steps: instructions, from a file of the emulator's plugin.
EXECUTED = {
    "executed_calls": "calls for which executed is known; in layers, calls for which executed_self "
    "is known",
    "executed": "the kernel's instructions in these calls, with those of inner calls",
    "executed_self": "those of them outside the recorded inner calls, as far as they are known",
    "executed_probes": "instructions of the probes in these calls, with those of inner calls",
}

# Tables that are made of such a file alone.
COUNTED_COLUMNS = {
    "pages": {
        "function, layer, packet": "what accessed the page, as --by says: the function (the "
        "default), its layer, or the packet of the call; a call of several packets counts for each",
        "page": "the virtual address of 4,096 bytes",
        "lines": "how many of the page's 64 cache lines were accessed",
        "calls": "calls that accessed the page",
        "loads, stores": "accesses by the function's own instructions, without those of the "
        "functions that it calls, and without those of probes",
    },
    "lines": {
        "function, layer, packet": "as in pages",
        "line": "the virtual address of 64 bytes",
        "calls, loads, stores": "as in pages",
    },
    "exceptions": {
        "kind, name": "the entry of the kernel that was executed; page_fault is asm_exc_page_fault",
        "kernel, probes, programs": "how often it interrupted the kernel, the probes in it, and "
        "programs; these are numbers of the whole count, whatever packets are chosen",
    },
}


def meaning(name: str, key: str) -> str:
    """Return what the column `key` of the statistic `name` means; "" if that is not known."""
    word = "count" if key == "number" else key.removesuffix("_ns")
    for names, text in (COLUMNS.get(name, {}) | SPREAD).items():
        if word in names.split(", "):
            return text
    return ""
