# SPDX-License-Identifier: MIT
"""Plain values for views, exports and the command line, which need only a few rows at a time."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from .accessed_memory import TouchedLine
from .source_kind import SourceKind


class SourceRow(NamedTuple):
    """One input file of a session."""

    id: int
    path: str
    kind: SourceKind
    size: int
    sha256: str
    rows: int  # packets or records
    warnings: tuple[str, ...]
    detail: dict[str, str]  # from the file's header: release, hostname, interfaces, ...


class PacketRow(NamedTuple):
    """One wire packet.  None = unknown.  The field names are the JSON keys of `packets`."""

    number: int  # from 1, in import order
    ts_ns: int | None  # since the epoch, on the sniffer's clock
    caplen: int
    len: int
    linktype: int
    source: int  # SourceRow.id
    frame: int  # from 1, in its file
    saddr: str | None  # outermost IP header
    daddr: str | None
    ip_id: int | None
    protocol: int | None
    sport: int | None
    dport: int | None
    info: str
    verdict: str  # "exact", "ambiguous", "wire-only" or "sampled-out"
    confidence: float | None  # 0..1
    kernel_ns: int | None  # in all matched legs; None if some of their records may be lost
    functions: int | None  # calls in the matched legs
    reason: str  # a sentence: the reason for the verdict
    protocol_name: str  # Wireshark's word: "TCP", "ICMP", "ARP", ...
    source_text: str  # Source column: IP address, else MAC address
    destination_text: str
    process: str = ""  # "curl [412]": the thread that sent or received it, "" if unknown
    drop: str = ""  # the kernel's name for the reason of the first drop
    drop_place: str = ""  # symbol+offset of the code that dropped it
    lost: bool = False  # dropped; no socket received it or the packet it was merged into
    # See docs/times.md.  None where kernel_ns is None.
    busy_ns: int | None = None
    wait_ns: int | None = None
    unknown_ns: int | None = None  # kernel_ns - busy_ns - wait_ns
    cpu_ns: int | None = None
    overlap_ns: int | None = None  # cpu_ns - busy_ns
    # Pairs of addresses (source, destination) that the packet had in the kernel but not in the
    # capture, because of NAT or tunnels.
    elsewhere: tuple[tuple[str, str], ...] = ()


class SeriesRow(NamedTuple):
    """An skb lifetime that matches no captured packet."""

    series: int
    number: str  # "K1", "K2", ...
    ts_ns: int  # on the KBL's clock
    saddr: str | None
    daddr: str | None
    ip_id: int | None
    protocol: int | None
    info: str
    kernel_ns: int | None  # as in PacketRow
    functions: int | None
    reason: str
    process: str = ""  # as in PacketRow
    drop: str = ""
    drop_place: str = ""
    lost: bool = False
    time_ns: int = 0  # ts_ns converted to the first capture's clock; ns since the epoch
    busy_ns: int | None = None  # as in PacketRow
    wait_ns: int | None = None
    unknown_ns: int | None = None
    cpu_ns: int | None = None
    overlap_ns: int | None = None
    protocol_name: str = ""  # as in PacketRow


class PathCall(NamedTuple):
    """A call in a leg. exit_ns, dur_ns and self_ns are None if its return was not recorded."""

    function: str
    caller: str  # symbol+offset of the return address, "" if unknown
    layer: str
    depth: int  # from 0
    parent: int  # index in the leg's calls, -1 = outermost
    entry_ns: int  # on the KBL's clock
    exit_ns: int | None
    dur_ns: int | None
    self_ns: int | None
    cpu: int
    context: str  # "task", "softirq", "hardirq" or "nmi"
    pid: int
    comm: str
    skb: int  # address, unsigned
    device: str
    tail_call: bool  # `caller` is the function it returns to, not the one that jumped here
    note: str  # "drop: <reason>", "no exit recorded", "switched out", ... or ""
    comp_ns: int | None = None  # dur_ns minus the cost of probes and events; None: not measured
    counter: int | None = None  # events of the hardware counter
    sock: int = 0  # struct sock, unsigned: the call's argument, or the skb's socket
    mark: int = 0  # skb->mark
    comp_err_ns: int | None = None  # the possible error of comp_ns
    irq_ns: int = 0  # interrupts during the call and its inner calls; not in self_ns
    off_ns: int = 0  # time for which its thread was switched out; not in self_ns either
    # Instructions, see analysis/executed_instructions/instructions_of_calls.py.  None: not counted,
    # or unknown.
    executed: int | None = None  # the kernel's, with those of inner calls
    executed_self: int | None = None  # the kernel's, outside recorded inner calls
    executed_probes: int | None = None  # the probes', with those of inner calls
    # Cache lines that the function's own instructions accessed; None: not counted, or unknown.
    lines: tuple[TouchedLine, ...] | None = None
    inner: bool = False  # its function has no skb; it was recorded inside a recorded call

    @property
    def titled(self) -> str:
        """Return the function and its notes: "tcp_sendmsg [interrupted] [found via socket]"."""
        notes = " ".join(f"[{note}]" for note in self.note.split(", ") if note)
        return f"{self.function}  {notes}" if notes else self.function


class PathEvent(NamedTuple):
    """An event that happened to a packet, or that the packet caused."""

    ts_ns: int  # on the KBL's clock
    event: str  # kbl.h's word in lower case: "drop", "neigh", "qdisc_enqueue"
    text: str  # "drop NO_SOCKET at udp_rcv+0x1c in netfilter IPv4 INPUT"
    call: int  # index in the leg's calls of the call in which it happened, -1 = none
    cpu: int
    context: str
    pid: int
    comm: str
    caused: bool  # not an event of this packet's skb, but a change of a table during its calls
    stack: tuple[str, ...]  # of a drop or a point, innermost first
    # Sections of a point in another tracer's log: as they are there, and one line of text for each.
    sections: Mapping[str, Any] = MappingProxyType({})
    details: tuple[str, ...] = ()


LEG_KINDS = ("tx", "rx", "forward")  # in the order of their numbers in session files
RELATIONS = ("parent", "into", "clone", "merged")  # of branches, in the order of a path

OUTSIDE = "outside probed functions"
MAYBE_LOST = "some of its records may have been lost"
POINTS_GAP = 2  # of a leg whose log has points only: a value of column leg.gap
SAMPLED_GAP = 3  # of a sent packet's leg in a log of one packet in N
BEGUN_LATE = "the log has one packet in N, each from its headers on: its begin is unknown"
POINTS_ONLY = "the kernel log has only points, so the return times of functions are unknown"


class Wait(NamedTuple):
    """A time during which no function worked for a packet, and why none did.

    `what` is OUTSIDE if no record shows the reason. `what` is MAYBE_LOST if records were lost
    during this time: the packet may then have been anywhere.
    """

    what: str
    begin_ns: int
    dur_ns: int


class Captured(NamedTuple):
    """The place and time at which a sniffer received a packet, on the clock of the leg's KBL."""

    device: str  # "" if unknown
    direction: str  # "out" or "in": the device sent or received it
    after_ns: int  # the packet's time stamp was taken at or after this time
    before_ns: int  # and at or before this one
    socket: bool  # the KBL shows the call of the packet socket, not only that of the device

    @property
    def text(self) -> str:
        """Return a phrase such as "as eth0 received it" or "as it was sent"."""
        if not self.device:
            return f"as it was {'sent' if self.direction == 'out' else 'received'}"
        return f"as {self.device} {'sent' if self.direction == 'out' else 'received'} it"


class Leg(NamedTuple):
    """One pass of a packet through one network stack.

    Times are on the clock of the KBL that recorded the leg.

    Add `session_offset_ns` to get session time. `session_error_ns` is the possible error of session
    time: 0 if this clock is the first KBL's, None if no clock fit connects the two clocks. Add
    `epoch_offset_ns` to get the host's wall clock. `wire_ns` is the time of capture by the clock
    fit of capture and KBL (None without a fit); `wire_error_ns` is the residual of the fit.
    `captured` says where and when the sniffer got the packet, according to the kernel log.
    `captured` is set in the leg in which the packet was captured, if there is only one possible tap
    moment.
    """

    series: int
    kind: str  # of LEG_KINDS
    match: str  # verdict of this leg
    reason: str
    begin_ns: int
    end_ns: int
    kernel_ns: int | None  # None if records of the leg may be lost
    functions: int | None  # likewise
    waits: tuple[Wait, ...]
    calls: tuple[PathCall, ...]
    netns: int
    device: str
    events: tuple[PathEvent, ...] = ()
    relation: str = ""  # of a branch: one of RELATIONS
    note: str = ""  # why there are no numbers
    source: int = 0  # SourceRow.id of its KBL
    log: str = ""  # name of this KBL if the session has several
    session_offset_ns: int = 0
    session_error_ns: int | None = 0
    epoch_offset_ns: int = 0
    wire_ns: int | None = None
    wire_error_ns: int | None = None
    captured: Captured | None = None
    busy_ns: int | None = None  # as in PacketRow, for this leg
    wait_ns: int | None = None
    unknown_ns: int | None = None
    cpu_ns: int | None = None
    origin_ns: int | None = None  # begin of the path's first leg, by this leg's clock
    packet: int | None = None  # for a branch: its packet, if known
    row: str = ""  # for a branch: its number in the packet list, "25" or "K1"
    # Pairs of addresses (source, destination) that the skb lifetime had first in this leg.
    addresses: tuple[tuple[str, str], ...] = ()

    @property
    def zero_ns(self) -> int:
        """Return the time (ns) from which entry times count: the start of the path's first leg.

        If that start is unknown, the result is this leg's own begin.
        """
        return self.begin_ns if self.origin_ns is None else self.origin_ns

    @property
    def session_ns(self) -> int:
        """Return the leg's start in session time."""
        return self.begin_ns + self.session_offset_ns


class Behind(NamedTuple):
    """How long after the first leg of a path another leg starts, with the possible error.

    `ns` is None if the clocks of the two legs' logs cannot be compared. The error is 0 if both legs
    are in one log.
    """

    ns: int | None
    error_ns: int


class PacketPath(NamedTuple):
    """Everything that the window shows of one packet; `legs` are in order of session time.

    `branches` are legs of other packets. This packet was cloned or cut from one of these packets or
    joined to it, or the other way round. Legs that match this packet are not among the branches,
    and neither are sniffers' copies.
    """

    packet: PacketRow | None
    legs: tuple[Leg, ...]
    branches: tuple[Leg, ...] = ()

    @property
    def certain_legs(self) -> tuple[Leg, ...]:
        """Return the `legs` that certainly belong to the packet; all if `packet` is None."""
        if self.packet is None:
            return self.legs
        return tuple(leg for leg in self.legs if leg.match != "ambiguous")

    def behind(self, leg: Leg) -> Behind | None:
        """Return how long after the first leg the leg `leg` begins.

        Returns None for the first leg, or if all `legs` are in one log.
        """
        first = self.legs[0]
        if leg is first or leg.relation or all(each.source == first.source for each in self.legs):
            return None
        if leg.source == first.source:
            return Behind(leg.begin_ns - first.begin_ns, 0)
        if leg.session_error_ns is None or first.session_error_ns is None:
            return Behind(None, 0)
        error = leg.session_error_ns + first.session_error_ns
        return Behind(leg.session_ns - first.session_ns, error)
