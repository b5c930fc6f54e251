# SPDX-License-Identifier: MIT
"""The ELF file in a compressed x86 kernel (bzImage).

Layout: Documentation/arch/x86/boot.rst of Linux.
"""

from __future__ import annotations

import bz2
import lzma
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import zstandard

from ...records import BadInput

HEADER, MAGIC = 0x202, b"HdrS"
SETUP_SECTORS, PAYLOAD = 0x1F1, 0x248  # payload_offset, payload_length
SECTOR, VERSION = 512, 0x208  # the first version of the protocol that has a payload
LZ4_BLOCK = 8 << 20  # decompressed, of the legacy format
MAX_KERNEL_BYTES = 1 << 30  # bytes of a decompressed kernel
NO_LZ4 = (
    "is compressed by LZ4; reading it needs the package lz4: pip install 'skbviewer[disassembly]'"
)


def is_vmlinuz(beginning: bytes) -> bool:
    """Return whether a file is an x86 bzImage, by its first bytes (at least 0x250)."""
    return beginning[HEADER : HEADER + 4] == MAGIC


def elf_in_bzimage(data: bytes, path: Path) -> bytes:
    """Return the ELF file in the bzImage `data`.

    Raises BadInput if the bzImage cannot be decompressed; `path` names the file in the message.
    """
    (version,) = struct.unpack_from("<H", data, HEADER + 4)
    if version < VERSION:
        raise BadInput(path, HEADER + 4, f"boot protocol {version:#x} has no payload")
    sectors = data[SETUP_SECTORS] or 4
    offset, length = struct.unpack_from("<II", data, PAYLOAD)
    begin = (sectors + 1) * SECTOR + offset
    payload = data[begin : begin + length]
    if len(payload) < length or length < 8:
        raise BadInput(path, len(data), "the file ends in the middle of the compressed kernel")
    for magic, decompress in FORMATS:
        if payload.startswith(magic):
            try:
                return decompress(payload)
            except ImportError as error:
                raise BadInput(path, begin, NO_LZ4) from error
            except DAMAGED as error:
                raise BadInput(path, begin, f"the compressed kernel is damaged: {error}") from error
    raise BadInput(
        path,
        begin,
        "the kernel in this file is compressed in a format that skbviewer does not know",
    )


def _gzip(payload: bytes) -> bytes:
    return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(payload, MAX_KERNEL_BYTES)


def _lzma(payload: bytes) -> bytes:
    return lzma.LZMADecompressor().decompress(payload, MAX_KERNEL_BYTES)


def _bzip2(payload: bytes) -> bytes:
    return bz2.BZ2Decompressor().decompress(payload, MAX_KERNEL_BYTES)


def _zstd(payload: bytes) -> bytes:
    # The length that follows the frame is ignored by an object, not by a stream.
    return zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj().decompress(payload)


def _lz4(payload: bytes) -> bytes:
    """Decompress lz4's legacy format, in which each block follows its length.

    The last 4 bytes are the total length.
    """
    from lz4 import block

    at, parts = 4, []
    while at + 8 <= len(payload):
        (size,) = struct.unpack_from("<I", payload, at)
        parts.append(block.decompress(payload[at + 4 : at + 4 + size], LZ4_BLOCK))
        at += 4 + size
    return b"".join(parts)


# The libraries raise these; lz4's error is a RuntimeError.
DAMAGED: tuple[type[Exception], ...] = (
    OSError, EOFError, ValueError, RuntimeError,
    zlib.error, lzma.LZMAError, zstandard.ZstdError,
)  # fmt: skip
FORMATS: tuple[tuple[bytes, Callable[[bytes], bytes]], ...] = (
    (b"\x1f\x8b\x08", _gzip),
    (b"\xfd7zXZ\0", _lzma),
    (b"\x5d\0\0", _lzma),
    (b"BZh", _bzip2),
    (b"\x28\xb5\x2f\xfd", _zstd),
    (b"\x02\x21\x4c\x18", _lz4),
)
