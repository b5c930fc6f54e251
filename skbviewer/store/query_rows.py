# SPDX-License-Identifier: MIT
"""The rows that queries return; their fields are the columns of schema.py, in the same order.

If a query adds fields to the columns of its table, these come last.
"""

from __future__ import annotations

from typing import NamedTuple


class StoredSource(NamedTuple):
    """A row of `source`: an input file.  `warnings` and `detail` are JSON."""

    id: int
    path: str
    kind: str
    size: int
    sha256: str
    first: int
    rows: int
    warnings: str
    detail: str


class StoredPacket(NamedTuple):
    """A row of `packet`."""

    id: int
    source: int
    ts: int
    caplen: int
    len: int
    offset: int
    interface: int
    linktype: int
    eth_src: int
    eth_dst: int
    vlan: int
    ttl: int
    flags: int
    window: int
    payload: int
    ethertype: int
    ip_version: int
    saddr_hi: int
    saddr_lo: int
    daddr_hi: int
    daddr_lo: int
    ip_id: int
    protocol: int
    frag_off: int
    tot_len: int
    sport: int
    dport: int
    seq: int
    ack: int
    tcp_flags: int
    flow_label: int
    frag_id: int
    verdict: int
    rung: int
    confidence: float
    kernel_ns: int
    busy_ns: int
    unknown_ns: int
    cpu_ns: int
    functions: int


class StoredSeries(NamedTuple):
    """A row of `series`: an skb lifetime."""

    id: int
    source: int
    parent: int
    tap: int
    begin_ns: int
    end_ns: int
    skb: int
    verdict: int
    rung: int
    confidence: float
    kernel_only: int
    kernel_ns: int
    busy_ns: int
    unknown_ns: int
    cpu_ns: int
    functions: int
    ordinal: int
    identity: int
    ifindex: int
    netns: int
    skb_len: int
    ethertype: int
    ip_version: int
    saddr_hi: int
    saddr_lo: int
    daddr_hi: int
    daddr_lo: int
    ip_id: int
    protocol: int
    frag_off: int
    tot_len: int
    sport: int
    dport: int
    seq: int
    ack: int
    tcp_flags: int
    flow_label: int
    frag_id: int


class StoredLeg(NamedTuple):
    """A row of `leg`.

    In the result of a query about a packet, `verdict` to `delta_ns` come from the leg's match with
    that packet.  If the leg is of another lifetime, `relation` says how that lifetime is related.
    """

    id: int
    source: int
    series: int
    kind: int
    begin_ns: int
    end_ns: int
    wire_ns: int
    netns: int
    ifindex: int
    functions: int
    ethertype: int
    reader_ns: int
    pid: int
    drop_reason: int
    gap: int
    busy_ns: int
    unknown_ns: int
    cpu_ns: int
    verdict: int | None = None
    rung: int = -1
    confidence: float = 0.0
    delta_ns: int | None = None  # None: no clock was fitted
    relation: str = ""


class StoredMoment(NamedTuple):
    """A row of `moment`."""

    id: int
    packet: int
    leg: int
    netns: int
    ifindex: int
    sends: int
    socket: int
    after_ns: int
    before_ns: int


class StoredAddress(NamedTuple):
    """A row of `address`."""

    id: int
    leg: int
    ip_version: int
    saddr_hi: int
    saddr_lo: int
    daddr_hi: int
    daddr_lo: int


class StoredWait(NamedTuple):
    """A row of `wait`."""

    id: int
    leg: int
    kind: int
    begin_ns: int
    end_ns: int


class StoredCall(NamedTuple):
    """A row of `call`, with the facts about its probe."""

    id: int
    leg: int
    ordinal: int
    func: int
    caller: int
    entry_ns: int
    exit_ns: int
    dur_ns: int
    self_ns: int
    off_ns: int
    comp_ns: int
    comp_err_ns: int
    irq_ns: int
    marks: int
    counter: int
    depth: int
    parent: int
    cpu: int
    context: int
    flags: int
    pid: int
    skb: int
    netns: int
    ifindex: int
    sk: int
    mark: int
    carried: int
    drop_reason: int
    function: str | None  # the probe's name
    takes: int | None  # the number of its skb argument


class StoredDrop(NamedTuple):
    """A row of `drop`."""

    id: int
    event: int
    hook: int
    depth: int


class StoredChange(NamedTuple):
    """A row of `change`: a neighbour, address, route or link."""

    id: int
    event: int
    family: int
    prefix_len: int
    ifindex: int
    netns: int
    addr_hi: int
    addr_lo: int
    gateway_hi: int
    gateway_lo: int
    gateway: int
    state: int
    lladdr: int


class StoredSyscall(NamedTuple):
    """A row of `syscall`."""

    id: int
    event: int
    family: int
    fd: int
    sk: int
    arg1: int
    arg2: int


class StoredEvent(NamedTuple):
    """A row of `event`, with its details from other tables."""

    id: int
    source: int
    ordinal: int
    event: int
    ts: int
    cpu: int
    context: int
    pid: int
    skb: int
    data: int
    leg: int
    call: int
    drop: StoredDrop | None
    change: StoredChange | None
    syscall: StoredSyscall | None
    name: str  # "" if it has none


class StoredFrame(NamedTuple):
    """Columns of `frame`."""

    event: int
    address: int


class StoredClock(NamedTuple):
    """A row of `clock`: one segment of a clock fit."""

    id: int
    source: int
    kbl: int
    interface: int
    begin_ns: int
    first: int
    origin_ns: int
    offset_ns: int
    drift_ppm: float
    residual_ns: int
    pairs: int
    netns: int
    ifindex: int


class StoredTimebase(NamedTuple):
    """A row of `timebase`."""

    id: int
    source: int
    interface: int
    first: int
    begin_ns: int
    offset_ns: int
    drift_ppm: float
    error_ns: int


class StoredOneWay(NamedTuple):
    """A row of `oneway`."""

    id: int
    kbl: int
    other: int
    least_ppm: float
    most_ppm: float
    onward: int
    back: int


class StoredBound(NamedTuple):
    """A row of `oneway_bound`."""

    id: int
    kbl: int
    other: int
    at_ns: int
    low_ns: int
    high_ns: int


class StoredProbe(NamedTuple):
    """Columns of `probe`."""

    source: int
    func: int
    name: str


class StoredNote(NamedTuple):
    """A row of `annotation`."""

    id: int
    kind: str
    source: str  # SHA-256 of the input file, "" = the whole session
    anchor: str
    ordinal: int
    begin_ns: int | None
    end_ns: int | None
    text: str
