# SPDX-License-Identifier: MIT
"""What views, exports and the command line are given: a few rows at a time, as plain values."""

from __future__ import annotations

from typing import NamedTuple


class SourceRow(NamedTuple):
    """One input file of a session."""

    id: int
    path: str
    kind: str  # "pcap", "pcapng" or "kbl"
    size: int
    sha256: str
    rows: int  # packets or records
    warnings: tuple[str, ...]
    detail: dict[str, str]  # what the file's header tells: release, hostname, interfaces, ...


class PacketRow(NamedTuple):
    """One wire packet; None where a value is unknown.  JSON keys of `packets` are these names."""

    number: int  # from 1, in import order
    ts_ns: int | None  # since the epoch, of the sniffer's clock
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
    verdict: str  # "exact", "ambiguous" or "wire-only"
    confidence: float | None  # 0..1
    kernel_ns: int | None  # in any of the matched legs; None if records of them may be lost
    functions: int | None  # calls in the matched legs
    reason: str  # one sentence: why this verdict
    protocol_name: str  # Wireshark's word: "TCP", "ICMP", "ARP", ...
    source_text: str  # Source column: IP address, else MAC address
    destination_text: str
    process: str = ""  # "curl [412]": the thread that sent or received it, "" if none is known
    drop: str = ""  # the kernel's name of the first drop's reason
    drop_place: str = ""  # symbol+offset of who dropped it
    lost: bool = False  # dropped, and no socket got it nor a packet it was joined to
    # docs/times.md; None as kernel_ns is.
    busy_ns: int | None = None
    wait_ns: int | None = None
    unknown_ns: int | None = None  # kernel_ns less both
    cpu_ns: int | None = None
    overlap_ns: int | None = None  # cpu_ns less busy_ns
    # Pairs of addresses (source, destination) that the kernel had in it, but not the capture: of
    # NAT and of tunnels.
    elsewhere: tuple[tuple[str, str], ...] = ()


class SeriesRow(NamedTuple):
    """One packet life without a wire packet."""

    series: int
    number: str  # "K1", "K2", ...
    ts_ns: int  # of the KBL's clock
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
    time_ns: int = 0  # ts_ns by the clock fit, as if the first capture had it; since the epoch
    busy_ns: int | None = None  # as in PacketRow
    wait_ns: int | None = None
    unknown_ns: int | None = None
    cpu_ns: int | None = None
    overlap_ns: int | None = None
    protocol_name: str = ""  # as in PacketRow


class PathCall(NamedTuple):
    """One call in a leg.  exit_ns, dur_ns and self_ns are None if the exit is missing."""

    function: str
    caller: str  # symbol+offset of the return address, "" if unknown
    layer: str
    depth: int  # from 0
    parent: int  # index in the leg's calls, -1 = top
    entry_ns: int  # of the KBL's clock
    exit_ns: int | None
    dur_ns: int | None
    self_ns: int | None
    cpu: int
    context: str  # "task", "softirq", "hardirq" or "nmi"
    pid: int
    comm: str
    skb: int  # address, unsigned
    device: str
    tail_call: bool  # the caller shown is the frame returned to, not the jumper
    note: str  # "drop: <reason>", "no exit recorded", "switched out", ... or ""
    comp_ns: int | None = None  # dur_ns less what the probes cost; None where not measured
    counter: int | None = None  # events of the hardware counter
    sock: int = 0  # struct sock, unsigned: what the call was given, or the skb's
    mark: int = 0  # skb->mark
    comp_err_ns: int | None = None  # how far comp_ns may be wrong
    irq_ns: int = 0  # interrupts inside, also in calls inside; not in self_ns
    off_ns: int = 0  # the same of when its thread was switched out

    @property
    def titled(self) -> str:
        """The function with its notes: "tcp_sendmsg  [interrupted] [found via socket]"."""
        notes = " ".join(f"[{note}]" for note in self.note.split(", ") if note)
        return f"{self.function}  {notes}" if notes else self.function


class PathEvent(NamedTuple):
    """Something that happened to a packet, or that it caused."""

    ts_ns: int  # of the KBL's clock
    event: str  # kbl.h's word in lower case: "drop", "neigh", "qdisc_enqueue"
    text: str  # "drop NO_SOCKET at udp_rcv+0x1c in netfilter IPv4 INPUT"
    call: int  # index in the leg's calls of the call it happened in, -1 = none
    cpu: int
    context: str
    pid: int
    comm: str
    caused: bool  # not of this packet's skb: a table changed inside one of its calls
    stack: tuple[str, ...]  # of a drop, innermost first


OUTSIDE = "outside probed functions"
MAYBE_LOST = "records of it may have been lost"


class Wait(NamedTuple):
    """Time in which no function worked for a packet, and why; or OUTSIDE: nothing shows why.

    If records were lost meanwhile, `what` says that, for it may have been anywhere.
    """

    what: str
    begin_ns: int
    dur_ns: int


class Captured(NamedTuple):
    """Where and when a sniffer was given a packet; times are of the leg's KBL."""

    device: str  # "" if it is not known
    direction: str  # "out" or "in": the device sent or received it
    after_ns: int  # the packet was stamped not before this
    before_ns: int  # and not after that
    socket: bool  # the KBL shows the call of the packet socket, not only the device's

    @property
    def text(self) -> str:
        """ "as eth0 received it", "as it was sent"."""
        if not self.device:
            return f"as it was {'sent' if self.direction == 'out' else 'received'}"
        return f"as {self.device} {'sent' if self.direction == 'out' else 'received'} it"


class Leg(NamedTuple):
    """One pass of a packet through one stack.  Times are of its KBL's clock.

    They are session time when session_offset_ns is added, which is right at begin_ns and may be
    session_error_ns off (None: nothing joins this clock to the first KBL's; 0: it is that one).
    epoch_offset_ns turns them into the host's own wall clock.  wire_ns is when its packet was
    captured, by the clock fit of the capture to this KBL (None without one), wire_error_ns the
    fit's residual.  `captured` is what the KBL shows of that, in the leg in which it was captured;
    None in others, and where it is not known which of several moments it was.
    """

    series: int
    kind: str  # "tx", "rx" or "forward"
    match: str  # verdict of this leg
    reason: str
    begin_ns: int
    end_ns: int
    kernel_ns: int | None  # None if records of it may be lost
    functions: int | None  # the same
    waits: tuple[Wait, ...]
    calls: tuple[PathCall, ...]
    netns: int
    device: str
    events: tuple[PathEvent, ...] = ()
    # Of a branch: "parent" (cloned or cut from it), "into" (merged into it), "clone", "merged".
    relation: str = ""
    note: str = ""  # why no numbers are told
    source: int = 0  # SourceRow.id of its KBL
    log: str = ""  # what this KBL is called, where the session has several
    session_offset_ns: int = 0
    session_error_ns: int | None = 0
    epoch_offset_ns: int = 0
    wire_ns: int | None = None
    wire_error_ns: int | None = None
    captured: Captured | None = None
    busy_ns: int | None = None  # as in PacketRow, of this leg
    wait_ns: int | None = None
    unknown_ns: int | None = None
    cpu_ns: int | None = None
    origin_ns: int | None = None  # when the path's first leg began, by this leg's clock
    packet: int | None = None  # of a branch: the packet that it is, where that is known
    row: str = ""  # of a branch: its number in the packet list, "25" or "K1"
    # Pairs of addresses (source, destination) that it was the first of its packet life to have.
    addresses: tuple[tuple[str, str], ...] = ()

    @property
    def zero_ns(self) -> int:
        """Since when entries are told: the begin of the path's first leg, else its own."""
        return self.begin_ns if self.origin_ns is None else self.origin_ns

    @property
    def session_ns(self) -> int:
        """Session time of its begin."""
        return self.begin_ns + self.session_offset_ns


class Behind(NamedTuple):
    """How long after the first leg of a path another one begins, give or take `error_ns`.

    `ns` is None where nothing joins the clocks of their logs; the error is 0 in one log.
    """

    ns: int | None
    error_ns: int


class PacketPath(NamedTuple):
    """Everything the window shows of one packet; `legs` by session time.

    `branches` are legs of packets it was cloned or cut from or merged into, of its own clones and
    segments, and of what was merged into it, where they are not matched to it; sniffers' copies
    are left out.
    """

    packet: PacketRow | None
    legs: tuple[Leg, ...]
    branches: tuple[Leg, ...] = ()

    @property
    def sure(self) -> tuple[Leg, ...]:
        """Its `legs` without those that may be another packet's: of a life itself all."""
        if self.packet is None:
            return self.legs
        return tuple(leg for leg in self.legs if leg.match != "ambiguous")

    def behind(self, leg: Leg) -> Behind | None:
        """Where one of `legs` stands; None of the first one, and where all are of one log."""
        first = self.legs[0]
        if leg is first or leg.relation or all(each.source == first.source for each in self.legs):
            return None
        if leg.source == first.source:
            return Behind(leg.begin_ns - first.begin_ns, 0)
        if leg.session_error_ns is None or first.session_error_ns is None:
            return Behind(None, 0)
        error = leg.session_error_ns + first.session_error_ns
        return Behind(leg.session_ns - first.session_ns, error)
