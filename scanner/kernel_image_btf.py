# SPDX-License-Identifier: MIT
"""Open kernel images and modules, compressed or not, and return their .BTF section."""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import subprocess
import zlib
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile


class BadBtf(Exception):
    """Raised for a kernel image or module that cannot be used; the text is one line for users."""


_TOOLS = {b"\x28\xb5\x2f\xfd": "zstd", b"\x02\x21\x4c\x18": "lz4", b"\x04\x22\x4d\x18": "lz4"}


def unpack(data: bytes, path: Path) -> bytes:
    """Return the content of an x86 bzImage or a compressed file; raise BadBtf if it is damaged.

    The layout of a bzImage is described in Documentation/arch/x86/boot.rst.
    """
    if data[0x202:0x206] == b"HdrS":
        offset, length = struct.unpack_from("<II", data, 0x248)
        start = (data[0x1F1] + 1) * 512 + offset
        # The last four bytes are the unpacked size, which no compressor knows.
        data = data[start : start + length]
        data = data[:-4] if data[:6] != b"\x7fELF" else data
    try:
        if data[:2] == b"\x1f\x8b":
            return gzip.decompress(data)
        if data[:6] == b"\xfd7zXZ\x00":
            return lzma.decompress(data)
        tool = _TOOLS.get(data[:4])
        if tool is None:
            return data
        return subprocess.run(
            [tool, "-dc", "-"], input=data, capture_output=True, check=True
        ).stdout
    except FileNotFoundError:
        raise BadBtf(f"{path}: unpacking it needs the program {tool}") from None
    except (
        OSError,
        EOFError,
        lzma.LZMAError,
        zlib.error,
        subprocess.CalledProcessError,
    ) as problem:
        raise BadBtf(f"{path}: cannot be unpacked: {problem}") from None


def btf_section(path: Path) -> bytes:
    """Return the BTF of a kernel, a module or a bare BTF file. Raises BadBtf and OSError."""
    data = unpack(path.read_bytes(), path)
    if data[:2] in (b"\x9f\xeb", b"\xeb\x9f"):
        return data
    if data[:4] != b"\x7fELF":
        raise BadBtf(f"{path}: neither a kernel image, nor an ELF file, nor BTF")
    try:
        section = ELFFile(io.BytesIO(data)).get_section_by_name(".BTF")
    except (ELFError, struct.error, UnicodeDecodeError) as problem:
        raise BadBtf(f"{path}: a damaged ELF file: {problem}") from None
    if section is None:
        raise BadBtf(f"{path}: has no BTF (a kernel built without CONFIG_DEBUG_INFO_BTF)")
    return bytes(section.data())
