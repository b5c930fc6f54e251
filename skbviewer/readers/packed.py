# SPDX-License-Identifier: MIT
"""Files packed by gzip (RFC 1952) or zstd (RFC 8878): unpacked into a temporary file.

A packed file that is cut or damaged gives what could be unpacked, and a warning.
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
from .wire import Bytes

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
GZIP_MEMBER = 31  # zlib's wbits for a gzip member
STEP = 1 << 20
KEPT = 2  # the packets shown one after the other are mostly of one file


class Unpacked(NamedTuple):
    """What was in a packed file, and what was wrong with the packing ("" = nothing)."""

    data: Bytes
    damage: str
    mapped: mmap.mmap | None = None  # what `data` is a view of


def is_packed(magic: bytes) -> bool:
    """Whether a file that begins so is one."""
    return any(magic.startswith(known) for known in UNPACKERS)


def unpack(path: Path, magic: bytes, progress: Progress | None = None) -> Unpacked:
    """Unpack a file that begins with `magic`; of the last few the result is kept.

    Raises BadInput if nothing can be unpacked or there is no room for it, and Cancelled.
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
    """What is packed at the beginning of such a file; b"" if it cannot be unpacked."""
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
                    progress.report(f"unpacking {path.name}", packed.tell(), size)
                    plain.write(part)
            except (zlib.error, zstandard.ZstdError, EOFError) as error:
                damage = f"{path}: the packing is damaged or cut ({error}): read up to there"
            plain.flush()
            if not plain.tell():
                raise BadInput(path, None, f"packed by {NAMES[magic]}, but it holds nothing")
            mapped = mmap.mmap(plain.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise BadInput(path, None, f"cannot unpack: {error.strerror or error}") from error
    return Unpacked(np.frombuffer(mapped, np.uint8), damage, mapped)


def _gzip(file: BinaryIO) -> Iterator[bytes]:
    """All members, one behind the other; zeros behind them are padding."""
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
