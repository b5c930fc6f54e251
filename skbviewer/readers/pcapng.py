# SPDX-License-Identifier: MIT
"""Reads pcapng files: several sections of either byte order, interfaces with their own clocks.

Layout: https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcapng/.  Blocks of other types are
stepped over.  A damaged file is read up to the damage, with a warning that names the place.
"""

from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..records import PACKET_DTYPE, UNTIMED, BadInput, Capture, Interface, Progress, Table
from .dissect import dissect
from .lanes import WORTHWHILE, walk
from .wire import Bytes, Ints, Mask, Rows, numbers_at

SECTION_HEADER = 0x0A0D0D0A
INTERFACE, PACKET, SIMPLE_PACKET, ENHANCED_PACKET = 1, 2, 3, 6
PACKET_BLOCKS = (PACKET, SIMPLE_PACKET, ENHANCED_PACKET)
BYTE_ORDER_MAGIC = 0x1A2B3C4D
VERSIONS = ((1, 0), (1, 2))  # 1.2 was written by mistake and means 1.0, says the draft
OPT_IF_NAME, OPT_IF_TSRESOL, OPT_IF_TSOFFSET = 2, 9, 14
SECOND = 1_000_000_000
# Each goes on up to the next section or interface; of files with many the rest is walked plainly.
MAX_LANE_WALKS = 8
REPORT_EVERY = 1 << 16  # blocks


BLOCK_DTYPE = np.dtype(  # what the blocks themselves tell of their packets
    [(name, PACKET_DTYPE[name]) for name in ("ts", "caplen", "len", "offset", "interface")]
    + [("linktype", PACKET_DTYPE["linktype"])]
)


class _Described(NamedTuple):
    """An interface and its clock: tsresol as in the file, tsoffset in seconds."""

    interface: Interface
    tsresol: int
    tsoffset: int


@dataclass
class _Section:
    order: str
    two_words: struct.Struct
    interfaces: list[_Described] = field(default_factory=list)
    offsets: array[int] = field(default_factory=lambda: array("q"))  # of packet blocks


class _Damage(Exception):
    """What follows this place cannot be read."""

    def __init__(self, at: int, why: str) -> None:
        self.at, self.why = at, why
        super().__init__(why)


def read_pcapng(path: Path, data: Bytes, progress: Progress, folder: Path | None) -> Capture:
    """Read a pcapng file; `data` are its bytes.

    Raises BadInput if not even its first section header can be read.
    """
    sections, warnings = _sections(path, data, progress)
    parts: list[Table] = []
    interfaces: list[Interface] = []
    for section in sections:
        packets, more = _columns(path, data, section, len(interfaces))
        parts.append(packets)
        warnings += more
        interfaces += [described.interface for described in section.interfaces]
    blocks = np.concatenate(parts)

    def fill(packets: Rows, first: int) -> None:
        for name in BLOCK_DTYPE.names or ():
            packets[name] = blocks[name][first : first + len(packets)]

    whole, unknown = dissect(path.name, data, len(blocks), fill, progress, folder)
    return Capture(path, "pcapng", whole, tuple(interfaces), tuple(warnings + unknown))


def _sections(path: Path, data: Bytes, progress: Progress) -> tuple[list[_Section], list[str]]:
    sections: list[_Section] = []
    buffer = data.data
    at = blocks = packets = 0
    lanes = MAX_LANE_WALKS
    try:
        while at < len(data):
            type_, length = _block(data, buffer, at, sections)
            if type_ in PACKET_BLOCKS and lanes and len(data) - at > WORTHWHILE:
                blocks_at, length = _walk_lanes(data, at, sections[-1])
                lanes, packets = lanes - 1, packets + blocks_at
            elif type_ in PACKET_BLOCKS:
                sections[-1].offsets.append(at)
                packets += 1
            elif type_ == INTERFACE:
                sections[-1].interfaces.append(_interface(data, at, length, sections[-1].order))
            at, blocks = at + length, blocks + 1
            if blocks % REPORT_EVERY == 0:
                progress.report(f"reading {path.name}", at, len(data))
    except _Damage as damage:
        if not sections:
            raise BadInput(path, damage.at, damage.why) from damage
        rest = f"the {packets} packets before are read, nothing after"
        return sections, [f"{path} at byte {damage.at}: {damage.why}; {rest}"]
    return sections, []


def _walk_lanes(data: Bytes, begin: int, section: _Section) -> tuple[int, int]:
    """Add the packet blocks from `begin` up to a section, an interface, or damage.

    Returns how many those are, and how many bytes lie up to there.
    """
    u32, last = numbers_at(data, section.order + "u4"), len(data) - 12

    def length(at: Ints) -> Ints:
        some = np.minimum(at, last)
        type_, size = u32[some], u32[some + 4].astype(np.int64)
        good = (at <= last) & (size >= 12) & (size % 4 == 0) & (at + size <= len(data))
        good &= (type_ != SECTION_HEADER) & (type_ != INTERFACE)
        trailer = u32[np.where(good, some + size - 4, 0)]
        return np.where(good & (trailer == size), size, 0)

    def likely(at: Ints) -> Mask:
        """Packet blocks of a few bytes or more, at multiples of four."""
        good = (at - begin) % 4 == 0
        type_ = u32[np.minimum(at[good], last)]
        good[good] = np.isin(type_, PACKET_BLOCKS) & (length(at[good]) > 12)
        return np.asarray(good, np.bool_)

    found = walk(begin, len(data), length, likely)
    mine = found.offsets[np.isin(u32[found.offsets], PACKET_BLOCKS)]
    section.offsets.frombytes(mine.tobytes())
    return len(mine), found.at - begin


def _block(data: Bytes, buffer: memoryview, at: int, sections: list[_Section]) -> tuple[int, int]:
    """Type and length of the block at `at`, which is whole; a section header opens a section."""
    if at + 12 > len(data):
        raise _Damage(at, "cut in the middle of a block header")
    # The number of a section header reads the same in both byte orders.
    words = sections[-1].two_words if sections else struct.Struct("<II")
    type_, length = words.unpack_from(buffer, at)
    if type_ == SECTION_HEADER:
        words = struct.Struct(_byte_order(data, at) + "II")
        type_, length = words.unpack_from(buffer, at)
    if length < 12 or length % 4:
        raise _Damage(at, f"block of type {type_} has the bad length {length}")
    if at + length > len(data):
        missing = at + length - len(data)
        raise _Damage(at, f"cut in the middle of a block of type {type_}, {missing} bytes missing")
    (_, trailer) = words.unpack_from(buffer, at + length - 8)
    if trailer != length:
        raise _Damage(at, f"block lengths {length} and {trailer} differ")
    if type_ == SECTION_HEADER:
        sections.append(_new_section(data, at, length, _byte_order(data, at)))
    return type_, length


def _byte_order(data: Bytes, at: int) -> str:
    magic = bytes(data[at + 8 : at + 12])
    for order in "<>":
        if magic == struct.pack(order + "I", BYTE_ORDER_MAGIC):
            return order
    raise _Damage(at + 8, f"no byte-order magic in a section header: {magic.hex(' ')}")


def _new_section(data: Bytes, at: int, length: int, order: str) -> _Section:
    if length < 28:
        raise _Damage(at, f"section header of {length} bytes")
    major, minor = struct.unpack_from(order + "HH", data.data, at + 12)
    if (major, minor) not in VERSIONS:
        raise _Damage(at + 12, f"pcapng version {major}.{minor} is not known")
    return _Section(order, struct.Struct(order + "II"))


def _interface(data: Bytes, at: int, length: int, order: str) -> _Described:
    if length < 20:
        raise _Damage(at, f"interface description of {length} bytes")
    linktype, _, snaplen = struct.unpack_from(order + "HHI", data.data, at + 8)
    options = _options(data, at + 16, at + length - 4, order)
    name = options.get(OPT_IF_NAME, b"").split(b"\0")[0].decode("utf-8", "replace")
    tsresol = options.get(OPT_IF_TSRESOL, b"")[:1] or b"\x06"
    tsoffset = options.get(OPT_IF_TSOFFSET, b"")
    seconds = struct.unpack(order + "q", tsoffset)[0] if len(tsoffset) == 8 else 0
    return _Described(Interface(linktype, name, snaplen), tsresol[0], seconds)


def _options(data: Bytes, at: int, end: int, order: str) -> dict[int, bytes]:
    """The options between two positions; a damaged one ends the list, the block still counts."""
    found: dict[int, bytes] = {}
    while at + 4 <= end:
        code, length = struct.unpack_from(order + "HH", data.data, at)
        if code == 0 or at + 4 + length > end:
            break
        found.setdefault(code, bytes(data[at + 4 : at + 4 + length]))
        at += 4 + length + -length % 4
    return found


def _columns(path: Path, data: Bytes, section: _Section, base: int) -> tuple[Table, list[str]]:
    """The section's packets; `base` is the number of interfaces in the sections before."""
    offsets = np.array(section.offsets, np.int64)
    packets = np.zeros(len(offsets), BLOCK_DTYPE)
    u32, u16 = (numbers_at(data, section.order + kind) for kind in ("u4", "u2"))
    kinds, ends = u32[offsets], offsets + u32[offsets + 4].astype(np.int64) - 4
    # Of a short packet block the fields are not there: it is left out below.
    whole = ends - offsets >= np.where(kinds == SIMPLE_PACKET, 12, 28)
    fixed = np.where(whole & (kinds != SIMPLE_PACKET), offsets, 0)

    def word(at: Ints) -> Ints:
        return np.where(at < len(u32), u32[np.minimum(at, len(u32) - 1)], 0).astype(np.int64)

    simple, old = kinds == SIMPLE_PACKET, kinds == PACKET
    interface = np.where(old, u16[offsets + 8], word(fixed + 8)).astype(np.int64)
    interface[simple] = 0
    ticks = (word(fixed + 12) << 32) | word(fixed + 16)
    packets["len"] = np.where(simple, word(offsets + 8), word(fixed + 24))
    packets["offset"] = np.where(simple, offsets + 12, offsets + 28)
    room = ends - packets["offset"]
    snaplens = np.array([item.interface.snaplen or 1 << 32 for item in section.interfaces])
    known = interface < len(section.interfaces)
    limit = np.minimum(room, _per_interface(snaplens, interface, known))
    packets["caplen"] = np.where(simple, np.minimum(packets["len"], limit), word(fixed + 20))
    fits = whole & (packets["caplen"] <= room)
    packets["interface"] = base + interface
    _link_types(packets, section, interface, known)
    _times(packets, section, interface, ticks)
    packets["ts"][simple] = UNTIMED
    return packets[fits & known], _complaints(path, offsets, fits, known, simple)


def _per_interface(values: Ints, interface: Ints, known: Mask) -> Ints:
    if not len(values):
        return np.zeros(len(interface), np.int64)
    found: Ints = values[np.where(known, interface, 0)]
    return found


def _link_types(packets: Table, section: _Section, interface: Ints, known: Mask) -> None:
    types = np.array([item.interface.linktype for item in section.interfaces], np.int64)
    packets["linktype"] = _per_interface(types, interface, known)


def _times(packets: Table, section: _Section, interface: Ints, ticks: Ints) -> None:
    for number, described in enumerate(section.interfaces):
        mine = interface == number
        packets["ts"][mine] = _nanoseconds(ticks[mine], described.tsresol)
        # A nonsense offset is kept from overflowing: 2**33 s are 272 years.
        packets["ts"][mine] += max(-(1 << 33), min(1 << 33, described.tsoffset)) * SECOND


def _nanoseconds(ticks: Ints, tsresol: int) -> Ints:
    """Ticks of 10**-n s, or of 2**-n s if the top bit of `tsresol` is set, as whole ns."""
    digits = tsresol & 0x7F
    unsigned = ticks.astype(np.uint64)
    if tsresol & 0x80:
        if digits > 63:
            return np.zeros(len(ticks), np.int64)
        seconds = (unsigned >> np.uint64(digits)).astype(np.int64)
        fraction = unsigned & np.uint64((1 << digits) - 1)
        spare = max(0, digits - 34)  # so that the product below stays in 64 bits
        fraction = (fraction >> np.uint64(spare)) * np.uint64(SECOND)
        return seconds * SECOND + (fraction >> np.uint64(digits - spare)).astype(np.int64)
    if digits <= 9:
        return ticks * np.int64(10 ** (9 - digits))
    return (unsigned // np.uint64(min(10 ** (digits - 9), 2**64 - 1))).astype(np.int64)


def _complaints(path: Path, offsets: Ints, fits: Mask, known: Mask, simple: Mask) -> list[str]:
    reasons = {
        "packet blocks are shorter than the packet they claim to hold: left out": ~fits,
        "packets name an interface their section does not describe: left out": fits & ~known,
        "simple packet blocks have no time: it stays unknown": fits & known & simple,
    }
    return [
        f"{path} at byte {offsets[mask][0]}: {np.count_nonzero(mask)} {reason}"
        for reason, mask in reasons.items()
        if mask.any()
    ]
