# SPDX-License-Identifier: MIT
"""The documented tables of what the kernel did: lifetimes, legs, calls, waits, events, drops."""

from __future__ import annotations

from ...records.kernel_events import DROP, WORDS
from ...records.table_columns import DOUBLE, INT32, INT64, TEXT
from ...records.view_rows import LEG_KINDS
from ...records.wait_names import WAIT_NAMES
from .column_expressions import (
    Address,
    DropPlace,
    DropReason,
    EventData,
    Hex,
    Join,
    Stored,
    Text,
    View,
    ViewColumn,
    Word,
)
from .packet_views import CPU_TIME, FIRST, NO_HEADER, VERDICTS, column, number

CONTEXTS = {0: "task", 1: "softirq", 2: "hardirq", 3: "nmi"}
LOST = "some records may be lost, or the log has only points"
NO_LEG = "the event belongs to no packet"
NO_DEVICE = "there is no device, or its name is unknown"
NO_RETURN = "the return was not recorded"
LOG = "the kernel log: sources.id"
LEG = Join("leg", (("id", "call.leg"),))
SERIES = Join("series", (("id", "leg.series"),))


def _device(base: str) -> Join:
    return Join(
        "device",
        (("source", f"{base}.source"), ("netns", f"{base}.netns"), ("ifindex", f"{base}.ifindex")),
    )


def _lost(name: str, meaning: str, stored: str, type_: str = INT64) -> ViewColumn:
    """Return a column of a leg's numbers; a number is missing if the leg has a gap."""
    unit = "ns" if name.endswith("_ns") else ""
    return column(name, type_, meaning, Stored(stored, None, "leg.gap"), unit, LOST)


LIFETIMES = View(
    "lifetimes",
    "An skb lifetime: one packet's path through one kernel. Header values are copied from the "
    "record with the most complete headers (the first one if there are several).",
    "series", (_device("series"),),
    (
        number("id", "number of the lifetime, from 1; other tables call it series", "series.id"),
        number("source", LOG, "series.source"),
        number("parent", "the lifetime of the skb from which this skb was cloned or segmented",
               "series.parent", "none"),
        number("begin_ns", "time of the first record, on the log's clock", "series.begin_ns"),
        number("end_ns", "time of the last record, on the log's clock", "series.end_ns"),
        column("skb", TEXT, "address of the skb", Hex("series.skb")),
        column("verdict", TEXT, "exact, ambiguous or kernel-only (no packet matches)",
               Word("series.verdict", VERDICTS, "kernel-only")),
        column("confidence", DOUBLE, "how certain the verdict is, from 0 to 1",
               Stored("series.confidence", None)),
        number("kernel_only", "number n of the row K<n> in the packet list, which lists lifetimes "
               "with network headers", "series.kernel_only", "a packet matches the lifetime, or "
               "the skb is a sniffer's copy"),
        number("kernel_ns", "time in kernel", "series.kernel_ns", LOST),
        number("busy_ns", "part of `kernel_ns` in which a function worked on the packet",
               "series.busy_ns", LOST),
        number("unknown_ns", "part of `kernel_ns` in which no record shows what happened to the "
               "packet", "series.unknown_ns", LOST),
        number("cpu_ns", CPU_TIME, "series.cpu_ns", LOST),
        number("functions", "number of calls", "series.functions", LOST, INT32),
        column("saddr", TEXT, "source address; IPv6 in eight groups", Address("series", "saddr"),
               null=NO_HEADER),
        column("daddr", TEXT, "destination address", Address("series", "daddr"), null=NO_HEADER),
        number("ip_id", "IPv4 identification", "series.ip_id", NO_HEADER, INT32),
        number("protocol", "IP protocol, or last IPv6 next header", "series.protocol", NO_HEADER,
               INT32),
        number("sport", "source port; ICMP: type * 256 + code; ARP: operation", "series.sport",
               NO_HEADER, INT32),
        number("dport", "destination port; ICMP: id", "series.dport", NO_HEADER, INT32),
        number("ethertype", "Ethernet type", "series.ethertype", NO_HEADER, INT32),
        number("seq", "TCP sequence number; ICMP: sequence", "series.seq", NO_HEADER),
        number("ack", "TCP acknowledgement number", "series.ack", NO_HEADER),
        number("tcp_flags", "TCP flags: byte 13 of the header", "series.tcp_flags", NO_HEADER,
               INT32),
        number("netns", "network namespace, as inode number", "series.netns", "unknown"),
        column("device", TEXT, "network device", Text("device.name"), null=NO_DEVICE),
    ),
    chosen_by=("series", "series.id"),
)  # fmt: skip

LEGS = View(
    "legs", "One pass of an skb lifetime through one network stack.", "leg", (_device("leg"),),
    (
        number("id", "number of the leg, from 1", "leg.id"),
        number("source", LOG, "leg.source"),
        number("series", "the skb lifetime: lifetimes.id", "leg.series"),
        column("kind", TEXT, "tx, rx or forward", Word("leg.kind", dict(enumerate(LEG_KINDS)))),
        number("begin_ns", "begin, on the log's clock", "leg.begin_ns"),
        number("end_ns", "end, on the log's clock", "leg.end_ns"),
        number("netns", "network namespace, as inode number", "leg.netns"),
        column("device", TEXT, "network device", Text("device.name"), null=NO_DEVICE),
        number("pid", "thread that sent or received the packet", "leg.pid", "none is known"),
        number("reader_ns", "time at which the thread `pid` received the packet, on the log's "
               "clock", "leg.reader_ns", "the thread is unknown, or is not the receiver of the "
               "packet"),
        column("drop_reason", TEXT, "why the kernel dropped the packet",
               DropReason("leg.drop_reason", "leg.source"), null="the packet was not dropped"),
        _lost("functions", "number of calls", "leg.functions", INT32),
        _lost("busy_ns", "time in which a function worked on the packet", "leg.busy_ns"),
        _lost("unknown_ns", "time in which no record shows what happened to the packet",
              "leg.unknown_ns"),
        _lost("cpu_ns", CPU_TIME, "leg.cpu_ns"),
    ),
    chosen_by=("leg", "leg.id"),
)  # fmt: skip

CALLS = View(
    "calls",
    "A call of a probed function. If a call handled several legs, it has a row for each leg.",
    "call",
    (
        LEG,
        Join("probe", (("source", "leg.source"), ("func", "call.func"))),
        Join("symbol", (("source", "leg.source"), ("address", "call.caller"))),
        Join("device", (("source", "leg.source"), ("netns", "call.netns"),
                        ("ifindex", "call.ifindex"))),
    ),
    (
        number("id", "number of the call, from 1", "call.id", since=FIRST),
        number("series", "the skb lifetime: lifetimes.id", "leg.series", since=FIRST),
        number("leg", "the leg: legs.id", "call.leg", since=FIRST),
        column("function", TEXT, "the function", Text("probe.name"), null="the log has no name",
               since=FIRST),
        column("caller", TEXT, "return address", Hex("call.caller"), since=FIRST),
        number("entry_ns", "entry, on the log's clock", "call.entry_ns", since=FIRST),
        number("exit_ns", "return, on the log's clock", "call.exit_ns", NO_RETURN, since=FIRST),
        number("dur_ns", "exit_ns - entry_ns", "call.dur_ns", NO_RETURN, since=FIRST),
        number("self_ns", "self time (docs/times.md)", "call.self_ns", NO_RETURN, since=FIRST),
        number("comp_ns", "`dur_ns` minus the cost of the probes", "call.comp_ns",
               "the cost was not measured", since=FIRST),
        number("counter", "events of the hardware counter", "call.counter", "no counter ran",
               since=FIRST),
        number("depth", "nesting depth: number of calls of the same leg that surround this call",
               "call.depth", "", INT32, FIRST),
        number("cpu", "CPU at entry", "call.cpu", "", INT32, FIRST),
        number("pid", "thread: processes.pid", "call.pid", since=FIRST),
        column("skb", TEXT, "address of the skb", Hex("call.skb"), since=FIRST),
        number("source", LOG, "leg.source"),
        number("parent", "caller: the innermost call of the same leg around this call, as calls.id",
               "call.parent", "none"),
        column("caller_name", TEXT, "symbol and offset of the return address", Text("symbol.name"),
               null="the log has no symbol"),
        column("context", TEXT, "task, softirq, hardirq or nmi", Word("call.context", CONTEXTS),
               null="unknown"),
        number("irq_ns", "time of interrupts during the call", "call.irq_ns"),
        number("off_ns", "time during the call in which its thread was switched out",
               "call.off_ns"),
        number("comp_err_ns", "possible error of `comp_ns`", "call.comp_err_ns",
               "the cost was not measured"),
        number("netns", "network namespace, as inode number", "call.netns", "unknown"),
        column("device", TEXT, "network device", Text("device.name"), null=NO_DEVICE),
        number("mark", "skb->mark", "call.mark", "unknown"),
        column("drop_reason", TEXT, "why the kernel dropped the packet in this call",
               DropReason("call.drop_reason", "leg.source"), null="no drop in this call"),
        number("carried", "position of the packet among the packets that the call handled, not "
               "counting the first: 0 is the second packet", "call.carried", "the packet is the "
               "first or only packet of the call", INT32),
    ),
    chosen_by=("leg", "call.leg"),
)  # fmt: skip

WAITS = View(
    "waits",
    "A wait: a time in which no function worked on the packet of a leg, with the reason. kernel_ns "
    "does not include waits after the leg's end, in which the packet waits for a reading process.",
    "wait",
    (Join("leg", (("id", "wait.leg"),)),),
    (
        number("series", "the skb lifetime: lifetimes.id", "leg.series"),
        number("leg", "the leg: legs.id", "wait.leg"),
        column("kind", TEXT, "what the packet waited for",
               Word("wait.kind", dict(enumerate(WAIT_NAMES)))),
        number("begin_ns", "begin, on the log's clock", "wait.begin_ns"),
        number("end_ns", "end, on the log's clock", "wait.end_ns"),
        number("source", LOG, "leg.source"),
    ),
    chosen_by=("leg", "wait.leg"),
)  # fmt: skip

EVENT_LEG = Join("leg", (("id", "event.leg"),))
EVENTS = View(
    "events",
    "An event about an skb or about the kernel: a clone, a drop, a changed route.",
    "event", (EVENT_LEG, Join("event_name", (("event", "event.id"),))),
    (
        number("id", "number of the event, from 1", "event.id", since=FIRST),
        number("ts_ns", "time, on the log's clock", "event.ts", since=FIRST),
        number("cpu", "CPU", "event.cpu", "", INT32, FIRST),
        number("pid", "thread: processes.pid", "event.pid", since=FIRST),
        number("kind", "number of the kind of event, as in kmod/kbl.h", "event.event", "", INT32,
               FIRST),
        column("skb", TEXT, "address of the skb", Hex("event.skb"), since=FIRST),
        column("data", INT64, "depends on the kind of event (see kmod/kbl.h); for a point, the id "
               "of the probe that saw the skb", EventData("event.data", "event.source"),
               since=FIRST),
        column("series", INT64, "the skb lifetime: lifetimes.id", Stored("leg.series", None),
               null=NO_LEG, since=FIRST),
        number("leg", "the leg: legs.id", "event.leg", NO_LEG, since=FIRST),
        number("call", "the innermost call of the leg during which the event happened, as calls.id",
               "event.call", "none", since=FIRST),
        column("name", TEXT, "name of the device or timer of the event", Text("event_name.name"),
               null="the event has no name", since=FIRST),
        number("source", LOG, "event.source"),
        column("event", TEXT, "kind of event, as named in kmod/kbl.h", Word("event.event", WORDS),
               null="unknown"),
        column("context", TEXT, "task, softirq, hardirq or nmi", Word("event.context", CONTEXTS),
               null="unknown"),
    ),
    chosen_by=("leg", "event.leg"),
)  # fmt: skip

DROPS = View(
    "drops",
    "An event that reports the drop of an skb. The table also has drops of skbs that are no "
    "network packets (unix sockets, netlink), which `skbviewer stats drops` counts only with "
    "`--all`.",
    "event",
    (
        EVENT_LEG,
        Join("call", (("id", "event.call"),)),
        Join("probe", (("source", "event.source"), ("func", "call.func"))),
    ),
    (
        number("event", "the event: events.id", "event.id"),
        number("ts_ns", "time, on the log's clock", "event.ts"),
        number("source", LOG, "event.source"),
        column("series", INT64, "the skb lifetime: lifetimes.id", Stored("leg.series", None),
               null=NO_LEG),
        number("leg", "the leg: legs.id", "event.leg", NO_LEG),
        number("call", "the innermost call of the leg during which the drop happened, as calls.id",
               "event.call", "none"),
        column("reason", TEXT, "the kernel's name for the drop reason",
               DropReason("event.data", "event.source")),
        column("place", TEXT, "symbol and offset of the code that dropped the skb",
               DropPlace("event.data", "event.source"), null="unknown"),
        column("function", TEXT, "the function of the innermost call during which the drop "
               "happened", Text("probe.name"), null="no call, or no name"),
        number("cpu", "CPU", "event.cpu", "", INT32),
        number("pid", "thread: processes.pid", "event.pid"),
        column("skb", TEXT, "address of the skb", Hex("event.skb")),
    ),
    ("event.event", DROP), ("leg", "event.leg"),
)  # fmt: skip

FUNCTIONS = View(
    "functions", "A function with a probe, as a kernel log lists it.", "probe", (),
    (
        number("source", LOG, "probe.source"),
        number("probe", "number of the probe in the log", "probe.func", "", INT32),
        column("function", TEXT, "the function", Text("probe.name")),
        column("module", TEXT, "kernel module with the function; empty if the function is in the "
               "kernel itself", Text("probe.module")),
        number("hits", "calls that the probe counted", "probe.hits", "not counted"),
        number("missed", "calls that the probe missed", "probe.missed", "not counted"),
    ),
)  # fmt: skip
PROCESSES = View(
    "processes", "A thread that a kernel log names.", "task", (),
    (
        number("source", LOG, "task.source"),
        number("pid", "thread id", "task.pid"),
        column("comm", TEXT, "the last name that the thread had, even for records before it got "
               "this name", Text("task.comm")),
    ),
)  # fmt: skip
DEVICES = View(
    "devices", "A network device that a kernel log names.", "device", (),
    (
        number("source", LOG, "device.source"),
        number("netns", "network namespace of the device, as inode number", "device.netns"),
        number("ifindex", "index of the device", "device.ifindex"),
        column("name", TEXT, "name of the device", Text("device.name")),
    ),
)  # fmt: skip
