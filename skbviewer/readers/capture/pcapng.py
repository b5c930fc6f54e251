# SPDX-License-Identifier: MIT
"""Read pcapng files: sections of either byte order, with interfaces that have their own clocks.

Layout: https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcapng/.  Blocks of all other types are
skipped.  A damaged file is read up to the damage; a warning contains the position of the damage.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...records import (
    PACKET_DTYPE,
    UNTIMED,
    BadInput,
    Capture,
    CaptureDescription,
    Interface,
    Progress,
    SourceKind,
    Table,
    counted,
)
from ...records.compiled import Int, compiled
from ...records.types import Bools, Int64s, UInt8s
from ..input_file import WINDOW, Source
from ..numbers_in_bytes import Block, word
from ..printable_names import name_of
from .header_columns import dissect

SECTION_HEADER = 0x0A0D0D0A
INTERFACE, PACKET, SIMPLE_PACKET, ENHANCED_PACKET = 1, 2, 3, 6
PACKET_BLOCKS = (PACKET, SIMPLE_PACKET, ENHANCED_PACKET)
BYTE_ORDER_MAGIC = 0x1A2B3C4D
VERSIONS = ((1, 0), (1, 2))  # 1.2 was written by mistake and means 1.0, according to the draft
OPT_END, OPT_COMMENT, SECTION_HEAD = 0, 1, 24  # options begin after SECTION_HEAD bytes
OPT_IF_NAME, OPT_IF_TSRESOL, OPT_IF_TSOFFSET = 2, 9, 14
SECOND = 1_000_000_000
HEAD = 32  # bytes at the start of a packet block that are decoded
SHORTEST_BLOCK = 12  # bytes of the shortest block


BLOCK_DTYPE = np.dtype(  # columns that come from the blocks, not from the packets in them
    [(name, PACKET_DTYPE[name]) for name in ("ts", "caplen", "len", "offset", "interface")]
    + [("linktype", PACKET_DTYPE["linktype"])]
)


class _Described(NamedTuple):
    """An interface and its clock: if_tsresol as in the file, and if_tsoffset in seconds."""

    interface: Interface
    tsresol: int
    tsoffset: int


@dataclass
class _Section:
    order: str
    two_words: struct.Struct
    comments: tuple[bytes, ...] = ()
    interfaces: list[_Described] = field(default_factory=list)
    offsets: list[Int64s] = field(default_factory=list)  # positions of packet blocks
    heads: list[UInt8s] = field(default_factory=list)  # the first HEAD bytes of each


class _Damage(Exception):
    """The file cannot be read beyond this position."""

    def __init__(self, at: int, why: str) -> None:
        self.at, self.why = at, why
        super().__init__(why)


def read_pcapng(data: Source, progress: Progress, folder: Path | None) -> Capture:
    """Read the pcapng file `data`.

    A large table of packets is stored in a nameless file in `folder`.  Raises BadInput if the first
    section header cannot be read; raises Cancelled.
    """
    sections, warnings = _sections(data, progress)
    parts: list[Table] = []
    interfaces: list[Interface] = []
    for section in sections:
        packets, more = _columns(data.path, section, len(interfaces))
        parts.append(packets)
        warnings += more
        interfaces += [described.interface for described in section.interfaces]
    blocks = np.concatenate(parts)

    def fill(packets: Block, first: int, some: UInt8s, begin: int) -> None:
        for name in BLOCK_DTYPE.names or ():
            packets[name] = blocks[name][first : first + len(packets)]

    end = blocks["offset"] + blocks["caplen"]
    begin = blocks["offset"] - SHORTEST_BLOCK  # a position in the block's own header
    whole, unknown = dissect(data, begin, end, fill, progress, folder)
    return Capture(
        data.path, SourceKind.PCAPNG, whole, tuple(interfaces), tuple(warnings + unknown)
    )


def pcapng_description(data: Source, progress: Progress) -> CaptureDescription:
    """Return the interfaces of all sections, as read_pcapng() numbers them, and all comments.

    Raises BadInput and Cancelled like read_pcapng().
    """
    sections, _ = _sections(data, progress)
    return CaptureDescription(
        tuple(described.interface for one in sections for described in one.interfaces),
        tuple(comment for one in sections for comment in one.comments),
    )


def _sections(data: Source, progress: Progress) -> tuple[list[_Section], list[str]]:
    sections: list[_Section] = []
    at = packets = 0
    try:
        while at < len(data):
            progress.report(f"reading {data.path.name}", at, len(data))
            if sections:
                found, at = _packet_blocks(data, at, sections[-1], progress)
                packets += found
                if at == len(data):
                    break
            type_, length = _block(data, at, sections)
            if type_ in PACKET_BLOCKS:
                sections[-1].offsets.append(np.array([at], np.int64))
                sections[-1].heads.append(_head(data, at))
                packets += 1
            elif type_ == INTERFACE:
                sections[-1].interfaces.append(_interface(data, at, length, sections[-1].order))
            at += length
    except _Damage as damage:
        if not sections:
            raise BadInput(data.path, damage.at, damage.why) from damage
        before = f"{counted(packets, 'packet')} before {'is' if packets == 1 else 'are'} read"
        rest = f"the {before}, nothing after"
        return sections, [f"{data.path} at byte {damage.at}: {damage.why}; {rest}"]
    return sections, []


def _packet_blocks(data: Source, at: int, section: _Section, progress: Progress) -> tuple[int, int]:
    """Add the packet blocks from `at` to the next section, interface, large block or damage.

    Returns the number of packet blocks and the position after them.
    """
    most = WINDOW // SHORTEST_BLOCK + 1
    offsets, heads, found = np.empty(most, np.int64), np.empty((most, HEAD), np.uint8), 0
    little, ends, least = section.order == "<", False, HEAD
    while at < len(data) and not ends:
        progress.report(f"reading {data.path.name}", at, len(data))
        some = data.read_at_least(at, least, WINDOW)
        count, end, needs = _walk(some, at, little, at + len(some) == len(data), offsets, heads)
        section.offsets.append(offsets[: int(count)].copy())
        section.heads.append(heads[: int(count)].copy())
        found, at = found + int(count), int(end)
        least = int(needs)
        ends = least == 0 or least > WINDOW
    return found, at


@compiled
def _walk(
    some: UInt8s, begin: int, little: bool, is_end: bool, offsets: Int64s, heads: UInt8s
) -> tuple[Int, Int, Int]:
    """Walk the blocks in the bytes `some`, which begin at position `begin` of the file.

    `is_end` says that the file ends with these bytes.  Fills `offsets` and `heads`.  Returns the
    number of packet blocks, the position where the walk stopped, and how many bytes the walk needs
    from there to go on.  The last number is 0 if the walk stopped at a section, an interface or
    damage.
    """
    at, count, size = np.int64(0), np.int64(0), len(some)
    while at + SHORTEST_BLOCK <= size and (at + HEAD <= size or is_end):
        type_, length = word(some, at, little), word(some, at + 4, little)
        if type_ in (SECTION_HEADER, INTERFACE) or length < SHORTEST_BLOCK or length % 4 != 0:
            return count, begin + at, np.int64(0)
        if at + length > size or count == len(offsets):
            return count, begin + at, np.int64(0) if is_end else max(length, np.int64(HEAD))
        if word(some, at + length - 4, little) != length:
            return count, begin + at, np.int64(0)
        if type_ in (PACKET, SIMPLE_PACKET, ENHANCED_PACKET):
            for i in range(HEAD):
                heads[count, i] = some[at + i] if at + i < size else 0
            offsets[count] = begin + at
            count += 1
        at += length
    return count, begin + at, np.int64(0) if is_end else np.int64(HEAD)


def _head(data: Source, at: int) -> UInt8s:
    """Return the first bytes of a block that is too large for the walk, as an array (1, HEAD)."""
    made = np.zeros((1, HEAD), np.uint8)
    some = data.read(at, at + HEAD)
    made[0, : len(some)] = some
    return made


def _block(data: Source, at: int, sections: list[_Section]) -> tuple[int, int]:
    """Check the block at `at`, and return its type and its length.

    For a section header, a new section is added to `sections`.
    """
    if at + SHORTEST_BLOCK > len(data):
        raise _Damage(at, "the file ends in the middle of a block header")
    # The type of a section header is the same number in both byte orders.
    words = sections[-1].two_words if sections else struct.Struct("<II")
    type_, length = words.unpack(bytes(data.read(at, at + 8)))
    if type_ == SECTION_HEADER:
        words = struct.Struct(_byte_order(data, at) + "II")
        type_, length = words.unpack(bytes(data.read(at, at + 8)))
    if length < SHORTEST_BLOCK or length % 4:
        raise _Damage(at, f"block of type {type_} has the bad length {length}")
    if at + length > len(data):
        missing = counted(at + length - len(data), "byte")
        raise _Damage(
            at, f"the file ends in the middle of a block of type {type_}: {missing} missing"
        )
    (_, trailer) = words.unpack(bytes(data.read(at + length - 8, at + length)))
    if trailer != length:
        raise _Damage(
            at, f"a block gives two different lengths: {length} at its begin, {trailer} at its end"
        )
    if type_ == SECTION_HEADER:
        sections.append(_new_section(data, at, length, _byte_order(data, at)))
    return type_, length


def _byte_order(data: Source, at: int) -> str:
    magic = bytes(data.read(at + 8, at + 12))
    for order in "<>":
        if magic == struct.pack(order + "I", BYTE_ORDER_MAGIC):
            return order
    raise _Damage(at + 8, f"no byte-order magic in a section header: {magic.hex(' ')}")


def _new_section(data: Source, at: int, length: int, order: str) -> _Section:
    if length < 28:
        raise _Damage(at, f"section header of {length} bytes")
    major, minor = struct.unpack(order + "HH", bytes(data.read(at + 12, at + 16)))
    if (major, minor) not in VERSIONS:
        raise _Damage(at + 12, f"pcapng version {major}.{minor} is not known")
    options = bytes(data.read(at + SECTION_HEAD, at + length - 4))
    comments = _comments(options, 0, len(options), order)
    return _Section(order, struct.Struct(order + "II"), comments)


def _interface(source: Source, at: int, length: int, order: str) -> _Described:
    if length < 20:
        raise _Damage(at, f"interface description of {length} bytes")
    data = bytes(source.read(at, at + length))
    linktype, _, snaplen = struct.unpack_from(order + "HHI", data, 8)
    options = _options(data, 16, length - 4, order)
    name = name_of(options.get(OPT_IF_NAME, b""))
    tsresol = options.get(OPT_IF_TSRESOL, b"")[:1] or b"\x06"
    tsoffset = options.get(OPT_IF_TSOFFSET, b"")
    seconds = struct.unpack(order + "q", tsoffset)[0] if len(tsoffset) == 8 else 0
    comments = _comments(data, 16, length - 4, order)
    return _Described(Interface(linktype, name, snaplen, comments), tsresol[0], seconds)


def _options(data: bytes, at: int, end: int, order: str) -> dict[int, bytes]:
    """Return the options between the positions `at` and `end`, by option code.

    A damaged option ends the list of options; the block is still used.
    """
    found: dict[int, bytes] = {}
    for code, value in _each_option(data, at, end, order):
        found.setdefault(code, value)
    return found


def _comments(data: bytes, at: int, end: int, order: str) -> tuple[bytes, ...]:
    """Return the comments in the options between the positions `at` and `end`."""
    options = _each_option(data, at, end, order)
    return tuple(value for code, value in options if code == OPT_COMMENT)


def _each_option(data: bytes, at: int, end: int, order: str) -> Iterator[tuple[int, bytes]]:
    while at + 4 <= end:
        code, length = struct.unpack_from(order + "HH", data, at)
        if code == OPT_END or at + 4 + length > end:
            break
        yield code, data[at + 4 : at + 4 + length]
        at += 4 + length + -length % 4


def _columns(path: Path, section: _Section, base: int) -> tuple[Table, list[str]]:
    """Return the packets of a section; `base` is the number of interfaces in earlier sections."""
    offsets = np.concatenate([np.zeros(0, np.int64), *section.offsets])
    heads = np.concatenate([np.zeros((0, HEAD), np.uint8), *section.heads])
    packets = np.zeros(len(offsets), BLOCK_DTYPE)
    words = heads.view(section.order + "u4").astype(np.int64)
    halves = heads.view(section.order + "u2")
    kinds, ends = words[:, 0], offsets + words[:, 1] - 4
    # If a packet block is too short, its fields are garbage; it is left out below.
    whole = ends - offsets >= np.where(kinds == SIMPLE_PACKET, 12, 28)
    simple, old = kinds == SIMPLE_PACKET, kinds == PACKET
    interface = np.where(old, halves[:, 4], words[:, 2]).astype(np.int64)
    interface[simple] = 0
    ticks = (words[:, 3] << 32) | words[:, 4]
    packets["len"] = np.where(simple, words[:, 2], words[:, 6])
    packets["offset"] = np.where(simple, offsets + 12, offsets + 28)
    left = ends - packets["offset"]
    snaplens = np.array([item.interface.snaplen or 1 << 32 for item in section.interfaces])
    known = interface < len(section.interfaces)
    limit = np.minimum(left, _per_interface(snaplens, interface, known))
    packets["caplen"] = np.where(simple, np.minimum(packets["len"], limit), words[:, 5])
    fits = whole & (packets["caplen"] <= left)
    packets["interface"] = base + interface
    _link_types(packets, section, interface, known)
    _times(packets, section, interface, ticks)
    packets["ts"][simple] = UNTIMED
    return packets[fits & known], _complaints(path, offsets, fits, known, simple)


def _per_interface(values: Int64s, interface: Int64s, known: Bools) -> Int64s:
    if not len(values):
        return np.zeros(len(interface), np.int64)
    found: Int64s = values[np.where(known, interface, 0)]
    return found


def _link_types(packets: Table, section: _Section, interface: Int64s, known: Bools) -> None:
    types = np.array([item.interface.linktype for item in section.interfaces], np.int64)
    packets["linktype"] = _per_interface(types, interface, known)


def _times(packets: Table, section: _Section, interface: Int64s, ticks: Int64s) -> None:
    for number, described in enumerate(section.interfaces):
        mine = interface == number
        packets["ts"][mine] = _nanoseconds(ticks[mine], described.tsresol)
        # Limit an absurd offset so that it cannot overflow: 2**33 s are 272 years.
        packets["ts"][mine] += max(-(1 << 33), min(1 << 33, described.tsoffset)) * SECOND


def _nanoseconds(ticks: Int64s, tsresol: int) -> Int64s:
    """Convert ticks of 10**-n s, or of 2**-n s if the top bit of `tsresol` is set, to whole ns."""
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


def _complaints(path: Path, offsets: Int64s, fits: Bools, known: Bools, simple: Bools) -> list[str]:
    reasons = (
        (~fits, "1 packet block left out, because it is too short for its packet",
         "packet blocks left out, because they are too short for their packets"),
        (fits & ~known,
         "1 packet left out, because its section does not describe the packet's interface",
         "packets left out, because their section does not describe the packets' interface"),
        (fits & known & simple,
         "1 simple packet block has no time: the time of its packet stays unknown",
         "simple packet blocks have no times: the times of their packets stay unknown"),
    )  # fmt: skip
    found = []
    for mask, one, several in reasons:
        count = np.count_nonzero(mask)
        if count:
            what = one if count == 1 else f"{count} {several}"
            found.append(f"{path} at byte {offsets[mask][0]}: {what}")
    return found
