# SPDX-License-Identifier: MIT
"""Reads classic pcap files: every byte order, micro- and nanoseconds.

Layout: https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcap/.  A damaged file is read up to the
damage, with a warning that names the place.
"""

from __future__ import annotations

import struct
from array import array
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..records import BadInput, Capture, Interface, Progress
from .dissect import dissect
from .lanes import WORTHWHILE, Walk, walk
from .wire import Bytes, Ints, Mask, Rows, forget, numbers_at

FILE_HEADER_SIZE = 24
MAX_CAPLEN = 262144  # libpcap's MAXIMUM_SNAPLEN
REPORT_BYTES = 1 << 23
DAY = 86400
NONE = np.zeros(0, np.int64)
LINKTYPE_MASK = 0xFFFF  # the upper bits tell about frame check sequences


class _Format(NamedTuple):
    order: str
    unit_ns: int
    record_size: int  # of the header before each packet


RECORD = np.dtype([("seconds", "<u4"), ("fraction", "<u4"), ("caplen", "<u4"), ("len", "<u4")])

FORMATS = {
    struct.pack(order + "I", magic): _Format(order, unit_ns, record_size)
    for order in "<>"
    for magic, unit_ns, record_size in (
        (0xA1B2C3D4, 1000, 16),
        (0xA1B23C4D, 1, 16),
        (0xA1B2CD34, 1000, 24),  # Kuznetzov's patched libpcap of the 1990s
    )
}


def read_pcap(path: Path, data: Bytes, progress: Progress, folder: Path | None) -> Capture:
    """Read a pcap file; `data` are its bytes.

    Raises BadInput if the file header is not whole or of an unknown version.
    """
    layout = FORMATS[bytes(data[:4])]
    if len(data) < FILE_HEADER_SIZE:
        raise BadInput(path, len(data), "cut in the middle of the pcap file header")
    header = struct.unpack_from(layout.order + "HHiIII", data.data, 4)
    major, minor, _, _, snaplen, network = header
    if major != 2:
        raise BadInput(path, 4, f"pcap version {major}.{minor} is not known")
    offsets, warnings = _walk(path, data, layout, snaplen, progress)
    interface = Interface(network & LINKTYPE_MASK, "", snaplen)
    # Before version 2.3 the lengths stood the other way round.
    names = ("len", "caplen") if (major, minor) < (2, 3) else ("caplen", "len")
    headers = numbers_at(data, f"V{RECORD.itemsize}")
    record = RECORD if layout.order == "<" else RECORD.newbyteorder(">")

    def fill(packets: Rows, first: int) -> None:
        at = offsets[first : first + len(packets)]
        header = headers[at].view(record)
        packets["ts"] = header["seconds"] * np.int64(1_000_000_000)
        packets["ts"] += header["fraction"] * np.int64(layout.unit_ns)
        packets[names[0]], packets[names[1]] = header["caplen"], header["len"]
        packets["offset"] = at + layout.record_size
        packets["interface"], packets["linktype"] = 0, interface.linktype

    packets, unknown = dissect(path.name, data, len(offsets), fill, progress, folder)
    return Capture(path, "pcap", packets, (interface,), tuple(warnings + unknown))


def _walk(
    path: Path, data: Bytes, layout: _Format, snaplen: int, progress: Progress
) -> tuple[Ints, list[str]]:
    """Where each whole packet's header begins, and what was wrong after the last."""
    limit = max(MAX_CAPLEN, snaplen if snaplen < 1 << 27 else 0)
    size, offsets = len(data), array("q")
    fast = _walk_lanes(data, layout, limit) if size > WORTHWHILE else Walk(NONE, FILE_HEADER_SIZE)
    at, before = fast.at, len(fast.offsets)
    warnings: list[str] = []
    while at < size:
        progress.report(f"reading {path.name}", at, size)
        stop = min(at + REPORT_BYTES, size - layout.record_size + 1)
        at, caplen = _walk_to(stop, at, data, layout, limit, offsets)
        begin = at + layout.record_size
        if caplen >= 0 or at < size < begin:
            warnings.append(
                _damage(path, size, at, before + len(offsets) + 1, begin, caplen, limit)
            )
            break
    rest = np.array(offsets, np.int64)
    return np.concatenate([fast.offsets, rest]) if len(rest) else fast.offsets, warnings


def _walk_lanes(data: Bytes, layout: _Format, limit: int) -> Walk:
    """As far as headers can be true; what comes then _walk_to() tells."""
    u32, size, header = numbers_at(data, layout.order + "u4"), len(data), layout.record_size
    units = 1_000_000_000 // layout.unit_ns
    first = int(u32[FILE_HEADER_SIZE])
    last = size - header

    def length(at: Ints) -> Ints:
        made = u32[np.minimum(at, last) + 8].astype(np.int64) + header
        made[(made > limit + header) | (made > size - at)] = 0
        return np.asarray(made, np.int64)

    def likely(at: Ints) -> Mask:
        """Times near the first packet's, lengths as they should be."""
        at = np.minimum(at, last)
        good = np.abs(u32[at].astype(np.int64) - first) < DAY
        some = at[good]
        fraction, caplen, whole = (u32[some + 4 * i].astype(np.int64) for i in range(1, 4))
        following = some + length(some)
        end = (following == size) | (length(following) > 0)
        fits = (fraction < units) & (caplen <= limit) & (caplen <= whole)
        good[good] = fits & end & (following > some)
        return np.asarray(good, np.bool_)

    found = walk(FILE_HEADER_SIZE, size, length, likely)
    forget(data, 0, size)  # the walk has been everywhere
    return found


def _walk_to(
    stop: int, at: int, data: Bytes, layout: _Format, limit: int, offsets: array[int]
) -> tuple[int, int]:
    """Walk the packet headers before byte `stop`; returns where it ended.

    The second value is the captured length that cannot be true or passes the end, else -1.
    """
    caplen_at = struct.Struct(layout.order + "I").unpack_from
    buffer, size, header, append = data.data, len(data), layout.record_size, offsets.append
    while at < stop:
        (caplen,) = caplen_at(buffer, at + 8)
        end = at + header + caplen
        if caplen > limit or end > size:
            return at, caplen
        append(at)
        at = end
    return at, -1


def _damage(
    path: Path, size: int, at: int, number: int, begin: int, caplen: int, limit: int
) -> str:
    if caplen > limit:
        why = f"packet {number} claims {caplen} captured bytes; nothing after this place is read"
    elif begin > size:
        why = f"cut in the middle of packet {number}, in its header"
    else:
        why = f"cut in the middle of packet {number}, {begin + caplen - size} bytes are missing"
    return f"{path} at byte {at}: {why}"
