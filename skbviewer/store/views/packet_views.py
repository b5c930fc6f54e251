# SPDX-License-Identifier: MIT
"""The documented tables of captured packets: the input files, packets, matches and clocks."""

from __future__ import annotations

from ...records import NO_DELTA
from ...records.table_columns import DOUBLE, INT32, INT64, TEXT, TableColumn
from .column_expressions import Address, Join, Stored, Text, Value, View, ViewColumn, Word

FIRST, NEW = 8, 9  # versions of sessions
NO_HEADER = "the packet has no such header"
CPU_TIME = "sum of the self times in the legs, including functions without a probe"
MAYBE_LOST = "the packet has no match, or some of its kernel records may be lost"
VERDICTS = {0: "exact", 1: "ambiguous"}


def column(
    name: str, type_: str, meaning: str, value: Value, unit: str = "", null: str = "",
    since: int = NEW,
) -> ViewColumn:  # fmt: skip
    """Return the column `name` of a view, with the type `type_`; `value` computes it.

    The other arguments are for the documentation: `meaning`, `unit`, `null` (what a missing value
    means), and `since` (the version that added the column).
    """
    return ViewColumn(TableColumn(name, type_, unit, null, meaning, since), value)


def number(
    name: str, meaning: str, stored: str, null: str = "", type_: str = INT64, since: int = NEW,
    unit: str = "",
) -> ViewColumn:  # fmt: skip
    """Return the column `name` of a view, with the numbers of the stored column `stored`.

    The number -1 means missing.

    column() describes the other arguments; if `name` ends in _ns, the unit is ns.
    """
    unit = "ns" if name.endswith("_ns") else unit
    return column(name, type_, meaning, Stored(stored, -1 if null else None), unit, null, since)


SOURCES = View(
    "sources", "An input file: a capture or a kernel log.", "source", (),
    (
        number("id", "number of the file in the session, from 1", "source.id"),
        column("path", TEXT, "path of the file at the time of the import", Text("source.path")),
        column("kind", TEXT, "pcap, pcapng, kbl, retis or retis-packets", Text("source.kind")),
        number("size", "size of the file", "source.size", unit="bytes"),
        column("sha256", TEXT, "SHA-256 of the file", Text("source.sha256")),
        number("rows", "number of packets or records in the file", "source.rows"),
    ),
)  # fmt: skip

PACKETS = View(
    "packets",
    "A packet of a capture. In table `packets`, `sport` and `dport` also contain values of ICMP "
    "and ARP; in the output of `skbviewer packets --json` and `--csv`, they contain only TCP and "
    "UDP ports.",
    "packet", (),
    (
        number("number", "number of the packet, from 1, in import order", "packet.id", since=FIRST),
        number("ts_ns", "time of capture since 1970, on the sniffer's clock", "packet.ts",
               "the capture has no time for the packet", since=FIRST),
        number("caplen", "captured size", "packet.caplen", since=FIRST, unit="bytes"),
        number("len", "size on the wire", "packet.len", since=FIRST, unit="bytes"),
        number("source", "the capture: sources.id", "packet.source", since=FIRST),
        column("saddr", TEXT, "source address of the outermost IP header; IPv6 in eight groups",
               Address("packet", "saddr"), null=NO_HEADER, since=FIRST),
        column("daddr", TEXT, "destination address of the outermost IP header",
               Address("packet", "daddr"), null=NO_HEADER, since=FIRST),
        number("ip_id", "IPv4 identification", "packet.ip_id", NO_HEADER, INT32, FIRST),
        number("protocol", "IP protocol, or last IPv6 next header", "packet.protocol", NO_HEADER,
               INT32, FIRST),
        number("sport", "source port; ICMP: type * 256 + code; ARP: operation", "packet.sport",
               NO_HEADER, INT32, FIRST),
        number("dport", "destination port; ICMP: id", "packet.dport", NO_HEADER, INT32, FIRST),
        column("verdict", TEXT, "exact, ambiguous, wire-only or sampled-out",
               Word("packet.verdict", VERDICTS | {3: "sampled-out"}, "wire-only"), since=FIRST),
        number("kernel_ns", "time in kernel, summed over all matched legs", "packet.kernel_ns",
               MAYBE_LOST, since=FIRST),
        number("functions", "number of calls in the matched legs", "packet.functions", MAYBE_LOST,
               INT32, FIRST),
        column("confidence", DOUBLE, "how certain the verdict is, from 0 to 1",
               Stored("packet.confidence", None)),
        number("busy_ns", "part of `kernel_ns` in which a function worked on the packet",
               "packet.busy_ns", MAYBE_LOST),
        number("unknown_ns", "part of `kernel_ns` in which no record shows what happened to the "
               "packet", "packet.unknown_ns", MAYBE_LOST),
        number("cpu_ns", CPU_TIME, "packet.cpu_ns", MAYBE_LOST),
        number("interface", "interface of the capture, from 0", "packet.interface", "", INT32),
        number("linktype", "LINKTYPE_ value of the interface", "packet.linktype", "", INT32),
        number("vlan", "outermost VLAN id", "packet.vlan", NO_HEADER, INT32),
        number("ethertype", "Ethernet type", "packet.ethertype", NO_HEADER, INT32),
        number("ttl", "time to live, or hop limit", "packet.ttl", NO_HEADER, INT32),
        number("tot_len", "IPv4 total length, or 40 + IPv6 payload length", "packet.tot_len",
               NO_HEADER, INT32, unit="bytes"),
        number("seq", "TCP sequence number; ICMP: sequence", "packet.seq", NO_HEADER),
        number("ack", "TCP acknowledgement number", "packet.ack", NO_HEADER),
        number("tcp_flags", "TCP flags: byte 13 of the header", "packet.tcp_flags", NO_HEADER,
               INT32),
        number("window", "TCP window, not scaled", "packet.window", NO_HEADER, INT32),
        number("payload", "bytes after the TCP or UDP header", "packet.payload", NO_HEADER, INT32,
               unit="bytes"),
    ),
    chosen_by=("packet", "packet.id"),
)  # fmt: skip

NO_MOMENT = "the place of capture is unknown"
MATCHES = View(
    "matches",
    "A leg that certainly (verdict exact) or possibly (verdict ambiguous) belongs to a packet. A "
    "packet without a match is wire-only or sampled-out.",
    "match",
    (
        Join("leg", (("id", "match.leg"),)),
        Join("moment", (("packet", "match.packet"), ("leg", "match.leg"))),
        Join("device", (("source", "leg.source"), ("netns", "moment.netns"),
                        ("ifindex", "moment.ifindex"))),
    ),
    (
        number("packet", "the packet: packets.number", "match.packet", since=FIRST),
        number("series", "the skb lifetime: lifetimes.id", "leg.series", since=FIRST),
        number("leg", "the leg: legs.id", "match.leg", since=FIRST),
        column("verdict", TEXT, "exact: the leg belongs to the packet; ambiguous: the leg is a "
               "candidate, even if the packet has other legs that are exact. The packet's times "
               "count only exact legs", Word("match.verdict", VERDICTS, "ambiguous"), since=FIRST),
        column("delta_ns", INT64, "time of capture minus time at which the leg passed the sniffer, "
               "according to the clock fit", Stored("match.delta_ns", NO_DELTA), "ns",
               "no clock was fitted", FIRST),
        column("direction", TEXT, "in: the device received the packet; out: the device sent the "
               "packet", Word("moment.sends", {0: "in", 1: "out"}), null=NO_MOMENT, since=FIRST),
        column("device", TEXT, "device at which the packet was captured", Text("device.name"),
               null=NO_MOMENT, since=FIRST),
        column("after_ns", INT64, "earliest possible time of capture, on the log's clock",
               Stored("moment.after_ns", None), "ns", NO_MOMENT, FIRST),
        column("before_ns", INT64, "latest possible time of capture, on the log's clock",
               Stored("moment.before_ns", None), "ns", NO_MOMENT, FIRST),
        number("source", "the kernel log: sources.id", "leg.source"),
        column("confidence", DOUBLE, "how certain the verdict is: 1 if exact, 0 for a candidate",
               Stored("match.confidence", None)),
    ),
    chosen_by=("packet", "match.packet"),
)  # fmt: skip

CLOCKS = View(
    "clocks",
    "How to convert the times t of a source's clock to session time (the wall clock of the first "
    "kernel log's host), from begin_ns on: session time = "
    "t + offset_ns + drift_ppm / 1e6 * (t - begin_ns).",
    "timebase", (),
    (
        number("source", "the source: sources.id", "timebase.source"),
        column("interface", INT32, "number of the interface, in a capture with one clock per "
               "interface", Stored("timebase.interface"), null="all interfaces"),
        number("first_packet", "number of the packet with which this piece of the map begins; 0 "
               "for a log", "timebase.first"),
        number("begin_ns", "time at which this piece of the map begins, on the source's clock",
               "timebase.begin_ns"),
        number("offset_ns", "offset that is added to the source's time", "timebase.offset_ns"),
        column("drift_ppm", DOUBLE, "drift of the clock", Stored("timebase.drift_ppm", None),
               "ppm"),
        number("error_ns", "possible error", "timebase.error_ns", "unknown: no clock fit"),
    ),
)  # fmt: skip
