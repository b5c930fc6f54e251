# SPDX-License-Identifier: MIT
"""Blocks and options of pcapng files, little-endian.

Format: https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcapng/
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from ... import __version__

SECTION_HEADER, INTERFACE, BYTE_ORDER_MAGIC = 0x0A0D0D0A, 1, 0x1A2B3C4D
OPT_END, OPT_COMMENT, SHB_USERAPPL = 0, 1, 4
IF_NAME, IF_DESCRIPTION, IF_TSRESOL, IF_TSOFFSET = 2, 3, 9, 14
NANOSECONDS = 9  # as IF_TSRESOL


def option(code: int, value: bytes) -> bytes:
    """Return a pcapng option with this code and value, padded to four bytes."""
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def block(kind: int, body: bytes) -> bytes:
    """Return a pcapng block of the type `kind`; the size of `body` is a multiple of four bytes."""
    size = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + size + body + size


def section(comments: Iterable[bytes] = ()) -> bytes:
    """Return the header of a pcapng section, with `comments`."""
    head = struct.pack("<IHHq", BYTE_ORDER_MAGIC, 1, 0, -1)
    program = option(SHB_USERAPPL, f"skbviewer {__version__}".encode())
    texts = b"".join(option(OPT_COMMENT, comment) for comment in comments)
    return block(SECTION_HEADER, head + texts + program + option(OPT_END, b""))
