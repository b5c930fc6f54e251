# SPDX-License-Identifier: MIT
"""What a reader makes of one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from .arrays import (
    CHANGE_DTYPE,
    DROP_DTYPE,
    FRAME_DTYPE,
    SYSCALL_DTYPE,
    TAP_DTYPE,
    Table,
    empty,
)
from .columns import Packets, Records


class Interface(NamedTuple):
    """One capture interface: LINKTYPE_ value, name ("" if unknown), snap length (0 = none)."""

    linktype: int
    name: str
    snaplen: int


@dataclass(frozen=True)
class Capture:
    """A packet capture as read: `packets` has PACKET_DTYPE in file order."""

    path: Path
    format: str  # "pcap" or "pcapng"
    packets: Packets
    interfaces: tuple[Interface, ...]
    warnings: tuple[str, ...] = ()  # each names offset and reason


class Probe(NamedTuple):
    """One row of the KBL's probe table; `event` is kbl.h's enum kbl_event or 0."""

    id: int
    name: str
    module: str
    address: int
    arg: int
    returns_skb: bool
    event: int
    error: int
    hits: int
    missed: int


class ClockTriple(NamedTuple):
    """The recording kernel's clocks read at one moment, ns."""

    mono_ns: int
    real_ns: int
    boot_ns: int
    uncertainty_ns: int


class Details(NamedTuple):
    """What some records tell beside their columns: tables, sorted by the record's ordinal.

    `names` are of threads, interrupts, modules and links, by ordinal.
    """

    frames: Table = empty(FRAME_DTYPE, 0)
    drops: Table = empty(DROP_DTYPE, 0)
    changes: Table = empty(CHANGE_DTYPE, 0)
    syscalls: Table = empty(SYSCALL_DTYPE, 0)
    names: Mapping[int, str] = MappingProxyType({})


UNRECORDED = 254  # why records are lost: before a CPU's first one or after its last one
HOLE = 255  # why records are lost, beside kbl.h's enum kbl_lost: the file lacks chunks


class Hole(NamedTuple):
    """Where a CPU's stream lacks chunks that are missing or damaged: from begin to end, ns.

    No record of the file tells it: it is made up of what stands around it.  `lost` is how many
    records at least are gone: a missing chunk held one or more.
    """

    cpu: int
    begin: int
    end: int
    lost: int


class Stream(NamedTuple):
    """When the first and the last record of a CPU that stand in the file were written, ns."""

    cpu: int
    begin: int
    end: int


class Calibration(NamedTuple):
    """What the probes cost, ns: see struct kbl_calibration of kbl.h.

    Those of calls that carry a packet are `skb_empty` and `skb_nested`.
    """

    empty: int
    nested: int
    skb_empty: int
    skb_nested: int

    @property
    def error(self) -> int:
        """How far empty calls with and without a packet lie apart: how well either is known."""
        return abs(self.skb_empty - self.empty)


@dataclass(frozen=True)
class KernelLog:
    """A KBL as read: `records` has RECORD_DTYPE, in time order.

    A call is one record, an ENTRY at the time it began that knows of its return; an EXIT is one
    whose entry is not told.  At one time of one CPU stand entries, then events as written.

    Records that the recorder lost stand there as LOST; `holes` shows what the file lost.
    `streams` are the CPUs that have records.  The file is `complete` if nothing is missing behind
    the last of them: the recorder stopped in order, and counted no more records than there are.
    `missed` are hits that the probes missed, by probe id (-1: it is not known of which), of which
    no LOST record says when: at any time of the recording.

    `taps` has TAP_DTYPE: what packet sockets were given; of older recorders none.

    `symbols` maps each caller as it stands in the records to text such as `ip_output+0x4c`;
    `tasks` maps a thread id to its latest command name; `devices` maps (netns, ifindex) to a name.
    """

    path: Path
    version: int
    records: Records
    probes: dict[int, Probe]
    symbols: dict[int, str]
    tasks: dict[int, str]
    devices: dict[tuple[int, int], str]
    clock: tuple[ClockTriple, ...]
    stext: int
    release: str
    hostname: str
    arch: str
    lost_records: int  # buffers full, missed and nested hits, damaged chunks
    meta: dict[str, str] = field(default_factory=dict)
    details: Details = field(default_factory=Details)
    calibration: Calibration | None = None  # None: not measured
    warnings: tuple[str, ...] = ()
    holes: tuple[Hole, ...] = ()
    streams: tuple[Stream, ...] = ()
    complete: bool = True
    missed: Mapping[int, int] = field(default_factory=dict)
    taps: Table = field(default_factory=lambda: empty(TAP_DTYPE, 0))
