# SPDX-License-Identifier: MIT
"""The results of reading one file: a capture or a kernel log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from .bulk_dtypes import (
    CHANGE_DTYPE,
    DROP_DTYPE,
    FRAME_DTYPE,
    SYSCALL_DTYPE,
    TAP_DTYPE,
    Table,
    empty,
)
from .column_tables import Packets, Records
from .source_kind import SourceKind
from .types import Int32s


class Interface(NamedTuple):
    """An interface of a capture: LINKTYPE_ value, name ("" if unknown), snap length (0 = none).

    `comments` are bytes as they are in the file, usually UTF-8.
    """

    linktype: int
    name: str
    snaplen: int
    comments: tuple[bytes, ...] = ()


class CaptureDescription(NamedTuple):
    """What a capture contains besides packets: interfaces, and comments of its sections.

    Packets refer to the interfaces by number, from 0. Comments are bytes as they are in the file.
    """

    interfaces: tuple[Interface, ...]
    comments: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Capture:
    """A capture as it was read: `packets` has PACKET_DTYPE, in file order.

    If the packets come from a kernel log that holds their bytes, `lifetimes` has the lifetime of
    each packet, numbered as in KernelLog.lifetimes.
    """

    path: Path
    kind: SourceKind
    packets: Packets
    interfaces: tuple[Interface, ...]
    warnings: tuple[str, ...] = ()  # each contains offset and reason
    lifetimes: Int32s | None = None


class Probe(NamedTuple):
    """A row of the KBL's probe table; `event` is kbl.h's enum kbl_event, or 0.

    `hits` and `missed` are -1 if the kernel did not count them. An `inner` function has no skb: its
    calls were recorded only inside recorded calls of other functions.
    """

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
    inner: bool = False


class FunctionCode(NamedTuple):
    """The machine code of a function in the recorded kernel's memory, from `address` on (unsigned).

    If `ended` is set, `data` ends at the next symbol. If `ended` is not set, `data` may also
    contain what follows the function in memory.
    """

    address: int
    ended: bool
    data: bytes


class ClockTriple(NamedTuple):
    """The recording kernel's clocks, read at the same moment, in ns."""

    mono_ns: int
    real_ns: int
    boot_ns: int
    uncertainty_ns: int


class Details(NamedTuple):
    """Details of records that have no column: tables sorted by the record's ordinal.

    `names` maps an ordinal to the name of a thread, interrupt, module or link.
    """

    frames: Table = empty(FRAME_DTYPE, 0)
    drops: Table = empty(DROP_DTYPE, 0)
    changes: Table = empty(CHANGE_DTYPE, 0)
    syscalls: Table = empty(SYSCALL_DTYPE, 0)
    names: Mapping[int, str] = MappingProxyType({})


# Causes of lost records that are not in kbl.h's enum kbl_lost.
UNRECORDED = 254  # the time is before a CPU's first record or after its last one
HOLE = 255  # the file lacks chunks


class Hole(NamedTuple):
    """A gap in a CPU's records because chunks are missing or damaged; `begin` and `end` in ns.

    The file has no record for the gap; the reader derives it from the chunks around it. At least
    `lost` records were lost, because every missing chunk held at least one.
    """

    cpu: int
    begin: int
    end: int
    lost: int


class Stream(NamedTuple):
    """When the first and the last record of a CPU in this file were written, in ns."""

    cpu: int
    begin: int
    end: int


class Calibration(NamedTuple):
    """The cost of the probes, ns; see struct kbl_calibration in kbl.h.

    `skb_empty` and `skb_nested` are the costs for calls that carry a packet.
    """

    empty: int
    nested: int
    skb_empty: int
    skb_nested: int

    @property
    def error(self) -> int:
        """Return the possible error of a probe's cost, ns.

        The result is the difference between the costs of empty calls with and without a packet.
        """
        return abs(self.skb_empty - self.empty)

    @property
    def event(self) -> int:
        """Return the estimated cost of an event in ns: the cost of the probe of an empty call."""
        return max(self.skb_empty, self.empty)


@dataclass(frozen=True)
class KernelLog:
    """A KBL as it was read: `records` has RECORD_DTYPE, in time order.

    A call is one record of kind ENTRY. Its time is the call's entry; it also has the values of the
    call's return. An EXIT is the return of a call whose entry is unknown. At equal times on one
    CPU, entries come first, then events in the order in which they were written.

    LOST records stand for records that the recorder lost; `holes` are gaps in the file itself.
    `streams` has an entry for each CPU that wrote records. The file is `complete` if no record is
    missing at its end: the recorder was stopped, and the file has all the records that the recorder
    counted. `missed` maps a probe id (-1: unknown probe) to the number of missed hits that no LOST
    record counts; they may have happened at any time of the recording.

    `taps` has TAP_DTYPE: the packets that packet sockets received. `taps` is empty for logs of
    older recorders.

    A log without `returns` has SEEN records instead of calls. A SEEN record says that a function
    had an skb at that time, but not when the function returned. `lifetimes` has the number of each
    record's skb lifetime (-1: none), if the log shows lifetimes; they are numbered from 0 in the
    order of their first records. `sections` are JSON objects with details that have no column. The
    upper 32 bits of a record's `data` are the number of its section, counted from 1; 0 = none.
    `own_packets` are the packets whose bytes the log itself holds, with times of the host's wall
    clock.

    `code` has the machine code of functions, if it was recorded. If code was recorded, `symbols`
    also has the first addresses of all functions that the log names (`ip_output+0x0`).

    `symbols` maps each caller in the records to text such as `ip_output+0x4c`; `tasks` maps a
    thread id to its latest command name; `devices` maps (netns, ifindex) to a name.
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
    lost_records: int  # full buffers, missed and nested hits, damaged chunks
    meta: dict[str, str] = field(default_factory=dict)
    details: Details = field(default_factory=Details)
    calibration: Calibration | None = None  # None: not measured
    warnings: tuple[str, ...] = ()
    holes: tuple[Hole, ...] = ()
    streams: tuple[Stream, ...] = ()
    complete: bool = True
    missed: Mapping[int, int] = field(default_factory=dict)
    taps: Table = field(default_factory=lambda: empty(TAP_DTYPE, 0))
    kind: SourceKind = SourceKind.KBL
    returns: bool = True
    lifetimes: Int32s | None = None
    sections: tuple[str, ...] = ()
    own_packets: Capture | None = None
    code: tuple[FunctionCode, ...] = ()
