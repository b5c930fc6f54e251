# SPDX-License-Identifier: MIT
"""Read captures (pcap, pcapng) and kernel logs (.kbl) into arrays.

To add a format, write one module, and add a line to READERS and to SourceKind
(docs/developing/adding-a-reader.md).
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable
from dataclasses import replace
from io import FileIO
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..records import (
    BadInput,
    Capture,
    CaptureDescription,
    KernelLog,
    Progress,
    Silent,
    SourceKind,
)
from ..records.kbl_layout import KBL_MAGIC, KblChange, KblEvent, KblLost
from ..records.types import UInt8s
from .capture.linktype_names import linktype_name
from .capture.pcap import FORMATS as PCAP_FORMATS
from .capture.pcap import pcap_interface, read_pcap
from .capture.pcapng import SECTION_HEADER, pcapng_description, read_pcapng
from .compression import Unpacked, beginning, is_packed, unpack
from .input_file import Hashed, Source
from .kbl.kernel_log import read_kbl
from .kbl.raw_records import SIZE as SLOT_SIZE
from .kbl.raw_records import RawField, RawRecord, RawSlot, slots_of
from .kbl.raw_records import raw_records as find_raw
from .printable_names import printable
from .tracers.bytes_in_logs import packets_in, points_in
from .tracers.point_columns import PointPackets
from .tracers.retis import PACKETS_OF_LOG, is_retis, read_retis

__all__ = [
    "READERS",
    "SLOT_SIZE",
    "KblChange",
    "KblEvent",
    "KblLost",
    "PointPackets",
    "RawField",
    "RawRecord",
    "RawSlot",
    "Reader",
    "UInt8s",
    "capture_description",
    "file_bytes",
    "is_log",
    "kind_name",
    "kind_of",
    "linktype_name",
    "packet_bytes",
    "point_packets",
    "printable",
    "raw_records",
    "read",
    "slots_of",
    "suffixes",
]

HEAD = 1 << 12  # bytes of a file that show its format


class Reader(NamedTuple):
    """A format of input files; `name` is its name for users.

    `sniff(head, name)` returns whether a file has this format.  `head` are its first bytes,
    decompressed, at most HEAD; `name` is the file's name.  File dialogs offer files with these
    `suffixes`.  `read` returns a Capture or a KernelLog of this kind.
    """

    kind: SourceKind
    name: str
    suffixes: tuple[str, ...]
    sniff: Callable[[bytes, str], bool]
    read: Callable[[Source, Progress, Path | None], Capture | KernelLog]


def _begins(*starts: bytes) -> Callable[[bytes, str], bool]:
    return lambda head, name: head.startswith(starts)


_KBL = (struct.pack("<I", KBL_MAGIC), struct.pack(">I", KBL_MAGIC))

READERS: tuple[Reader, ...] = (
    Reader(SourceKind.PCAP, "capture", (".pcap", ".cap"), _begins(*PCAP_FORMATS), read_pcap),
    Reader(
        SourceKind.PCAPNG,
        "capture (pcapng)",
        (".pcapng",),
        _begins(struct.pack("<I", SECTION_HEADER)),
        read_pcapng,
    ),
    Reader(SourceKind.KBL, "kernel log", (".kbl",), _begins(*_KBL), read_kbl),
    Reader(SourceKind.RETIS, "retis log", (".data", ".json"), is_retis, read_retis),
)

_NOT_READ = {
    b"SQLi": "this is a session (or another SQLite file), not a capture or a KBL",
    b"\xfd7zX": "the file is compressed by xz: decompress it first",
    b"{": "the file is JSON, but not a retis log: it does not begin with a startup event",
}


def suffixes(logs: bool | None = None) -> tuple[str, ...]:
    """Return the usual suffixes of input files.

    If `logs` is True, returns only the suffixes of kernel logs; if it is False, only those of
    captures.
    """
    chosen = (r for r in READERS if logs is None or r.kind.is_log == logs)
    return tuple(suffix for reader in chosen for suffix in reader.suffixes)


def kind_name(kind: SourceKind) -> str:
    """Return the name of a format for users, as in "pcapng"."""
    if kind is SourceKind.RETIS_PACKETS:
        return "packets in a retis log"
    return next(reader.name for reader in READERS if reader.kind == kind)


def read(
    path: Path, progress: Progress, folder: Path | None = None, hashed: Hashed | None = None
) -> Capture | KernelLog:
    """Read a capture or a kernel log; the first bytes of the file decide which.

    Large tables of packets or records are stored in nameless files in `folder`, not in memory.
    `hashed` gets the bytes of the file, as long as they are read in order.  Raises BadInput if the
    file cannot be opened, is empty, or has an unknown format; raises Cancelled.
    """
    with _opened(path) as file:
        data, damage = _source(path, file, progress, hashed)
        found = _reader(path, bytes(data.read(0, HEAD))).read(data, progress, folder)
    return replace(found, warnings=(damage, *found.warnings)) if damage else found


def is_log(path: Path) -> bool:
    """Return whether a file is a kernel log, judging by its first bytes.

    Raises BadInput like read().
    """
    return kind_of(path).is_log


def kind_of(path: Path) -> SourceKind:
    """Return the kind of a file, judging by its first bytes.  Raises BadInput like read().

    A compressed file that cannot be decompressed counts as a capture; read() then reports the
    fault.
    """
    with _opened(path) as file:
        head = file.read(HEAD)
    if is_packed(head):
        head = beginning(path, head)[:HEAD]
        if not head:
            return SourceKind.PCAP
    return _reader(path, head).kind


def _reader(path: Path, head: bytes) -> Reader:
    for reader in READERS:
        if reader.sniff(head, path.name):
            return reader
    known = "the file is neither pcap, pcapng, KBL nor a retis log"
    why = (text for start, text in _NOT_READ.items() if head.startswith(start))
    raise BadInput(path, None, next(why, f"{known} (first bytes: {head[:4].hex(' ')})"))


def packet_bytes(path: Path, offset: int, caplen: int) -> bytes:
    """Return the `caplen` captured bytes of a packet, which begin at byte `offset` of the file.

    If the file is compressed, `offset` is a position in its decompressed contents.  Raises BadInput
    if the file cannot be read or no longer holds these bytes.
    """
    data = bytes(_contents(path).data[offset : offset + caplen])
    if len(data) < caplen:
        raise BadInput(path, offset, "the file is shorter than it was at the import")
    return data


def file_bytes(path: Path) -> UInt8s:
    """Return the decompressed contents of a capture or log.

    The offsets of packets are positions in these contents.  If a log stores packets in an encoding
    such as base64, returns the decoded bytes of all its packets instead.
    Raises BadInput if the file cannot be read.
    """
    return _contents(path).data


def point_packets(path: Path, progress: Progress) -> tuple[PointPackets, UInt8s]:
    """Return the packets in a log of points, and the decompressed log itself.

    Raises BadInput if the file cannot be read or is not a log of points; raises Cancelled.
    """
    data = _map(path)
    magic = bytes(data[:4])
    if is_packed(magic):
        data = unpack(path, magic, progress).data
    return points_in(path, data, progress), data


def capture_description(path: Path) -> CaptureDescription:
    """Return the interfaces and the comments of a capture.

    Raises BadInput if the file cannot be read or is not a capture.
    """
    with _opened(path) as file:
        data, _ = _source(path, file, None)
        kind = _reader(path, bytes(data.read(0, HEAD))).kind
        if kind is SourceKind.PCAPNG:
            return pcapng_description(data, Silent())
        if kind is SourceKind.PCAP:
            return CaptureDescription((pcap_interface(data),))
        if kind is SourceKind.RETIS:
            return CaptureDescription((PACKETS_OF_LOG,))
    raise BadInput(path, None, "is not a capture")


def _contents(path: Path, progress: Progress | None = None) -> Unpacked:
    data = _map(path)
    magic = bytes(data[:4])
    if is_packed(magic):
        data = unpack(path, magic, progress).data
    if is_retis(data[:HEAD].tobytes(), path.name):
        return Unpacked(packets_in(path, data, progress or Silent()), "")
    return Unpacked(data, "")


def raw_records(path: Path, ordinal: int, progress: Progress) -> list[RawRecord]:
    """Return record `ordinal` of a .kbl file, after the footprint that applies to it.

    Raises BadInput if the file cannot be read or has no such record; raises Cancelled.
    """
    with _opened(path) as file:
        return find_raw(_source(path, file, progress)[0], ordinal, progress)


def _map(path: Path) -> UInt8s:
    with _opened(path) as file:
        try:
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
        except (OSError, ValueError) as error:  # ValueError: the file has become empty
            raise BadInput(path, None, str(error)) from error


def _opened(path: Path) -> FileIO:
    try:
        if path.is_dir():
            raise BadInput(path, None, "is a directory")
        if not path.is_file() and path.exists():
            raise BadInput(path, None, "is not a regular file")
        if path.exists() and not path.stat().st_size:
            raise BadInput(path, None, "the file is empty")
        return path.open("rb", buffering=0)
    except OSError as error:
        raise BadInput(path, None, _reason(error)) from error


def _source(
    path: Path, file: FileIO, progress: Progress | None, hashed: Hashed | None = None
) -> tuple[Source, str]:
    """Return the file or its decompressed contents, and a text about damage to its compression.

    The text is "" if the compression is not damaged.
    """
    data = Source(path, os.fstat(file.fileno()).st_size, file, None, hashed)
    magic = bytes(data.read(0, 4))
    if not is_packed(magic):
        return data, ""
    plain, damage, _ = unpack(path, magic, progress)
    return Source(path, len(plain), None, plain), damage


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
