# SPDX-License-Identifier: MIT
"""Decompress files of gzip (RFC 1952) or zstd (RFC 8878) into a temporary file.

If a compressed file is truncated or damaged, the part before the damage is used, with a warning.
"""

from __future__ import annotations

import mmap
import tempfile
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import zstandard

from ..records import BadInput, Progress, Silent
from ..records.types import UInt8s

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
GZIP_MEMBER = 31  # zlib's wbits for a gzip member
STEP = 1 << 20
KEPT = 2  # decompressed files to keep: consecutive packets are mostly from one file


class Unpacked(NamedTuple):
    """The contents of a compressed file, and the damage to its compression ("" = no damage)."""

    data: UInt8s
    damage: str
    mapped: mmap.mmap | None = None  # `data` is a view of it


def is_packed(magic: bytes) -> bool:
    """Return whether a file that begins with `magic` is compressed by gzip or zstd."""
    return any(magic.startswith(known) for known in UNPACKERS)


def unpack(path: Path, magic: bytes, progress: Progress | None = None) -> Unpacked:
    """Decompress the file `path`, whose first bytes are `magic`.

    Caches the results of the last few files.  Raises BadInput if nothing can be decompressed or the
    disk is full; raises Cancelled.
    """
    found = path.stat()
    key = (path, found.st_size, found.st_mtime_ns)
    with _lock:
        if key not in _kept:
            _kept[key] = _unpack(path, magic[:2], found.st_size, progress or Silent())
            while len(_kept) > KEPT:
                _kept.popitem(last=False)
        _kept.move_to_end(key)
        return _kept[key]


_kept: OrderedDict[tuple[Path, int, int], Unpacked] = OrderedDict()
_lock = threading.Lock()


def beginning(path: Path, magic: bytes) -> bytes:
    """Return the first decompressed bytes of the file `path`; b"" if it cannot be decompressed.

    `magic` are the first bytes of the compressed file.
    """
    step = next(step for known, step in UNPACKERS.items() if magic.startswith(known))
    try:
        with path.open("rb") as packed:
            return next((part for part in step(packed) if part), b"")
    except (OSError, zlib.error, zstandard.ZstdError, EOFError):
        return b""


def _unpack(path: Path, magic: bytes, size: int, progress: Progress) -> Unpacked:
    step = next(step for known, step in UNPACKERS.items() if known.startswith(magic))
    damage = ""
    try:
        with path.open("rb") as packed, tempfile.TemporaryFile() as plain:
            try:
                for part in step(packed):
                    progress.report(f"decompressing {path.name}", packed.tell(), size)
                    plain.write(part)
            except (zlib.error, zstandard.ZstdError, EOFError) as error:
                why = f"the compressed data is damaged or truncated ({error})"
                damage = f"{path}: {why}, so only the data before the damage is read"
            plain.flush()
            if not plain.tell():
                raise BadInput(path, None, f"compressed by {NAMES[magic]}, but empty")
            mapped = mmap.mmap(plain.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise BadInput(path, None, f"cannot decompress: {error.strerror or error}") from error
    return Unpacked(np.frombuffer(mapped, np.uint8), damage, mapped)


def _gzip(file: BinaryIO) -> Iterator[bytes]:
    """Yield the contents of a file's gzip members, one after the other.

    Zeros after a member are padding, and are skipped.
    """
    data, member = file.read(STEP), zlib.decompressobj(GZIP_MEMBER)
    while data:
        yield member.decompress(data)
        data = member.unused_data or (b"" if member.eof else file.read(STEP))
        if member.eof:
            data = (data or file.read(STEP)).lstrip(b"\0")
            member = zlib.decompressobj(GZIP_MEMBER) if data else member
    if not member.eof:
        yield member.flush()
        raise EOFError("it ends too early")


def _zstd(file: BinaryIO) -> Iterator[bytes]:
    frame = zstandard.ZstdDecompressor().decompressobj()
    data = file.read(STEP)
    while data:
        yield frame.decompress(data)
        data = (frame.unused_data if frame.eof else b"") or file.read(STEP)
        if frame.eof and data:
            frame = zstandard.ZstdDecompressor().decompressobj()
    if not frame.eof:
        raise EOFError("it ends too early")


NAMES = {GZIP: "gzip", ZSTD[:2]: "zstd"}
UNPACKERS: dict[bytes, Callable[[BinaryIO], Iterator[bytes]]] = {GZIP: _gzip, ZSTD: _zstd}
