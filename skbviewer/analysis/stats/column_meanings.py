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
        "address_a, port_a": "one endpoint of the conversation; only TCP and UDP have ports",
        "address_b, port_b": "the other endpoint of the conversation",
        "packets, bytes": "packets in both directions, and their size on the wire in bytes",
        "packets_ab, bytes_ab": "packets and bytes from A to B",
        "packets_ba, bytes_ba": "packets and bytes from B to A",
        "begin": "when the first packet was captured",
        "dur": "time from the first packet to the last packet",
        "kernel": "time in kernel of the packets that have an exact match",
    },
    "endpoints": {
        "kind": "Ethernet, IPv4, IPv6, TCP or UDP",
        "address, port": "the endpoint; only TCP and UDP have ports",
        "packets, bytes": "packets that this endpoint sent or received, and their size on the wire "
        "in bytes",
        "tx_packets, tx_bytes": "packets and bytes that this endpoint sent",
        "rx_packets, rx_bytes": "packets and bytes that this endpoint received",
    },
    "functions": {
        "function, layer": "the function, and its layer of the stack",
        "count": "number of calls; a call that handled several packets counts once",
        "open": "calls whose duration is unknown, because their exit was not recorded",
        "self": "sum of the calls' self times, which leave out inner calls and interrupts",
        "comp_mean": "mean duration minus the cost of the probes; '-' if this cost was not "
        "measured",
        "comp_err": "possible error of `comp_mean`, in either direction",
        "switched_out": "calls during which the CPU ran another task",
        "interrupted": "calls during which an interrupt ran",
        "gaps": "calls during which records were lost; `self` and `comp_mean` leave such calls out",
    },
    "layers": {
        "kind": "busy: self time of a layer's functions; wait: time in a queue or while the CPU "
        "did other work; later wait: a wait after the end of the leg, until a process read the "
        "packet (not part of the time in kernel); unknown: no record shows where the packet was; "
        "stage: a part of a leg, including its waits, or the wire between two legs",
        "layer": "name of the layer, of the wait or of the stage",
        "calls": "calls that were counted",
        "count": "number of legs (passes of a packet through a stack) that have this layer, wait "
        "or stage; the times are per leg",
    },
    "time": {
        "kind": "busy: functions ran, by layer; wait: the packet was in a queue; other work: the "
        "thread or the CPU did something else; probes: estimated cost of the probes; unknown: no "
        "record shows what happened",
        "part": "name of the layer, of the wait or of the other work",
        "packets": "packets whose time in kernel has this part",
        "total": "sum over the chosen packets; the sums of all rows add up to the packets' time in "
        "kernel",
        "share": "share of the time in kernel, in percent",
        "median": "what `total` would be if each packet spent as much time in this part as the "
        "median packet of its path; packets on rare paths are left out",
        "excess": "`total` minus `median`; packets on rare paths are left out",
    },
    "paths": {
        "path": "number of the path; path 1 is the most frequent path of the whole recording; "
        "'--range' and '--filter' do not change the numbers, but '--all' may; 0 stands for all "
        "rare paths together",
        "legs": "what the kernel did with the packet in each leg; dropped: the packet was lost; "
        "freed: the kernel counted a drop, but no packet was lost (for example, a socket had "
        "already received the packet)",
        "count": "packets that took this path",
        "share": "packets on this path, in percent of the chosen packets whose time in kernel is "
        "known",
        "median": "number of the packet with the median time in kernel",
        "largest": "the layer, wait or other work that took most of the median packet's time in "
        "kernel",
        "slowest": "numbers of the captured packets with the longest time in kernel",
        "name": "name of the path, the same in all recordings; display filters use it as kbl.path",
    },
    "latency": {
        "kind": "what the row counts: times in kernel of all packets, of a path (see 'stats "
        "paths') or of a stage; or durations of a function's calls",
        "name": "number of the path, or name of the stage or function",
        "count": "number of packets, legs or calls",
        "min": "the smallest value",
        "p50, p90, p99, p999": "percentiles: 50 %, 90 %, 99 %, 99.9 % of the values are at most "
        "this",
    },
    "io": {
        "after": "start of the interval on the scale of the Time column: time since packet 1, "
        "negative if earlier; without a capture, time since the first leg in the kernel log",
        "packets, bits": "packets captured in the interval, and their size on the wire in bits",
        "p50, p90, p99": "percentiles of the time in kernel of the packets captured in the "
        "interval",
        "drops": "number of drops in the interval, as the kernel counts them",
    },
    "roundtrip": {
        "packet, acked": "the packet with the acknowledgment, and the packet with the acknowledged "
        "segment",
        "stream": "number of the TCP stream, as in the field tcp.stream",
        "rtt": "time between the captured segment and its captured acknowledgment; tshark calls it "
        "tcp.analysis.ack_rtt",
        "send": "time in the sender's kernel, from the segment's first record to the wire",
        "outside": "time from the segment to its acknowledgment on the wire next to the sender",
        "wire": "`outside` minus `peer`",
        "peer": "the part of `outside` that passed at the peer: from the arrival of the segment to "
        "the departure of the acknowledgment",
        "receive": "time in the sender's kernel, from the acknowledgment on the wire to the end of "
        "the acknowledgment's leg",
    },
    "callgraph": {
        "function": "the function whose callers and callees are listed",
        "role": "relation of `other` to `function`: a caller, the function itself, or a callee",
        "other": "name of the caller, of the function itself, or of the callee",
        "count": "caller: how often it called the function; callee: how often the function called "
        "it; the function itself: all its calls",
        "self": "self time of these calls",
        "total": "sum of the durations of these calls, inner calls included",
    },
    "counter": {
        "kind": "function, layer or program; for a program, only calls in the context of its own "
        "threads count",
        "name": "name of the function, layer or program",
        "count": "calls whose number of hardware events is known",
        "counted": "hardware events during these calls, without inner calls",
        "probes": "how many of these events the probes caused, according to the calibration of the "
        "probes; 0 without a calibration",
        "events": "`counted` minus `probes`",
        "mean": "events per call",
    },
    "programs": {
        "process": "program whose system calls ran the function",
        "host": "number of the kernel log in the list of files, from 1",
        "function, layer": "the function, and its layer of the stack",
        "count": "calls in the context of the program's threads; the times are self times",
    },
    "interrupts": {
        "kind": "interrupt or softirq",
        "name": "the number of the interrupt, or the name of the softirq",
        "host": "number of the kernel log in the list of files, from 1",
        "cpu": "the CPU on which the interrupt or softirq ran",
        "count": "how often the interrupt or softirq ran; the times are from its start to its end",
    },
    "syscalls": {
        "process": "the program",
        "host": "number of the kernel log in the list of files, from 1",
        "syscall": "the system call",
        "count": "number of system calls; the times are from entry to return, waiting included",
        "errors": "system calls that returned an error",
    },
    "threads": {
        "process": "the program",
        "host": "number of the kernel log in the list of files, from 1",
        "kind": "ran: the thread had a CPU; waited for a CPU: the thread was ready to run but had "
        "none; slept: the thread waited to be woken",
        "count": "number of times that a thread entered this state; each duration is from the "
        "start of the state to its end",
    },
    "locks": {
        "function": "the function that waited for the lock",
        "host": "number of the kernel log in the list of files, from 1",
        "kind": 'kind of lock; "lock" alone means a spin lock or a semaphore',
        "locks": "different locks",
        "count": "number of waits; the times are from the start of a wait to the end of this wait",
    },
    "faults": {
        "process": "the program",
        "host": "number of the kernel log in the list of files, from 1",
        "kind": "what the program tried (read, write or execute), and whether the page was missing "
        "or protected",
        "count": "page faults",
        "pages": "different pages",
        "calls": "page faults during a call that handled a packet",
    },
    "queues": {
        "queue": "the queue: handle and device of a queueing discipline, the backlog of a CPU, or "
        "a socket",
        "host": "number of the kernel log in the list of files, from 1",
        "count": "how often the queue's length was recorded; lengths are numbers of packets",
        "most": "largest number of packets in the queue",
        "most_bytes": "largest number of bytes in the queue; for a socket, bytes of memory; 0: "
        "unknown",
    },
    "expert": {
        "severity": "critical: packets were lost; warning: time was lost; note: worth knowing",
        "rule": "name of the rule of 'skbviewer diagnose', or of a field of display filters",
        "packets": "packets with this finding",
        "packet": "the packet that lost most time; if no time was lost, the first packet",
        "cost": "sum of the time that these packets lost",
        "text": "the finding",
    },
    "processes": {
        "process": "program whose system calls sent or received the packets",
        "host": "number of the kernel log in the list of files, from 1",
        "legs": "number of legs (passes of a packet through a stack) with calls in the context of "
        "the program's threads",
        "count": "calls in the context of the program's threads; the times are self times, without "
        "the time in which the CPU ran another task",
    },
    "drops": {
        "reason": "the kernel's drop reason",
        "function, layer": "the function that dropped the packets, with the offset of the code "
        "inside the function",
        "count": "number of drops, as the kernel counts them",
        "lost": "drops that lost a packet, as 'skbviewer diagnose' counts them; at the other "
        "drops, a socket had already received the data, or nobody needed the packet",
        "wire": "number of dropped packets that are in a capture",
        "packets": "numbers of the first dropped packets that are in a capture",
    },
    "clock": {
        "source, kbl": "numbers of the capture and of the kernel log in the list of files",
        "offset": "time of the capture's clock minus time of the kernel log's clock",
        "drift_ppm": "how much faster the capture's clock runs than the kernel log's clock, in "
        "parts per million",
        "residual": "possible error of the clock fit, in either direction",
        "pairs": "number of pairs (a packet and its skb lifetime) from which the clock fit was "
        "computed",
        "interface": "interface of the capture, if each of its interfaces has a clock of its own",
    },
}

# With --steps: instructions, from a file of the emulator's plugin.
EXECUTED = {
    "executed_calls": "number of calls for which `executed` is known; in table layers, for which "
    "`executed_self` is known",
    "executed": "instructions of the kernel that these calls executed, inner calls included",
    "executed_self": "instructions of the kernel that these calls executed outside recorded inner "
    "calls, as far as known",
    "executed_probes": "instructions of the probes that these calls executed, inner calls included",
}

# Tables that are made of such a file alone.
COUNTED_COLUMNS = {
    "pages": {
        "function, layer, packet": "who accessed the page: the function (the default), its layer "
        "('--by layer'), or the packet that the call handled ('--by packet'); a call that handled "
        "several packets counts for each of them",
        "page": "virtual address of the page, which has 4,096 bytes",
        "lines": "number of the page's 64 cache lines that were accessed",
        "calls": "calls that accessed the page",
        "loads, stores": "loads and stores by the function's own instructions; the functions that "
        "it calls and the probes do not count",
    },
    "lines": {
        "function, layer, packet": "as in pages",
        "line": "virtual address of the cache line, which has 64 bytes",
        "calls, loads, stores": "as in pages",
    },
    "exceptions": {
        "kind, name": "the exception or interrupt, by the kernel's entry function: page_fault "
        "means asm_exc_page_fault",
        "kernel, probes, programs": "how often the exception or interrupt occurred in the kernel, "
        "in its probes, and in programs; the numbers are for the whole count, not only for the "
        "chosen packets",
        "returned": "how many of them returned before another thread ran; empty if an older plugin "
        "wrote the file",
        "mean_steps, longest_steps": "instructions of the kernel from the entry to the return: the "
        "mean of those that returned, and the most; interrupts inside count, probes do not",
    },
}


def meaning(name: str, key: str) -> str:
    """Return what the column `key` of the statistic `name` means; "" if that is not known."""
    word = "count" if key == "number" else key.removesuffix("_ns")
    for names, text in (COLUMNS.get(name, {}) | SPREAD).items():
        if word in names.split(", "):
            return text
    return ""
